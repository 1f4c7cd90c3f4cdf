"""What the look-ahead of every question sees besides its own row of G: the nodes laid out by piece, and h."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewlabels.kernels.reference import Flags, Floats, Ints, harmonic_marginals, two_step_marginals

Numbers = NDArray[np.floating[Any]]  # float32 or float64: every constant of a kernel is made in its own precision


class Layout(NamedTuple):
    """The unlabelled nodes, piece after piece. Everything but G is kept in this order."""

    order: NDArray[np.uint64]  # (u,) columns of G; unsigned, which spares the kernel a check for negative ones
    row: NDArray[np.uint64]  # (u,) rows of G, the same unless only some of its rows are at hand
    start: Ints  # (u,) where the node's piece begins
    stop: Ints  # (u,) and ends
    diagonal: Floats  # (u,) G_kk
    reached: Flags  # (u,) whether a label reaches the node
    elsewhere: Floats  # (u,) errors to expect now in all other pieces together


class Columns(NamedTuple):
    """The D different columns of h, each shared by one class or more, in the order of the layout."""

    h: Numbers  # (D, u), a row for each
    chance: Numbers  # (D, u) that the node is of one of the classes sharing the column
    many: Numbers  # (D,) how many those are


def two_step_view(h: Floats, diagonal: Floats, island: Ints, piece: Ints | None) -> tuple[Layout, Columns]:
    """All that the look-ahead of a question needs besides its own row of G."""
    return _view(h, two_step_marginals(h, np.where(island < 0, diagonal, np.inf)), diagonal, island, piece)


def harmonic_view(h: Floats, diagonal: Floats, island: Ints, piece: Ints | None) -> tuple[Layout, Columns]:
    return _view(h, harmonic_marginals(h), diagonal, island, piece)


def _view(h: Floats, now: Floats, diagonal: Floats, island: Ints, piece: Ints | None) -> tuple[Layout, Columns]:
    """The nodes by piece; where the pieces are not given, by what `island` says of them."""
    if piece is None:
        piece = island - island.min(initial=0)
    order = np.argsort(piece, kind="stable")
    size = np.bincount(piece)
    stop = np.cumsum(size)
    wrong = 1 - now.max(axis=1, initial=0)
    elsewhere = wrong.sum() - np.bincount(piece, wrong)
    piece = piece[order]
    places = order.astype(np.uint64)
    layout = Layout(
        places, places, (stop - size)[piece], stop[piece], diagonal[order], island[order] < 0, elsewhere[piece]
    )
    return layout, _distinct(h[order], now[order])


def in_single(columns: Columns) -> Columns:
    """The same in float32."""
    return Columns(*(array.astype(np.float32) for array in columns))


def _distinct(h: Floats, now: Floats) -> Columns:
    """The classes put together that h does not tell apart, as it does not those never heard."""
    kept: list[int] = []
    many: list[int] = []
    for c in range(h.shape[1]):
        same = [i for i, d in enumerate(kept) if np.array_equal(h[:, c], h[:, d])]
        if same:
            many[same[0]] += 1
        else:
            kept.append(c)
            many.append(1)
    times = np.array(many, dtype=float)
    return Columns(np.ascontiguousarray(h.T[kept]), np.ascontiguousarray(now.T[kept] * times[:, None]), times)
