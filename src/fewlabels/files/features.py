"""Features of nodes and items: the columns of a table, or an array in a .npy file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import LARGEST, Floats
from fewlabels.errors import FileError
from fewlabels.files.columns import compare_columns
from fewlabels.files.table import Tell, column_text, quietly, read_table
from fewlabels.machine.memory import require

if TYPE_CHECKING:
    import pandas as pd

BYTES = 16  # of a feature: as a number, and as one that is looked at
UNNAMED = "Unnamed: "  # pandas' name for a column without a header: row numbers, which are neither shown nor features


def read_features(
    path: str | os.PathLike[str],
    label_column: str,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    tell: Tell = quietly,
) -> tuple[Floats, list[str]]:
    """(n, d) what rows are compared by (see `compare_columns`), and the labels as text, "" where none."""
    table = read_table(path, [label_column], tell)
    table = table[[name for name in table.columns if not str(name).startswith(UNNAMED)]]
    labels = column_text(path, table, label_column, may_be_empty=True)
    found = compare_columns(path, table.drop(columns=label_column), columns, ignore)
    for sentence in found.sentences:
        tell(sentence)
    if found.X is None:
        raise FileError(
            f"{path} has no column of numbers or categories besides {label_column!r}: give features, or edges with "
            "--labels."
        )
    return found.X, labels


def standardised(path: str | os.PathLike[str], table: pd.DataFrame) -> Floats | None:
    """(n, d) the columns that tell rows apart, each scaled to variance 1; None where there is none."""
    return compare_columns(path, table).X


def own_features(path: Path, n: int, order: str) -> Floats:
    """(n, d) the features, checked; `order` tells the user which row belongs to which item."""
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    try:
        held = np.lib.format.open_memmap(path, mode="r")  # nothing is read yet, or unpickled
    except (OSError, ValueError, EOFError, OverflowError):  # NumPy's own message would suggest unpickling
        raise FileError(f"{path} cannot be read as a .npy file of numbers: save an array with np.save.") from None
    if held.dtype.kind not in "biuf":
        raise FileError(f"{path} holds values of type {held.dtype}: save an array of real numbers with np.save.")
    if held.ndim != 2 or held.shape[0] != n or held.shape[1] == 0:
        raise FileError(
            f"{path} holds an array of shape {held.shape}, and there are {n:,} items: give two dimensions, {n:,} rows "
            f"of features in the order of {order}."
        )
    require(BYTES * held.size, f"comparing {n:,} items by {held.shape[1]:,} features each", "Give fewer features.")
    X = np.array(held, dtype=float)
    bad = np.argwhere(~(np.abs(X) < LARGEST))
    if len(bad):
        i, j = bad[0]
        raise FileError(f"{path} holds {X[i, j]} at [{i}, {j}]: every feature must be finite. Fill it in.")
    return X
