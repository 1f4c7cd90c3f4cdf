"""Neighbours in full: G along the edges, kept as effective resistances, and what a question does to its neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.kernels.cpu.pair_blocks import ROOM, harmonic_block, two_step_block
from fewlabels.kernels.cpu.pairs import LOG2_E, ORDER_FREE, STEEP_32, STEEP_64, largest_exponent, steep_error
from fewlabels.kernels.cpu.prefetch import AHEAD, LINE, aligned, prefetch
from fewlabels.kernels.cpu.sparse_lookahead import BLOCK, TWO_LOG2_E, response
from fewlabels.kernels.sparse_reference import NodeState


@njit(cache=True, nogil=True, parallel=True)
def update_ties(indptr: Ints, indices: Ints, ties: Floats, column: Floats, factor: float) -> None:
    """G changes by factor column column': the resistance G_ii + G_jj - 2 G_ij of every edge follows."""
    for i in prange(len(indptr) - 1):
        mine = column[i]
        for e in range(indptr[i], indptr[i + 1]):
            difference = mine - column[indices[e]]
            ties[e] = max(ties[e] + factor * difference * difference, 0.0)


class Runs(NamedTuple):
    """Questions q, and for each a run of neighbours k: all of them, or only some."""

    questions: Ints
    start: Ints  # of each question's run
    stop: Ints
    neighbours: Ints
    ties: Floats  # G_qq + G_kk - 2 G_qk
    weight: Floats  # of the drop at each neighbour; empty: one
    spread: Floats  # of its square; empty: zero


def all_neighbours(indptr: Ints, indices: Ints, ties: Floats, questions: Ints) -> Runs:
    """These questions and all their neighbours."""
    return Runs(questions, indptr[questions], indptr[questions + 1], indices, ties, np.empty(0), np.empty(0))


def some_neighbours(indptr: Ints, indices: Ints, ties: Floats, nodes: Ints, weight: Floats, spread: Floats) -> Runs:
    """The questions that have neighbours among these nodes, and only those neighbours; weight and spread by node."""
    degrees = indptr[nodes + 1] - indptr[nodes]
    edge = np.repeat(indptr[nodes] - np.cumsum(degrees) + degrees, degrees) + np.arange(degrees.sum())
    order = np.argsort(indices[edge], kind="stable")
    questions, start = np.unique(indices[edge[order]], return_index=True)
    stop = np.append(start[1:], len(edge)) if len(start) else start
    which = np.repeat(np.arange(len(nodes)), degrees)[order]
    return Runs(questions, start, stop, nodes[which], ties[edge[order]], weight[which], spread[which])


def packed(state: NodeState) -> Numbers:
    """(n, D + 4 or more) h, G_kk, 1 / d_k, the error now and the island of each node side by side, in lines of the
    memory of their own: neighbours are anywhere, and every access waits. A float32 is exact for component numbers up to
    16 million.
    """
    n, D = state.h.shape
    in_line = LINE // state.h.itemsize
    rows = aligned(n, -(-(D + 4) // in_line) * in_line, state.h.dtype)
    rows[:, :D] = state.h
    for j, values in enumerate((state.diagonal, state.least, state.error_now, state.island)):
        rows[:, D + j] = values
    return rows


def neighbour_gains(state: NodeState, rows: Numbers, runs: Runs) -> tuple[Floats, Floats]:
    """(questions,) the sums over the neighbours k of q of weight_k times the drop in the error at k, and of spread_k
    times its square.
    """
    gain, variance = np.empty(len(runs.questions)), np.empty(len(runs.questions))
    _neighbour_gains(state, rows, runs, gain, variance, get_num_threads())
    return gain, variance


@njit(cache=True, nogil=True, parallel=True)
def _neighbour_gains(state: NodeState, rows: Numbers, runs: Runs, gain: Floats, variance: Floats, threads: int) -> None:
    m = len(gain)
    for thread in prange(threads):
        _neighbours_share(state, rows, runs, gain, variance, thread * m // threads, (thread + 1) * m // threads)


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _neighbours_share(
    state: NodeState, rows: Numbers, runs: Runs, gain: Floats, variance: Floats, first: int, last: int
) -> None:
    h, chances, multiplicity, diagonal, _, island, _, harmonic, size = state
    weight, spread, last_edge = runs.weight, runs.spread, len(runs.neighbours) - 1
    weighted = len(weight) > 0
    D, number, zero = len(multiplicity), h.dtype, h.dtype.type(0)
    lines = rows.shape[1] * h.itemsize // LINE
    steep = (STEEP_32 if h.itemsize == 4 else STEEP_64) * LOG2_E
    t, r, right, exponent, now = np.empty((5, BLOCK), number)
    h_k, work, who = np.empty((D, BLOCK), number), np.empty(ROOM * D, number), np.empty(BLOCK, np.int64)
    for i in range(first, last):
        q = runs.questions[i]
        qq, q_island, h_q, chance = diagonal[q], island[q], h[q], chances[q]
        one, two = 0.0, 0.0
        e, stop = runs.start[i], runs.stop[i]
        while e < stop:
            width, steepest = 0, zero
            while e < stop and width < BLOCK:
                prefetch(rows, runs.neighbours[min(e + AHEAD, last_edge)], lines)
                row = rows[runs.neighbours[e]]
                if row[D] != 0 or row[D + 3] >= 0:  # not labelled
                    near = 0.5 * (row[D] + qq - runs.ties[e])
                    a, b = response(near, qq, row[D], row[D + 1], q_island, int(row[D + 3]))
                    t[width], r[width], now[width], who[width] = TWO_LOG2_E / a, b, row[D + 2], e
                    exponent[width] = t[width]
                    if len(size) > 0:
                        exponent[width] = largest_exponent(t[width], r[width], size[runs.neighbours[e]], size[q])
                    steepest = max(steepest, exponent[width])
                    for c in range(D):
                        h_k[c, width] = row[c]
                    width += 1
                e += 1
            if harmonic:
                harmonic_block(right, t, r, h_k, h_q, chance, multiplicity, work, 0, width)
            else:
                two_step_block(right, t, r, h_k, h_q, chance, multiplicity, work, 0, width)
            if steepest > steep and not harmonic:
                for j in range(width):
                    if exponent[j] > steep:
                        right[j] = 1 - steep_error(h_k[:, j], h_q, float(r[j]), t[j] / LOG2_E, chance, multiplicity)
            for j in range(width):
                drop = now[j] - (1 - right[j]) if r[j] != 0 else 0.0
                one += weight[who[j]] * drop if weighted else drop
                two += spread[who[j]] * drop * drop if weighted else 0.0
        gain[i], variance[i] = one, two
