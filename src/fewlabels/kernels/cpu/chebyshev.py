"""One step of a polynomial in a sparse matrix, for a block of columns: a single pass over it, and no dot products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.cpu.wide_rows import WIDE, step_row

ONE = np.uint64(1)  # a number of a row that cannot be negative is not asked whether it is: half of a step by one column


def step(indptr: Any, indices: Any, weights: Any, X: Any, Y: Any, B: Any, a: float, b: float, c: float) -> None:
    """Y = a X + b Y + c (B + W X), all blocks as wide, by WIDE; an empty B is zero. Where b is 0, Y is not read.

    `indptr` is in uint64, `indices` in uint32 and longer by AHEAD.
    """
    if X.shape[1] % WIDE or not X.flags.c_contiguous or X.shape != Y.shape:
        raise ValueError(f"blocks of {WIDE} columns are needed, row by row, not {X.shape} in strides of {X.strides}.")
    kind = X.dtype.type
    _step(indptr, indices, weights, X, Y, B, kind(a), kind(b), kind(c), get_num_threads())


def step_one(
    order: Any, indptr: Any, indices: Any, weights: Any, x: Any, y: Any, given: Any, a: float, b: float, c: float
) -> None:
    """The same for single columns (n,); the matrix holds its rows in this order."""
    kind = x.dtype.type
    _step_one(order, indptr, indices, weights, x, y, given, kind(a), kind(b), kind(c), get_num_threads())


@njit(cache=True, nogil=True, parallel=True)
def _step(
    indptr: Ints, indices: Ints, weights: Floats, X: Floats, Y: Floats, B: Floats, a: float, b: float, c: float,
    threads: int,
) -> None:  # fmt: skip
    n, width = np.uint64(X.shape[0]), np.uint64(X.shape[1])
    for thread in prange(threads):
        for i in range(np.uint64(thread * n // threads), np.uint64((thread + 1) * n // threads)):
            for left in range(np.uint64(0), width, np.uint64(WIDE)):
                step_row(indices, weights, indptr[i], indptr[i + ONE], X, Y, B, i, left, width, a, b, c)


@njit(cache=True, nogil=True, parallel=True)
def _step_one(
    order: Ints, indptr: Ints, indices: Ints, weights: Floats, x: Floats, y: Floats, given: Floats, a: float, b: float,
    c: float, threads: int,
) -> None:  # fmt: skip
    n = len(x)
    for thread in prange(threads):
        for k in range(np.uint64(thread * n // threads), np.uint64((thread + 1) * n // threads)):
            i = np.uint64(order[k])
            total = given[i] if len(given) > 0 else x.dtype.type(0)
            for e in range(indptr[k], indptr[k + ONE]):
                total += weights[e] * x[indices[e]]
            y[i] = a * x[i] + (b * y[i] if b != 0 else x.dtype.type(0)) + c * total
