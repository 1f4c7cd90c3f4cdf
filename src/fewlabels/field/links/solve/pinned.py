"""Ways to apply inv(A), where A is Q without the rows and columns of the nodes held: all of them rough or in one go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.links.solve import pcg
from fewlabels.field.links.solve.chebyshev import Smoother
from fewlabels.field.links.solve.factor import Factor
from fewlabels.field.links.solve.pcg import Operator, unit_columns
from fewlabels.field.links.solve.polynomial import blocks_of

ROUGH = 1e-3  # what needs no refinement
GRADIENTS = 1e-4  # tolerance that float32 reaches


class Solver(Protocol):
    """inv(A), zero in the rows and columns held."""

    exact: bool  # from a factor: cheap, and right to rounding

    @property
    def tolerance(self) -> float:
        """What it reaches by itself."""

    @property
    def name(self) -> str: ...

    def solve(self, B: Floats) -> Floats:
        """(n, m) inv(A) B."""

    def columns(self, nodes: Ints) -> Floats:
        """(n, m) columns of inv(A)."""

    def narrow(self) -> None:
        """Be as precise as scoring questions needs from now on."""

    def waves(self) -> Numbers | None:
        """(n, k) the slowest waves of the graph, where they are known, zero in the rows held."""


class ByFactor:
    """By a factor of A itself."""

    exact = True

    def __init__(self, factor: Factor) -> None:
        self.factor = factor

    @property
    def tolerance(self) -> float:
        return self.factor.tolerance

    @property
    def name(self) -> str:
        return self.factor.name

    def solve(self, B: Floats) -> Floats:
        return self.factor.solve(B)

    def columns(self, nodes: Ints) -> Floats:
        return self.factor.columns(nodes)

    def narrow(self) -> None:
        self.factor.narrow()

    def waves(self) -> Numbers | None:
        return None


class ByRemainder(ByFactor):
    """By a factor of A among the nodes that are not held, where these are few."""

    def __init__(self, factor: Factor, nodes: Ints, n: int) -> None:
        super().__init__(factor)
        self.nodes, self._n = nodes, n

    def solve(self, B: Floats) -> Floats:
        return self._everywhere(self.factor.solve(B[self.nodes]))

    def columns(self, nodes: Ints) -> Floats:
        return self.solve(unit_columns(self._n, nodes))

    def _everywhere(self, X: Floats) -> Floats:
        found: Floats = np.zeros((self._n, X.shape[1]), X.dtype)
        found[self.nodes] = X
        return found


class ByGradients:
    """By conjugate gradients."""

    exact = False
    tolerance = GRADIENTS
    name = "PCG (Jacobi)"

    def __init__(self, system: Operator) -> None:
        self._system = system.single()

    def solve(self, B: Floats) -> Floats:
        X: Any = np.empty(B.shape, np.float32)
        for part in blocks_of(B.shape[1]):
            X[:, part], _ = pcg.solve(self._system, np.ascontiguousarray(B[:, part], dtype=np.float32), GRADIENTS)
        return X

    def columns(self, nodes: Ints) -> Floats:
        return self.solve(unit_columns(len(self._system.held), nodes, np.float32))

    def narrow(self) -> None:
        """It is."""

    def waves(self) -> Numbers | None:
        return None


class Open(Protocol):
    """Roughly inv(Q), up to a constant in each piece: symmetric, and nearly right in every direction."""

    exact: bool

    @property
    def name(self) -> str: ...

    def solve(self, B: Floats) -> Floats:
        """(n, m) inv(Q) B, where B sums to zero over each piece."""

    def between(self, nodes: Ints, others: Ints) -> Floats:
        """(n, m) columns of these nodes less those of the others."""

    def waves(self) -> Numbers | None:
        """(n, k) the slow waves, where something is known of them."""


class Smoothed:
    """From a factor of L held at one node of each piece: inv(Q) = inv(L) - share T, with T as in `Smoother`."""

    exact = True

    def __init__(self, factor: Factor, smoother: Smoother, waves: Callable[[], Numbers | None] = lambda: None) -> None:
        """`waves` tells of the slow ones, where something is known of them."""
        self._factor, self._smoother, self.waves = factor, smoother, waves

    @property
    def name(self) -> str:
        return self._factor.name

    def solve(self, B: Floats) -> Floats:
        return self._less(self._factor.solve(B), B)

    def between(self, nodes: Ints, others: Ints) -> Floats:
        n = len(self._smoother.ordered.place)
        X = self._factor.columns(nodes)  # those of the others, which are held, are zero
        return self._less(X, unit_columns(n, nodes, np.float32) - unit_columns(n, others, np.float32))

    def _less(self, X: Floats, B: Floats) -> Floats:
        """inv(Q) B from inv(L) B."""
        X -= self._smoother.share * self._smoother.solve(B)
        return X


class Pinned:
    """inv(A) from an open one: the value at one node of each piece, its anchor, is taken off; then those at other nodes
    held are conditioned away. An operator that is nearly inv(Q), in the sense of (1 - e) inv(Q) <= K <= (1 + e) inv(Q),
    is as nearly inv(A) once it is conditioned, since Schur complements keep that order.
    """

    tolerance = ROUGH

    def __init__(self, inverse: Open, piece: Ints, anchor: Ints, others: Ints) -> None:
        """`piece` (n,), `anchor` (pieces,); `others` are held as well."""
        n, parts = len(piece), len(anchor)
        self._inverse, self._piece, self._anchor, self._others = inverse, piece, anchor, others
        self._of_piece = sparse.csr_array((np.ones(n), (piece, np.arange(n))), shape=(parts, n))
        self.exact = inverse.exact
        self._held = np.zeros(n, dtype=bool)
        self._held[anchor] = self._held[others] = True
        self._reach: Floats = np.empty((n, 0))  # how much the value at each of the others counts
        if len(others):
            X = self._from_anchors(inverse.between(others, anchor[piece[others]]))
            inside = X[others].astype(float)
            self._reach = (X @ np.linalg.inv((inside + inside.T) / 2)).astype(X.dtype)

    @property
    def name(self) -> str:
        return self._inverse.name

    def solve(self, B: Floats) -> Floats:
        balanced = np.where(self._held[:, None], 0, B).astype(B.dtype)
        balanced[self._anchor] = -(self._of_piece @ balanced)
        return self._pinned(self._inverse.solve(balanced))

    def columns(self, nodes: Ints) -> Floats:
        X = self._pinned(self._inverse.between(nodes, self._anchor[self._piece[nodes]]))
        X[:, self._held[nodes]] = 0
        return X

    def narrow(self) -> None:
        """It is."""

    def waves(self) -> Numbers | None:
        X = self._inverse.waves()
        return None if X is None else self._pinned(X.copy())

    def _pinned(self, X: Any) -> Any:
        X = self._from_anchors(X)
        if len(self._others):
            X -= self._reach @ X[self._others]
        X[self._held] = 0
        return X

    def _from_anchors(self, X: Any) -> Any:
        """X less what it is at the anchor of each piece."""
        at = X[self._anchor]
        X -= at if len(at) == 1 else at[self._piece]
        return X
