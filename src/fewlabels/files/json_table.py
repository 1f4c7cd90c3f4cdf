"""Tables in JSON: an object on each line, a list of objects, or an object of columns."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewlabels.files.limits import MOST_COLUMNS
from fewlabels.machine.memory import require

if TYPE_CHECKING:
    import pandas as pd

NAME = "id"  # the column of rows' names, where the file calls it nothing
FEW_CELLS, SPARSE = 250_000, 100  # a table may have so many cells, and so many for each that is filled
COPIES = 8  # times the file's size: dictionaries beside the text they were made from


def read_json_lines(path: Path) -> pd.DataFrame:
    """One JSON object per line; a key missing from a line is an empty cell."""
    require(COPIES * path.stat().st_size, f"the table in {path}", "Save it as Parquet.")
    rows = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"line {number}: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f'line {number} is {json_text(row)[:40]!r}, not an object such as {{"name": "a"}}')
        rows.append(row)
    return _table_of_rows(rows)


def read_json(path: Path) -> pd.DataFrame:
    """A list of objects, one for every row; or an object of columns, each a list of its cells or {row: cell}; or one of
    rows, {row: {column: cell}}."""
    import pandas as pd

    require(COPIES * path.stat().st_size, f"the table in {path}", "Save it as Parquet.")
    try:
        content = json.loads(_text(path) or "null")
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if content in (None, [], {}):
        raise pd.errors.EmptyDataError
    if isinstance(content, list) and all(isinstance(row, dict) for row in content):
        return _table_of_rows(content)
    if isinstance(content, dict) and _holds_rows(content):
        return _table_of_rows(_named_rows(content))
    if isinstance(content, dict):
        columns = {json_text(key): _cells(cells) for key, cells in content.items()}
        if None not in columns.values() and len({len(cells or ()) for cells in columns.values()}) == 1:
            return pd.DataFrame({key: list(map(json_text, cells or ())) for key, cells in columns.items()}, dtype=str)
    raise ValueError('it holds no list of objects such as [{"name": "a"}, {"name": "b"}]')


def _holds_rows(content: dict[str, Any]) -> bool:
    """Whether {a: {b: cell}} is a table by rows: the names a count them, or are more than there are different b."""
    if not all(isinstance(inner, dict) for inner in content.values()):
        return False
    names = {key for inner in content.values() for key in inner}
    if _count_rows(names):
        return False
    return _count_rows(content) or len(content) > len(names)


def _count_rows(names: Collection[str]) -> bool:
    """Whether these are the numbers of rows, as pandas writes them."""
    return all(name.isdecimal() for name in names) and {int(name) for name in names} == set(range(len(names)))


def _named_rows(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows; what they are called, unless they are only numbered, is a column id of its own."""
    if _count_rows(content) or any(NAME in row for row in content.values()):
        return list(content.values())
    return [{NAME: name, **row} for name, row in content.items()]


def _cells(column: Any) -> list[Any] | None:
    return column if isinstance(column, list) else list(column.values()) if isinstance(column, dict) else None


def _table_of_rows(rows: Sequence[Mapping[Any, Any]]) -> pd.DataFrame:
    import pandas as pd

    if not rows:
        raise pd.errors.EmptyDataError
    texts = [{json_text(key): json_text(value) for key, value in row.items()} for row in rows]
    columns = dict.fromkeys(key for row in texts for key in row)
    if len(columns) > MOST_COLUMNS or len(columns) * len(rows) > FEW_CELLS + SPARSE * sum(map(len, texts)):
        raise ValueError(f"{len(columns):,} different keys in {len(rows):,} rows, most of them in few rows")
    return pd.DataFrame({key: [row.get(key, "") for row in texts] for key in columns}, dtype=str)


def json_text(value: object) -> str:
    """A JSON value as a cell: text as it is, null and NaN as "", the rest as JSON."""
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")  # a lone surrogate is not text
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return json.dumps(value, ensure_ascii=True)


def _text(path: Path) -> str:
    """The file's text, in UTF-8 or UTF-16."""
    content = path.read_bytes()
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    return content.decode("utf-16" if wide else "utf-8-sig")
