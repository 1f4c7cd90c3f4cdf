"""Features of nodes and items: the columns of numbers of a table, or an array in a .npy file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import LARGEST, Floats
from fewlabels.errors import FileError
from fewlabels.files.table import column_text, read_table

if TYPE_CHECKING:
    import pandas as pd


def read_features(path: str | os.PathLike[str], label_column: str) -> tuple[Floats, list[str]]:
    """(n, d) the columns of numbers, each scaled to mean 0 and variance 1, and the labels as text, "" where none."""
    table = read_table(path, [label_column])
    labels = column_text(path, table, label_column, may_be_empty=True)
    X = standardised(path, table.drop(columns=label_column))
    if X is None:
        raise FileError(
            f"{path} has no column of numbers besides {label_column!r}: give features, or edges with --labels."
        )
    return X, labels


def standardised(path: str | os.PathLike[str], table: pd.DataFrame) -> Floats | None:
    """(n, d) the columns of numbers, each scaled to mean 0 and variance 1; None where there is none.

    A column that is mostly words is not a feature; one that is mostly numbers must hold a number in every row.
    """
    import pandas as pd

    columns = {}
    for name in table.columns:
        numeric = pd.api.types.is_numeric_dtype(table[name].dtype)
        cells = table[name] if numeric else pd.Series(column_text(path, table, name, may_be_empty=True), dtype=str)
        x = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float, na_value=np.nan)  # (n,)
        if np.isnan(x).mean() < 0.5:
            columns[name] = x
    if not columns:
        return None
    X = np.stack(list(columns.values()), axis=1)
    bad = np.argwhere(~(np.abs(X) < LARGEST))
    if len(bad):
        row, name = int(bad[0, 0]), list(columns)[bad[0, 1]]
        cell = column_text(path, table.iloc[[row]], name, may_be_empty=True)[0]
        raise FileError(
            f"{path}, row {row + 1}: column {name!r} {f'holds {cell!r}, not a number' if cell else 'is empty'}. "
            "Fill it in, or remove the row or the column."
        )
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1))


def own_features(path: Path, n: int, order: str) -> Floats:
    """(n, d) the features, checked; `order` tells the user which row belongs to which item."""
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    try:
        with path.open("rb") as file:
            X = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError):  # NumPy's own message would suggest unpickling
        raise FileError(f"{path} cannot be read as a .npy file of numbers: save an array with np.save.") from None
    if X.dtype.kind not in "biuf":
        raise FileError(f"{path} holds values of type {X.dtype}: save an array of real numbers with np.save.")
    if X.ndim != 2 or X.shape[0] != n or X.shape[1] == 0:
        raise FileError(
            f"{path} holds an array of shape {X.shape}, and there are {n:,} items: give two dimensions, {n:,} rows of "
            f"features in the order of {order}."
        )
    X = X.astype(float)
    bad = np.argwhere(~(np.abs(X) < LARGEST))
    if len(bad):
        i, j = bad[0]
        raise FileError(f"{path} holds {X[i, j]} at [{i}, {j}]: every feature must be finite. Fill it in.")
    return X
