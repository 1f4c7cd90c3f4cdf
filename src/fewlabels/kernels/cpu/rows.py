"""Numba kernels on some of the rows of G: the rows of nodes first, first + 1, ... with a column for every node.

Together over all rows they do what their namesakes in `reference` do to the whole matrix, which is their specification.
Nodes keep their rows and columns: those of a labelled node are zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu import lookahead
from fewlabels.kernels.cpu.layout import Layout, harmonic_view, in_single, two_step_view


class Surroundings(NamedTuple):
    """All that a look-ahead needs besides the rows of G, in the order of `unlabelled`."""

    unlabelled: Ints  # (u,) node numbers
    h: Floats  # (u, C)
    diagonal: Floats  # (u,) G_kk
    island: Ints  # (u,)
    piece: Ints | None  # (u,)
    signed: bool  # a smooth field: some G may be below zero, and h leave [-1, 1]


def two_step_errors(G: Floats, first: int, around: Surroundings, asked: Ints, single: bool) -> tuple[Floats, Floats]:
    """n R+q of the places asked, whose rows must be here, and the mean 2 / v met on the way."""
    layout, columns = two_step_view(*around[1:])
    if single:
        columns = in_single(columns)
    layout, asked = _among_rows(layout, first, around.unlabelled, asked)
    found: tuple[Floats, Floats] = lookahead.two_step_errors(G, columns, layout, asked, get_num_threads())
    return found


def harmonic_errors(G: Floats, first: int, around: Surroundings, asked: Ints) -> Floats:
    """n R+q of the places asked, by harmonic marginals."""
    layout, columns = harmonic_view(*around[1:])
    layout, asked = _among_rows(layout, first, around.unlabelled, asked)
    found: Floats = lookahead.harmonic_errors(G, columns, layout, asked, get_num_threads())
    return found


def _among_rows(layout: Layout, first: int, unlabelled: Ints, asked: Ints) -> tuple[Layout, Ints]:
    """The layout with columns at node numbers and rows counted from `first`; the asked places as it orders them."""
    rank = np.empty(len(unlabelled), dtype=np.int64)
    rank[layout.order] = np.arange(len(unlabelled))
    node = unlabelled[layout.order]
    return layout._replace(order=node.astype(np.uint64), row=(node - first).astype(np.uint64)), rank[asked]


@njit(cache=True, nogil=True, parallel=True)
def downdate(G: Floats, first: int, row: Floats, q: int) -> None:
    """Node q, whose row of G this is, is known; a label reached it before."""
    pivot = row[q]
    for i in prange(G.shape[0]):
        mine = row[first + i]
        change = G[i]
        if mine != 0.0:
            for j in range(len(row)):
                change[j] -= mine * row[j] / pivot  # the dense engine's order of operations: the same to the last bit
        change[q] = 0.0
    _clear(G, first, q)


@njit(cache=True, nogil=True, parallel=True)
def shift(G: Floats, first: int, row: Floats, q: int, kept: float) -> None:
    """The answers at node q, whose row of G this is, change; its variance is multiplied by `kept`."""
    pivot = row[q]
    for i in prange(G.shape[0]):
        mine = row[first + i]
        change = G[i]
        if mine != 0.0:
            for j in range(len(row)):
                change[j] += mine * row[j] / pivot * (kept - 1.0)
            change[q] = mine * kept
    if first <= q < first + G.shape[0]:
        G[q - first] = row * kept


@njit(cache=True, nogil=True, parallel=True)
def ground(G: Floats, first: int, row: Floats, q: int, members: Flags, v: float) -> None:
    """The first answer of the component whose nodes are `members` (n,), at q: its variance is v, 0 if it is sure."""
    pivot = row[q]
    for i in prange(G.shape[0]):
        change = G[i]
        if members[first + i]:
            mine = row[first + i]
            for j in range(len(row)):
                if members[j]:
                    change[j] += v + (pivot - (mine + row[j]))
        if v == 0.0:
            change[q] = 0.0
    if v == 0.0:
        _clear(G, first, q)


@njit(cache=True)
def _clear(G: Floats, first: int, q: int) -> None:
    if first <= q < first + G.shape[0]:
        G[q - first] = 0.0


@njit(cache=True, nogil=True, parallel=True)
def border(G: Floats, first: int, reach: Floats, s: float, q: int) -> None:
    """Node q is unknown again; reach (n,) and s as in `reference.border`, reach zero at q and at labelled nodes."""
    for i in prange(G.shape[0]):
        mine = reach[first + i]
        change = G[i]
        if mine != 0.0:
            for j in range(len(reach)):
                change[j] += mine * reach[j] / s
        change[q] = mine / s
        if first + i == q:
            for j in range(len(reach)):
                change[j] = reach[j] / s
            change[q] = 1 / s


@njit(cache=True, nogil=True, parallel=True)
def center(G: Floats, first: int, members: Flags, mean: Floats, overall: float) -> None:
    """Make the block of `members` the pseudo-inverse; mean (n,) are its row means, overall the mean of those."""
    for i in prange(G.shape[0]):
        if members[first + i]:
            change, mine = G[i], mean[first + i]
            for j in range(len(mean)):
                if members[j]:
                    change[j] += overall - (mine + mean[j])
