"""The error to expect at k once q is answered, for blocks of pairs (q, k): columns of G in, sums out.

`sampled_gains` scores every question on a sample of k, `whole_costs` a few questions on every k. Both run along the
rows of a row-major block of columns of G. The arithmetic of a pair is that of the dense look-ahead (`pairs`): C + 2
exponentials, classes never named worked out once. `kernels.sparse_reference` is their plain twin.
"""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.cpu.pair_blocks import ROOM, harmonic_block, two_step_block
from fewlabels.kernels.cpu.pairs import (
    LOG2_E,
    ORDER_FREE,
    STEEP_32,
    STEEP_64,
    largest_exponent,
    steep_error,
    variance_left,
    variance_of_first,
)
from fewlabels.kernels.sparse_reference import NodeState

TWO_LOG2_E = 2 * LOG2_E
BLOCK = 64  # columns worked on together: their buffers stay in the first-level cache


def sampled_gains(
    state: NodeState, X: Floats, slots: Ints, rows: Ints, sample: Ints, weight: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    """(len(rows),) sum over the sample of weight_k times the drop in the error at k, and its variance.

    X[q, slots[j]] is G between q and sample[j]; spread_j times the squared drop is the variance that k adds. The drop
    at q itself, all of its error now, is counted in full and not sampled.
    """
    gain, variance = np.empty(len(rows)), np.empty(len(rows))
    if len(sample) == 0:
        return state.error_now[rows], np.zeros(len(rows))
    _sampled_gains(state, X, slots.astype(np.uint64), rows, sample, weight, spread, gain, variance, get_num_threads())
    return gain, variance


def whole_costs(state: NodeState, X: Floats, slots: Ints, questions: Ints) -> Floats:
    """(len(questions),) n R+q: the sum over all k of the error to expect once q is answered."""
    partial: Floats = _whole_costs(state, X, slots.astype(np.uint64), questions, get_num_threads())
    return partial.sum(axis=0)


@njit(cache=True, inline="always")
def response(near: float, qq: float, kk: float, floor: float, q_island: int, k_island: int) -> tuple[float, float]:
    """(G'_kk, r_k) once q is answered; G'_kk is infinite where no label reaches k then."""
    if q_island < 0:
        if k_island >= 0:
            return np.inf, 0.0
        r = near / qq
        return variance_left(kk, r, near, floor), r
    if k_island == q_island:
        return variance_of_first(kk, qq, near, floor), 1.0
    return (kk if k_island < 0 else np.inf), 0.0


@njit(cache=True, nogil=True, parallel=True)
def _sampled_gains(
    state: NodeState, X: Floats, slots: Ints, rows: Ints, sample: Ints, weight: Floats, spread: Floats,
    gain: Floats, variance: Floats, threads: int,
) -> None:  # fmt: skip
    for thread in prange(threads):
        share = slice(thread * len(rows) // threads, (thread + 1) * len(rows) // threads)
        _gains_share(state, X, slots, rows[share], sample, weight, spread, gain[share], variance[share])


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _gains_share(
    state: NodeState, X: Floats, slots: Ints, rows: Ints, sample: Ints, weight: Floats, spread: Floats,
    gain: Floats, variance: Floats,
) -> None:  # fmt: skip
    h, chances, multiplicity, diagonal, least, island, error_now, harmonic, size = state
    D, number, zero = len(multiplicity), h.dtype, h.dtype.type(0)
    steep = (STEEP_32 if h.itemsize == 4 else STEEP_64) * LOG2_E
    kk, floor, now, k_island = diagonal[sample], least[sample], error_now[sample], island[sample]
    h_k = np.ascontiguousarray(h[sample].T)  # (D, s)
    reached = k_island.max() < 0
    t, r, right, exponent = np.empty((4, BLOCK), number)
    work = np.empty(ROOM * D, number)
    for i in range(len(rows)):
        q = rows[i]
        qq, q_island = diagonal[q], island[q]
        per_qq = 1 / qq
        h_q, chance = h[q], chances[q]
        one, two = 0.0, 0.0
        for left in range(0, len(sample), BLOCK):
            width = min(BLOCK, len(sample) - left)
            if reached and q_island < 0:
                for j in range(width):
                    near = X[q, slots[left + j]]
                    share = near * per_qq
                    t[j], r[j] = TWO_LOG2_E / variance_left(kk[left + j], share, near, floor[left + j]), share
            else:
                for j in range(width):
                    k = left + j
                    a, b = response(X[q, slots[k]], qq, kk[k], floor[k], q_island, k_island[k])
                    t[j], r[j] = TWO_LOG2_E / a, b
            if harmonic:
                harmonic_block(right, t, r, h_k, h_q, chance, multiplicity, work, left, width)
            else:
                two_step_block(right, t, r, h_k, h_q, chance, multiplicity, work, left, width)
                steepest = zero
                for j in range(width):
                    exponent[j] = t[j]
                    if len(size) > 0:
                        exponent[j] = largest_exponent(t[j], r[j], size[sample[left + j]], size[q])
                    steepest = max(steepest, exponent[j])
                if steepest > steep:
                    for j in range(width):
                        if exponent[j] > steep:
                            right[j] = 1 - steep_error(
                                h_k[:, left + j], h_q, float(r[j]), t[j] / LOG2_E, chance, multiplicity
                            )
            for j in range(width):
                k = left + j
                apart = r[j] == 0 or sample[k] == q
                drop = 0.0 if apart else now[k] - (1 - right[j])
                one += weight[k] * drop
                two += spread[k] * drop * drop
        gain[i] = one + error_now[q]
        variance[i] = two


@njit(cache=True, nogil=True, parallel=True)
def _whole_costs(state: NodeState, X: Floats, slots: Ints, questions: Ints, threads: int) -> Floats:
    n = len(state.error_now)
    partial = np.zeros((threads, len(questions)))
    for thread in prange(threads):
        _costs_share(state, X, slots, questions, thread * n // threads, (thread + 1) * n // threads, partial[thread])
    return partial


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _costs_share(
    state: NodeState, X: Floats, slots: Ints, questions: Ints, start: int, stop: int, total: Floats
) -> None:
    h, chances, multiplicity, diagonal, least, island, error_now, harmonic, size = state
    D, number, zero = len(multiplicity), h.dtype, h.dtype.type(0)
    steep = (STEEP_32 if h.itemsize == 4 else STEEP_64) * LOG2_E
    qq, q_island = diagonal[questions], island[questions]
    per_qq = 1 / qq
    reached = q_island.max() < 0
    h_q = np.ascontiguousarray(h[questions].T)  # (D, m)
    chance_q = np.ascontiguousarray(chances[questions].T)
    t, r, right, exponent = np.empty((4, BLOCK), number)
    work = np.empty(ROOM * D, number)
    for left in range(0, len(questions), BLOCK):
        width = min(BLOCK, len(questions) - left)
        for k in range(start, stop):
            now = error_now[k]
            if now == 0.0 and diagonal[k] == 0.0 and island[k] < 0:
                continue  # labelled
            kk, floor, k_island, h_k = diagonal[k], least[k], island[k], h[k]
            if reached and k_island < 0:
                for j in range(width):
                    near = X[k, slots[left + j]]
                    share = near * per_qq[left + j]
                    t[j], r[j] = TWO_LOG2_E / variance_left(kk, share, near, floor), share
            else:
                for j in range(width):
                    a, b = response(X[k, slots[left + j]], qq[left + j], kk, floor, q_island[left + j], k_island)
                    t[j], r[j] = TWO_LOG2_E / a, b
            if harmonic:
                harmonic_block(right, t, r, h_k, h_q, chance_q, multiplicity, work, left, width)
            else:
                two_step_block(right, t, r, h_k, h_q, chance_q, multiplicity, work, left, width)
                steepest = zero
                for j in range(width):
                    exponent[j] = t[j]
                    if len(size) > 0:
                        exponent[j] = largest_exponent(t[j], r[j], size[k], size[questions[left + j]])
                    steepest = max(steepest, exponent[j])
                if steepest > steep:
                    for j in range(width):
                        if exponent[j] > steep:
                            right[j] = 1 - steep_error(
                                h_k, h_q[:, left + j], float(r[j]), t[j] / LOG2_E, chance_q[:, left + j], multiplicity
                            )
            for j in range(width):
                if questions[left + j] != k:
                    total[left + j] += 1 - right[j] if r[j] != 0 else now
