"""How far the labelling has come: the curve of the expected error, and about how many more answers it will take."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

RECENT = 10  # last points of the curve, whose slope is followed
MOST = 10_000  # beyond this many answers an estimate says nothing

Point = tuple[int, float]  # labels, expected error


def extended(curve: Sequence[Point], labels: int, error: float) -> list[Point]:
    """The curve with one more point; if it went further, before answers were taken back, it is cut there."""
    return [*(point for point in curve if point[0] < labels), (labels, error)]


def thinned(curve: Sequence[Point], most: int = 200) -> Sequence[Point]:
    """The curve to draw: a long one is reduced to every few points and its end."""
    return curve if len(curve) <= most else [*curve[:-1][:: math.ceil(len(curve) / (most - 1))], curve[-1]]


def answers_to_go(curve: Sequence[Point], target: float) -> int | None:
    """About how many more answers until the expected error is at the target, if it keeps falling as it has lately.

    A straight line of log error over labels is fitted to the last points. None where it does not fall, where there are
    fewer than three points, or where the target is further than 10,000 answers away.

    >>> answers_to_go([(1, 0.8), (2, 0.4), (3, 0.2)], target=0.05)
    2
    >>> answers_to_go([(1, 0.8), (2, 0.8), (3, 0.8)], target=0.05) is None
    True
    """
    if curve and curve[-1][1] <= target:
        return 0
    recent = [point for point in curve[-RECENT:] if point[1] > 0]
    if len(recent) < 3 or target <= 0:
        return None
    labels, error = np.array(recent, dtype=float).T
    slope = float(np.polyfit(labels - labels.mean(), np.log(error), 1)[0])
    if slope >= -1e-12:
        return None
    more = math.ceil(math.log(error[-1] / target) / -slope - 1e-9)
    return more if more <= MOST else None
