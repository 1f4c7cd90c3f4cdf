"""The person's own features, from a .npy file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fewlabels.errors import FileError
from fewlabels.kernels.reference import Floats
from fewlabels.neighbors import LARGEST


def own_features(path: Path, n: int, order: str) -> Floats:
    """(n, d) the features, checked; `order` says in words which row is whose."""
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    try:
        with path.open("rb") as file:
            X = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError):  # NumPy's own words would advise to unpickle
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
