"""Random potentials of a field: what to solve for, and what the solutions tell of every node and edge, in few passes.

Signs are bits of a number hashed by splitmix64: of a node, or of an edge, which has the same ones from either end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu.pairs import ORDER_FREE

MOST = 32  # columns: a number has as many signs
HUB = 64  # neighbours: of a node with more nothing but itself is near
ROUNDING = 1e-10  # share of a pivot below which it is rounding


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
def add_squares(members: Ints, near: Floats, Z: Any, AZ: Any, factor: float, squares: Floats) -> None:
    """Add the squares of Z less what is near, near' (A Z) at the members, times the factor, to every node."""
    n, m = Z.shape
    number = Z.dtype.type
    for i in prange(n):
        far = Z[i].copy()
        for a in range(members.shape[1]):
            j, by = members[i, a], number(near[i, a])
            if j >= 0:
                other = AZ[j]
                for c in range(m):
                    far[c] -= by * other[c]
        total = number(0)
        for c in range(m):
            total += far[c] * far[c]
        squares[i] += factor * total


@njit(cache=True, nogil=True, parallel=True)
def neighbourhoods(
    indptr: Ints, indices: Ints, weights: Floats, share: float, degree: Floats, diagonal: Floats, held: Flags,
    members: Ints, near: Floats,
) -> None:  # fmt: skip
    """Fill in for every node k the nodes around it (n, NEAR), itself first and -1 for none, and near = inv(A) e_k among
    these alone. They are its strongest neighbours; hubs, and those held, have none and are nobody's.

    A = L + share L^2 but for its diagonal, which is given; the indices of a row rise.
    """
    n, most = members.shape
    for k in prange(n):
        members[k] = -1
        near[k] = 0
        members[k, 0], near[k, 0] = k, 1 / diagonal[k]
        if held[k] or indptr[k + 1] - indptr[k] > HUB:
            continue
        around, size = members[k], 1
        left = np.full(indptr[k + 1] - indptr[k], -1.0)
        for e in range(len(left)):
            j = indices[indptr[k] + e]
            if not held[j] and indptr[j + 1] - indptr[j] <= HUB:
                left[e] = weights[indptr[k] + e]
        while size < most and len(left):
            e = int(np.argmax(left))
            if left[e] <= 0:
                break
            around[size], left[e], size = indices[indptr[k] + e], -1.0, size + 1
        A = np.empty((size, size))  # the node itself last: a Cholesky factor's last row is then all that is needed
        for a in range(size):
            i = around[size - 1 - a]
            A[a, a] = diagonal[i]
            for b in range(a):
                A[a, b] = _entry(indptr, indices, weights, share, degree, i, around[size - 1 - b])
        for a in range(size):
            own = A[a, a]
            for b in range(a):
                for c in range(b):
                    A[a, b] -= A[a, c] * A[b, c]
                A[a, b] /= A[b, b]
                A[a, a] -= A[a, b] ** 2
            if A[a, a] <= ROUNDING * own:
                if a == size - 1:
                    size = 0
                    break
                A[a, :a], A[a, a] = 0, np.inf  # it says nothing that the others do not
            else:
                A[a, a] = np.sqrt(A[a, a])
        x = np.zeros(max(size, 1))
        for a in range(size - 1, -1, -1):
            total = 1 / A[a, a] if a == size - 1 else 0.0
            for b in range(a + 1, size):
                total -= A[b, a] * x[b]
            x[a] = total / A[a, a]
            near[k, size - 1 - a] = x[a]


@njit(cache=True, inline="always")
def _entry(indptr: Ints, indices: Ints, weights: Floats, share: float, degree: Floats, i: int, j: int) -> float:
    """Of L + share L^2, beside the diagonal."""
    found, e, f = 0.0, indptr[i], indptr[j]
    while e < indptr[i + 1] and indices[e] < j:
        e += 1
    if e < indptr[i + 1] and indices[e] == j:
        found = -weights[e] * (1 + share * (degree[i] + degree[j]))
    e = indptr[i]
    while share > 0 and e < indptr[i + 1] and f < indptr[j + 1]:
        if indices[e] < indices[f]:
            e += 1
        elif indices[e] > indices[f]:
            f += 1
        else:
            found += share * weights[e] * weights[f]
            e += 1
            f += 1
    return found
