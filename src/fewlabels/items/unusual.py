"""Which values of a row tell most about it: those furthest from what is usual in their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from fewlabels.arrays import Floats

RARE = 0.25  # of all rows at most so many are as unusual
NAMES = 0.5  # a column of words with more different values than this share of the rows names rows, and says nothing


class Unusual:
    """How far each value is from the usual: from the median in a column of numbers, by how often it occurs elsewhere.

    >>> rows = [{"size": "3", "shape": "round"} for _ in range(9)] + [{"size": "80", "shape": "round"}]
    >>> Unusual(rows).columns(rows[9], most=5), Unusual(rows).columns(rows[0], most=5)
    (['size'], [])
    """

    def __init__(self, rows: Sequence[Mapping[str, str]]) -> None:
        cells: dict[str, list[str]] = {}
        for row in rows:
            for name, value in row.items():
                cells.setdefault(name, []).append(value)
        self._n = max(1, len(rows))
        self._numbers: dict[str, tuple[float, Floats]] = {}  # column -> its median, and all distances from it, sorted
        self._counts: dict[str, Counter[str]] = {}
        for name, values in cells.items():
            numbers = _numbers(values)
            if numbers is not None:
                middle = float(np.median(numbers))
                self._numbers[name] = middle, np.sort(np.abs(numbers - middle))
            elif len(counts := Counter(values)) <= NAMES * len(values):
                self._counts[name] = counts

    def columns(self, row: Mapping[str, str], most: int) -> list[str]:
        """The columns with the most unusual values of this row, the most unusual first; those that are usual are left
        out.
        """
        share = {name: self._share(name, value) for name, value in row.items()}
        return sorted((name for name in share if share[name] <= RARE), key=lambda name: share[name])[:most]

    def _share(self, name: str, value: str) -> float:
        """The share of all rows that are as unusual in this column."""
        if name in self._numbers:
            middle, distances = self._numbers[name]
            further = len(distances) - int(np.searchsorted(distances, abs(float(value) - middle)))
            return further / self._n if distances[-1] > 0 else 1.0
        return self._counts[name][value] / self._n if name in self._counts else 1.0


def _numbers(values: Sequence[str]) -> Floats | None:
    """The values as numbers, if all of them are."""
    try:
        found = np.array(values, dtype=float)
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None
