"""The look-ahead in Numba, twin of `reference`: a question is scored over its piece of the graph, in blocks of nodes.

Three things save time without changing a cost (docs/speed.md has what each brings, docs/maths.md why):
- C + 2 exponentials per pair, and one division for the two sigmoids of a class;
- nodes in other pieces keep the error they have now, since G is zero between pieces;
- classes with the same h everywhere, such as those no answer has named, are worked out once.

On large graphs a float32 pass comes first. Its error is bounded, and every question that may be the lowest within that
bound is scored again in float64: what is asked, and what is tied with it, is decided in float64.
"""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import EPS, TIE, Flags, Floats, Ints
from fewlabels.kernels.cpu.layout import Columns, Layout, harmonic_view, in_single, two_step_view, whole_rows
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

BLOCK = 128  # nodes k worked on together: the buffers of a block stay in the first-level cache
SCREEN_FROM = 500  # unlabelled nodes from which the float32 pass pays off
SCREEN_UP_TO = 16.0  # mean 2 / G_kk: beyond it the bound on float32's error is too wide to rule out much
HALF_ULP_32 = 2.0**-24


def two_step_cost(
    G: Floats, h: Floats, island: Ints, n: int,
    *, nodes: Ints | None = None, piece: Ints | None = None, asked: Flags | None = None, signed: bool = False,
) -> Floats:  # fmt: skip
    diagonal = np.diag(G) if nodes is None else np.diag(G)[nodes]
    layout, columns = two_step_view(h, diagonal, island, nodes, piece, signed)
    rows = np.arange(len(h)) if asked is None else np.flatnonzero(asked[layout.place])
    if screens(diagonal, island):
        found, steep_mean = two_step_errors(whole_rows(G), in_single(columns), layout, rows, get_num_threads())
        close = perhaps_lowest(found / n, screening_error(steep_mean), np.arange(len(rows)))
        found[close], _ = two_step_errors(whole_rows(G), columns, layout, rows[close], get_num_threads())
    else:
        found, _ = two_step_errors(whole_rows(G), columns, layout, rows, get_num_threads())
    cost = np.full(len(h), found.max(initial=0) / n)  # those not asked come last
    cost[layout.place[rows]] = found / n
    return cost


def screens(diagonal: Floats, island: Ints) -> bool:
    """Whether the float32 pass pays off."""
    u = len(diagonal)
    return u >= SCREEN_FROM and float((2 / diagonal[island < 0]).sum()) <= SCREEN_UP_TO * u


def screening_error(steep_mean: Floats) -> Floats:
    """How far a cost of the float32 pass may be off, by the mean 2 |h| / v met."""
    return HALF_ULP_32 * (8 + 4 * steep_mean)


def perhaps_lowest(cost: Floats, error: Floats, asked: Ints) -> Ints:
    """Those asked whose cost, known up to its error, may be the lowest or tied with it."""
    if len(asked) == 0:
        return asked
    lowest = float((cost + error)[asked].min())
    return asked[(cost - error)[asked] <= lowest + TIE * max(1.0, abs(lowest))]


def harmonic_cost(
    G: Floats, h: Floats, island: Ints, n: int,
    *, nodes: Ints | None = None, piece: Ints | None = None, asked: Flags | None = None, signed: bool = False,
) -> Floats:  # fmt: skip
    diagonal = np.diag(G) if nodes is None else np.diag(G)[nodes]
    layout, columns = harmonic_view(h, diagonal, island, nodes, piece, signed)
    everyone = np.arange(len(h))
    cost = np.empty(len(h))
    cost[layout.place] = harmonic_errors(whole_rows(G), columns, layout, everyone, get_num_threads()) / n
    return cost


@njit(cache=True, nogil=True, parallel=True)
def two_step_errors(G: Floats, columns: Columns, layout: Layout, asked: Ints, threads: int) -> tuple[Floats, Floats]:
    """n R+q of the nodes asked, and the mean 2 |h| / v met on the way; in the precision of h, summed in float64."""
    cost, steep_mean = np.empty(len(asked)), np.empty(len(asked))
    for thread in prange(threads):  # interleaved, so that large and small pieces are dealt out evenly
        share = slice(thread, None, threads)
        _two_step_share(G, columns, layout, asked[share], cost[share], steep_mean[share])
    return cost, steep_mean


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _two_step_share(G: Floats, columns: Columns, layout: Layout, asked: Ints, cost: Floats, steep_mean: Floats) -> None:
    """One thread's share of the questions: n R+q, the errors to expect over the classes q may turn out to be."""
    hT, chance, multiplicity = columns
    D, number = len(multiplicity), hT.dtype
    two, log2_e = hT.dtype.type(2), hT.dtype.type(LOG2_E)
    limit = hT.dtype.type(STEEP_32 if hT.itemsize == 4 else STEEP_64)
    signed = len(layout.size) > 0
    v, r, t, above, exponent, right = np.empty((6, BLOCK), number)
    gathered, all_right, work = np.empty(BLOCK), np.empty(BLOCK), np.empty(ROOM * D, number)
    for i, q in enumerate(asked):
        start, stop = layout.start[q], layout.stop[q]
        row, pivot = G[layout.order[q]], layout.diagonal[q]
        per_pivot, h_q, chance_q = 1 / pivot, hT[:, q], chance[:, q]
        all_right[:] = 0.0
        steep_sum = 0.0
        for left in range(start, stop, BLOCK):
            width = min(BLOCK, stop - left)
            order, diagonal = layout.order[left : left + width], layout.diagonal[left : left + width]
            first, last = np.int64(order[0]), np.int64(order[width - 1])
            if last - first == width - 1:  # one after another in memory, too, as most are
                near = row[first : last + 1]
            else:
                for k in range(width):
                    gathered[k] = row[order[k]]
                near = gathered
            if layout.reached[q]:
                for k in range(width):
                    share = near[k] * per_pivot
                    v[k] = variance_left(diagonal[k], share, near[k], EPS * diagonal[k])
                    r[k] = share
            else:
                for k in range(width):
                    v[k] = variance_of_first(diagonal[k], pivot, near[k], EPS * (diagonal[k] + pivot))
                    r[k] = 1
            if left <= q < left + width:
                v[q - left] = np.inf  # no steep pair; what it comes to is set below
            for k in range(width):
                above[k] = exponent[k] = two / v[k]
                t[k] = log2_e * above[k]
            if signed:  # h may leave [-1, 1]
                size = layout.size[left : left + width]
                for k in range(width):
                    exponent[k] = largest_exponent(above[k], r[k], size[k], layout.size[q])
            steep = 0
            for k in range(width):
                steep_sum += float(exponent[k]) if exponent[k] <= limit else 0.0
                steep += 1 if exponent[k] > limit else 0
            two_step_block(right, t, r, hT, h_q, chance_q, multiplicity, work, left, width)
            if steep > 0:
                for k in range(width):
                    if exponent[k] > limit:
                        right[k] = 1 - steep_error(
                            hT[:, left + k], h_q, float(r[k]), float(above[k]), chance_q, multiplicity
                        )
            if left <= q < left + width:  # no error at q itself
                right[q - left] = 1
            for k in range(width):
                all_right[k] += right[k]
        cost[i] = layout.elsewhere[q] + (stop - start) - all_right.sum()
        steep_mean[i] = steep_sum / (stop - start)


@njit(cache=True, nogil=True, parallel=True)
def harmonic_errors(G: Floats, columns: Columns, layout: Layout, asked: Ints, threads: int) -> Floats:
    """n R+q of the nodes asked, by harmonic marginals."""
    cost = np.empty(len(asked))
    for thread in prange(threads):
        share = slice(thread, None, threads)
        _harmonic_share(G, columns, layout, asked[share], cost[share])
    return cost


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def _harmonic_share(G: Floats, columns: Columns, layout: Layout, asked: Ints, cost: Floats) -> None:
    """One thread's share. (h + 1) / 2 sums to one over the classes wherever a label reaches."""
    hT, chance, multiplicity = columns
    D = len(multiplicity)
    r, t, right, all_right = np.empty((4, BLOCK))  # t is not read
    work = np.empty(ROOM * D)
    for i, q in enumerate(asked):
        start, stop = layout.start[q], layout.stop[q]
        row, pivot = G[layout.order[q]], layout.diagonal[q]
        h_q, chance_q = hT[:, q], chance[:, q]
        all_right[:] = 0.0
        for left in range(start, stop, BLOCK):
            width = min(BLOCK, stop - left)
            order = layout.order[left : left + width]
            for k in range(width):
                r[k] = row[order[k]] / pivot if layout.reached[q] else 1.0
            harmonic_block(right, t, r, hT, h_q, chance_q, multiplicity, work, left, width)
            for k in range(width):
                all_right[k] += right[k]
        cost[i] = layout.elsewhere[q] + (stop - start) - all_right.sum()  # at q itself h' = 1: no error
