"""How large a table may be: what is larger is refused in a sentence, before it takes the memory or minutes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fewlabels.errors import FileError
from fewlabels.machine.memory import require

if TYPE_CHECKING:
    import pandas as pd

MOST_CELLS = 10**8  # rows times columns
MOST_COLUMNS = 20_000
LONGEST_CELL = 10**7  # characters
LONGEST_NAME = 1_000  # of a column
LONGEST_LINE = 4 * LONGEST_CELL  # bytes
BYTES_A_CELL = 120  # of text, in the table and in a list, where cells are short; 112 to 117 were measured
COPIES = 4  # of all text: in the table, stripped, as it is shown, and as it is compared
LESS = "Leave out rows or columns."


def require_room(path: Path, cells: int, text: int) -> None:
    """Refuse a table of so many cells, and bytes of text in them, that is too large or does not fit."""
    if cells > MOST_CELLS:
        raise FileError(f"{path} has {cells:,} cells, and a table may have {MOST_CELLS:,}. {LESS}")
    require(BYTES_A_CELL * cells + COPIES * text, f"the table in {path}", LESS)


def refuse_too_wide(path: Path, columns: int) -> None:
    """Refuse so many columns: each takes a millisecond to look at, and more to compare."""
    if columns > MOST_COLUMNS:
        raise FileError(
            f"{path} has {columns:,} columns, and a table may have {MOST_COLUMNS:,}. Leave some out, or give features "
            "as a .npy file."
        )


def refuse_long_names(path: Path, table: pd.DataFrame) -> None:
    """Refuse what is no name of a column."""
    longest = max((len(str(name)) for name in table.columns), default=0)
    if longest > LONGEST_NAME:
        raise FileError(
            f"{path}: the name of a column has {longest:,} characters, and {LONGEST_NAME:,} are the most. Shorten it."
        )


def refuse_long_cells(path: Path, table: pd.DataFrame) -> None:
    """Refuse texts that nobody could look at."""
    from pandas.api import types

    for name in table.columns:
        column = table[name]
        if types.is_string_dtype(column.dtype) or types.is_object_dtype(column.dtype):
            longest = column.str.len().max()
            if longest > LONGEST_CELL:
                raise FileError(
                    f"{path}: column {name!r} has a cell of {longest:,.0f} characters, and {LONGEST_CELL:,} are the "
                    "most. Cut it."
                )
