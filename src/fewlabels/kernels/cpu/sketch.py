"""Random potentials of a field: what to solve for, and what the solutions tell of every node and edge, in few passes.

Signs are bits of a number hashed by splitmix64: of a node, or of an edge, which has the same ones from either end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.cpu.pairs import ORDER_FREE

MOST = 32  # columns: a number has as many signs


@njit(cache=True, inline="always")
def _bits(key: Any, seed: Any) -> Any:
    """32 random bits of a number."""
    x = np.uint64(seed) + (np.uint64(key) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint32((x ^ (x >> np.uint64(31))) >> np.uint64(32))


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def noise(indptr: Ints, indices: Ints, weights: Floats, share: float, unsure: Floats, seed: int, B: Any) -> None:
    """Fill B (n, m), m at most 32, with columns whose covariance is L + share L^2 + diag(unsure).

    Every edge adds the root of its weight, with a random sign, to one end and takes it off the other; the Laplacian of
    random signs at the nodes comes on top.
    """
    n, m = B.shape
    number = B.dtype.type
    along, across = np.sqrt(weights), np.sqrt(share)
    for i in prange(n):
        row, total = B[i], number(0)
        for c in range(m):
            row[c] = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            one, other = min(i, j), max(i, j)
            edge, there = _bits(one * n + other, seed), _bits(j, seed + 1)
            root = number(along[e] if i < j else -along[e])
            weight = number(across * weights[e])
            total += weight
            for c in range(m):
                x = root if (edge >> np.uint32(c)) & np.uint32(1) else -root
                y = weight if (there >> np.uint32(c)) & np.uint32(1) else -weight
                row[c] += x - y
        mine, hung = _bits(i, seed + 1), _bits(i, seed + 2)
        tie = number(np.sqrt(unsure[i]))
        for c in range(m):
            y = total if (mine >> np.uint32(c)) & np.uint32(1) else -total
            x = tie if (hung >> np.uint32(c)) & np.uint32(1) else -tie
            row[c] += y + x


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def add_ties(indptr: Ints, indices: Ints, weights: Floats, Z: Any, factor: float, ties: Floats, LZ: Any) -> None:
    """Add the squared differences of the potentials, times the factor, to every edge; LZ = L Z on the way."""
    m = Z.shape[1]
    for i in prange(len(Z)):
        mine, row = Z[i], LZ[i]
        for c in range(m):
            row[c] = 0
        for e in range(indptr[i], indptr[i + 1]):
            other, weight, total = Z[indices[e]], Z.dtype.type(weights[e]), Z.dtype.type(0)
            for c in range(m):
                apart = mine[c] - other[c]
                row[c] += weight * apart
                total += apart * apart
            ties[e] += factor * total


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def add_squares(
    indptr: Ints, indices: Ints, weights: Floats, share: float, own: Floats, diagonal: Floats, Z: Any, LZ: Any,
    factor: float, squares: Floats,
) -> None:  # fmt: skip
    """Add the squares of (own Z - Q Z) / diagonal, times the factor, to every node; Q = L + share L^2, `own` its
    diagonal.
    """
    n, m = Z.shape
    number = Z.dtype.type
    for i in prange(n):
        mine = LZ[i]
        twice = np.zeros(m, Z.dtype)
        if share > 0:
            for e in range(indptr[i], indptr[i + 1]):
                other, weight = LZ[indices[e]], number(weights[e])
                for c in range(m):
                    twice[c] += weight * (mine[c] - other[c])
        total, kept, by = number(0), number(own[i]), number(share)
        for c in range(m):
            towards = kept * Z[i, c] - mine[c] - by * twice[c]
            total += towards * towards
        squares[i] += factor * total / diagonal[i] ** 2
