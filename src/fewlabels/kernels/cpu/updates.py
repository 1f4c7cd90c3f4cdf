"""Numba twins of `reference`: no n x n temporaries, all cores, the inner loop always along a row of G.

Here are the variances and the updates of G and h. While a kernel runs, other Python threads run too (`nogil`): the
labelling page answers while the next question is worked out.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from fewlabels.arrays import EPS, Floats, Ints
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


def downdate(G: Floats, h: Floats, island: Ints, q: int, c: int) -> None:
    _downdate(whole_rows(G), h, island, q, c)


@njit(cache=True, nogil=True, parallel=True)
def _downdate(G: Floats, h: Floats, island: Ints, q: int, c: int) -> None:
    u, C = h.shape
    row, at_q, here = G[q, :u].copy(), h[q].copy(), island[q]
    pivot = row[q]
    for k in prange(u):
        r = row[k] / pivot if here < 0 else 1.0 if island[k] == here else 0.0
        if r != 0.0:
            for d in range(C):
                h[k, d] += r * ((1.0 if d == c else -1.0) - at_q[d])
            change = G[k, :u]
            if here < 0:
                for j in range(u):
                    change[j] -= row[k] * row[j] / pivot  # this order of operations keeps G symmetric to the last bit
            else:
                for j in range(u):
                    if island[j] == here:
                        change[j] += pivot - (row[k] + row[j])
    if here >= 0:
        island[island == here] = -1


def shift(G: Floats, h: Floats, q: int, v: float, h_q: Floats) -> None:
    _shift(whole_rows(G), h, q, v, h_q)


@njit(cache=True, nogil=True, parallel=True)
def _shift(G: Floats, h: Floats, q: int, v: float, h_q: Floats) -> None:
    u, C = h.shape
    row, at_q = G[q, :u].copy(), h[q].copy()
    pivot = row[q]
    kept = v / pivot
    for k in prange(u):
        if row[k] != 0.0:
            for d in range(C):
                h[k, d] += row[k] / pivot * (h_q[d] - at_q[d])
            change = G[k, :u]
            for j in range(u):
                change[j] += row[k] * row[j] / pivot * (kept - 1.0)
            change[q] = row[k] * kept
    G[q, :u] = row * kept
    h[q] = h_q


def ground(G: Floats, h: Floats, island: Ints, q: int, v: float, h_q: Floats) -> None:
    _ground(whole_rows(G), h, island, q, v, h_q)


@njit(cache=True, nogil=True, parallel=True)
def _ground(G: Floats, h: Floats, island: Ints, q: int, v: float, h_q: Floats) -> None:
    u, here = len(h), island[q]
    row = G[q, :u].copy()
    pivot = row[q]
    for k in prange(u):
        if island[k] == here:
            h[k] = h_q
            change = G[k, :u]
            for j in range(u):
                if island[j] == here:
                    change[j] += v + (pivot - (row[k] + row[j]))
    island[island == here] = -1


def border(G: Floats, h: Floats, reach: Floats, s: float, h_new: Floats, c: int) -> None:
    _border(whole_rows(G), h, reach, s, h_new, c)


@njit(cache=True, nogil=True, parallel=True)
def _border(G: Floats, h: Floats, reach: Floats, s: float, h_new: Floats, c: int) -> None:
    u, C = len(reach), h.shape[1]
    for k in prange(u):
        for d in range(C):
            h[k, d] += reach[k] * (h_new[d] - (1.0 if d == c else -1.0))
        change = G[k, :u]
        for j in range(u):
            change[j] += reach[k] * reach[j] / s
        G[u, k] = G[k, u] = reach[k] / s
    h[u] = h_new
    G[u, u] = 1 / s


@njit(cache=True, nogil=True, parallel=True)
def center(G: Floats, members: Ints) -> None:
    m = len(members)
    mean = np.empty(m)
    for a in prange(m):
        total = 0.0
        for b in range(m):
            total += G[members[a], members[b]]
        mean[a] = total / m
    overall = mean.mean()
    for a in prange(m):
        for b in range(m):
            G[members[a], members[b]] += overall - (mean[a] + mean[b])


@njit(cache=True, nogil=True, parallel=True)
def inverse_by_bordering(G: Floats, indptr: Ints, indices: Ints, weights: Floats, ground: Floats) -> None:
    m = len(ground)
    reach = np.empty(m)
    for q in range(m):
        reach[:q] = 0.0
        s = ground[q]
        for e in range(indptr[q], indptr[q + 1]):
            if indices[e] < q:
                reach[:q] += weights[e] * G[indices[e], :q]
            else:
                s += weights[e]
        for k in range(q):
            pull = ground[k]
            for e in range(indptr[k], indptr[k + 1]):
                if indices[e] > q:
                    pull += weights[e]
            s += reach[k] * pull
        for k in prange(q):
            for j in range(q):
                G[k, j] += reach[k] * reach[j] / s
            G[q, k] = G[k, q] = reach[k] / s
        G[q, q] = 1 / s


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def inverse_error(G: Floats, degree: Floats) -> Floats:
    rows, m = G.shape
    error = np.empty(rows)
    for k in prange(rows):
        total = 0.0
        for j in range(m):
            total += (G[k, j] * G[k, j] * degree[j]) ** 2
        error[k] = EPS * np.sqrt(total)
    return error
