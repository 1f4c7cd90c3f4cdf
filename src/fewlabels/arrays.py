"""Arrays: names for their types, when two numbers count as equal, and a check for whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.floating[Any]]  # float32 or float64: a kernel makes its constants in the precision it is given

EPS = float(np.finfo(float).eps)
TIE = 1e-9  # values this close (relative to the larger where that is above 1) are equal up to rounding
LARGEST = 1e100  # bound on features: squared distances between smaller ones stay finite


def as_floats(values: Any) -> Floats:
    """The values as an array of float64; a TypeError where that would lose an imaginary part or a mask."""
    if np.iscomplexobj(values):
        raise TypeError("some have an imaginary part")
    if np.ma.is_masked(values):
        raise TypeError("some are masked, fill them in")
    return np.asarray(values, dtype=float)


def is_whole(value: object) -> bool:
    """Whether this is a whole number, Python's or NumPy's; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
