"""The two-step look-ahead in Triton. `launch` launches it; `reference` specifies it.

It is bound by the instructions of a pair (q, k), special functions (ex2, rcp) above all, so it is written to need few
(docs/gpu.md). What saves the rest:
- exp(-f) of both outcomes of a class differ by a factor that all classes share, so the sigmoid of a class that is the
  answer follows from the one it has if it is not, without another exponential or reciprocal;
- where G_qk >= 0, an answer c never lowers the sigmoid of c, and the largest after it is the larger of that one and the
  largest of all classes as if none were the answer; only tiles of a smooth field (SIGNED) where some G are below zero
  look for the largest of the other classes;
- one reciprocal serves a product of GROUP numbers. Each is held within 2^-BIAS and 2^BIAS, which shifts all sigmoids of
  a pair by the same factor and cancels when they are normalised. Tiles where 2 / v is beyond that take the slower way,
  `_steep`, and so do the few with a node that does not count: only there is anything masked.
"""

from __future__ import annotations

import triton
import triton.language as tl

from fewlabels.kernels.gpu.triton import CHANGE, DIAGONAL, DOUBT, ISLAND, LABELS, rival

TURN = tl.constexpr(2.8853900817779268)  # 2 log2(e): 2 / v is TURN / v as an exponent of 2
OPPOSED = tl.constexpr(0.25)  # as in `kernels.cpu.pairs`


@triton.jit
def _reciprocal(x, FAST: tl.constexpr):
    if FAST:
        y = tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    else:
        y = 1.0 / x
    return y


@triton.jit
def _reciprocals(x, C: tl.constexpr, GROUP: tl.constexpr, FAST: tl.constexpr):
    """1 / x of C numbers, one reciprocal for every GROUP of them."""
    found = ()
    for c in tl.static_range(0, C, GROUP):
        product = x[c]
        products = (product,)
        for d in tl.static_range(1, GROUP):
            if c + d < C:
                product = product * x[c + d]
                products = products + (product,)
        left = _reciprocal(product, FAST)
        group = ()
        for e in tl.static_range(1, GROUP):
            if c + GROUP - e < C:
                group = (left * products[GROUP - e - 1],) + group
                left = left * x[c + GROUP - e]
        found = found + (left,) + group
    return found


@triton.jit
def _others(x, C: tl.constexpr):
    """For each of C numbers the largest of the others."""
    before = (x[0],)
    after = (x[C - 1],)
    for c in tl.static_range(1, C - 1):
        before = before + (tl.maximum(before[c - 1], x[c]),)
        after = after + (tl.maximum(after[c - 1], x[C - 1 - c]),)
    found = (after[C - 2],)
    for c in tl.static_range(1, C - 1):
        found = found + (tl.maximum(before[c - 1], after[C - 2 - c]),)
    return found + (before[C - 2],)


@triton.jit
def _gentle(
    t, tr, lean, hk, chance,
    C: tl.constexpr, GROUP: tl.constexpr, BIAS: tl.constexpr, FAST: tl.constexpr, SIGNED: tl.constexpr,
):  # fmt: skip
    """Chance to be wrong at k once q is answered, where no exponent, t = 2 log2(e) / v times |h|, is beyond 2 BIAS.

    With s = 1 / (1 + x) the sigmoid of a class if another is the answer, 1 / (1 + x fall) is the one if it is itself:
    s / e, e = fall + s (1 - fall). All of the second kind are multiplied by e. lean: TURN (1 + h_q); tr: t r / TURN.
    """
    low = tl.exp2(tl.full([1, 1], -BIAS, t.dtype))
    fall = tl.exp2(tr * (-2.0 * TURN))
    bottom = ()
    for c in tl.static_range(C):
        bottom = bottom + (low + tl.exp2(tr * lean[c] + (-BIAS - t * hk[c])),)
    s = _reciprocals(bottom, C, GROUP, FAST)  # each 2^BIAS times the sigmoid
    total = s[0]
    first = s[0]
    for c in tl.static_range(1, C):
        total += s[c]
        first = tl.maximum(first, s[c])
    if SIGNED:
        others = _others(s, C)
    rise = 1.0 - fall
    slope = rise * low  # e = fall + slope s
    bend = total * slope + rise
    level = total * fall
    best_slope = first * slope
    best_level = first * fall
    masses = ()
    parts = ()
    for c in tl.static_range(C):
        mass = s[c] * (bend - slope * s[c]) + level  # s + (total - s) e
        largest = others[c] * (slope * s[c] + fall) if SIGNED else best_slope * s[c] + best_level
        masses = masses + (mass,)
        parts = parts + (chance[c] * (mass - tl.maximum(s[c], largest)),)
    wrong = tl.zeros_like(t)
    for c in tl.static_range(0, C, GROUP):
        part = parts[c]
        mass = masses[c]
        for d in tl.static_range(1, GROUP):
            if c + d < C:
                part = part * masses[c + d] + parts[c + d] * mass
                mass = mass * masses[c + d]
        wrong += part * _reciprocal(mass, FAST)
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
        wrong += chance[c] * tl.minimum(rest, mass - rival(other, first, second, SIGNED)) * _reciprocal(mass, FAST)
    return wrong


@triton.jit
def _least(x, kind: tl.constexpr):
    """The least of a tile by its bits, read as whole numbers of this kind: one instruction of a warp finds it.

    Numbers above zero are in the same order as their bits, and those below zero have their bits below zero.
    """
    return tl.min(tl.min(x.to(kind, bitcast=True), 1), 0)


@triton.jit(do_not_specialize=["m", "n"])
def two_step(
    G,
    nodes,
    asked,
    factor,
    span,
    out,
    m,
    n,
    ld,
    C: tl.constexpr,
    BQ: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    BIAS: tl.constexpr,
    LIMIT: tl.constexpr,
    EPS: tl.constexpr,
    ISLANDS: tl.constexpr,
    PENDING: tl.constexpr,
    FAST: tl.constexpr,
    SIGNED: tl.constexpr,
):
    """(m,) errors to expect at the nodes other than q, over the classes q may turn out to be: the rows asked, rising.

    DOUBT is the variance in units of TURN, 0 past n. It is infinite at nodes whose label is known, where G, h and z
    are zero: each adds 1 - 1 / C to every sum, which costs less than telling them apart here.
    PENDING: G += factor z z', in place, before anything else; the diagonal and the variances are those after it.
    SIGNED: some G may be below zero, and |h| is up to span.
    """
    kind: tl.constexpr = G.dtype.element_ty
    whole: tl.constexpr = tl.int32 if kind == tl.float32 else tl.int64
    size: tl.constexpr = (LABELS + 2 * C) * BK  # of a block of the table
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    row = tl.load(asked + tl.minimum(q, m - 1))
    first = tl.min(row, 0)
    last = tl.max(row, 0)
    mine = nodes + (row // BK) * size + row % BK
    pivot = tl.load(mine + DIAGONAL * BK)[:, None]
    share = tl.where(pivot > 0, 1.0 / (pivot * TURN), 0.0).to(kind)
    lean = ()
    chance = ()
    for c in tl.static_range(C):
        lean = lean + ((tl.load(mine + (LABELS + c) * BK)[:, None] + 1.0) * TURN,)
        chance = chance + (tl.load(mine + (LABELS + C + c) * BK)[:, None],)
    edge = tl.full([], 0.5 / BIAS, kind)
    if SIGNED:
        edge *= tl.load(span)
        spread = (edge + 0.5 / BIAS) * TURN
    if ISLANDS:
        here = tl.load(mine + ISLAND * BK)[:, None]
    if PENDING:
        zq = tl.load(mine + CHANGE * BK)[:, None]
        scale = tl.load(factor)
    along = tl.arange(0, BK)[None, :] + tl.zeros([BQ, 1], tl.int32)
    place = G + row.to(tl.int64)[:, None] * ld + along
    node = nodes + along  # (BQ, BK): every thread loads what it works on, nothing changes hands
    total = tl.zeros([BQ, BK], kind)
    for start in range(0, n, BK):
        before = tl.load(node + DOUBT * BK)
        g = tl.load(place, eviction_policy="evict_first")  # read once; the table stays in the cache
        if PENDING:  # as in `rank_one`: G stays symmetric to the last bit
            g += scale * (zq * tl.load(node + CHANGE * BK))
            tl.store(place, g, mask=(q < m)[:, None])
        hk = ()
        for c in tl.static_range(C):
            hk = hk + (tl.load(node + (LABELS + c) * BK),)
        r = g * share  # in units of TURN, too
        v = before - g * r
        least = EPS * before
        if ISLANDS:
            there = tl.load(node + ISLAND * BK)
            apart = (tl.load(node + DIAGONAL * BK) + pivot) / TURN
            held = tl.maximum(apart - g * (2.0 / TURN), EPS * apart)  # the effective resistance between q and k
            v = tl.where(here < 0, v, tl.where(here == there, held, before))
            r = tl.where(here < 0, r, tl.where(here == there, tl.full([], 1.0 / TURN, kind), 0.0))
            least = tl.where(here < 0, least, v)
        gentle = (start + BK <= n) & ((start + BK <= first) | (start > last))  # all of them count
        limit = edge.to(whole, bitcast=True)
        if SIGNED:
            gentle &= _least(v - spread * r, whole) >= limit
            quick = gentle & (_least(r, whole) >= 0)
        else:
            quick = gentle & (_least(v, whole) >= limit)
        if quick:
            t = _reciprocal(v, FAST)
            wrong = _gentle(t, t * r, lean, hk, chance, C, GROUP, BIAS, FAST, False)
        else:
            if SIGNED:
                gentle &= _least(v + r * (TURN / OPPOSED), whole) >= limit
            else:
                gentle = False
            if gentle:
                t = _reciprocal(v, FAST)
                wrong = _gentle(t, t * r, lean, hk, chance, C, GROUP, BIAS, FAST, True)
            else:
                counts = (before > 0) & (start + along != row[:, None])
                hq = ()
                for c in tl.static_range(C):
                    hq = hq + (tl.load(mine + (LABELS + c) * BK)[:, None],)
                t = tl.where(counts, _reciprocal(tl.maximum(v, least), FAST), 0.0).to(kind)
                wrong = tl.where(counts, _steep(r * TURN, t, hq, hk, chance, C, LIMIT, FAST, SIGNED), 0.0)
        total += wrong
        place += BK
        node += size
    tl.store(out + q, tl.sum(total.to(tl.float64), 1), mask=q < m)
