"""What strategies ask of G when its rows are on workers: the kernels of `kernels.cpu`, a block of rows at a time.

A worker scores the questions whose rows it holds. It is sent h, the diagonal and the like, O(n) numbers, and sends back
a cost for each question.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewlabels.cluster.blocks import Blocks
from fewlabels.kernels.cpu import sopt_from_sums, vopt_from_sums
from fewlabels.kernels.lookahead_cpu import perhaps_lowest, screening_error, screens
from fewlabels.kernels.reference import Flags, Floats, Ints
from fewlabels.kernels.rows_cpu import View


class Green(NamedTuple):
    """G of the unlabelled nodes, where it is: its rows on the workers, its diagonal here."""

    blocks: Blocks
    unlabelled: Ints  # (u,) node numbers, ascending as the rows are
    diagonal: Floats  # (u,)

    def of_rows(self, verb: str, *arguments: Any) -> Any:
        """(u,) what the workers say of every row, an array or several."""
        found = self.blocks.ask(verb, *arguments)
        return tuple(f[self.unlabelled] for f in found) if isinstance(found, tuple) else found[self.unlabelled]


def two_step_cost(
    G: Green, h: Floats, island: Ints, n: int, *, piece: Ints | None = None, skipped: Flags | None = None
) -> Floats:
    view = View(G.unlabelled, h, G.diagonal, island, piece)
    everyone = np.arange(len(h))
    single = screens(G.diagonal, island)
    found, steepness = G.blocks.ask("two_step", view, everyone, single)
    if single:
        asked = everyone if skipped is None else np.flatnonzero(~skipped)
        close = perhaps_lowest(found / n, screening_error(steepness), asked)
        found[close], _ = G.blocks.ask("two_step", view, close, False)
    return found / n


def harmonic_cost(
    G: Green, h: Floats, island: Ints, n: int, *, piece: Ints | None = None, skipped: Flags | None = None
) -> Floats:
    view = View(G.unlabelled, h, G.diagonal, island, piece)
    return G.blocks.ask("harmonic", view, np.arange(len(h))) / n


def vopt_cost(G: Green, island: Ints) -> Floats:
    _, squares = G.of_rows("sums")
    return vopt_from_sums(squares, G.diagonal, island)


def sopt_cost(G: Green, island: Ints) -> Floats:
    sums, _ = G.of_rows("sums")
    return sopt_from_sums(sums, G.diagonal, island)
