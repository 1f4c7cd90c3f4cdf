"""Triton kernels of the gpu engine, but for the two-step look-ahead. `launch` launches, `reference` specifies them.

Rows of G are `ld` numbers apart. `ld` is a multiple of every block length, so that loads along a row need no mask and
are 16 bytes wide. Vectors are padded to `ld`, too. The look-aheads read what they need of the nodes from a table
(ld / BK, LABELS + 2 C, BK), block by block, so that one address serves all of a node: the variance, 0 where there is no
node, G's diagonal, the z of a change that G has yet to take in, the island, h of each class, and the chance of each.
"""

from __future__ import annotations

import triton
import triton.language as tl

DOUBT, DIAGONAL, CHANGE, ISLAND, LABELS = (tl.constexpr(row) for row in range(5))


@triton.jit
def rival(value, first, second, SIGNED: tl.constexpr):
    """The largest of the other classes; where G >= 0, the largest of all serves as well."""
    if SIGNED:
        return tl.where(value == first, second, first)
    return first


@triton.jit(do_not_specialize=["m", "n"])
def harmonic(
    G,
    nodes,
    asked,
    out,
    m,
    n,
    ld,
    C: tl.constexpr,
    BQ: tl.constexpr,
    BK: tl.constexpr,
    ISLANDS: tl.constexpr,
    SIGNED: tl.constexpr,
):
    """(m,) errors to expect at the nodes other than q, over the classes q may turn out to be, by harmonic marginals:
    (h + 1) / 2 sums to one over the classes wherever a label reaches. The variance is 0 where a label is known, too.
    """
    size: tl.constexpr = (LABELS + 2 * C) * BK  # of a block of the table
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    row = tl.load(asked + tl.minimum(q, m - 1))
    mine = nodes + (row // BK) * size + row % BK
    pivot = tl.load(mine + DIAGONAL * BK)[:, None]
    share = tl.where(pivot > 0, 1.0 / pivot, 0.0).to(pivot.dtype)
    hq = ()
    chance = ()
    for c in tl.static_range(C):
        hq = hq + (tl.load(mine + (LABELS + c) * BK)[:, None],)
        chance = chance + (tl.load(mine + (LABELS + C + c) * BK)[:, None],)
    if ISLANDS:
        here = tl.load(mine + ISLAND * BK)[:, None]
    total = tl.zeros([BQ, BK], G.dtype.element_ty)
    along = tl.arange(0, BK)[None, :] + tl.zeros([BQ, 1], tl.int32)
    place = G + row.to(tl.int64)[:, None] * ld + along
    node = nodes + along  # (BQ, BK): every thread loads what it works on, nothing changes hands
    for start in range(0, n, BK):
        before = tl.load(node + DOUBT * BK)
        r = tl.load(place, eviction_policy="evict_first") * share
        if ISLANDS:
            there = tl.load(node + ISLAND * BK)
            r = tl.where(here < 0, r, tl.where(here == there, 1.0, 0.0)).to(share.dtype)
        base = ()
        for c in tl.static_range(C):
            base = base + (tl.load(node + (LABELS + c) * BK) - r * hq[c],)
        first = base[0]
        second = tl.full([BQ, BK], float("-inf"), r.dtype)
        for c in tl.static_range(1, C):
            second = tl.maximum(second, tl.minimum(first, base[c]))
            first = tl.maximum(first, base[c])
        best = tl.zeros_like(r)
        for c in tl.static_range(C):
            largest = tl.maximum(base[c] + r, rival(base[c], first, second, SIGNED) - r)
            best += chance[c] * (tl.minimum(largest, 1.0) if SIGNED else largest)
        wrong = 0.5 - 0.5 * best
        if ISLANDS:
            wrong = tl.where((there < 0) | (r != 0), wrong, 1.0 - 1.0 / C)
        total += tl.where((before > 0) & (start + along != row[:, None]), wrong, 0.0).to(share.dtype)
        place += BK
        node += size
    tl.store(out + q, tl.sum(total.to(tl.float64), 1), mask=q < m)


@triton.jit(do_not_specialize=["n"])
def row_sums(G, plain, squares, n, ld, BQ: tl.constexpr, BK: tl.constexpr):
    """(n,) sum and sum of squares of every row."""
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    at = tl.minimum(q, n - 1).to(tl.int64)[:, None] * ld
    one = tl.zeros([BQ, BK], G.dtype.element_ty)
    two = tl.zeros([BQ, BK], G.dtype.element_ty)
    for start in range(0, n, BK):
        k = start + tl.arange(0, BK)[None, :]
        g = tl.where(k < n, tl.load(G + at + k), 0.0)
        one += g
        two += g * g
    tl.store(plain + q, tl.sum(one.to(tl.float64), 1), mask=q < n)
    tl.store(squares + q, tl.sum(two.to(tl.float64), 1), mask=q < n)


@triton.jit(do_not_specialize=["n"])
def rank_one(G, z, scale, n, edge, ld, BQ: tl.constexpr, BK: tl.constexpr):
    """G += scale z z', in place. z is zero from n to edge, the next multiple of 16: the mask does not split a load."""
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    k = tl.program_id(1) * BK + tl.arange(0, BK)
    inside = (q < n)[:, None] & (k < edge)[None, :]
    where = G + q.to(tl.int64)[:, None] * ld + k[None, :]
    zq = tl.load(z + q, mask=q < n, other=0.0)[:, None]
    zk = tl.load(z + k, mask=k < edge, other=0.0)[None, :]
    # z_q z_k first, then the factor: G stays symmetric to the last bit
    tl.store(where, tl.load(where, mask=inside) + tl.load(scale) * (zq * zk), mask=inside)
