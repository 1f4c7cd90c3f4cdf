"""VOpt and SOpt, from the sums of G's rows. Numba: no n x n temporaries, all cores, along the rows of G.

While a kernel runs, other Python threads run too (`nogil`): the labelling page answers while the next question is
worked out.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.cpu.layout import whole_rows
from fewlabels.kernels.cpu.pairs import ORDER_FREE
from fewlabels.kernels.reference import sopt_from_sums, vopt_from_sums


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def row_sums(G: Floats, width: int) -> tuple[Floats, Floats]:
    """Sum and sum of squares of the leading `width` entries of every row."""
    rows = G.shape[0]
    plain, squares = np.empty(rows), np.empty(rows)
    for q in prange(rows):
        row = G[q, :width]
        one, two = 0.0, 0.0
        for k in range(width):
            one += row[k]
            two += row[k] * row[k]
        plain[q], squares[q] = one, two
    return plain, squares


def vopt_cost(G: Floats, island: Ints, *, nodes: Ints | None = None) -> Floats:
    _, squares = row_sums(whole_rows(G), len(G))
    rows = slice(None) if nodes is None else nodes
    return vopt_from_sums(squares[rows], np.diag(G)[rows], island)


def sopt_cost(G: Floats, island: Ints, *, nodes: Ints | None = None) -> Floats:
    sums, _ = row_sums(whole_rows(G), len(G))
    rows = slice(None) if nodes is None else nodes
    return sopt_from_sums(sums[rows], np.diag(G)[rows], island)
