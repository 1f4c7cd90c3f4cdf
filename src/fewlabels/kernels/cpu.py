"""Numba twins of `reference`: no n x n temporaries, all cores, the inner loop always along a row of G.

The look-ahead costs C + 2 exponentials a pair (q, k): exp(-f) of both outcomes shares exp(-2 a / v), and the factor
exp(-+2 r / v) is shared by all classes (docs/maths.md, "The look-ahead in C + 2 exponentials").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.extending import intrinsic

from fewlabels.kernels.reference import EPS, Floats, Ints, first_by_rank, island_size

BLOCK = 128  # nodes k worked on together: the buffers of a block stay in the first-level cache
STEEP = 300.0  # above this 2 / v the shared exponentials could overflow: exp(2 * 300) is the largest product

# Sums may be reordered and products fused so that loops vectorise; infinities and NaN keep their meaning.
ORDER_FREE = {"reassoc", "contract"}


def _whole_rows(G: Floats) -> Floats:
    """G, the leading block of a larger C-ordered matrix, with its rows drawn out to their full length in memory.

    Numba vectorises along a row only when the type says that rows are contiguous, which a block's type does not.
    """
    if G.flags.c_contiguous:
        return G
    if G.strides[1] != G.itemsize:
        raise ValueError("G must be the leading block of a C-ordered matrix")
    return np.lib.stride_tricks.as_strided(G, (G.shape[0], G.strides[0] // G.itemsize), G.strides)


@intrinsic
def _as_bits(typingctx: Any, x: Any) -> Any:
    """The 64 bits of a float as an integer."""
    return types.int64(types.float64), lambda ctx, builder, sig, args: builder.bitcast(args[0], ir.IntType(64))


@intrinsic
def _as_float(typingctx: Any, bits: Any) -> Any:
    """The float with these 64 bits."""
    return types.float64(types.int64), lambda ctx, builder, sig, args: builder.bitcast(args[0], ir.DoubleType())


@njit(cache=True)  # not order-free: (z + SHIFT) - SHIFT rounds z to a whole number
def _exp(x: float) -> float:
    """exp(x) for |x| < 700 to one rounding, without a call, so that loops over it vectorise.

    x = k log 2 + f with k whole and |f| < 0.35; a polynomial gives exp(f), and k goes straight into the exponent bits.
    """
    shifted = x * 1.4426950408889634 + 6755399441055744.0  # 1.5 * 2^52: the sum's low bits are k
    k = shifted - 6755399441055744.0
    f = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    p = 1.0 / 6227020800.0
    p = p * f + 1.0 / 479001600.0
    p = p * f + 1.0 / 39916800.0
    p = p * f + 1.0 / 3628800.0
    p = p * f + 1.0 / 362880.0
    p = p * f + 1.0 / 40320.0
    p = p * f + 1.0 / 5040.0
    p = p * f + 1.0 / 720.0
    p = p * f + 1.0 / 120.0
    p = p * f + 1.0 / 24.0
    p = p * f + 1.0 / 6.0
    p = p * f + 0.5
    p = p * f + 1.0
    p = p * f + 1.0
    return p * _as_float((_as_bits(shifted) + 1023) << 52)  # type: ignore[call-arg]


@njit(cache=True)
def _respond(row: Floats, q: int, diagonal: Floats, island: Ints, r: Floats, v: Floats) -> None:
    """`reference.respond`, into r and v."""
    pivot = row[q]
    if island[q] < 0:
        for k in range(len(row)):
            before = diagonal[k] if island[k] < 0 else np.inf
            r[k] = row[k] / pivot
            v[k] = max(before - row[k] * row[k] / pivot, EPS * before)
    else:
        for k in range(len(row)):
            if island[k] == island[q]:
                apart = diagonal[k] + pivot
                r[k] = 1.0
                v[k] = max(apart - 2 * row[k], EPS * apart)
            else:
                r[k] = 0.0
                v[k] = diagonal[k] if island[k] < 0 else np.inf


@njit(cache=True)
def _two_step_row(h: Floats, t: float, p: Floats) -> None:
    """Two-step marginals of one node with t = 2 / doubt, into p: sigmoids divided by the largest, safe for any t."""
    top = h[0]
    for c in range(1, len(h)):
        top = max(top, h[c])
    shift = min(t * top, 0.0)
    total = 0.0
    for c in range(len(h)):
        p[c] = 1 / (np.exp(shift) + np.exp(min(shift - t * h[c], 700.0)))
        total += p[c]
    for c in range(len(h)):
        p[c] /= total


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _two_step_after(row: Floats, q: int, diagonal: Floats, hT: Floats, island: Ints, chance: Floats) -> float:
    """n R+q: the errors to expect at the other nodes, over the classes q may turn out to be."""
    C, u = hT.shape
    r, v = np.empty(u), np.empty(u)
    _respond(row, q, diagonal, island, r, v)
    r[q], v[q] = 0.0, np.inf  # counts as a node nothing is known about; taken off below
    at_q = hT[:, q].copy()
    t, up, down = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    total, first, second, wrong = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.zeros(BLOCK)
    if_other, if_own = np.empty((C, BLOCK)), np.empty((C, BLOCK))  # sigmoids when q is of another class, of class c
    steep = 0.0
    for start in range(0, u, BLOCK):
        width = min(BLOCK, u - start)
        rb, vb = r[start : start + width], v[start : start + width]
        steepest = 0.0
        for k in range(width):
            t[k] = 2 / vb[k]
            steepest = max(steepest, t[k])
        if steepest > STEEP:
            steep += _steep_after(hT[:, start : start + width], at_q, rb, t, chance)
            continue
        for k in range(width):
            up[k] = _exp(t[k] * rb[k])
            down[k] = _exp(-t[k] * rb[k])
            total[k] = first[k] = second[k] = 0.0
        for c in range(C):
            hc, mine = hT[c, start : start + width], at_q[c]
            for k in range(width):
                e = _exp(-t[k] * (hc[k] - rb[k] * mine))
                a, b = 1 + e * up[k], 1 + e * down[k]
                both = 1 / (a * b)  # one division for two sigmoids
                other = b * both
                if_other[c, k] = other
                if_own[c, k] = a * both
                total[k] += other
                second[k] = max(second[k], min(first[k], other))
                first[k] = max(first[k], other)
        for c in range(C):
            weight = chance[c]
            if weight == 0.0:
                continue
            for k in range(width):
                other, own = if_other[c, k], if_own[c, k]
                rival = second[k] if other == first[k] else first[k]
                mass = total[k] - other + own
                wrong[k] += weight * (mass - max(own, rival)) / mass
    return wrong.sum() + steep - (1 - 1 / C)


@njit(cache=True)
def _steep_after(hT: Floats, at_q: Floats, r: Floats, t: Floats, chance: Floats) -> float:
    """The same sum over a block where 2 / v is large, class by class with shifted exponents."""
    C, width = hT.shape
    after, p = np.empty(C), np.empty(C)
    wrong = 0.0
    for k in range(width):
        for c in range(C):
            for d in range(C):
                after[d] = hT[d, k] + r[k] * ((1.0 if d == c else -1.0) - at_q[d])
            _two_step_row(after, t[k], p)
            wrong += chance[c] * (1 - p.max())
    return wrong


@njit(cache=True, parallel=True, error_model="numpy")
def _two_step_cost(G: Floats, hT: Floats, island: Ints, diagonal: Floats, n: int) -> Floats:
    C, u = hT.shape
    cost = np.empty(u)
    for q in prange(u):
        chance = np.empty(C)
        _two_step_row(hT[:, q].copy(), 2 / diagonal[q] if island[q] < 0 else 0.0, chance)
        cost[q] = _two_step_after(G[q, :u], q, diagonal, hT, island, chance) / n
    return cost


def two_step_cost(G: Floats, h: Floats, island: Ints, n: int) -> Floats:
    return _two_step_cost(_whole_rows(G), np.ascontiguousarray(h.T), island, np.diag(G).copy(), n)


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _harmonic_after(row: Floats, q: int, hT: Floats, island: Ints, chance: Floats) -> float:
    """n R+q of the harmonic marginals. (h + 1) / 2 sums to one over the classes wherever a label reaches."""
    C, u = hT.shape
    pivot = row[q]
    r, first, second = np.empty(u), np.full(u, -np.inf), np.full(u, -np.inf)
    for k in range(u):
        r[k] = row[k] / pivot if island[q] < 0 else 1.0 if island[k] == island[q] else 0.0
    for c in range(C):
        hc, mine = hT[c], hT[c, q]
        for k in range(u):
            other = hc[k] - r[k] * (mine + 1)
            second[k] = max(second[k], min(first[k], other))
            first[k] = max(first[k], other)
    wrong = 0.0
    for c in range(C):
        hc, mine, weight = hT[c], hT[c, q], chance[c]
        if weight == 0.0:
            continue
        for k in range(u):
            base = hc[k] - r[k] * mine
            other = hc[k] - r[k] * (mine + 1)
            best = max(base + r[k], second[k] if other == first[k] else first[k])
            known = island[k] < 0 or r[k] > 0
            wrong += weight * ((0.5 - 0.5 * best) if known else (1 - 1 / C))  # 0 at k = q: its own label is h' = 1
    return wrong


@njit(cache=True, parallel=True, error_model="numpy")
def _harmonic_cost(G: Floats, hT: Floats, island: Ints, n: int) -> Floats:
    C, u = hT.shape
    cost = np.empty(u)
    for q in prange(u):
        chance = np.empty(C)
        total = 0.0
        for c in range(C):
            chance[c] = min(max((hT[c, q] + 1) / 2, 0.0), 1.0)
            total += chance[c]
        for c in range(C):
            chance[c] /= total
        cost[q] = _harmonic_after(G[q, :u], q, hT, island, chance) / n
    return cost


def harmonic_cost(G: Floats, h: Floats, island: Ints, n: int) -> Floats:
    return _harmonic_cost(_whole_rows(G), np.ascontiguousarray(h.T), island, n)


@njit(cache=True, parallel=True, fastmath=ORDER_FREE)
def _row_sums(G: Floats) -> tuple[Floats, Floats]:
    """(u,) sum and sum of squares of every row."""
    u = G.shape[0]
    plain, squares = np.empty(u), np.empty(u)
    for q in prange(u):
        row = G[q, :u]
        one, two = 0.0, 0.0
        for k in range(u):
            one += row[k]
            two += row[k] * row[k]
        plain[q], squares[q] = one, two
    return plain, squares


def vopt_cost(G: Floats, island: Ints) -> Floats:
    size, diagonal = island_size(island), np.diag(G)
    _, squares = _row_sums(_whole_rows(G))
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(size > 0, size * diagonal, -squares / diagonal)
    return first_by_rank((size == 0).astype(np.int64), diagonal.sum() + change)


def sopt_cost(G: Floats, island: Ints) -> Floats:
    size, diagonal = island_size(island), np.diag(G)
    sums, _ = _row_sums(_whole_rows(G))
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(size > 0, size**2 * diagonal, -(sums**2) / diagonal)
    return first_by_rank(size.max(initial=0) - size, sums.sum() + change)


def downdate(G: Floats, h: Floats, island: Ints, q: int, c: int) -> None:
    _downdate(_whole_rows(G), h, island, q, c)


@njit(cache=True, parallel=True)
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


def border(G: Floats, h: Floats, reach: Floats, s: float, h_new: Floats, c: int) -> None:
    _border(_whole_rows(G), h, reach, s, h_new, c)


@njit(cache=True, parallel=True)
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


@njit(cache=True, parallel=True)
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


@njit(cache=True, parallel=True)
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


@njit(cache=True, parallel=True, fastmath=ORDER_FREE)
def inverse_error(G: Floats, degree: Floats) -> Floats:
    m = len(degree)
    error = np.empty(m)
    for k in prange(m):
        total = 0.0
        for j in range(m):
            total += (G[k, j] * G[k, j] * degree[j]) ** 2
        error[k] = EPS * np.sqrt(total)
    return error
