"""Laplacians that no answer changes: the slow waves solved for by themselves, the rest by a polynomial.

For graphs of near neighbours in three dimensions or more, whose factors fill in and on which conjugate gradients crawl:
a few waves, those between the clusters, are what they wait for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.sparse.solve import pcg
from fewlabels.field.sparse.solve.pcg import System
from fewlabels.field.sparse.solve.polynomial import Ordered, Polynomial, Scaled, blocks_of
from fewlabels.field.sparse.solve.waves import Waves, slow_waves

ROUGH = 1e-4  # tolerance that float32 reaches
INNER = 0.02  # of the polynomial when it preconditions conjugate gradients


class Chebyshev:
    """inv(A) B = S (p(N) + V (1 / lambda - p(lambda)) V') S B, with S = 1 / sqrt(D), N = S A S and its slow waves V.

    Where A is a Laplacian, B sums to zero over each component, and a constant in each is left open.
    """

    exact = False

    def __init__(self, system: System, ordered: Ordered, matrix: Scaled, low: float, waves: Waves | None) -> None:
        """All else than the waves is at `low` or above. No node is held."""
        self._system = system._replace(held=np.zeros_like(system.held))
        self._ordered, self._matrix, self._low, self._waves = ordered, matrix, low, waves
        self._polynomials: dict[float, tuple[Polynomial, Numbers]] = {}  # by tolerance, with what the waves lack

    @property
    def name(self) -> str:
        return "Chebyshev" + (f" ({len(self._waves.values)} slow waves)" if self._waves else "")

    @property
    def steps(self) -> int:
        """Passes over the edges for a rough solution."""
        return self._polynomial(0.01)[0].steps

    def solve(self, B: Floats, tolerance: float) -> Floats:
        """(n, m) inv(A) B."""
        if tolerance < ROUGH:
            return pcg.solve(self._system, B, self, tolerance)[0]
        X: Any = np.empty(B.shape, np.float32)
        for part in blocks_of(B.shape[1]):
            X[:, part] = self(B[:, part], self._system, tolerance)
        return X

    def between(self, nodes: Ints, others: Ints, tolerance: float) -> Floats:
        """(n, m) columns of inv(A) of these nodes less those of the others."""
        n, m = len(self._matrix), len(nodes)
        if tolerance < ROUGH:
            return self.solve(_differences(n, nodes, others, np.float64), tolerance)
        place = self._ordered.place
        X: Any = np.empty((n, m), np.float32)
        for part in blocks_of(m):
            B = _differences(n, place[nodes[part]], place[others[part]], np.float32)
            np.take(self._solved(B, tolerance), place, axis=0, out=X[:, part])
        return X

    def waves(self) -> Floats | None:
        """(n, k) the slow waves, as weights of nodes that sum to zero over each component."""
        if self._waves is None:
            return None
        return (self._waves.vectors / self._matrix.scale[:, None])[self._ordered.place].astype(float)

    def __call__(self, R: Floats, system: Any, tolerance: float = INNER) -> Floats:
        """(n, m) roughly inv(A) R."""
        size = np.abs(R).max(axis=0, initial=0)
        size[size == 0] = 1  # float32 has no room for what is left of a tight solution
        X = self._solved((R / size).astype(np.float32)[self._ordered.order], tolerance)
        return X[self._ordered.place] * size.astype(R.dtype)

    def _solved(self, B: Numbers, tolerance: float) -> Numbers:
        """By place; B is lost."""
        polynomial, lacking = self._polynomial(tolerance)
        B *= self._matrix.scale[:, None]
        X = polynomial(B)
        if self._waves:
            V = self._waves.vectors
            X += V @ (lacking[:, None] * (V.T @ B))
        X *= self._matrix.scale[:, None]
        return X

    def _polynomial(self, tolerance: float) -> tuple[Polynomial, Numbers]:
        if tolerance not in self._polynomials:
            polynomial = Polynomial(self._matrix, self._low, tolerance)
            values = self._waves.values if self._waves else np.empty(0)
            self._polynomials[tolerance] = polynomial, (1 / values - polynomial.at(values)).astype(np.float32)
        return self._polynomials[tolerance]


def deflated(system: System, ordered: Ordered, component: Ints, least: float = 0.0) -> Chebyshev | None:
    """For a Laplacian, with its slow waves; None where what is left of it begins below `least`."""
    matrix = Scaled(ordered, system.diagonal)
    n = len(component)
    size = 1 / matrix.scale  # in each component, what the scaled Laplacian takes to zero
    parts = component[ordered.order]
    total = np.sqrt(np.bincount(parts, size.astype(float) ** 2))
    constants = sparse.csr_array(((size / total[parts]).astype(np.float32), (np.arange(n), parts)))
    waves = slow_waves(matrix, constants, least)
    return None if waves is None else Chebyshev(system, ordered, matrix, waves.edge, waves)


def shifted(system: System, ordered: Ordered, shift: float) -> Chebyshev:
    """For a Laplacian plus `shift` on its diagonal, which has no slow waves."""
    diagonal = system.diagonal + shift
    matrix = Scaled(ordered, diagonal)
    low = max(float((shift / diagonal).min()), 0.9 * matrix.low)  # the first is a bound, but a poor one where hubs are
    return Chebyshev(system._replace(diagonal=diagonal), ordered, matrix, low, None)


def _differences(n: int, nodes: Ints, others: Ints, dtype: type) -> Any:
    """(n, m) the columns of the identity of these nodes less those of the others."""
    B: Any = np.zeros((n, len(nodes)), dtype)
    B[nodes, np.arange(len(nodes))] = 1
    B[others, np.arange(len(nodes))] -= 1
    return B
