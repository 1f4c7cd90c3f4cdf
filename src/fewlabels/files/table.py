"""Tables read from files: CSV, TSV, JSON lines or Parquet; cells as text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewlabels.errors import FewlabelsError, FileError, nearest

if TYPE_CHECKING:
    import pandas as pd

KINDS = {".csv": "CSV", ".tsv": "TSV", ".jsonl": "JSON lines", ".ndjson": "JSON lines", ".parquet": "PARQUET"}


def read_table(path: str | os.PathLike[str], columns: list[str]) -> pd.DataFrame:
    """The table, cells as text (Parquet keeps its types: see `column_text`); it must have these columns."""
    import pandas as pd

    path = Path(path)
    kind = kind_of(path)
    with explain_read_errors(path, columns):
        if kind == "PARQUET":
            table = pd.read_parquet(path)
            table = table.reset_index(drop=all(name is None for name in table.index.names))
        elif kind == "JSON lines":
            table = _read_json_lines(path)
        else:
            table = pd.read_csv(path, **csv_options(path))
    refuse_ragged(path, table)
    require_columns(path, table.columns, columns)
    return table


def kind_of(path: Path) -> str:
    """The kind of an existing file, told by its ending."""
    ending = path.suffix.lower()
    if ending not in KINDS:
        raise FileError(f"{path} ends in {ending!r}: give a .csv, .tsv, .jsonl or .parquet file.")
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    return KINDS[ending]


def csv_options(path: Path) -> dict[str, Any]:
    """How pandas reads a CSV or TSV file: every cell is text, even one that looks like a number or a missing value."""
    return {
        "sep": "\t" if path.suffix.lower() == ".tsv" else ",",
        "dtype": str,
        "keep_default_na": False,
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
    }


@contextmanager
def explain_read_errors(path: Path, columns: list[str]) -> Iterator[None]:
    """Turn an error of pandas or Arrow reading the file into a FileError."""
    import pandas as pd

    kind = kind_of(path)
    try:
        yield
    except FewlabelsError:
        raise
    except pd.errors.EmptyDataError:
        named = f" {', '.join(columns)}" if columns else ""
        needs = "give one JSON object per line, with" if kind == "JSON lines" else "its first line must name"
        raise FileError(f"{path} is empty: {needs} the columns{named}.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not written in UTF-8: save it again with that encoding.") from None
    except (OSError, ValueError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise FileError(f"{path} cannot be read as {kind}: {reason}. Fix the file or save it again.") from None


def refuse_ragged(path: Path, table: pd.DataFrame) -> None:
    """Refuse rows longer than the header: pandas would take their first cells for an index."""
    import pandas as pd

    if not isinstance(table.index, pd.RangeIndex):
        raise FileError(f"{path} has rows with more cells than its header names columns. Fix the header or the rows.")


def require_columns(path: Path, found: Iterable[object], columns: list[str]) -> None:
    found = list(found)
    missing = [c for c in columns if c not in found]
    if missing:
        listed = ", ".join(map(str, found))
        if len(found) == 1 and ";" in listed:
            raise FileError(f"{path} has a single column, {listed!r}: save it with commas between the cells.")
        hint = nearest(missing[0], found)
        raise FileError(
            f"{path} has no column {missing[0]!r}: its columns are {listed}.{hint} Name one of them, or rename it."
        )


def _read_json_lines(path: Path) -> pd.DataFrame:
    """One JSON object per line; a key missing from a line is an empty cell."""
    import pandas as pd

    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"line {number}: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f'line {number} is {json_text(row)[:40]!r}, not an object such as {{"name": "a"}}')
        rows.append({json_text(key): json_text(value) for key, value in row.items()})
    if not rows:
        raise pd.errors.EmptyDataError
    columns = dict.fromkeys(key for row in rows for key in row)
    return pd.DataFrame({key: [row.get(key, "") for row in rows] for key in columns}, dtype=str)


def json_text(value: object) -> str:
    """A JSON value as a cell: text as it is, null and NaN as "", the rest as JSON."""
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")  # a lone surrogate is not text
    if isinstance(value, float):
        return _as_text(value)
    return json.dumps(value, ensure_ascii=True)


def column_text(
    path: str | os.PathLike[str], table: pd.DataFrame, column: str, *, may_be_empty: bool = False
) -> list[str]:
    """(n,) the column as stripped text; an empty cell is refused with its row, the first below the header being 1."""
    values = texts(table[column])
    if not may_be_empty and "" in values:
        raise FileError(f"{path}, row {values.index('') + 1}: {column!r} is empty. Fill it in or remove the row.")
    return values


def texts(cells: pd.Series) -> list[str]:
    """(n,) each cell as stripped text, "" where it is missing."""
    return [
        "" if missing is True else _as_text(value) for value, missing in zip(cells, cells.isna().tolist(), strict=True)
    ]


def _as_text(value: object) -> str:
    """A cell as text; a whole number that Parquet stores as a float, because of gaps, loses its .0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
