"""Numba kernels on row-major (n, m) blocks: one pass over the matrix serves all m columns, on all cores.

They work in the precision of the block; sums over a column are taken in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu.pairs import ORDER_FREE

TILE = 64  # rows processed in one run where only columns differ


def laplacian(indptr: Ints, indices: Ints, weights: Any, X: Any) -> Any:
    """(n, m) L X, summed over the differences along the edges."""
    Y = np.empty_like(X)
    if X.shape[1] == 1:
        _laplacian_of_one(indptr, indices, weights, X[:, 0], Y[:, 0])
    else:
        _laplacian(indptr, indices, weights, X, Y)
    return Y


@njit(cache=True, nogil=True, parallel=True)
def _laplacian(indptr: Ints, indices: Ints, weights: Floats, X: Floats, Y: Floats) -> None:
    n, m = X.shape
    for i in prange(n):
        row, mine = Y[i], X[i]
        for j in range(m):
            row[j] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            w, other = weights[e], X[indices[e]]
            for j in range(m):
                row[j] += w * (mine[j] - other[j])


@njit(cache=True, nogil=True, parallel=True)
def _laplacian_of_one(indptr: Ints, indices: Ints, weights: Floats, x: Floats, y: Floats) -> None:
    for i in prange(len(x)):
        mine, total = x[i], 0 * x[i]
        for e in range(indptr[i], indptr[i + 1]):
            total += weights[e] * (mine - x[np.uint64(indices[e])])
        y[i] = total


@njit(cache=True, nogil=True, parallel=True)
def _apply(
    indptr: Ints, indices: Ints, weights: Floats, diagonal: Floats, held: Flags, X: Floats, Y: Floats, threads: int
) -> Floats:
    """Y = A X, zero in the rows held; returns (m,) the products X'Y of the columns."""
    n, m = X.shape
    partial = np.zeros((threads, m))
    for t in prange(threads):
        mine = np.zeros(m)
        for i in range(t * n // threads, (t + 1) * n // threads):
            row = Y[i]
            if held[i]:
                for j in range(m):
                    row[j] = 0.0
                continue
            d = diagonal[i]
            for j in range(m):
                row[j] = d * X[i, j]
            for e in range(indptr[i], indptr[i + 1]):
                w, other = weights[e], X[indices[e]]
                for j in range(m):
                    row[j] -= w * other[j]
            for j in range(m):
                mine[j] += row[j] * X[i, j]
        for j in range(m):
            partial[t, j] = mine[j]
    return totals(partial)


@njit(cache=True, nogil=True)
def totals(partial: Floats) -> Floats:
    """(m,) the sum of the rows; as a loop it compiles in a tenth of the time of `sum(axis=0)`."""
    total = np.zeros(partial.shape[1])
    for t in range(len(partial)):
        for j in range(len(total)):
            total[j] += partial[t, j]
    return total


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def step(X: Floats, R: Floats, P: Floats, Q: Floats, alpha: Floats) -> None:
    """X += alpha P and R -= alpha Q, column by column."""
    n, m = X.shape
    x, r, p, q = X.reshape(-1), R.reshape(-1), P.reshape(-1), Q.reshape(-1)
    rate = _tiled(alpha)
    for tile in prange((n + TILE - 1) // TILE):
        part = slice(tile * TILE * m, min((tile + 1) * TILE, n) * m)
        a, b, c, d = x[part], r[part], p[part], q[part]
        for k in range(len(a)):
            a[k] += rate[k] * c[k]
        for k in range(len(a)):
            b[k] -= rate[k] * d[k]


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def turn(P: Floats, Z: Floats, beta: Floats) -> None:
    """P = Z + beta P, column by column."""
    n, m = P.shape
    p, z = P.reshape(-1), Z.reshape(-1)
    rate = _tiled(beta)
    for tile in prange((n + TILE - 1) // TILE):
        part = slice(tile * TILE * m, min((tile + 1) * TILE, n) * m)
        a, b = p[part], z[part]
        for k in range(len(a)):
            a[k] = b[k] + rate[k] * a[k]


@njit(cache=True)
def _tiled(row: Floats) -> Floats:
    """The row repeated, so that a loop can run along a tile of rows without checking where one ends."""
    m = len(row)
    out = np.empty(TILE * m, row.dtype)
    for i in range(TILE):
        for j in range(m):
            out[i * m + j] = row[j]
    return out


@njit(cache=True, nogil=True, parallel=True)
def scaled(R: Floats, factor: Floats) -> Floats:
    """(n, m) each row times its factor."""
    n, m = R.shape
    Z = np.empty((n, m), R.dtype)
    for i in prange(n):
        for j in range(m):
            Z[i, j] = factor[i] * R[i, j]
    return Z


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def _dots(X: Floats, Y: Floats, threads: int) -> Floats:
    """(m,) X'Y of each column: all tiles summed into one, then over the rows of that tile."""
    n, m = X.shape
    x, y = X.reshape(-1), Y.reshape(-1)
    partial = np.zeros((threads, TILE * m))
    for t in prange(threads):
        mine, stop = np.zeros(TILE * m), (t + 1) * n // threads
        for first in range(t * n // threads, stop, TILE):
            part = slice(first * m, min(first + TILE, stop) * m)
            a, b = x[part], y[part]
            for k in range(len(a)):
                mine[k] += a[k] * b[k]
        for k in range(TILE * m):
            partial[t, k] = mine[k]
    return totals(partial.reshape(threads * TILE, m))


@njit(cache=True, nogil=True, parallel=True)
def rank_one(X: Floats, column: Floats, at: Floats) -> None:
    """X += column at', where the column is not zero."""
    n, m = X.shape
    for i in prange(n):
        c = column[i]
        if c != 0.0:
            for j in range(m):
                X[i, j] += c * at[j]


@njit(cache=True, nogil=True, parallel=True)
def _move_rows(X: Floats, first: int, rows: Ints, factors: Floats, Y: Floats, left: int) -> None:
    for i in prange(len(rows)):
        mine, row = X[rows[i]], Y[i]
        for j in range(len(factors)):
            row[left + j] = factors[j] * mine[first + j]


@njit(cache=True, nogil=True, parallel=True)
def _take_off(X: Floats, direction: Floats, part: Ints, parts: int, threads: int) -> Floats:
    n, m = X.shape
    along = np.zeros((parts + threads, m))  # a part that begins before a thread's rows has a place of the thread's own
    for t in prange(threads):
        mine = np.zeros(m)
        start, stop = t * n // threads, (t + 1) * n // threads
        for i in range(start, stop):
            for j in range(m):
                mine[j] += direction[i] * X[i, j]
            if i + 1 == stop or part[i + 1] != part[i]:
                before = start > 0 and part[i] == part[start - 1]
                for j in range(m):
                    along[parts + t if before else part[i], j] += mine[j]
                    mine[j] = 0
    for t in range(threads):
        if t * n // threads < n:
            for j in range(m):
                along[part[t * n // threads], j] += along[parts + t, j]
    for i in prange(n):
        d, total = direction[i], along[part[i]]
        for j in range(m):
            X[i, j] -= d * total[j]
    return along[:parts]


@njit(cache=True, nogil=True, parallel=True)
def place(X: Floats, slots: Ints, Y: Floats) -> None:
    """X[:, slots] = Y, along the rows."""
    for i in prange(len(X)):
        for j in range(len(slots)):
            X[i, slots[j]] = Y[i, j]


@njit(cache=True, nogil=True, parallel=True)
def _triangular(
    indptr: Ints, indices: Ints, L: Floats, pivots: Floats, order: Ints, B: Floats, X: Floats, work: Floats, least: Any
) -> None:
    """X (n, m), the solution of A X = B from A = L D L' in another order of the rows; work is (cores, n x width).

    L is unit lower triangular, by columns, the diagonal left out. Each core takes its share of the columns of B. What
    is below `least` counts as zero.
    """
    n, m = B.shape
    threads = len(work)
    for t in prange(threads):
        left, right = t * m // threads, (t + 1) * m // threads
        width = right - left
        Y = work[t, : n * width].reshape(n, width)
        for i in range(n):
            for c in range(width):
                Y[i, c] = B[order[i], left + c]
        for j in range(n):
            mine = Y[j]
            some = False
            for c in range(width):
                mine[c] = mine[c] if abs(mine[c]) >= least else least * 0
                some |= mine[c] != 0.0
            if not some:  # a column of the identity touches few rows on the way down
                continue
            for e in range(indptr[j], indptr[j + 1]):
                other, w = Y[indices[e]], L[e]
                for c in range(width):
                    other[c] -= w * mine[c]
        for j in range(n - 1, -1, -1):
            mine = Y[j]
            for c in range(width):
                mine[c] /= pivots[j]
            for e in range(indptr[j], indptr[j + 1]):
                other, w = Y[indices[e]], L[e]
                for c in range(width):
                    mine[c] -= w * other[c]
            for c in range(width):
                mine[c] = mine[c] if abs(mine[c]) >= least else least * 0
        for i in range(n):
            for c in range(width):
                X[order[i], left + c] = Y[i, c]


def apply(indptr: Ints, indices: Ints, weights: Floats, diagonal: Floats, held: Flags, X: Floats, Y: Floats) -> Floats:
    """Y = A X, zero in the rows held; returns (m,) the products X'Y of the columns."""
    products: Floats = _apply(indptr, indices, weights, diagonal, held, X, Y, get_num_threads())
    return products


def dots(X: Floats, Y: Floats) -> Floats:
    """(m,) X'Y of each column."""
    products: Floats = _dots(X, Y, get_num_threads())
    return products


def move_rows(X: Any, here: slice, rows: Ints, factors: Floats, Y: Any, there: slice) -> None:
    """Y[:, there] = factors X[rows, here], a factor for each of the columns that the slices begin with."""
    _move_rows(X, here.start, rows, factors.astype(Y.dtype), Y, there.start)


def take_off(X: Any, direction: Any, part: Ints) -> Floats:
    """Take off X what of it is along the direction, of length one, in each part, whose rows follow each other; returns
    (m,) how much that was.
    """
    along = _take_off(X, direction, part, int(part.max()) + 1, get_num_threads())
    return np.asarray(np.linalg.norm(along, axis=0))


def triangular(indptr: Ints, indices: Ints, L: Floats, pivots: Floats, order: Ints, B: Floats) -> Floats:
    """(n, m) the solution of A X = B from A = L D L' in another order of the rows.

    Where many are held, columns fade to nothing a few rows on: in float32 to numbers so small that processors take many
    times as long over them. These are zero here.
    """
    n, m = B.shape
    threads = max(1, min(get_num_threads(), m))
    X = np.empty((n, m), L.dtype)
    work = np.empty((threads, n * -(-m // threads)), L.dtype)  # from NumPy, which uses huge pages
    _triangular(indptr, indices, L, pivots, order, B, X, work, np.finfo(L.dtype).tiny / np.finfo(L.dtype).eps)
    return X
