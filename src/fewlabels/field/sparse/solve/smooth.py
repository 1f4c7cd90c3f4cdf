"""Solvers for the smooth field, Q = L + share L^2: L applied twice, or Q written out where that pays off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints, Numbers
from fewlabels.field.precision import Precision
from fewlabels.field.sparse.solve import pcg
from fewlabels.field.sparse.solve.iterative import STRICTER, parts
from fewlabels.field.sparse.solve.pcg import Diagonal, System, unit_columns
from fewlabels.kernels.cpu import blocks

if TYPE_CHECKING:
    from fewlabels.field.sparse.solve.choose import Solver

ROUGH = 1e-3  # tolerance that float32 reaches: applied twice, L loses more than once
MOST_PAIRS = 120  # nodes up to two edges away, on average, up to which Q is written out


class TwoSteps(NamedTuple):
    """Q plus the unsure answers, in the rows and columns not held, without a matrix of its own."""

    indptr: Ints
    indices: Ints
    weights: Floats  # of the edges
    degree: Floats  # (n,) of the edges
    share: float
    diagonal: Floats  # (n,)
    held: Flags  # (n,)
    tied: Ints  # the free nodes with unsure answers
    ties: Floats  # and their weights

    def pull(self) -> float:
        """As `System.pull`."""
        LX = blocks.laplacian(self.indptr, self.indices, self.weights, self.held[:, None].astype(self.weights.dtype))
        QX = LX + self.share * blocks.laplacian(self.indptr, self.indices, self.weights, LX)
        return float(self.ties.sum() - QX[~self.held].sum(dtype=float))

    def apply(self, X: Floats, Y: Floats) -> Floats:
        """Y = A X, zero in the rows held, where X is zero, too; returns (m,) the products X'Y of the columns."""
        nowhere = np.zeros_like(self.held)
        LX = np.empty_like(X)
        blocks.apply(self.indptr, self.indices, self.weights, self.degree, nowhere, X, LX)
        share = self.weights.dtype.type(self.share)
        blocks.apply(self.indptr, self.indices, share * self.weights, 1 + share * self.degree, self.held, LX, Y)
        Y[self.tied] += self.ties[:, None] * X[self.tied]
        return blocks.dots(X, Y)

    def residual(self, B: Floats, X: Floats) -> Floats:
        """(n, m) B - A X, zero in the rows held; by differences along the edges both times."""
        links = self.indptr, self.indices, self.weights
        LX = blocks.laplacian(*links, X)
        R: Floats = blocks.laplacian(*links, LX)
        R *= -self.weights.dtype.type(self.share)
        R += B
        R -= LX
        R[self.tied] -= self.ties[:, None] * X[self.tied]
        R[self.held] = 0
        return R


def two_steps(precision: Precision, system: System, dtype: type = np.float64) -> TwoSteps:
    """The system of these labels and unsure answers, in this precision."""
    unsure = pcg.unsure_ties(system, precision.diagonal)
    tied = np.flatnonzero(unsure)
    as_type: list[Any] = [
        array.astype(dtype, copy=False) for array in (system.weights, precision.degree, system.diagonal, unsure[tied])
    ]
    weights, degree, diagonal, ties = as_type
    return TwoSteps(system.indptr, system.indices, weights, degree, precision.share, diagonal, system.held, tied, ties)


class SmoothJacobi:
    """Conjugate gradients on L applied twice, preconditioned by Q's diagonal and the constant."""

    exact = False
    name = "PCG (Jacobi)"

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self._inverse = Diagonal()
        self._of: dict[type, TwoSteps] = {}  # these labels, by precision

    def refresh(self, system: System) -> None:
        self._of = {}

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        X = np.empty(B.shape, np.float32 if tolerance >= ROUGH else np.float64)
        for part in parts(*B.shape):
            start = None if guess is None else np.ascontiguousarray(guess[:, part])
            X[:, part], _ = self.solved(system, np.ascontiguousarray(B[:, part]), tolerance, start)
        return X

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        return self.solve(system, unit_columns(len(system.held), nodes), tolerance, guess)

    def solved(self, system: System, B: Floats, tolerance: float, start: Floats | None) -> tuple[Floats, int]:
        """The solution, in float32 where the tolerance allows it, and the number of steps."""
        if tolerance >= ROUGH:
            rough: Any = None if start is None else start.astype(np.float32)
            return pcg.solve(self.of(system, np.float32), B.astype(np.float32), self._inverse, tolerance, rough)
        exact = None if start is None else start.astype(float)
        return pcg.solve(self.of(system, np.float64), B, self._inverse, tolerance / STRICTER, exact)

    def hold(self, system: System, node: int, column: Floats) -> None:
        self._of = {}

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self._of = {}

    def narrow(self, dtype: type) -> None:
        """Nothing to do: the tolerance decides."""

    def waves(self, system: System) -> Numbers | None:
        return None

    def copy(self) -> SmoothJacobi:
        return SmoothJacobi(self._precision)

    def of(self, system: System, dtype: type) -> TwoSteps:
        """The system of these labels, in this precision."""
        if dtype not in self._of:
            self._of[dtype] = two_steps(self._precision, system, dtype)
        return self._of[dtype]


class WrittenOut:
    """A solver for Laplacians, given the pairs that Q ties."""

    def __init__(self, precision: Precision, solver: Solver) -> None:
        self.precision, self.solver = precision, solver

    @property
    def exact(self) -> bool:
        return self.solver.exact

    @property
    def name(self) -> str:
        return self.solver.name

    def refresh(self, system: System) -> None:
        self.solver.refresh(pairs_of(self.precision, system))

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        return self.solver.solve(pairs_of(self.precision, system), B, tolerance, guess)

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        return self.solver.columns(pairs_of(self.precision, system), nodes, tolerance, guess)

    def hold(self, system: System, node: int, column: Floats) -> None:
        self.solver.hold(pairs_of(self.precision, system), node, column)

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self.solver.release(pairs_of(self.precision, system), node, reach, s)

    def narrow(self, dtype: type) -> None:
        self.solver.narrow(dtype)

    def waves(self, system: System) -> Numbers | None:
        return self.solver.waves(pairs_of(self.precision, system))

    def copy(self) -> WrittenOut:
        return WrittenOut(self.precision, self.solver.copy())


def pairs_of(precision: Precision, system: System) -> System:
    """The same labels with the weights of all pairs that Q ties."""
    W = precision.weights
    return System(W.indptr, W.indices, W.data, system.diagonal, system.held)


def mean_pairs(precision: Precision) -> float:
    """How many nodes are up to two edges away from a node, at most, on average."""
    degrees = np.diff(precision.links.indptr).astype(float)
    return float((degrees**2).mean())
