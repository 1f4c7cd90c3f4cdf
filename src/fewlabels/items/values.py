"""The values that two rows share: why they are neighbours, for people to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

CLOSE = 0.5  # standard deviations between two numbers that count as shared
MOST = 3  # values listed


class SharedValues:
    """In which columns two of these rows agree, the most telling first.

    >>> rows = [{"size": "9.1", "colour": "red"}, {"size": "9.0", "colour": "red"}, {"size": "1", "colour": "red"}]
    >>> SharedValues(rows).between(0, 1)
    [('size', '9.1', '9.0')]
    """

    def __init__(self, rows: Sequence[Mapping[str, str]]) -> None:
        self._rows = rows
        self._numbers: dict[str, tuple[float, float]] = {}  # column -> mean and deviation
        self._counts: dict[str, Counter[str]] = {}  # column of names -> how often each occurs
        for name in dict.fromkeys(name for row in rows for name in row):
            cells = [row[name] for row in rows if name in row]
            numbers = [_number(cell) for cell in cells]
            if None not in numbers:
                spread = float(np.std(numbers))  # type: ignore[arg-type]
                self._numbers[name] = float(np.mean(numbers)), spread  # type: ignore[arg-type]
            else:
                self._counts[name] = Counter(cells)

    def between(self, i: int, j: int, most: int = MOST) -> list[tuple[str, str, str]]:
        """(column, value here, value there): numbers close together and far from the usual, and names that few have.

        A column in which all rows agree tells nothing.
        """
        here, there = self._rows[i], self._rows[j]
        telling: list[tuple[float, str]] = []
        for name in here.keys() & there.keys():
            if name in self._numbers:
                mean, spread = self._numbers[name]
                one, other = _number(here[name]) or 0.0, _number(there[name]) or 0.0
                if spread > 0 and abs(one - other) <= CLOSE * spread:
                    telling.append((abs(one + other - 2 * mean) / (2 * spread) - abs(one - other) / spread, name))
            elif here[name] == there[name] and self._counts[name][here[name]] < len(self._rows):
                telling.append((float(np.log(len(self._rows) / self._counts[name][here[name]])), name))
        best = sorted(telling, key=lambda pair: (-pair[0], pair[1]))[:most]
        return [(name, here[name], there[name]) for _, name in best]


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
