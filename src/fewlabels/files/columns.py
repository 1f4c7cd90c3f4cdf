"""Which columns of a table are compared, and how: numbers and dates scaled, categories spread out, gaps filled in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import LARGEST, Floats
from fewlabels.errors import FileError, SettingError, nearest
from fewlabels.files.numbers import DECIMAL_COMMAS, days, missing, numbers
from fewlabels.files.table import texts

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("label", "labels", "class", "target")  # what a column of labels is called
CATEGORIES = 50  # different texts beyond which a column is text
RUN = 20  # rows from which numbers that count them are an id
ID = re.compile(r"(?i:(?:^|[^a-z])(?:id|uuid|guid|index|idx|key|nr|no))\.?$|[a-z]I[Dd]$")
LISTED = 12  # columns named in a sentence


@dataclass(frozen=True)
class Compared:
    """(n, d) what rows are compared by, None where no column can be; and in sentences what became of each column."""

    X: Floats | None
    sentences: list[str]


@dataclass(frozen=True)
class _Used:
    """A column as numbers, (n, k) of variance 1 in all."""

    block: Floats
    kind: str
    filled: str = ""


@dataclass
class _Account:
    used: dict[str, list[str]] = field(default_factory=dict)  # kind -> columns
    filled: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        compared = "; ".join(f"{_listed(names)} ({kind})" for kind, names in self.used.items())
        return [
            *([f"Compared, each scaled to mean 0 and variance 1: {compared}"] if self.used else []),
            *([f"Filled in: {_listed(self.filled)}"] if self.filled else []),
            *([f"Left out: {_listed(self.left_out)}"] if self.left_out else []),
        ]


def compare_columns(
    path: str | os.PathLike[str],
    table: pd.DataFrame,
    columns: Sequence[str] | None = None,
    ignore: Iterable[str] = (),
) -> Compared:
    """The columns as numbers: those named, or all that tell rows apart, less those ignored.

    Left out are ids, constants, texts, columns that are mostly empty, and those that look like labels.
    """
    names = [str(name) for name in table.columns]
    dropped = set(ignore)
    for name in [*(columns or ()), *ignore]:
        if name not in names:
            option = "--columns" if columns is not None and name in columns else "--ignore"
            hint = nearest(name, names)
            raise FileError(f"{option} names {name!r}, and the columns of {path} are {', '.join(names)}.{hint}")
    both = [name for name in columns or () if name in dropped]
    if both:
        raise SettingError(f"--columns and --ignore both name {both[0]!r}: leave it out of one of them.")
    account = _Account()
    blocks = []
    for name, original in zip(names, table.columns, strict=True):
        if name in dropped or (columns is not None and name not in columns):
            account.left_out.append(f"{quoted(name)} (as told)" if name in dropped else quoted(name))
            continue
        found = _column(path, name, table[original], asked=columns is not None)
        if isinstance(found, str):
            account.left_out.append(f"{quoted(name)} ({found})")
            continue
        account.used.setdefault(found.kind, []).append(quoted(name))
        if found.filled:
            account.filled.append(f"{quoted(name)}: {found.filled}")
        blocks.append(found.block)
    return Compared(np.concatenate(blocks, axis=1) if blocks else None, account.sentences())


def quoted(name: str) -> str:
    """The name of a column as it is written between commas.

    >>> quoted("size"), quoted("size, cm")
    ('size', '"size, cm"')
    """
    return '"{}"'.format(name.replace('"', '""')) if "," in name or '"' in name else name


def _column(path: str | os.PathLike[str], name: str, column: pd.Series, *, asked: bool) -> _Used | str:
    """The column as numbers, or why it is left out; what was asked for is left out only where it says nothing."""
    if not asked and name.lower() in LABELS:
        return f"looks like labels: --label-column {name} takes it"
    import pandas as pd

    typed = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    x = column.to_numpy(dtype=float, na_value=np.nan) if typed else None
    cells = texts(column) if x is None else []
    gone = missing(cells) if x is None else np.isnan(x)
    dated = None
    mostly = missing(cells, words=True).mean() > 0.5 if x is None else False
    if x is None and not gone.all() and (asked or not mostly):
        x = numbers(cells, column.attrs.get(DECIMAL_COMMAS, False))
        if np.isnan(x[~gone]).mean() >= 0.5:
            x, dated = None, days(cells)
    if x is None and dated is None:
        gone = missing(cells, words=True)
    if gone.all():
        return "empty"
    if not asked and gone.mean() > 0.5:
        return f"{gone.sum():,} of {len(gone):,} cells are empty"
    if x is not None:
        _refuse_bad(path, name, column, x, gone)
        if not asked and _counts_rows(name, x[~gone]):
            return f"an id: --columns {quoted(name)} compares it"
        return _scaled(x, "numbers")
    if dated is not None:
        return _scaled(dated[0], f"{dated[1]}, as days")
    said = [cell for cell, absent in zip(cells, gone, strict=True) if not absent]
    different = len(set(said))
    if different == 1 and not gone.any():
        return "the same in every row"
    if different > CATEGORIES or 2 * different > len(said):
        if asked:
            raise FileError(
                f"{path}: column {name!r} holds {different:,} different texts, too many for categories. Compare them "
                f"with --text {name}, or leave it out of --columns."
            )
        one_word = different == len(said) and not any(" " in cell for cell in said)
        return "an id" if one_word else f"text: --text {name} compares it"
    return _spread(cells, gone)


def _refuse_bad(path: str | os.PathLike[str], name: str, column: pd.Series, x: Floats, gone: np.ndarray) -> None:
    bad = np.flatnonzero(~gone & ~(np.abs(x) < LARGEST))
    if len(bad):
        cell = texts(column.iloc[[bad[0]]])[0]
        raise FileError(
            f"{path}, row {bad[0] + 1}: column {name!r} holds {cell!r}, not a number. Fill it in, or remove "
            f"the row or the column (--ignore {quoted(name)})."
        )


def _counts_rows(name: str, x: Floats) -> bool:
    """Whether these numbers name the rows: whole, each once, and called an id or counted up."""
    if (x != np.floor(x)).any() or len(np.unique(x)) < len(x):
        return False
    counted = len(x) >= RUN and x.min() in (0, 1) and x.max() - x.min() == len(x) - 1
    return bool(ID.search(name)) or bool(counted)


def _scaled(x: Floats, kind: str) -> _Used | str:
    gone = np.isnan(x)
    median = float(np.median(x[~gone]))
    x = np.where(gone, median, x)
    spread = float(x.std())
    if spread == 0:
        return "the same in every row"
    value = "" if "days" in kind else f" {median:g}"
    filled = f"{_empty_cells(gone)} with the median{value}" if gone.any() else ""
    return _Used(((x - x.mean()) / spread)[:, None], kind, filled)


def _spread(cells: list[str], gone: np.ndarray) -> _Used:
    """A column of 0 and 1 for every category, together of variance 1; what is missing is a category, too."""
    named = np.where(gone, "", np.array(cells, dtype=object)).astype(str)
    categories = np.unique(named)
    ones = (named[:, None] == categories).astype(float)  # (n, categories)
    ones -= ones.mean(axis=0)
    kind = "categories, 0 or 1 for each value"
    filled = f"{_empty_cells(gone)} as a category of their own" if gone.any() else ""
    return _Used(ones / np.sqrt(ones.var(axis=0).sum()), kind, filled)


def _empty_cells(gone: np.ndarray) -> str:
    return f"{gone.sum():,} empty cell{'' if gone.sum() == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more:,} more" if more > 0 else "")
