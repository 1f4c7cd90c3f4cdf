"""The nodes left where many are held: what ties them to each other written out and factored, which so few allow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.precision import Precision
from fewlabels.field.sparse.solve.factor import Factor
from fewlabels.field.sparse.solve.pcg import System
from fewlabels.field.sparse.solve.smooth import SmoothJacobi

MOST_PAIRS = 10**7  # between nodes left, on a guess, up to which they are written out to see
COUNTED = 200  # nodes by which that is guessed
FEWER = 0.8  # share of the nodes that were left when a factor was last tried in vain, from which it is tried again


class Remainder:
    """A factor of A between the nodes that were free when it was made; any of them may be held since."""

    def __init__(self, nodes: Ints, system: System, factor: Factor) -> None:
        """`system` is that of these nodes alone."""
        self.nodes, self.factor, self._system = nodes, factor, system

    def covers(self, held: Flags) -> bool:
        """Whether no other node is free."""
        return bool(np.count_nonzero(~held) == np.count_nonzero(~held[self.nodes]))

    def solve(self, system: System, B: Floats, tolerance: float) -> Floats:
        return self._everywhere(system, self.factor.solve(self._of(system), B[self.nodes], tolerance))

    def columns(self, system: System, nodes: Ints, tolerance: float) -> Floats:
        places = np.searchsorted(self.nodes, nodes)
        return self._everywhere(system, self.factor.columns(self._of(system), places, tolerance))

    def hold(self, system: System, node: int, column: Floats) -> None:
        self.factor.hold(self._of(system), int(np.searchsorted(self.nodes, node)), column[self.nodes])

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self.factor.release(self._of(system), int(np.searchsorted(self.nodes, node)), reach[self.nodes], s)

    def copy(self) -> Remainder:
        return Remainder(self.nodes, self._system, self.factor.copy())

    def _of(self, system: System) -> System:
        """The labels and unsure answers as they are now."""
        return self._system._replace(diagonal=system.diagonal[self.nodes], held=system.held[self.nodes])

    def _everywhere(self, system: System, X: Floats) -> Floats:
        found: Floats = np.zeros((len(system.held), X.shape[1]), X.dtype)
        found[self.nodes] = X
        return found


class ManyHeld:
    """inv(A) of a smooth field where many nodes are held: by a factor of the others if it fills in little, else by
    conjugate gradients."""

    def __init__(self, precision: Precision, factor: Callable[[System], Factor | None]) -> None:
        """`factor` makes one of a small system, or says that it fills in too much."""
        self._precision, self._make = precision, factor
        self.iterative = SmoothJacobi(precision)
        some = np.unique(np.linspace(0, len(precision.degree) - 1, COUNTED).astype(np.int64))
        self._pairs = precision.rows(some).nnz / len(some)  # of a node, while none is held
        self._left: Remainder | None = None
        self._too_many = np.inf  # how many were left when it last did

    @property
    def factored(self) -> bool:
        """Whether there is a factor of the nodes left now."""
        return self._left is not None

    def refresh(self, system: System) -> None:
        self.iterative.refresh(system)
        self._left, self._too_many = None, np.inf

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        left = self.remainder(system)
        return left.solve(system, B, tolerance) if left else self.iterative.solve(system, B, tolerance, guess)

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        left = self.remainder(system)
        return (
            left.columns(system, nodes, tolerance) if left else self.iterative.columns(system, nodes, tolerance, guess)
        )

    def hold(self, system: System, node: int, column: Floats) -> None:
        self.iterative.hold(system, node, column)
        if self._left:
            self._left.hold(system, node, column)

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self.iterative.release(system, node, reach, s)
        if self._left and self._left.covers(system.held):
            self._left.release(system, node, reach, s)
        else:
            self._left = None  # made again when it is wanted

    def narrow(self, dtype: type) -> None:
        if self._left:
            self._left.factor.narrow(dtype)

    def copy(self) -> ManyHeld:
        twin = object.__new__(ManyHeld)
        twin.__dict__.update(self.__dict__)
        twin.iterative, twin._left = self.iterative.copy(), self._left and self._left.copy()
        return twin

    def remainder(self, system: System) -> Remainder | None:
        """The factor of the nodes left, or None where it would fill in too much."""
        if self._left is None:
            nodes = np.flatnonzero(~system.held)
            few = 0 < self._pairs * len(nodes) ** 2 <= MOST_PAIRS * len(system.held)
            if few and len(nodes) <= FEWER * self._too_many:
                self._left = self._made(system, nodes)
                self._too_many = self._too_many if self._left else len(nodes)
        return self._left

    def _made(self, system: System, nodes: Ints) -> Remainder | None:
        W = self._precision.rows(nodes)[:, nodes]
        W.sort_indices()
        links = W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data
        left = System(*links, system.diagonal[nodes], np.zeros(len(nodes), dtype=bool))
        factor = self._make(left)
        return Remainder(nodes, left, factor) if factor else None
