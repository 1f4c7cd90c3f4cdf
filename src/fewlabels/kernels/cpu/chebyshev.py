"""One step of a polynomial in a sparse matrix, for a block of columns: a single pass over it, and no dot products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.cpu.pairs import ORDER_FREE


def step(indptr: Ints, indices: Ints, weights: Any, X: Any, Y: Any, B: Any, a: float, b: float, c: float) -> None:
    """Y = a X + b Y + c (B + W X), all blocks (n, m); an empty B is zero."""
    kind = X.dtype.type
    if X.shape[1] == 1:
        _step_one(indptr, indices, weights, X[:, 0], Y[:, 0], B[:, 0], kind(a), kind(b), kind(c), get_num_threads())
    else:
        _step(indptr, indices, weights, X, Y, B, kind(a), kind(b), kind(c), get_num_threads())


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def _step(
    indptr: Ints, indices: Ints, weights: Floats, X: Floats, Y: Floats, B: Floats, a: float, b: float, c: float,
    threads: int,
) -> None:  # fmt: skip
    n, m = X.shape
    for thread in prange(threads):
        sums = np.empty(m, X.dtype)
        for i in range(thread * n // threads, (thread + 1) * n // threads):
            mine, row = X[i], Y[i]
            for j in range(m):
                sums[j] = 0
            for e in range(indptr[i], indptr[i + 1]):
                w, other = weights[e], X[indices[e]]
                for j in range(m):
                    sums[j] += w * other[j]
            if len(B) > 0:
                given = B[i]
                for j in range(m):
                    sums[j] += given[j]
            for j in range(m):
                row[j] = a * mine[j] + b * row[j] + c * sums[j]


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def _step_one(
    indptr: Ints, indices: Ints, weights: Floats, x: Floats, y: Floats, given: Floats, a: float, b: float, c: float,
    threads: int,
) -> None:  # fmt: skip
    """The same for one column."""
    n = len(x)
    for thread in prange(threads):
        for i in range(thread * n // threads, (thread + 1) * n // threads):
            total = given[i] if len(given) > 0 else x.dtype.type(0)
            for e in range(indptr[i], indptr[i + 1]):
                total += weights[e] * x[indices[e]]
            y[i] = a * x[i] + b * y[i] + c * total
