"""What the look-ahead of every question needs besides its own row of G: the nodes laid out by piece, and h."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import Flags, Floats, Ints, Numbers
from fewlabels.kernels.reference import harmonic_error, harmonic_marginals, two_step_marginals

FIRST = 100  # rows by which most columns are seen to differ


class Layout(NamedTuple):
    """The unlabelled nodes, piece after piece. Everything but G is kept in this order."""

    order: NDArray[np.uint64]  # (u,) rows and columns of G; unsigned, which spares the kernel a check for negative ones
    place: Ints  # (u,) the same among the unlabelled nodes
    start: Ints  # (u,) where the node's piece begins
    stop: Ints  # (u,) and ends
    diagonal: Floats  # (u,) G_kk
    reached: Flags  # (u,) whether a label reaches the node
    elsewhere: Floats  # (u,) errors to expect now in all other pieces together
    size: Floats  # (u,) largest |h| of each node in a smooth field, which may leave [-1, 1]; else empty


class Columns(NamedTuple):
    """The D different columns of h, each shared by one class or more, in the order of the layout."""

    h: Numbers  # (D, u), a row for each
    chance: Numbers  # (D, u) that the node is of one of the classes sharing the column
    multiplicity: Numbers  # (D,) how many those are


def two_step_view(
    h: Floats, diagonal: Floats, island: Ints, nodes: Ints | None, piece: Ints | None, signed: bool = False
) -> tuple[Layout, Columns]:
    """All that the look-ahead of a question needs besides its own row of G."""
    now = two_step_marginals(h, np.where(island < 0, diagonal, np.inf))
    return _view(h, now, 1 - now.max(axis=1, initial=0), diagonal, island, nodes, piece, signed)


def harmonic_view(
    h: Floats, diagonal: Floats, island: Ints, nodes: Ints | None, piece: Ints | None, signed: bool = False
) -> tuple[Layout, Columns]:
    return _view(h, harmonic_marginals(h), harmonic_error(h), diagonal, island, nodes, piece, signed)


def _view(
    h: Floats, now: Floats, wrong: Floats, diagonal: Floats, island: Ints,
    nodes: Ints | None, piece: Ints | None, signed: bool,
) -> tuple[Layout, Columns]:  # fmt: skip
    """The nodes by piece or, where the pieces are not given, by island."""
    if piece is None:
        piece = island - island.min(initial=0)
    order = np.argsort(piece, kind="stable")
    size = np.bincount(piece)
    stop = np.cumsum(size)
    elsewhere = wrong.sum() - np.bincount(piece, wrong)
    piece = piece[order]
    rows = (order if nodes is None else nodes[order]).astype(np.uint64)
    layout = Layout(
        rows, order, (stop - size)[piece], stop[piece], diagonal[order], island[order] < 0, elsewhere[piece],
        size_of(h[order]) if signed else np.empty(0),
    )  # fmt: skip
    kept, multiplicity = distinct_columns(h)
    return layout, Columns(
        np.ascontiguousarray(h[order].T[kept]),
        np.ascontiguousarray(now[order].T[kept] * multiplicity[:, None]),
        multiplicity,
    )


def size_of(h: Floats) -> Floats:
    """(u,) the largest |h| of each node."""
    return np.abs(h).max(axis=1, initial=0)


def in_single(columns: Columns) -> Columns:
    """The same in float32."""
    return Columns(*(array.astype(np.float32) for array in columns))


def distinct_columns(h: Floats) -> tuple[list[int], Floats]:
    """The D different columns of h, by number, and (D,) how many classes share each: those never named are alike."""
    kept: list[int] = []
    multiplicity: list[float] = []
    for c in range(h.shape[1]):
        same = [
            i
            for i, d in enumerate(kept)
            if np.array_equal(h[:FIRST, c], h[:FIRST, d]) and np.array_equal(h[:, c], h[:, d])
        ]
        if same:
            multiplicity[same[0]] += 1
        else:
            kept.append(c)
            multiplicity.append(1)
    return kept, np.array(multiplicity, dtype=float)


def whole_rows(G: Floats) -> Floats:
    """G, the leading block of a larger C-ordered matrix, with its rows extended to their full length in memory.

    Numba vectorises along a row only when the type says that rows are contiguous, which a block's type does not.
    """
    if G.flags.c_contiguous:
        return G
    if G.strides[1] != G.itemsize:
        raise ValueError("G must be the leading block of a C-ordered matrix")
    return np.lib.stride_tricks.as_strided(G, (G.shape[0], G.strides[0] // G.itemsize), G.strides)
