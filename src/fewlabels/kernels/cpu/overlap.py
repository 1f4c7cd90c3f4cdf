"""How alike the neighbourhoods of two linked nodes are, for every edge, in one pass over the edges of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from fewlabels.arrays import Floats


@njit(cache=True, nogil=True, parallel=True)
def neighbourhood_overlap(indptr: Any, indices: Any, weights: Floats) -> Floats:
    """(nnz,) the cosine between the two ends' rows of W, each with its largest weight as its own; rows are sorted.

    The same from either end, to the last bit.
    """
    n = len(indptr) - 1
    own, length, found = np.zeros(n), np.zeros(n), np.empty(len(weights))
    for i in prange(n):
        largest = squares = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            largest = max(largest, weights[e])
        for e in range(indptr[i], indptr[i + 1]):
            squares += (weights[e] / largest) ** 2
        own[i], length[i] = largest, np.sqrt(1 + squares)
    for i in prange(n):
        end = indptr[i + 1]
        for e in range(indptr[i], end):
            j = indices[e]
            a, b, other = indptr[i], indptr[j], indptr[j + 1]
            total = weights[e] / own[i] + weights[e] / own[j]
            shared = 0.0
            while a < end and b < other:
                x, y = indices[a], indices[b]
                if x == y:
                    shared += (weights[a] / own[i]) * (weights[b] / own[j])
                a += x <= y
                b += y <= x
            found[e] = (total + shared) / (length[i] * length[j])
    return found
