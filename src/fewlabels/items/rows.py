"""Rows of a table: their names, their known labels, and the columns shown beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fewlabels.errors import FileError
from fewlabels.files.columns import LABELS, Compared, compare_columns
from fewlabels.files.features import UNNAMED
from fewlabels.files.table import column_text, read_table

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("id", "name", "node", "file")  # columns that may name the items: the first suitable one does
LABEL = "label"


@dataclass(frozen=True)
class Rows:
    """A table and the roles of its columns."""

    path: Path
    table: pd.DataFrame
    name: str | None  # the column that names the rows
    label: str | None  # the column with known labels
    columns: Sequence[str] | None = None  # those that rows are compared by, where that was said
    ignore: Sequence[str] = ()  # those that they are not
    notes: Sequence[str] = ()  # how the table was read

    def __len__(self) -> int:
        return len(self.table)

    def texts(self, column: str, *, may_be_empty: bool) -> list[str]:
        """(n,) one column."""
        return column_text(self.path, self.table, column, may_be_empty=may_be_empty)

    def names(self) -> list[str]:
        """(n,) all distinct: from their column, or "row 1", "row 2" and so on."""
        if self.name is None:
            return [f"row {number}" for number in range(1, len(self) + 1)]
        names = self.texts(self.name, may_be_empty=False)
        first: dict[str, int] = {}
        for row, name in enumerate(names, start=1):
            if first.setdefault(name, row) != row:
                raise FileError(
                    f"{self.path}, row {row}: the {self.name!r} {name!r} is already in row {first[name]}. "
                    "Give every row a name of its own, or choose another column with --name-column."
                )
        return names

    def known(self) -> dict[int, str]:
        """{row: label} where there is one."""
        if self.label is None:
            return {}
        return {row: label for row, label in enumerate(self.texts(self.label, may_be_empty=True)) if label}

    def attributes(self, leave_out: Sequence[str] = ()) -> list[Mapping[str, str]]:
        """(n,) the other columns of each row, empty cells left out."""
        others = [c for c in self.table.columns if c not in (self.name, self.label, *leave_out)]
        columns = {str(c): self.texts(c, may_be_empty=True) for c in others}
        return [{c: cells[row] for c, cells in columns.items() if cells[row]} for row in range(len(self))]

    def features(self) -> pd.DataFrame:
        """The columns that may be features: neither name nor label, unless asked for."""
        named = (self.name, self.label)
        return self.table.drop(columns=[c for c in named if c is not None and c not in (self.columns or ())])

    def compared(self) -> Compared:
        """What rows are compared by, and what is said about each column."""
        ignore = [c for c in self.ignore if c not in (self.name, self.label)]
        return compare_columns(self.path, self.features(), self.columns, ignore)

    def label_note(self) -> str:
        """A sentence about the column of labels: that it was taken unasked, or that there may be one."""
        if self.label is None:
            likely = next((c for c in self.table.columns if c.lower() in LABELS and c not in self.ignore), None)
            return f"Column {likely!r} looks like labels: --label-column {likely} takes it" if likely else ""
        return f"Known labels come from the column {self.label!r}"


def read_rows(
    path: Path,
    name: str | None,
    label: str | None,
    also: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    nodes: Collection[str] = (),
) -> Rows:
    """The table; it must have the columns named, those in `also` included. Rows are compared by `columns`, or by all
    that tell them apart, less those in `ignore`.

    Without `name`, the first of id, name, node, file in any case (and then of `also`) without empty or repeated values
    names the rows, or that which names most of the `nodes`, where there are some. Without `label`, labels come from the
    column "label" if there is one that nobody ignores or compares.
    """
    notes: list[str] = []
    table = read_table(path, [column for column in (name, label, *also) if column is not None], notes.append)
    table.columns = table.columns.map(str)
    asked = {name, label, *also}
    table = table[[c for c in table.columns if c in asked or not c.startswith(UNNAMED)]]
    if not len(table):
        raise FileError(f"{path} holds no rows: give one row for every item.")
    if label is None and LABEL in table.columns and LABEL not in (name, *also, *ignore, *(columns or ())):
        label = LABEL
    if label is not None and label in (name, *also):
        raise FileError(f"the column {label!r} cannot be the label and something else: name two columns.")
    if name is None:
        called = {column.lower(): column for column in reversed(table.columns)}
        candidates = [called[one] for one in NAMES if one in called] + list(also)
        fit = [column for column in candidates if column != label and _names_rows(path, table, column)]
        meant = set(nodes)
        name = max(fit, key=lambda column: len(meant.intersection(_cells(path, table, column))), default=None)
    return Rows(path, table, name, label, columns, ignore, notes)


def _cells(path: Path, table: pd.DataFrame, column: str) -> list[str]:
    return column_text(path, table, column, may_be_empty=True)


def _names_rows(path: Path, table: pd.DataFrame, column: str) -> bool:
    cells = _cells(path, table, column)
    return "" not in cells and len(set(cells)) == len(cells)
