"""Neighbours in full: G along the edges, kept as effective resistances, and what a question does to those beside it."""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.field.sparse.lookahead import BLOCK, Present, _harmonic, _response, _two_step
from fewlabels.kernels.lookahead_cpu import LOG2_E, ORDER_FREE, STEEP_32, STEEP_64, _steep_after
from fewlabels.kernels.reference import Floats, Ints


@njit(cache=True, nogil=True, parallel=True)
def change(indptr: Ints, indices: Ints, ties: Floats, column: Floats, factor: float) -> None:
    """G changes by factor column column': the resistance G_ii + G_jj - 2 G_ij of every edge follows."""
    for i in prange(len(indptr) - 1):
        mine = column[i]
        for e in range(indptr[i], indptr[i + 1]):
            difference = mine - column[indices[e]]
            ties[e] = max(ties[e] + factor * difference * difference, 0.0)


def near_gains(
    present: Present, indptr: Ints, indices: Ints, ties: Floats, rows: Ints, weight: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    """(len(rows),) the sums over the neighbours k of q of weight_k times the drop in the error at k, and of spread_k
    times its square; weight and spread are (n,), and where a weight is 0 nothing is worked out.
    """
    gain, variance = np.empty(len(rows)), np.empty(len(rows))
    _near_gains(present, indptr, indices, ties, rows, weight, spread, gain, variance, get_num_threads())
    return gain, variance


@njit(cache=True, nogil=True, parallel=True)
def _near_gains(
    present: Present, indptr: Ints, indices: Ints, ties: Floats, rows: Ints, weight: Floats, spread: Floats,
    gain: Floats, variance: Floats, threads: int,
) -> None:  # fmt: skip
    for thread in prange(threads):
        part = slice(thread * len(rows) // threads, (thread + 1) * len(rows) // threads)
        _near_share(present, indptr, indices, ties, rows[part], weight, spread, gain[part], variance[part])


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _near_share(
    present: Present, indptr: Ints, indices: Ints, ties: Floats, rows: Ints, weight: Floats, spread: Floats,
    gain: Floats, variance: Floats,
) -> None:  # fmt: skip
    h, chances, many, diagonal, least, island, wrong, harmonic = present
    D, number = len(many), h.dtype
    steep = (STEEP_32 if h.itemsize == 4 else STEEP_64) * LOG2_E
    t, r, out = np.empty(BLOCK, number), np.empty(BLOCK, number), np.empty(BLOCK, number)
    x, chance = np.empty((D, BLOCK), number), np.empty((D, BLOCK), number)
    work, who = np.empty((2 * D + 5, BLOCK), number), np.empty(BLOCK, np.int64)
    for i in range(len(rows)):
        q = rows[i]
        qq, q_island, h_q = diagonal[q], island[q], h[q]
        one, two = 0.0, 0.0
        for c in range(D):
            chance[c, :] = chances[q, c]
        e, stop = indptr[q], indptr[q + 1]
        while e < stop:
            width = 0
            while e < stop and width < BLOCK:
                k = indices[e]
                if weight[k] != 0 and wrong[k] > 0:
                    near = 0.5 * (diagonal[k] + qq - ties[e])
                    a, b = _response(near, qq, diagonal[k], least[k], q_island, island[k])
                    t[width], r[width], who[width] = LOG2_E * a, b, k
                    for c in range(D):
                        if harmonic:
                            x[c, width] = h[k, c] - r[width] * (h_q[c] + 1)
                        else:
                            x[c, width] = t[width] * (r[width] * h_q[c] - h[k, c])
                    width += 1
                e += 1
            if harmonic:
                _harmonic(width, r, x, chance, many, work, out)
            elif _two_step(width, t, r, x, chance, many, work, out):
                for j in range(width):
                    if t[j] > steep:
                        out[j] = _steep_after(h[who[j]], h_q, float(r[j]), t[j] / LOG2_E, chances[q], many)
            for j in range(width):
                drop = wrong[who[j]] - out[j] if r[j] != 0 else 0.0
                one += weight[who[j]] * drop
                two += spread[who[j]] * drop * drop
        gain[i], variance[i] = one, two
