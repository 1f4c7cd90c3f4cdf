"""Marginals of every node in one pass: the twin of `kernels.reference`, for a million nodes."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.cpu.pairs import log_sigmoid


@njit(cache=True, nogil=True, parallel=True)
def two_step(
    h: Floats, multiplicity: Floats, diagonal: Floats, label: Ints, island: Ints, chance: Floats, error_now: Floats
) -> None:
    """Fill chance (n, D), that a node is of a class sharing the column of h, and error_now (n,); 0 where labelled."""
    n, D = h.shape
    for k in prange(n):
        if label[k] >= 0:
            chance[k] = error_now[k] = 0.0
            continue
        top = -np.inf
        for c in range(D):
            f = 2 * h[k, c] / diagonal[k] if island[k] < 0 else 0.0
            chance[k, c] = log_sigmoid(f)
            top = max(top, chance[k, c])
        total = 0.0
        for c in range(D):
            chance[k, c] = np.exp(chance[k, c] - top)
            total += multiplicity[c] * chance[k, c]
        error_now[k] = 1 - 1 / total
        for c in range(D):
            chance[k, c] *= multiplicity[c] / total


@njit(cache=True, nogil=True, parallel=True)
def harmonic(h: Floats, multiplicity: Floats, label: Ints, island: Ints, chance: Floats, error_now: Floats) -> None:
    """The same for label propagation read as a probability."""
    n, D = h.shape
    for k in prange(n):
        if label[k] >= 0:
            chance[k] = error_now[k] = 0.0
            continue
        top, total = 0.0, 0.0
        for c in range(D):
            p = min(max((h[k, c] + 1) / 2, 0.0), 1.0)
            chance[k, c] = p
            total += multiplicity[c] * p
            top = max(top, p)
        error_now[k] = 1 - (top if island[k] < 0 else top / total)
        for c in range(D):
            chance[k, c] *= multiplicity[c] / total
