"""Checks of single arguments."""

from __future__ import annotations

import numpy as np


def is_whole(value: object) -> bool:
    """A whole number of Python's or NumPy's; True and False are not meant as numbers."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
