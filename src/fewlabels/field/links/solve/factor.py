"""Sparse Cholesky."""

from __future__ import annotations

import importlib.util
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import FewlabelsError
from fewlabels.field.links.solve.pcg import System, matrix_of, unit_columns
from fewlabels.kernels.cpu import blocks

SINGLE, DOUBLE = 1e-4, 1e-8  # tolerance that float32 and float64 reach by themselves, where they are taken at all
PROBES = 4  # solved for in both precisions, to see which one the graph needs
WIDTH = 16  # columns converted to float64 at a time, for a base that has no other precision


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
            raise FewlabelsError("SuperLU exchanged rows: the weights span too many decades. Use solver='gradients'.")
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
    """inv(A) by a Cholesky factor, in float32 where the graph is well-conditioned enough: half the memory to run
    through.
    """

    exact = True

    def __init__(self, system: System, make: type[SuperLU] | type[Cholespy]) -> None:
        self.base: SuperLU | Cholespy = make(matrix_of(system))
        self._held, self._name = system.held, make.__name__
        self._dtype: np.dtype[Any] = np.dtype(float)

    @property
    def name(self) -> str:
        return f"Cholesky ({self._name})"

    @property
    def tolerance(self) -> float:
        """What it reaches by itself."""
        return DOUBLE if self._dtype.itemsize == 8 else SINGLE

    def narrow(self) -> None:
        """Be as precise as scoring questions needs from now on."""
        base = self.base.narrowed(np.float32)
        if self._differ(base) <= SINGLE:
            self.base, self._dtype = base, np.dtype(np.float32)

    def solve(self, B: Floats) -> Floats:
        """(n, m) inv(A) B, zero in the rows held."""
        B = np.where(self._held[:, None], 0, B).astype(self._dtype, copy=False)
        X = self.base.solve(B)
        X[self._held] = 0
        return X

    def columns(self, nodes: Ints) -> Floats:
        """(n, m) columns of inv(A)."""
        return self.solve(unit_columns(len(self._held), nodes, self._dtype.type))

    def _differ(self, other: Base) -> float:
        """By how much two factors differ, on the smoothest right-hand side, where conditioning shows, and on others."""
        n = len(self._held)
        B: Floats = 1.0 - 2 * np.random.default_rng(0).integers(2, size=(n, PROBES)).astype(float)
        B[:, 0] = 1
        B[self._held] = 0
        X = self.base.solve(B)
        size = np.abs(X).max(axis=0)
        return float((np.abs(other.solve(B) - X).max(axis=0) / np.where(size > 0, size, 1)).max())
