"""Tables read from files: CSV, TSV, JSON, spreadsheets, Parquet or Feather; cells as text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fewlabels.errors import FewlabelsError, FileError, nearest
from fewlabels.files.dialect import dialect_of
from fewlabels.files.json_table import read_json, read_json_lines
from fewlabels.files.limits import LESS, LONGEST_CELL, refuse_long_cells, refuse_long_names, refuse_too_wide
from fewlabels.files.numbers import DECIMAL_COMMAS
from fewlabels.files.unpacked import require_feather, require_parquet
from fewlabels.files.workbook import read_workbook
from fewlabels.machine.memory import require

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".json": "JSON",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".parquet": "PARQUET",
    ".feather": "FEATHER",
    ".arrow": "FEATHER",
    ".xlsx": "a spreadsheet",
    ".xls": "a spreadsheet",
    ".ods": "a spreadsheet",
}
PACKED = ("PARQUET", "FEATHER", "a spreadsheet")  # which may hold more than the file's size
COPIES = 9  # of a CSV file's size: 9.3 were measured with cells of one digit, 4 with long ones
NEEDS = {"JSON lines": "give one JSON object per line, with", "JSON": "give a list of objects with"}
GIVE = "give a .csv, .tsv, .xlsx, .ods, .json, .jsonl, .parquet or .feather file"
Tell = Callable[[str], None]


def quietly(sentence: str) -> None:
    """Say nothing."""


def read_table(path: str | os.PathLike[str], columns: list[str], tell: Tell = quietly) -> pd.DataFrame:
    """The table, cells as text (Parquet and Feather keep their types: see `column_text`); it must have these columns.

    How the file is written is found out; `tell` hears what is unusual about it.
    """
    import pandas as pd

    path = Path(path)
    kind = kind_of(path)
    note = ""
    with explain_read_errors(path, columns):
        if kind in ("PARQUET", "FEATHER"):
            (require_parquet if kind == "PARQUET" else require_feather)(path)
            table = pd.read_parquet(path) if kind == "PARQUET" else pd.read_feather(path)
            table = table.reset_index(drop=all(name is None for name in table.index.names))
        elif kind == "JSON lines":
            table = read_json_lines(path)
        elif kind == "JSON":
            table = read_json(path)
        elif kind == "a spreadsheet":
            table, note = read_workbook(path)
        else:
            require(COPIES * path.stat().st_size, f"the table in {path}", LESS)
            dialect = dialect_of(path)
            table, note = pd.read_csv(path, **dialect.options()), dialect.told(path)
            table.attrs[DECIMAL_COMMAS] = dialect.decimal_commas
    refuse_ragged(path, table)
    refuse_too_wide(path, len(table.columns))
    refuse_long_names(path, table)
    if path.stat().st_size > LONGEST_CELL or kind in PACKED:
        refuse_long_cells(path, table)
    table.columns = stripped(table.columns)
    require_columns(path, table.columns, columns)
    if note:
        tell(note)
    return table


def kind_of(path: Path) -> str:
    """The kind of an existing file, told by its ending."""
    ending = path.suffix.lower()
    if ending not in KINDS:
        raise FileError(f"{path} ends in {ending!r}: {GIVE}.")
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    return KINDS[ending]


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
        needs = NEEDS.get(kind, "its first line must name")
        raise FileError(f"{path} is empty: {needs} the columns{named}.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not written in the encoding it begins with: save it again in UTF-8.") from None
    except (OSError, ValueError, NotImplementedError, MemoryError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise FileError(f"{path} cannot be read as {kind}: {reason}. Fix the file or save it again.") from None


def refuse_ragged(path: Path, table: pd.DataFrame) -> None:
    """Refuse rows longer than the header: pandas would take their first cells for an index."""
    import pandas as pd

    if not isinstance(table.index, pd.RangeIndex):
        raise FileError(f"{path} has rows with more cells than its header names columns. Fix the header or the rows.")


def stripped(names: Iterable[object]) -> list[object]:
    """The names of columns without spaces around them; two that would then be the same keep theirs."""
    names = list(names)
    short = [name.strip() if isinstance(name, str) else name for name in names]
    times = Counter(short)
    return [one if times[one] == 1 else name for one, name in zip(short, names, strict=True)]


def require_columns(path: Path, found: Iterable[object], columns: list[str]) -> None:
    found = list(found)
    missing = [c for c in columns if c not in found]
    if missing:
        listed = ", ".join(map(str, found))
        hint = nearest(missing[0], found)
        raise FileError(
            f"{path} has no column {missing[0]!r}: its columns are {listed}.{hint} Name one of them, or rename it."
        )


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
