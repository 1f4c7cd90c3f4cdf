"""What a field says before anybody has answered: how the values of any two nodes go together. No answer changes it.

It is K + F inv(S) F', up to a constant in each piece of the graph. K is bounded, and lies where its engine keeps it; F
holds levels: the constant of every piece, which nobody knows (S = 0), and waves so slow that K would drown in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.linalg import qr

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.answers import Answers
from fewlabels.field.costs import Costs
from fewlabels.field.precision import Precision

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned
    from fewlabels.field.spec import Recipe


class Known(NamedTuple):
    """The columns of K of the nodes with an answer."""

    nodes: Ints  # (l,)
    X: Floats  # (n, l)

    @property
    def rough(self) -> Floats:
        """The same, as rough as those that score questions."""
        return self.X


@dataclass(frozen=True, eq=False)
class Levels:
    """The waves that are kept apart from K; the constants of the pieces need no numbers."""

    F: Floats  # (n, p)
    S: Floats  # (p, p)

    @cached_property
    def reach(self) -> Floats:
        """(p,) the variance that each wave adds where it is highest."""
        highest = np.abs(self.F).max(axis=0, initial=0).astype(float)
        return np.asarray(highest**2 / np.diag(self.S))

    def seen_from(self, nodes: Ints, piece: Ints, loose: Ints) -> Levels:
        """The same, told apart by these nodes: each of the `loose` waves is taken off its value at the first of them in
        its piece, and as many as these nodes differ by are turned away from the others, which are then zero at them.
        """
        first = np.full(int(piece.max()) + 1, -1)
        first[piece[nodes[::-1]]] = nodes[::-1]
        F, S = self.F.astype(float), self.S.copy()
        level = np.where((first >= 0)[:, None], F[first][:, loose], 0.0)  # (pieces, loose)
        apart = F[:, loose] - level[piece]
        turn = qr(apart[nodes].T, pivoting=True)[0]  # (loose, loose)
        F[:, loose] = apart @ turn
        S[loose] = turn.T @ S[loose]
        S[:, loose] = S[:, loose] @ turn
        return Levels(F, S)

    @classmethod
    def of(cls, n: int, waves: Sequence[tuple[Ints, Any]]) -> Self:
        """Of the pieces that have any: their nodes, and the waves there."""
        p = sum(len(each.S) for _, each in waves)
        F, S, left = np.zeros((n, p)), np.zeros((p, p)), 0
        for nodes, each in waves:
            part = slice(left, left + len(each.S))
            F[nodes, part], S[part, part] = each.F, each.S
            left = part.stop
        return cls(F, S)


class Covariance(Protocol):
    """Immutable: shared by learners, trials and threads."""

    recipe: Recipe
    n_nodes: int
    precision: Precision  # Q
    piece: Ints  # (n,) the number of each node's piece of the graph

    @property
    def levels(self) -> Levels: ...

    @property
    def diagonal(self) -> Floats:
        """(n,) K_kk."""

    @property
    def exact(self) -> bool:
        """Whether the diagonal is, or a sketch."""

    @property
    def base(self) -> Answers | None:
        """Answers that it begins at: K is about what they leave open."""

    def for_answers(self, answers: Answers) -> Covariance:
        """The one that a field of these answers is best made of: this one, or one that begins at some of them."""

    def mean(self, n_classes: int) -> Floats:
        """(n, C) h by the answers that it begins at; zero where there are none."""

    def known(self, nodes: Ints, before: Any, workspace: Any) -> Any:
        """The columns of K of these nodes, as `Known`, in this order; `before` has some of them, the workspace perhaps
        others.
        """

    def solve(self, B: Floats, tolerance: float | None = None) -> Floats:
        """(n, m) K B."""

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        """(n, m) columns of K; `rough`: good enough to score questions."""

    def sums(self) -> Floats:
        """(n,) the sums of the rows of K."""

    def workspace(self) -> Any:
        """What a line of fields, each from the one before, has in common: arrays that are brought from one to the next
        instead of made anew. Empty until used.
        """

    def whole(self, field: Conditioned) -> Floats:
        """(u, u) G, where it can be formed."""

    def conditioned_columns(self, field: Conditioned, nodes: Ints, rough: bool) -> Floats:
        """(n, m) columns of G, zero at sure answers."""

    def two_step_costs(self, field: Conditioned, asked: Flags) -> Costs:
        """See `Conditioned`, here and below."""

    def harmonic_costs(self, field: Conditioned, asked: Flags) -> Costs: ...

    def vopt_costs(self, field: Conditioned, asked: Flags, rough: bool) -> Costs: ...

    def sopt_costs(self, field: Conditioned, asked: Flags) -> Costs: ...
