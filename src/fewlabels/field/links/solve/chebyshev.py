"""Covariances that no answer changes: the slow waves solved for by themselves, the rest by polynomials.

For graphs of near neighbours in three dimensions or more, whose factors fill in and on which conjugate gradients crawl:
a few waves, those between the clusters, are what they wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.links.solve import tall
from fewlabels.field.links.solve.pcg import System
from fewlabels.field.links.solve.polynomial import Ordered, Polynomial, Scaled, Spots, blocks_of, width_of
from fewlabels.field.links.solve.waves import SlowWaves, Waves
from fewlabels.kernels.cpu import blocks

TOLERANCE = 2e-3  # of the polynomials
LARGE = 300  # times the inverse of a typical pivot: a variance beyond it would cost others more than two digits


class Smoother:
    """T = inv(I + share L), roughly: what it makes of inv(L) is inv(Q), Q = L + share L^2."""

    def __init__(self, ordered: Ordered, degree: Floats, share: float, tolerance: float) -> None:
        """`degree` (n,) is the diagonal of L."""
        self.ordered, self.share = ordered, share
        shift = 1 / share
        self._matrix = Scaled(ordered, degree + shift)
        bound = float((shift / (degree + shift)).min())  # a poor one where there are hubs
        self._polynomial = Polynomial(self._matrix, max(bound, 0.9 * self._matrix.low), tolerance)

    def solve(self, B: Floats) -> Floats:
        """(n, m) T B."""
        return _by_blocks(self.ordered, B, np.dtype(np.float32), self)

    def __call__(self, X: Numbers) -> Numbers:
        """(n, m) T X, by place and in float32; X is spoilt."""
        X *= self._matrix.scale[:, None]
        X = self._polynomial(X)
        X *= (self._matrix.scale / np.float32(self.share))[:, None]
        return X


class ByWaves:
    """inv(Q) B = T x, where x = inv(L) B is S p(N) S B and, of the slow waves, S V (1 / lambda - p(lambda)) V'S B.

    S is 1 / sqrt(D), N = S L S and V its slow waves; B sums to zero over each component, and a constant in each is left
    open. Waves pass T nearly as they are, and may be large: T x = x - T share L x is what is worked out of them. The
    rest goes through T itself, since at hubs x and T share L x are nearly equal.
    """

    exact = False

    def __init__(self, ordered: Ordered, matrix: Scaled, waves: Waves, smoother: Smoother | None) -> None:
        """All else than the waves is at their edge or above. Without a smoother Q is L."""
        self._ordered, self._matrix, self._waves, self._smoother = ordered, matrix, waves, smoother
        self._polynomial = Polynomial(matrix, waves.edge, TOLERANCE)
        self._dtype = waves.vectors.dtype
        self._V: Numbers = (waves.vectors * matrix.exact_scale[:, None]).astype(self._dtype)  # S V
        self._lacking: Floats = 1 / waves.values - self._polynomial.at(waves.values)

    def slow_part(self) -> Numbers | None:
        """(n, k) U such that the slow waves are U U' of inv(L), where they are so slow that they are large."""
        V, weight = self._V, 1 / self._waves.values
        largest = float(np.einsum("ij,ij,j->i", V, V, weight).max()) * float((1 / self._matrix.exact_scale**2).mean())
        return V[self._ordered.place] * np.sqrt(weight) if largest > LARGE else None

    @property
    def name(self) -> str:
        return f"Chebyshev ({len(self._waves.values)} slow waves)"

    def solve(self, B: Floats) -> Floats:
        """(n, m) roughly inv(Q) B."""

        def solved(mine: Numbers) -> Numbers:
            told = tall.gram(self._V, mine)
            scaled = self._matrix.scale[:, None] * mine.astype(np.float32, copy=False)
            return self._completed(self._polynomial(scaled), told)

        return _by_blocks(self._ordered, B, self._dtype, solved)

    def between(self, nodes: Ints, others: Ints) -> Floats:
        """(n, m) columns of roughly inv(Q), of these nodes less those of the others."""
        n, m = len(self._matrix), len(nodes)
        X: Any = np.empty((n, m), self._dtype)
        for part in blocks_of(m):
            here, there = self._ordered.place[nodes[part]], self._ordered.place[others[part]]
            scale, columns = self._matrix.scale, np.arange(len(here))
            spots = Spots(
                np.concatenate([here, there]), np.tile(columns, 2), np.concatenate([scale[here], -scale[there]])
            )
            told = (self._V[here] - self._V[there]).T
            Y = self._completed(self._polynomial.at_spots(spots, width_of(part)), told)
            blocks.move_rows(Y, slice(0, None), self._ordered.place, np.ones(len(here)), X, part)
        return X

    def waves(self) -> Numbers:
        """(n, k) the slow waves S V."""
        return self._V[self._ordered.place]

    def _completed(self, X: Numbers, told: Floats) -> Numbers:
        """inv(Q) B, by place, from p(N) S B, which is spoilt, and V'S B; columns beyond those told of are zero."""
        by: Numbers = np.zeros((len(told), X.shape[1]), self._dtype)
        by[:, : told.shape[1]] = self._lacking[:, None] * told
        scale = self._matrix.scale
        if self._smoother is None:
            return tall.scaled_sum(X, scale, self._V, by)
        pulled = (-self._smoother.share * self._waves.values[:, None] * by).astype(self._dtype)
        left = tall.scaled_sum(X, scale, self._V, pulled, 1 / self._matrix.exact_scale**2)  # share L x of the waves
        Y = self._smoother(left.astype(np.float32, copy=False))
        return tall.scaled_sum(Y, np.ones_like(scale), self._V, by)


def _by_blocks(ordered: Ordered, B: Floats, dtype: np.dtype[Any], solve: Callable[[Numbers], Numbers]) -> Floats:
    """(n, m) what `solve` makes of the columns of B, by place, one or WIDE at a time."""
    size = np.abs(B).max(axis=0, initial=0)
    size[size == 0] = 1  # float32 has no room for what is left of a tight solution
    X: Any = np.empty(B.shape, dtype)
    for part in blocks_of(B.shape[1]):
        mine: Numbers = np.zeros((len(B), width_of(part)), dtype)
        blocks.move_rows(B, part, ordered.order, 1 / size[part], mine, slice(0, None))
        blocks.move_rows(solve(mine), slice(0, None), ordered.place, size[part], X, part)
    return X


class Deflation:
    """Looks for the slow waves of a Laplacian, and solves with them."""

    def __init__(self, system: System, ordered: Ordered, component: Ints) -> None:
        self._ordered, self._matrix = ordered, Scaled(ordered, system.diagonal)
        self._search = SlowWaves(self._matrix, component[ordered.order])

    def solver(self, smoother: Callable[[], Smoother] | None = None, least: float = 0.0) -> ByWaves | None:
        """None where what is left of the Laplacian begins below `least`. Once there is one, the search is over."""
        waves = self._search.find(least)
        if waves is None:
            return None
        del self._search  # and its memory, 512 bytes a node
        return ByWaves(self._ordered, self._matrix, waves, smoother() if smoother else None)

    def waves(self) -> Numbers:
        """(n, k) the slow waves S V as far as they have been found."""
        return (self._search.so_far() * self._matrix.scale[:, None])[self._ordered.place]
