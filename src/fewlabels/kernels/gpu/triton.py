"""Triton kernels of the gpu engine. `launch` launches them; `reference` specifies them.

Every kernel works on a batch of matrices, one for each trial (grid axis 1), whose rows are `ld` numbers apart. `ld` is
a multiple of every block length, so that loads along a row need no mask and are 16 bytes wide; `doubt`, -1 where there
is no node to count, says which columns count. Vectors are padded to `ld` too.

The two-step look-ahead is bound by the card's special functions (ex2, rcp), so it is written to need few of them: 2 per
pair (q, k), one per class, one per two classes and one per four (docs/gpu.md). Three facts save the rest:
- exp(-f) of both outcomes of a class differ by a factor that all classes share;
- G >= 0, so an answer c never lowers the sigmoid of c, and the largest after it is the larger of that one and the
  largest of all classes as if none were the answer: no second largest is kept, except in a smooth field (SIGNED),
  where some G are below zero and h may leave [-1, 1];
- one reciprocal serves a product of several denominators. Each is held within 2^-BIAS and 2^BIAS, which shifts all
  sigmoids of a pair by the same factor and cancels when they are normalised. Tiles where 2 / v is beyond that take the
  slower way, `_steep`.
"""

from __future__ import annotations

import triton
import triton.language as tl

OPPOSED = tl.constexpr(0.25)  # as in `kernels.cpu.pairs`


@triton.jit
def _reciprocal(x, FAST: tl.constexpr):
    if FAST:
        y = tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    else:
        y = 1.0 / x
    return y


@triton.jit
def _rival(value, first, second, SIGNED: tl.constexpr):
    """The largest of the other classes; where G >= 0, the largest of all serves as well."""
    if SIGNED:
        return tl.where(value == first, second, first)
    return first


@triton.jit
def _gentle(
    r, t, hq, hk, chance,
    C: tl.constexpr, GROUP: tl.constexpr, BIAS: tl.constexpr, FAST: tl.constexpr, SIGNED: tl.constexpr,
):  # fmt: skip
    """Chance to be wrong at k once q is answered, where no exponent, t = 2 log2(e) / v times |h|, is beyond 2 BIAS."""
    low = tl.exp2(tl.full([1, 1], -BIAS, r.dtype))
    tr = t * r
    fall = tl.exp2(-2.0 * tr)  # from exp(-f) if another class is the answer to exp(-f) if this one is
    base = tr - BIAS
    other = ()
    own = ()
    for c in tl.static_range(0, C, 2):
        x = tl.exp2(tr * hq[c] + (base - t * hk[c]))
        a = low + x
        b = low + x * fall
        if c + 1 < C:
            x = tl.exp2(tr * hq[c + 1] + (base - t * hk[c + 1]))
            a_next = low + x
            b_next = low + x * fall
            ab = a * b
            ab_next = a_next * b_next
            both = _reciprocal(ab * ab_next, FAST)
            mine = both * ab_next
            next_ = both * ab
            other = other + (b * mine, b_next * next_)
            own = own + (a * mine, a_next * next_)
        else:
            mine = _reciprocal(a * b, FAST)
            other = other + (b * mine,)
            own = own + (a * mine,)
    total = other[0]
    first = other[0]
    second = tl.zeros_like(r)
    for c in tl.static_range(1, C):
        total += other[c]
        second = tl.maximum(second, tl.minimum(first, other[c]))
        first = tl.maximum(first, other[c])
    wrong = tl.zeros_like(r)
    for c in tl.static_range(0, C, GROUP):
        rest = total - other[c]
        bottom = rest + own[c]
        top = chance[c] * tl.minimum(rest, bottom - _rival(other[c], first, second, SIGNED))
        for d in tl.static_range(1, GROUP):
            if c + d < C:
                rest = total - other[c + d]
                mass = rest + own[c + d]
                rival = _rival(other[c + d], first, second, SIGNED)
                top = top * mass + chance[c + d] * tl.minimum(rest, mass - rival) * bottom
                bottom = bottom * mass
        wrong += top * _reciprocal(bottom, FAST)
    return wrong


@triton.jit
def _steep(
    r, t, hq, hk, chance, C: tl.constexpr, LIMIT: tl.constexpr, FAST: tl.constexpr, SIGNED: tl.constexpr
):  # fmt: skip
    """The same for any t: exponents are taken relative to the likeliest class and held within LIMIT."""
    high = hk[0] - r * hq[0]
    for c in tl.static_range(1, C):
        high = tl.maximum(high, hk[c] - r * hq[c])
    lift = tl.minimum(t * (high - r), 0.0)
    one = tl.exp2(tl.maximum(lift, -LIMIT))
    total = tl.zeros_like(r)
    first = tl.zeros_like(r)
    second = tl.zeros_like(r)
    others = ()
    for c in tl.static_range(C):
        z = lift - t * ((hk[c] - r * hq[c]) - r)
        other = _reciprocal(one + tl.exp2(tl.minimum(z, LIMIT)), FAST)
        total += other
        second = tl.maximum(second, tl.minimum(first, other))
        first = tl.maximum(first, other)
        others = others + (other,)
    wrong = tl.zeros_like(r)
    for c in tl.static_range(C):
        a = hk[c] - r * hq[c]
        other = others[c]
        own = _reciprocal(one + tl.exp2(tl.minimum(tl.maximum(lift - t * (a + r), -LIMIT), LIMIT)), FAST)
        rest = total - other
        if SIGNED:  # own may be far below other: the difference would cancel
            rest = tl.zeros_like(r)
            for d in tl.static_range(C):
                if d != c:
                    rest += others[d]
        mass = rest + own
        rival = _rival(other, first, second, SIGNED)
        wrong += chance[c] * tl.minimum(rest, mass - rival) * _reciprocal(mass, FAST)
    return wrong


@triton.jit(do_not_specialize=["u"])
def two_step(
    G,
    hT,
    chance,
    diagonal,
    doubt,
    island,
    out,
    u,
    ld,
    step,
    C: tl.constexpr,
    BQ: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    BIAS: tl.constexpr,
    LIMIT: tl.constexpr,
    EPS: tl.constexpr,
    ISLANDS: tl.constexpr,
    FAST: tl.constexpr,
    SIGNED: tl.constexpr,
):
    """(T, u) errors to expect at the nodes other than q, over the classes q may turn out to be."""
    trial = tl.program_id(1).to(tl.int64)
    G += trial * step
    hT += trial * C * ld
    chance += trial * C * ld
    diagonal += trial * ld
    doubt += trial * ld
    island += trial * ld
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    row = tl.minimum(q, u - 1)
    at = row.to(tl.int64)[:, None] * ld
    pivot = tl.load(diagonal + row)[:, None]
    share = tl.where(pivot > 0, 1.0 / pivot, 0.0).to(pivot.dtype)
    hq = ()
    weight = ()
    for c in tl.static_range(C):
        hq = hq + (tl.load(hT + c * ld + row)[:, None],)
        weight = weight + (tl.load(chance + c * ld + row)[:, None],)
    total = tl.zeros([BQ, BK], G.dtype.element_ty)
    along = tl.arange(0, BK)[None, :] + tl.zeros([BQ, 1], tl.int32)
    for start in range(0, u, BK):
        k = start + along  # (BQ, BK): every thread loads what it works on, nothing changes hands
        before = tl.load(doubt + k)
        g = tl.load(G + at + k, eviction_policy="evict_first")  # read once; h stays in the cache
        hk = ()
        for c in tl.static_range(C):
            hk = hk + (tl.load(hT + c * ld + k),)
        r = g * share
        v = tl.maximum(before - g * r, EPS * before)
        if ISLANDS:
            here = tl.load(island + row)[:, None]
            there = tl.load(island + k)
            apart = tl.load(diagonal + k) + pivot
            held = tl.maximum(apart - 2.0 * g, EPS * apart)  # the effective resistance between q and k
            same = here == there
            v = tl.where(here < 0, v, tl.where(same, held, before))
            r = tl.where(here < 0, r, tl.where(same, 1.0, 0.0)).to(g.dtype)
        counts = (before > 0) & (k != q[:, None])
        t = tl.where(counts, 2.8853900817779268 * _reciprocal(v, FAST), 0.0).to(g.dtype)  # 2 log2(e) / v
        exponent = t
        if SIGNED:
            mine = tl.abs(hq[0])
            size = tl.abs(hk[0])
            for c in tl.static_range(1, C):
                mine = tl.maximum(mine, tl.abs(hq[c]))
                size = tl.maximum(size, tl.abs(hk[c]))
            exponent = tl.where(t * r < -OPPOSED, 4.0 * BIAS, t * (size + tl.abs(r) * (1.0 + mine)))
        if tl.max(tl.max(exponent, 1), 0) > 2 * BIAS:
            wrong = _steep(r, t, hq, hk, weight, C, LIMIT, FAST, SIGNED)
        else:
            wrong = _gentle(r, t, hq, hk, weight, C, GROUP, BIAS, FAST, SIGNED)
        total += tl.where(counts, wrong, 0.0)
    tl.store(out + trial * u + q, tl.sum(total.to(tl.float64), 1), mask=q < u)


@triton.jit(do_not_specialize=["u"])
def harmonic(
    G,
    hT,
    chance,
    diagonal,
    doubt,
    island,
    out,
    u,
    ld,
    step,
    C: tl.constexpr,
    BQ: tl.constexpr,
    BK: tl.constexpr,
    ISLANDS: tl.constexpr,
    SIGNED: tl.constexpr,
):
    """(T, u) the same by harmonic marginals: (h + 1) / 2 sums to one over the classes wherever a label reaches."""
    trial = tl.program_id(1).to(tl.int64)
    G += trial * step
    hT += trial * C * ld
    chance += trial * C * ld
    diagonal += trial * ld
    doubt += trial * ld
    island += trial * ld
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    row = tl.minimum(q, u - 1)
    at = row.to(tl.int64)[:, None] * ld
    pivot = tl.load(diagonal + row)[:, None]
    share = tl.where(pivot > 0, 1.0 / pivot, 0.0).to(pivot.dtype)
    hq = ()
    weight = ()
    for c in tl.static_range(C):
        hq = hq + (tl.load(hT + c * ld + row)[:, None],)
        weight = weight + (tl.load(chance + c * ld + row)[:, None],)
    total = tl.zeros([BQ, BK], G.dtype.element_ty)
    along = tl.arange(0, BK)[None, :] + tl.zeros([BQ, 1], tl.int32)
    for start in range(0, u, BK):
        k = start + along
        before = tl.load(doubt + k)
        r = tl.load(G + at + k, eviction_policy="evict_first") * share
        if ISLANDS:
            here = tl.load(island + row)[:, None]
            there = tl.load(island + k)
            r = tl.where(here < 0, r, tl.where(here == there, 1.0, 0.0)).to(share.dtype)
        base = ()
        for c in tl.static_range(C):
            base = base + (tl.load(hT + c * ld + k) - r * hq[c],)
        first = base[0]
        second = tl.full([BQ, BK], float("-inf"), r.dtype)
        for c in tl.static_range(1, C):
            second = tl.maximum(second, tl.minimum(first, base[c]))
            first = tl.maximum(first, base[c])
        best = tl.zeros_like(r)
        for c in tl.static_range(C):
            largest = tl.maximum(base[c] + r, _rival(base[c], first, second, SIGNED) - r)
            best += weight[c] * (tl.minimum(largest, 1.0) if SIGNED else largest)
        wrong = 0.5 - 0.5 * best
        if ISLANDS:
            wrong = tl.where((there < 0) | (r != 0), wrong, 1.0 - 1.0 / C)
        total += tl.where((before > 0) & (k != q[:, None]), wrong, 0.0).to(share.dtype)
    tl.store(out + trial * u + q, tl.sum(total.to(tl.float64), 1), mask=q < u)


@triton.jit(do_not_specialize=["u"])
def row_sums(G, plain, squares, u, ld, step, BQ: tl.constexpr, BK: tl.constexpr):
    """(T, u) sum and sum of squares of every row."""
    trial = tl.program_id(1).to(tl.int64)
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    at = trial * step + tl.minimum(q, u - 1).to(tl.int64)[:, None] * ld
    one = tl.zeros([BQ, BK], G.dtype.element_ty)
    two = tl.zeros([BQ, BK], G.dtype.element_ty)
    for start in range(0, u, BK):
        k = start + tl.arange(0, BK)[None, :]
        g = tl.where(k < u, tl.load(G + at + k), 0.0)
        one += g
        two += g * g
    tl.store(plain + trial * u + q, tl.sum(one.to(tl.float64), 1), mask=q < u)
    tl.store(squares + trial * u + q, tl.sum(two.to(tl.float64), 1), mask=q < u)


@triton.jit(do_not_specialize=["u"])
def rank_one(G, z, scale, u, edge, ld, step, BQ: tl.constexpr, BK: tl.constexpr):
    """G += scale z z', in place. z is zero from u to edge, the next multiple of 16: the mask does not split a load."""
    trial = tl.program_id(2).to(tl.int64)
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    k = tl.program_id(1) * BK + tl.arange(0, BK)
    inside = (q < u)[:, None] & (k < edge)[None, :]
    where = G + trial * step + q.to(tl.int64)[:, None] * ld + k[None, :]
    zq = tl.load(z + trial * ld + q, mask=q < u, other=0.0)[:, None]
    zk = tl.load(z + trial * ld + k, mask=k < edge, other=0.0)[None, :]
    # z_q z_k first, then the factor: G stays symmetric to the last bit
    tl.store(where, tl.load(where, mask=inside) + tl.load(scale + trial) * (zq * zk), mask=inside)


@triton.jit(do_not_specialize=["u"])
def ground(G, z, member, offset, u, edge, ld, step, BQ: tl.constexpr, BK: tl.constexpr):
    """G_qk += offset - (z_q + z_k) where both are members, in place; member is zero from u to edge."""
    trial = tl.program_id(2).to(tl.int64)
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    k = tl.program_id(1) * BK + tl.arange(0, BK)
    inside = (q < u)[:, None] & (k < edge)[None, :]
    where = G + trial * step + q.to(tl.int64)[:, None] * ld + k[None, :]
    zq = tl.load(z + trial * ld + q, mask=q < u, other=0.0)[:, None]
    zk = tl.load(z + trial * ld + k, mask=k < edge, other=0.0)[None, :]
    both = (
        tl.load(member + trial * ld + q, mask=q < u, other=0)[:, None]
        & tl.load(member + trial * ld + k, mask=k < edge, other=0)[None, :]
    )
    g = tl.load(where, mask=inside)
    tl.store(where, tl.where(both != 0, g + (tl.load(offset + trial) - (zq + zk)), g), mask=inside)
