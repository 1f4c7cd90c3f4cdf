"""Laplacians that no answer changes: the slow waves solved for by themselves, the rest by a polynomial.

For graphs of near neighbours in three dimensions or more, whose factors fill in and on which conjugate gradients crawl:
a few waves, those between the clusters, are what they wait for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.sparse.solve import tall
from fewlabels.field.sparse.solve.pcg import System
from fewlabels.field.sparse.solve.polynomial import Ordered, Polynomial, Scaled, blocks_of
from fewlabels.field.sparse.solve.waves import SlowWaves, Waves
from fewlabels.kernels.cpu.wide_rows import WIDE

TOLERANCE = 2e-3  # of the polynomials


class Chebyshev:
    """inv(A) B = S (p(N) + V (1 / lambda - p(lambda)) V') S B, with S = 1 / sqrt(D), N = S A S and its slow waves V.

    Where A is a Laplacian, B sums to zero over each component, and a constant in each is left open.
    """

    exact = False
    _dtype = np.dtype(np.float32)

    def __init__(self, ordered: Ordered, matrix: Scaled, low: float, waves: Waves | None) -> None:
        """All else than the waves is at `low` or above."""
        self._ordered, self._matrix, self._waves = ordered, matrix, waves
        self._polynomial = Polynomial(matrix, low, TOLERANCE)
        if waves:
            self._dtype = waves.vectors.dtype
            self._V: Numbers = (waves.vectors * matrix.exact_scale[:, None]).astype(self._dtype)  # S V
            self._lacking: Numbers = (1 / waves.values - self._polynomial.at(waves.values)).astype(self._dtype)

    @property
    def name(self) -> str:
        return "Chebyshev" + (f" ({len(self._waves.values)} slow waves)" if self._waves else "")

    def solve(self, B: Floats) -> Floats:
        """(n, m) roughly inv(A) B."""
        size = np.abs(B).max(axis=0, initial=0)
        size[size == 0] = 1  # float32 has no room for what is left of a tight solution
        X: Any = np.empty(B.shape, self._dtype)
        for part in blocks_of(B.shape[1]):
            Y = self._solved(np.take((B[:, part] / size[part]).astype(self._dtype), self._ordered.order, axis=0))
            X[:, part] = np.take(Y, self._ordered.place, axis=0)
        X *= size.astype(self._dtype)
        return X

    def between(self, nodes: Ints, others: Ints) -> Floats:
        """(n, m) columns of roughly inv(A), of these nodes less those of the others."""
        n, m = len(self._matrix), len(nodes)
        place = self._ordered.place
        X: Any = np.empty((n, m), self._dtype)
        for part in blocks_of(m):
            count = np.arange(len(nodes[part]))
            here, there = place[nodes[part]], place[others[part]]
            B: Numbers = np.zeros((n, WIDE if len(count) > 1 else 1), np.float32)
            B[here, count] = self._matrix.scale[here]
            B[there, count] -= self._matrix.scale[there]
            told = None if self._waves is None else (self._V[here] - self._V[there]).T
            np.take(self._completed(B, told)[:, : len(count)], place, axis=0, out=X[:, part])
        return X

    def waves(self) -> Floats | None:
        """(n, k) the slow waves, as weights of nodes that sum to zero over each component."""
        return None if self._waves is None else as_weights(self._waves.vectors, self._matrix, self._ordered)

    def _solved(self, B: Numbers) -> Numbers:
        """By place."""
        told = None if self._waves is None else tall.gram(self._V, B)
        return self._completed(self._matrix.scale[:, None] * B.astype(np.float32, copy=False), told)

    def _completed(self, scaled: Numbers, told: Floats | None) -> Numbers:
        """inv(A) B from S B and V'S B; columns beyond those told of are zero."""
        X = self._polynomial(scaled)
        if told is None:
            X *= self._matrix.scale[:, None]
            return X
        by = np.zeros((len(told), X.shape[1]), self._dtype)
        by[:, : told.shape[1]] = self._lacking[:, None] * told
        return tall.scaled_sum(X, self._matrix.scale, self._V, by)


def as_weights(V: Numbers, matrix: Scaled, ordered: Ordered) -> Floats:
    """(n, k) waves of the scaled Laplacian as weights of nodes: their products with what varies slowly are large."""
    return (V / matrix.exact_scale[:, None])[ordered.place].astype(float)


class Deflation:
    """Looks for the slow waves of a Laplacian, and solves with them."""

    def __init__(self, system: System, ordered: Ordered, component: Ints) -> None:
        self._ordered, self._matrix = ordered, Scaled(ordered, system.diagonal)
        size = 1 / self._matrix.scale  # in each component, what the scaled Laplacian takes to zero
        parts = component[ordered.order]
        total = np.sqrt(np.bincount(parts, size.astype(float) ** 2))
        constants = ((size / total[parts]).astype(np.float32), (np.arange(len(component)), parts))
        self._search = SlowWaves(self._matrix, sparse.csr_array(constants))

    def solver(self, least: float = 0.0) -> Chebyshev | None:
        """None where what is left of the Laplacian begins below `least`. Once there is one, the search is over."""
        waves = self._search.find(least)
        if waves is None:
            return None
        del self._search  # and its memory, 256 bytes a node
        return Chebyshev(self._ordered, self._matrix, waves.edge, waves)

    def waves(self) -> Floats:
        """(n, k) the slow waves as far as they have been found, as weights of nodes."""
        return as_weights(self._search.so_far(), self._matrix, self._ordered)


def shifted(system: System, ordered: Ordered, shift: float) -> Chebyshev:
    """For a Laplacian plus `shift` on its diagonal, which has no slow waves."""
    diagonal = system.diagonal + shift
    matrix = Scaled(ordered, diagonal)
    low = max(float((shift / diagonal).min()), 0.9 * matrix.low)  # the first is a bound, but a poor one where hubs are
    return Chebyshev(ordered, matrix, low, None)
