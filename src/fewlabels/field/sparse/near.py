"""Neighbours in full: G along the edges, kept as effective resistances, and what a question does to those beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.field.sparse.lookahead import BLOCK, Numbers, Present, _harmonic, _response, _two_step
from fewlabels.kernels.lookahead_cpu import LOG2_E, ORDER_FREE, STEEP_32, STEEP_64, _steep_after
from fewlabels.kernels.prefetch import AHEAD, prefetch
from fewlabels.kernels.reference import Floats, Ints


@njit(cache=True, nogil=True, parallel=True)
def change(indptr: Ints, indices: Ints, ties: Floats, column: Floats, factor: float) -> None:
    """G changes by factor column column': the resistance G_ii + G_jj - 2 G_ij of every edge follows."""
    for i in prange(len(indptr) - 1):
        mine = column[i]
        for e in range(indptr[i], indptr[i + 1]):
            difference = mine - column[indices[e]]
            ties[e] = max(ties[e] + factor * difference * difference, 0.0)


class Beside(NamedTuple):
    """Questions q, and for each a run of neighbours k: all of them, or only some."""

    questions: Ints
    start: Ints  # of each question's run
    stop: Ints
    neighbours: Ints
    ties: Floats  # G_qq + G_kk - 2 G_qk
    weight: Floats  # what a drop at each neighbour counts; empty: one
    spread: Floats  # and its square; empty: nothing


def beside(indptr: Ints, indices: Ints, ties: Floats, questions: Ints) -> Beside:
    """These questions and all their neighbours."""
    return Beside(questions, indptr[questions], indptr[questions + 1], indices, ties, np.empty(0), np.empty(0))


def beside_some(indptr: Ints, indices: Ints, ties: Floats, nodes: Ints, weight: Floats, spread: Floats) -> Beside:
    """The questions that have neighbours among these nodes, and only those neighbours; weights and spreads of nodes."""
    many = indptr[nodes + 1] - indptr[nodes]
    edge = np.repeat(indptr[nodes] - np.cumsum(many) + many, many) + np.arange(many.sum())
    order = np.argsort(indices[edge], kind="stable")
    questions, start = np.unique(indices[edge[order]], return_index=True)
    stop = np.append(start[1:], len(edge)) if len(start) else start
    which = np.repeat(np.arange(len(nodes)), many)[order]
    return Beside(questions, start, stop, nodes[which], ties[edge[order]], weight[which], spread[which])


def packed(present: Present) -> Numbers:
    """(n, D + 4) h, G_kk, 1 / d_k, the error now and the island of each node side by side: neighbours are anywhere in
    memory, and every access waits. A float32 holds the number of every component up to 16 million.
    """
    n, D = present.h.shape
    rows = np.empty((n, D + 4), present.h.dtype)
    rows[:, :D] = present.h
    for j, values in enumerate((present.diagonal, present.least, present.wrong, present.island)):
        rows[:, D + j] = values
    return rows


def near_gains(present: Present, rows: Numbers, pairs: Beside) -> tuple[Floats, Floats]:
    """(questions,) the sums over the neighbours k of q of weight_k times the drop in the error at k, and of spread_k
    times its square.
    """
    gain, variance = np.empty(len(pairs.questions)), np.empty(len(pairs.questions))
    _near_gains(present, rows, pairs, gain, variance, get_num_threads())
    return gain, variance


@njit(cache=True, nogil=True, parallel=True)
def _near_gains(present: Present, rows: Numbers, pairs: Beside, gain: Floats, variance: Floats, threads: int) -> None:
    m = len(gain)
    for thread in prange(threads):
        _near_share(present, rows, pairs, gain, variance, thread * m // threads, (thread + 1) * m // threads)


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _near_share(
    present: Present, rows: Numbers, pairs: Beside, gain: Floats, variance: Floats, first: int, last: int
) -> None:
    h, chances, many, diagonal, _, island, _, harmonic = present
    weight, spread, last_edge = pairs.weight, pairs.spread, len(pairs.neighbours) - 1
    weighted = len(weight) > 0
    D, number = len(many), h.dtype
    steep = (STEEP_32 if h.itemsize == 4 else STEEP_64) * LOG2_E
    t, r, out = np.empty(BLOCK, number), np.empty(BLOCK, number), np.empty(BLOCK, number)
    x, chance = np.empty((D, BLOCK), number), np.empty((D, BLOCK), number)
    work, now, who = np.empty((2 * D + 5, BLOCK), number), np.empty(BLOCK, number), np.empty(BLOCK, np.int64)
    for i in range(first, last):
        q = pairs.questions[i]
        qq, q_island, h_q = diagonal[q], island[q], h[q]
        one, two = 0.0, 0.0
        for c in range(D):
            chance[c, :] = chances[q, c]
        e, stop = pairs.start[i], pairs.stop[i]
        while e < stop:
            width = 0
            while e < stop and width < BLOCK:
                prefetch(rows, pairs.neighbours[min(e + AHEAD, last_edge)], 1)
                row = rows[pairs.neighbours[e]]
                if row[D] != 0 or row[D + 3] >= 0:  # not labelled
                    near = 0.5 * (row[D] + qq - pairs.ties[e])
                    a, b = _response(near, qq, row[D], row[D + 1], q_island, int(row[D + 3]))
                    t[width], r[width], now[width], who[width] = LOG2_E * a, b, row[D + 2], e
                    for c in range(D):
                        if harmonic:
                            x[c, width] = row[c] - r[width] * (h_q[c] + 1)
                        else:
                            x[c, width] = t[width] * (r[width] * h_q[c] - row[c])
                    width += 1
                e += 1
            if harmonic:
                _harmonic(width, r, x, chance, many, work, out)
            elif _two_step(width, t, r, x, chance, many, work, out):
                for j in range(width):
                    if t[j] > steep:
                        k = pairs.neighbours[who[j]]
                        out[j] = _steep_after(h[k], h_q, float(r[j]), t[j] / LOG2_E, chances[q], many)
            for j in range(width):
                drop = now[j] - out[j] if r[j] != 0 else 0.0
                one += weight[who[j]] * drop if weighted else drop
                two += spread[who[j]] * drop * drop if weighted else 0.0
        gain[i], variance[i] = one, two
