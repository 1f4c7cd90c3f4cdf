"""The error to expect at k once q is answered, for blocks of pairs (q, k): columns of G in, sums out.

`sampled_gains` scores every question on a sample of k, `whole_costs` a few questions on every k. Both run along the
rows of a row-major block of columns of G. The arithmetic of a pair is that of the dense look-ahead (`pairs`): C + 2
exponentials, classes never named worked out once. `kernels.sparse_reference` is their plain twin.
"""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.kernels.cpu.exponential import exp2
from fewlabels.kernels.cpu.pairs import (
    LOG2_E,
    ORDER_FREE,
    SCALE,
    STEEP_32,
    STEEP_64,
    chance_right,
    largest_exponent,
    largest_of_others,
    sigmoids,
    steep_error,
    steepness,
    steepness_of_first,
    two_largest,
)
from fewlabels.kernels.sparse_reference import NodeState

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
    """(2 / G'_kk, r_k) once q is answered; 2 / G'_kk is 0 where no label reaches k then."""
    if q_island < 0:
        if k_island >= 0:
            return 0.0, 0.0
        r = near / qq
        return steepness(kk, r, near, floor), r
    if k_island == q_island:
        return steepness_of_first(kk, qq, near, floor), 1.0
    return (2 / kk if k_island < 0 else 0.0), 0.0


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def two_step_block(
    width: int, t: Numbers, r: Numbers, x: Numbers, chance: Numbers, multiplicity: Numbers, work: Numbers, out: Numbers,
    exponent: Numbers,
) -> bool:  # fmt: skip
    """The errors of `width` pairs from t (2 / v as exponent of 2), r, x = t (r h_q - h_k) and q's chances, (D, width).

    True if some exponent, the largest that a pair meets, overflows: those pairs are left to be done in logarithms.
    """
    D = len(multiplicity)
    zero, one, scale = t.dtype.type(0), t.dtype.type(1), t.dtype.type(SCALE)
    limit = t.dtype.type((STEEP_32 if t.itemsize == 4 else STEEP_64) * LOG2_E)
    steepest = zero
    for k in range(width):
        steepest = max(steepest, exponent[k])
    if steepest > limit:
        for k in range(width):
            if exponent[k] > limit:
                for c in range(D):
                    x[c, k] = zero
    up, down, total, first, second = work[0], work[1], work[2], work[3], work[4]
    if_other, if_own = work[5 : 5 + D], work[5 + D :]
    for k in range(width):
        power = t[k] * r[k] if exponent[k] <= limit else zero
        up[k] = scale * exp2(power)
        down[k] = scale * exp2(-power)
        total[k] = first[k] = second[k] = zero
        out[k] = one
    for c in range(D):
        times = multiplicity[c]
        for k in range(width):
            e = exp2(x[c, k])
            other, own = sigmoids(e, up[k], down[k], scale, one)
            if_other[c, k], if_own[c, k] = other, own
            total[k] += times * other
            first[k], second[k] = two_largest(first[k], second[k], other)
        if times > one:
            for k in range(width):
                second[k] = max(second[k], if_other[c, k])
    for c in range(D):
        for k in range(width):
            out[k] -= chance[c, k] * chance_right(if_own[c, k], if_other[c, k], first[k], second[k], total[k])
    return bool(steepest > limit)


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def harmonic_block(
    width: int, r: Numbers, x: Numbers, chance: Numbers, multiplicity: Numbers, work: Numbers, out: Numbers
) -> None:
    """The errors of ZLG's marginals from x = h_k - r (h_q + 1), (D, width)."""
    D = len(multiplicity)
    one, half = r.dtype.type(1), r.dtype.type(0.5)
    first, second = work[0], work[1]
    first[:] = second[:] = -9  # below every h
    for c in range(D):
        for k in range(width):
            first[k], second[k] = two_largest(first[k], second[k], x[c, k])
        if multiplicity[c] > one:
            for k in range(width):
                second[k] = max(second[k], x[c, k])
    for k in range(width):
        out[k] = half
    for c in range(D):
        for k in range(width):
            rival = largest_of_others(x[c, k], first[k], second[k])
            out[k] -= half * chance[c, k] * min(max(x[c, k] + r[k] + r[k], rival), one)


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
    D, number = len(multiplicity), h.dtype
    steep = (STEEP_32 if h.itemsize == 4 else STEEP_64) * LOG2_E
    kk, floor, now, k_island = diagonal[sample], least[sample], error_now[sample], island[sample]
    h_k = np.ascontiguousarray(h[sample].T)  # (D, s)
    reached = k_island.max() < 0
    t, r = np.empty(BLOCK, number), np.empty(BLOCK, number)
    out, exponent = np.empty(BLOCK, number), np.empty(BLOCK, number)
    x, chance = np.empty((D, BLOCK), number), np.empty((D, BLOCK), number)
    work = np.empty((2 * D + 5, BLOCK), number)
    for i in range(len(rows)):
        q = rows[i]
        qq, q_island = diagonal[q], island[q]
        per_qq = 1 / qq
        h_q = h[q]
        one, two = 0.0, 0.0
        for c in range(D):
            chance[c, :] = chances[q, c]
        for left in range(0, len(sample), BLOCK):
            width = min(BLOCK, len(sample) - left)
            if reached and q_island < 0:
                for j in range(width):
                    near = X[q, slots[left + j]]
                    share = near * per_qq
                    t[j], r[j] = LOG2_E * steepness(kk[left + j], share, near, floor[left + j]), share
            else:
                for j in range(width):
                    k = left + j
                    a, b = response(X[q, slots[k]], qq, kk[k], floor[k], q_island, k_island[k])
                    t[j], r[j] = LOG2_E * a, b
            if harmonic:
                for c in range(D):
                    for j in range(width):
                        x[c, j] = h_k[c, left + j] - r[j] * (h_q[c] + 1)
                harmonic_block(width, r, x, chance, multiplicity, work, out)
            else:
                for j in range(width):
                    exponent[j] = t[j]
                if len(size) > 0:
                    for j in range(width):
                        exponent[j] = largest_exponent(t[j], r[j], size[sample[left + j]], size[q])
                for c in range(D):
                    for j in range(width):
                        x[c, j] = t[j] * (r[j] * h_q[c] - h_k[c, left + j])
                if two_step_block(width, t, r, x, chance, multiplicity, work, out, exponent):
                    for j in range(width):
                        if exponent[j] > steep:
                            out[j] = steep_error(
                                h_k[:, left + j], h_q, float(r[j]), t[j] / LOG2_E, chances[q], multiplicity
                            )
            for j in range(width):
                k = left + j
                apart = r[j] == 0 or sample[k] == q
                drop = 0.0 if apart else now[k] - out[j]
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
    D, number = len(multiplicity), h.dtype
    steep = (STEEP_32 if h.itemsize == 4 else STEEP_64) * LOG2_E
    qq, q_island = diagonal[questions], island[questions]
    per_qq = 1 / qq
    reached = q_island.max() < 0
    h_q = np.ascontiguousarray(h[questions].T)  # (D, m)
    chance_q = np.ascontiguousarray(chances[questions].T)
    t, r = np.empty(BLOCK, number), np.empty(BLOCK, number)
    out, exponent = np.empty(BLOCK, number), np.empty(BLOCK, number)
    x, work = np.empty((D, BLOCK), number), np.empty((2 * D + 5, BLOCK), number)
    for left in range(0, len(questions), BLOCK):
        width = min(BLOCK, len(questions) - left)
        chance = chance_q[:, left : left + width].copy()
        for k in range(start, stop):
            now = error_now[k]
            if now == 0.0 and diagonal[k] == 0.0 and island[k] < 0:
                continue  # labelled
            kk, floor, k_island, h_k = diagonal[k], least[k], island[k], h[k]
            if reached and k_island < 0:
                for j in range(width):
                    near = X[k, slots[left + j]]
                    share = near * per_qq[left + j]
                    t[j], r[j] = LOG2_E * steepness(kk, share, near, floor), share
            else:
                for j in range(width):
                    a, b = response(X[k, slots[left + j]], qq[left + j], kk, floor, q_island[left + j], k_island)
                    t[j], r[j] = LOG2_E * a, b
            if harmonic:
                for c in range(D):
                    for j in range(width):
                        x[c, j] = h_k[c] - r[j] * (h_q[c, left + j] + 1)
                harmonic_block(width, r, x, chance, multiplicity, work, out)
            else:
                for j in range(width):
                    exponent[j] = t[j]
                if len(size) > 0:
                    for j in range(width):
                        exponent[j] = largest_exponent(t[j], r[j], size[k], size[questions[left + j]])
                for c in range(D):
                    for j in range(width):
                        x[c, j] = t[j] * (r[j] * h_q[c, left + j] - h_k[c])
                if two_step_block(width, t, r, x, chance, multiplicity, work, out, exponent):
                    for j in range(width):
                        if exponent[j] > steep:
                            out[j] = steep_error(
                                h_k, h_q[:, left + j], float(r[j]), t[j] / LOG2_E, chance_q[:, left + j], multiplicity
                            )
            for j in range(width):
                if questions[left + j] != k:
                    total[left + j] += out[j] if r[j] != 0 else now
