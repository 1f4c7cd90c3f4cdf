"""Conjugate gradients on many columns at once, preconditioned by the diagonal or by a hierarchy of aggregates."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu import blocks

MOST_STEPS = 2000
COARSEST = 300  # nodes that are solved for by a dense inverse
HEAVY = 4.0  # entries on all levels over those of the graph: beyond it a cycle costs too much
DAMPING = 4 / 3  # over the largest eigenvalue of inv(D) A: the middle of the upper part of the spectrum


class System(NamedTuple):
    """A = diag(diagonal) - weights, in the rows and columns not held; the others are decoupled exactly."""

    indptr: Ints
    indices: Ints
    weights: Floats
    diagonal: Floats  # (n,)
    held: Flags  # (n,)

    def apply(self, X: Floats, Y: Floats) -> Floats:
        """Y = A X, zero in the rows held; returns (m,) the products X'Y of the columns."""
        return blocks.apply(*self, X, Y)

    def residual(self, B: Floats, X: Floats) -> Floats:
        """(n, m) B - A X, zero in the rows held."""
        R: Floats = blocks.residual(*self, B, X)
        return R

    def pull(self) -> float:
        """1'A1 over the free nodes: their pull towards those held and unsure answers."""
        free = np.repeat(~self.held, np.diff(self.indptr))
        return float(self.weights[free & self.held[self.indices]].sum()) + float(unsure_ties(self).sum())


class Operator(Protocol):
    """A matrix of which some rows and columns are held."""

    @property
    def diagonal(self) -> Floats: ...

    @property
    def held(self) -> Flags: ...

    def apply(self, X: Floats, Y: Floats) -> Floats:
        """As `System.apply`."""

    def residual(self, B: Floats, X: Floats) -> Floats:
        """As `System.residual`."""

    def pull(self) -> float:
        """As `System.pull`."""


class Preconditioner(Protocol):
    def __call__(self, R: Floats, system: Any) -> Floats:
        """(n, m) roughly inv(A) R; symmetric, positive, zero in the rows held."""


class Diagonal:
    """The inverse of the diagonal, and the constant solved for by itself: with few labels it is what converges last.

    The plain twin of `jacobi.solve`, which is what runs.

    inv(M) = inv(D) + 1 1' / (1'A1) over the free nodes; 1'A1 is their pull towards those held and unsure answers.
    """

    def __init__(self) -> None:
        self._pull: tuple[tuple[int, float], float] | None = None  # of the nodes held, by their hash, and the diagonal

    def __call__(self, R: Floats, system: Operator) -> Floats:
        Z: Floats = blocks.scaled(R, (1 / system.diagonal).astype(R.dtype))
        pull = self.pull(system)
        if pull > 0:
            Z += (R.sum(axis=0, dtype=float) / pull).astype(R.dtype)
            Z[system.held] = 0
        return Z

    def pull(self, system: Operator) -> float:
        state = hash(system.held.tobytes()), float(system.diagonal.sum(dtype=float))
        if self._pull is None or self._pull[0] != state:
            self._pull = state, system.pull()
        return self._pull[1]


def unsure_ties(system: System, degree: Floats | None = None) -> Floats:
    """(n,) weight of the unsure answers of every free node: what its diagonal has beyond its degree, the sum of its
    edges unless given.
    """
    if degree is None:
        ones = np.ones((len(system.held), 1))
        degree = blocks.product(system.indptr, system.indices, system.weights, ones)[:, 0]
    beyond = system.diagonal - degree
    return np.where(~system.held & (beyond > blocks.ROUNDING * system.diagonal), beyond, 0.0)


class Level(NamedTuple):
    """A coarser graph: its matrix, its smoother, the way to it and back."""

    A: sparse.csr_matrix
    scale: Floats  # (n,) damping over the diagonal
    P: sparse.csr_matrix
    R: sparse.csr_matrix


class Aggregates:
    """One V-cycle over a hierarchy of aggregates, smoothed or plain, with damped Jacobi before and after.

    The hierarchy is that of the labels it was made with. A label that came later is decoupled on the finest level,
    exactly, so the cycle stays symmetric and positive there; the coarser levels need not know it.
    """

    def __init__(self, system: System, smoothed: bool) -> None:
        import pyamg  # heavy

        A = matrix_of(system)
        options: dict[str, Any] = {"smooth": ("jacobi", {"omega": DAMPING})} if smoothed else {"smooth": None}
        hierarchy = pyamg.smoothed_aggregation_solver(
            A, strength=("symmetric", {"theta": 0.0}), max_coarse=COARSEST, max_levels=20, coarse_solver=None,
            improve_candidates=None, **options,
        )  # fmt: skip
        self.complexity = float(hierarchy.operator_complexity())
        self.over = 1.0 if smoothed else 1.5  # plain aggregates correct too little: their cost function is too stiff
        self._levels = []
        for level in hierarchy.levels[:-1]:
            M = sparse.csr_matrix(level.A)
            diagonal = M.diagonal()
            bound = np.max(np.asarray(abs(M).sum(axis=1)).ravel() / diagonal)  # Gershgorin: at least the eigenvalue
            self._levels.append(
                Level(M, DAMPING / bound / diagonal, sparse.csr_matrix(level.P), sparse.csr_matrix(level.R))
            )
        self._coarsest = np.linalg.pinv(hierarchy.levels[-1].A.toarray(), hermitian=True)

    def __call__(self, R: Floats, system: Operator) -> Floats:
        if not self._levels:
            Z = self._coarsest @ R
        else:
            first = self._levels[0]
            Z = blocks.scaled(R, first.scale)
            left = system.residual(R, Z)
            Z += self.over * _product(first.P, self._cycle(1, _product(first.R, left)))
            Z[system.held] = 0
            Z += blocks.scaled(system.residual(R, Z), first.scale)
        Z[system.held] = 0
        return Z

    def _cycle(self, depth: int, B: Floats) -> Floats:
        if depth == len(self._levels):
            return self._coarsest @ B
        A, scale, P, R = self._levels[depth]
        X = blocks.scaled(B, scale)
        left = B - _product(A, X)
        X += self.over * _product(P, self._cycle(depth + 1, _product(R, left)))
        return blocks.smooth(A.indptr, A.indices, A.data, scale, B, X)


def _product(A: sparse.csr_matrix, X: Floats) -> Floats:
    Y: Floats = blocks.product(A.indptr, A.indices, A.data, X)
    return Y


def unit_columns(n: int, nodes: Ints, dtype: type = np.float64) -> Floats:
    """(n, m) columns of the identity."""
    B: Floats = np.zeros((n, len(nodes)), dtype)
    B[nodes, np.arange(len(nodes))] = 1
    return B


def matrix_of(system: System) -> sparse.csr_matrix:
    """A as a matrix of all n rows: those held have a one on the diagonal and nothing else."""
    indptr, indices, weights, diagonal, held = system
    n = len(diagonal)
    rows = np.repeat(np.arange(n), np.diff(indptr))
    free = ~(held[rows] | held[indices])
    entries = np.concatenate([-weights[free], np.where(held, 1.0, diagonal)])
    places = (np.concatenate([rows[free], np.arange(n)]), np.concatenate([indices[free], np.arange(n)]))
    A = sparse.csr_matrix((entries, places), shape=(n, n))
    A.sort_indices()
    return A


def solve(
    system: Operator, B: Floats, inverse: Preconditioner, tolerance: float, X: Floats | None = None
) -> tuple[Floats, int]:
    """(n, m) inv(A) B, zero in the rows held, and the number of steps.

    A column is done when r'inv(M)r, about the square of its error in the norm of A, is below tolerance^2 times that of
    its solution: an entry of a column G_q is then off by about tolerance sqrt(G_kk G_qq).
    """
    B = np.where(system.held[:, None], 0.0, B)
    X = np.zeros_like(B) if X is None else np.where(system.held[:, None], 0.0, X)
    R = system.residual(B, X)
    Z = inverse(R, system)
    P, Q = Z.copy(), np.empty_like(B)
    rz = blocks.dots(R, Z)
    steps = 0
    while steps < MOST_STEPS:
        size = blocks.dots(B, X)
        going = (rz > tolerance**2 * np.abs(size)) & (rz > 0)
        if not going.any():
            break
        curvature = system.apply(P, Q)
        alpha = np.divide(rz, curvature, out=np.zeros_like(rz), where=going & (curvature > 0))
        blocks.step(X, R, P, Q, alpha.astype(B.dtype))
        Z = inverse(R, system)
        before, rz = rz, blocks.dots(R, Z)
        turn = np.divide(rz, before, out=np.zeros_like(rz), where=going)
        blocks.turn(P, Z, turn.astype(B.dtype))
        steps += 1
    return X, steps
