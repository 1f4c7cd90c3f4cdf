"""Sparse Cholesky: a factor made once, updated by the answers since."""

from __future__ import annotations

import importlib.util
from typing import Protocol, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.errors import FewlabelsError
from fewlabels.field.sparse.solve.pcg import System, matrix_of, unit_columns
from fewlabels.field.sparse.solve.refinement import refine
from fewlabels.kernels.cpu import blocks

SINGLE, DOUBLE = 1e-4, 1e-8  # tolerance that float32 and float64 reach by themselves, where they are taken at all
SLOWEST = 0.1  # of the last correction: one that is larger means that float32 holds too little of the factor
PROBES = 4  # solved for in both precisions, to see which one the graph needs
WIDTH = 16  # columns converted to float64 at a time, for a base that has no other precision
MOST_UPDATES = 96  # answers after which a fresh factor is cheaper than the (n, answers) array of updates
MORE_UPDATES = 2e7  # entries of that array up to which a dear factor is kept until they are twice its own


def has_cholespy() -> bool:
    return importlib.util.find_spec("cholespy") is not None


class Base(Protocol):
    """inv(A) as of when it was made."""

    def solve(self, B: Floats) -> Floats:
        """(n, m) inv(A) B."""

    def narrowed(self, dtype: type) -> Self:
        """The same in this precision, if there is such a one."""


class SuperLU:
    """A = L D L' by SciPy's SuperLU in symmetric mode, without pivoting; L can be read, so diag(G) is exact."""

    memory = 40  # bytes per entry of L while it is made: L and U, and L again

    def __init__(self, A: sparse.csr_matrix) -> None:
        options = {"SymmetricMode": True}
        lu = splu(sparse.csc_matrix(A), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        if (lu.perm_r != lu.perm_c).any():
            raise FewlabelsError("SuperLU exchanged rows: the weights span too many decades. Use solver='amg'.")
        self.order: Ints = np.argsort(lu.perm_c).astype(np.int64)  # row i of L is node order[i]
        self.pivots: Floats = lu.U.diagonal()
        L = lu.L
        del lu
        L.sort_indices()
        below = L.indices != np.repeat(np.arange(L.shape[1]), np.diff(L.indptr))  # all but the diagonal of ones
        self.indptr: Ints = np.concatenate([[0], np.cumsum(below)])[L.indptr]
        self.indices, self.L = L.indices[below], L.data[below]

    @property
    def fill(self) -> int:
        return len(self.L) + len(self.pivots)

    def solve(self, B: Floats) -> Floats:
        X: Floats = blocks.triangular(
            self.indptr, self.indices, self.L, self.pivots, self.order, B.astype(self.L.dtype, copy=False)
        )
        return X

    def narrowed(self, dtype: type) -> SuperLU:
        """In this precision, without the entries that are lost in its rounding: half of them where many are held."""
        kept = np.abs(self.L) > np.finfo(dtype).eps / 10
        twin = object.__new__(SuperLU)
        twin.__dict__.update(self.__dict__)
        twin.indptr, twin.indices = np.concatenate([[0], np.cumsum(kept)])[self.indptr], self.indices[kept]
        twin.L, twin.pivots = self.L[kept].astype(dtype), self.pivots.astype(dtype)
        return twin


class Cholespy:
    """CHOLMOD's supernodal factor through cholespy (an extra): quicker to make than SuperLU's, but L cannot be read."""

    memory = 12  # bytes per entry that SuperLU's would have: CHOLMOD finds a better order

    def __init__(self, A: sparse.csr_matrix) -> None:
        from cholespy import CholeskySolverD, MatrixType

        indptr, indices = A.indptr.astype(np.int32), A.indices.astype(np.int32)
        self._solver = CholeskySolverD(A.shape[0], indptr, indices, np.ascontiguousarray(A.data), MatrixType.CSR)

    def solve(self, B: Floats) -> Floats:
        X, Y = np.empty_like(B), np.empty((len(B), WIDTH))
        for left in range(0, B.shape[1], WIDTH):
            part = np.ascontiguousarray(B[:, left : left + WIDTH], dtype=float)
            Y = Y if part.shape == Y.shape else np.empty_like(part)
            self._solver.solve(part, Y)
            X[:, left : left + WIDTH] = Y
        return X

    def narrowed(self, dtype: type) -> Cholespy:
        return self


class Factor:
    """inv(A) now = inv(A) of the factor + U S U', S a diagonal of signs, a column of U for every node held or released.

    Holding q takes off G_q G_q' / G_qq; releasing it adds reach reach' / s (docs/maths.md). Applying U to a column
    costs as much as a few sweeps over the graph; after some answers the factor is made afresh. float32 is
    half the memory to run through, and taken where the graph is well-conditioned enough. What must be precise is
    refined by its residual until that stands; where that fails, the factor is made afresh, in float64.
    """

    exact = True

    def __init__(self, system: System, make: type[SuperLU] | type[Cholespy]) -> None:
        self._make = make
        self.refresh(system)

    @property
    def name(self) -> str:
        return f"Cholesky ({self._make.__name__})"

    @property
    def _reached(self) -> float:
        return SINGLE if self._dtype is np.float32 else DOUBLE

    def refresh(self, system: System) -> None:
        self.base = self._make(matrix_of(system))
        self._held = system.held.copy()  # the rows that the factor knows as decoupled
        fill = self.base.fill if isinstance(self.base, SuperLU) else 0
        self._most = max(MOST_UPDATES, int(min(2 * fill, MORE_UPDATES) / len(self._held)))
        self._dtype: type = np.float64
        self._U = np.empty((len(system.held), 0))
        self._signs = np.empty(0)

    def narrow(self, dtype: type) -> None:
        if dtype is self._dtype:
            return
        base = self.base.narrowed(dtype)
        if self._differ(base) <= SINGLE:
            self.base, self._dtype = base, dtype
            self._U = self._U.astype(dtype, copy=False)

    def _differ(self, other: Base) -> float:
        """By how much two factors differ, on the smoothest right-hand side, where conditioning shows, and on others."""
        n = len(self._held)
        B: Floats = 1.0 - 2 * np.random.default_rng(0).integers(2, size=(n, PROBES)).astype(float)
        B[:, 0] = 1
        B[self._held] = 0
        X = self.base.solve(B)
        size = np.abs(X).max(axis=0)
        return float((np.abs(other.solve(B) - X).max(axis=0) / np.where(size > 0, size, 1)).max())

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        if tolerance >= self._reached:
            return self._applied(system, B)
        X = (self._applied(system, B) if guess is None else guess).astype(float)
        refined = refine(X, lambda X: system.residual(B, X), lambda R: self._applied(system, R), tolerance, SLOWEST)
        if refined or (self._dtype is np.float64 and not len(self._signs)):  # as good as it gets
            return X
        self.refresh(system)
        return self.solve(system, B, tolerance)

    def _applied(self, system: System, B: Floats) -> Floats:
        return self._solved(system, B.copy(), self._U[:, : len(self._signs)].T @ B)

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        if tolerance < self._reached:
            return self.solve(system, unit_columns(len(system.held), nodes), tolerance, guess)
        B = unit_columns(len(system.held), nodes, self._dtype)
        return self._solved(system, B, self._U[nodes, : len(self._signs)].T)

    def _solved(self, system: System, B: Floats, across: Floats) -> Floats:
        """inv(A) B, where across (rank, m) is U'B; B is spoilt."""
        B[self._held] = 0
        X = self.base.solve(B)
        if len(across):
            blocks.add_product(X, self._U, len(across), self._signs[:, None] * across)
        X[system.held] = 0
        return X

    def hold(self, system: System, node: int, column: Floats) -> None:
        self._update(system, column / np.sqrt(column[node]), -1.0)

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self._update(system, reach / np.sqrt(s), 1.0)

    def _update(self, system: System, column: Floats, sign: float) -> None:
        used = len(self._signs)
        if used >= self._most:
            dtype = self._dtype
            self.refresh(system)
            self.narrow(dtype)
            return
        if used == self._U.shape[1]:
            wider: Floats = np.zeros((len(column), min(self._most, max(8, 2 * used))), self._dtype)
            wider[:, :used] = self._U
            self._U = wider
        self._U[:, used] = column
        self._signs = np.append(self._signs, sign)

    def waves(self, system: System) -> Numbers | None:
        return None

    def copy(self) -> Factor:
        twin = object.__new__(Factor)
        twin.__dict__.update(self.__dict__)
        twin._U, twin._signs = self._U[:, : len(self._signs)].copy(), self._signs.copy()
        return twin
