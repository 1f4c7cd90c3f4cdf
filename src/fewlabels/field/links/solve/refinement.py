"""Solutions corrected by what their residual says: a rough inverse, applied a few times, is a precise one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.machine.giving_way import give_way

MOST = 12  # corrections: two or three are usual
TRUSTED = 0.01  # no correction is taken to shrink the error by more, whatever the ones before did
SURELY = 0.5  # share of the tolerance that the error left must be below, as far as it is known


def refine(
    X: Floats,
    residual: Callable[[Floats], Floats],
    inverse: Callable[[Floats], Floats],
    tolerance: float,
    slowest: float,
) -> bool:
    """Correct X (n, m), in place, until no entry is off by more than the tolerance times the largest of its column.

    A correction shrinks the error by a factor, which those so far tell, so the last one need not be seen to be small.
    False as soon as one shrinks it by less than `slowest`, or where that takes too long.
    """
    size = before = np.abs(X).max(axis=0)
    factor = np.full(X.shape[1], TRUSTED)
    for _ in range(MOST):
        give_way()
        change = inverse(residual(X))
        now = np.abs(change).max(axis=0).astype(float)
        done = now <= tolerance * size
        if not (done | (now <= slowest * before)).all():
            return False
        X += change
        factor = np.maximum(factor, np.divide(now, before, out=np.zeros_like(now), where=before > 0))
        if (done | (factor * now <= SURELY * tolerance * size)).all():
            return True
        before = now
    return False
