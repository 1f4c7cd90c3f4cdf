"""The smooth field from two solvers that no answer changes: its covariance, conditioned on the labels by small algebra.

Q = L + share L^2 has the covariance L^-1 - (L + I / share)^-1, up to a constant in each component: L held at a node of
each, and a shifted L that a few steps solve for. Given the labels it is conditioned as in kriging with an unknown mean
(docs/maths.md, "Few labels"), which holds for any such constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.field.precision import Precision
from fewlabels.field.sparse.solve.iterative import JacobiSolver
from fewlabels.field.sparse.solve.pcg import System, unit_columns, unsure_ties
from fewlabels.field.sparse.solve.smooth import SmoothJacobi
from fewlabels.kernels.cpu import blocks

if TYPE_CHECKING:
    from fewlabels.field.sparse.solve.choose import Solver

MOST_PARTS = 64  # components, each with a mean of its own
MOST_ENTRIES = 10**8  # of the columns kept for the answers: beyond it Q is solved for directly, which many answers ease
TIGHT = 1e-10  # tolerance of those columns
STRICTER = 0.1  # a column of the covariance is larger than what is left of it once labels are known


class Kriging:
    """inv(A) B = K B - [K_o F] inv(M) [K_o F]'B with M = [[K_oo + N, F_o], [F_o', 0]], zero in the rows held.

    o are the nodes held and those with unsure answers, N the variance of the latter, F says which component a node is
    in.
    """

    def __init__(self, precision: Precision, system: System, component: Ints, base: Solver) -> None:
        """`system` is that of L, held at one node of every component, and `base` solves for it."""
        self._precision, self._anchored, self._base = precision, system, base
        shifted = system.diagonal + 1 / precision.share
        self._shifted = system._replace(diagonal=shifted, held=np.zeros_like(system.held))
        self._shift_solver = JacobiSolver(self._shifted)
        n = len(component)
        self._F = sparse.csr_array((np.ones(n), (np.arange(n), component)))  # (n, parts)
        self._direct = SmoothJacobi(precision)
        self._nodes: Ints = np.empty(0, dtype=np.int64)
        self._K: Floats = np.empty((n, 0))  # their columns
        self._of: tuple[bytes, bytes] | None = None  # the labels and answers that M is for
        self._M: Floats = np.empty((0, 0))  # its inverse

    @property
    def exact(self) -> bool:
        return self._base.exact

    @property
    def name(self) -> str:
        return f"{self._base.name}, conditioned"

    def refresh(self, system: System) -> None:
        """Nothing to do: what is kept does not depend on the labels."""
        self._direct.refresh(system)

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        if not self._conditioned(system):
            return self._direct.solve(system, B, tolerance, guess)
        B = np.where(system.held[:, None], 0.0, B)
        X = self._covariance(B, tolerance)
        across = np.vstack([self._K.T @ B, self._F.T @ B])  # (l + parts, m)
        return self._corrected(system, X, across)

    def columns(self, system: System, nodes: Ints, tolerance: float) -> Floats:
        if not self._conditioned(system):
            return self._direct.columns(system, nodes, tolerance)
        X = self._covariance(unit_columns(len(system.held), nodes), tolerance)
        across = np.vstack([self._K[nodes].T, self._F[nodes].toarray().T])
        return self._corrected(system, X, across)

    def hold(self, system: System, node: int, column: Floats) -> None:
        """Nothing to do until something is solved for."""
        self._direct.hold(system, node, column)

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self._direct.release(system, node, reach, s)

    def narrow(self, dtype: type) -> None:
        """Nothing to do: the tolerance decides."""

    def copy(self) -> Kriging:
        twin = object.__new__(Kriging)
        twin.__dict__.update(self.__dict__)
        twin._direct = self._direct.copy()
        return twin

    def _covariance(self, B: Floats, tolerance: float) -> Floats:
        """(n, m) K B."""
        wanted = max(tolerance * (STRICTER if len(self._nodes) > self._F.shape[1] else 1.0), TIGHT)
        X = np.asarray(self._base.solve(self._anchored, B, wanted), dtype=float)
        X -= self._shift_solver.solve(self._shifted, B, wanted)
        return X

    def _corrected(self, system: System, X: Floats, across: Floats) -> Floats:
        weights = self._M @ across
        blocks.add_product(X, self._K, self._K.shape[1], -weights[: len(self._nodes)])
        X -= self._F @ weights[len(self._nodes) :]
        X[system.held] = 0
        return X

    def _conditioned(self, system: System) -> bool:
        """Have M for these labels; False where there are too many."""
        unsure = unsure_ties(system, self._precision.diagonal)
        now = np.flatnonzero(system.held | (unsure > 0))
        if len(now) * len(system.held) > MOST_ENTRIES:
            return False
        state = now.tobytes(), unsure[now].tobytes()
        if self._of == state:
            return True
        kept = np.isin(self._nodes, now)
        new = now[~np.isin(now, self._nodes)]
        columns = [self._K[:, kept]]
        if len(new):
            columns.append(self._covariance(unit_columns(len(system.held), new), TIGHT))
        self._K = np.ascontiguousarray(np.hstack(columns))
        self._nodes = np.concatenate([self._nodes[kept], new])
        here, parts = self._nodes, self._F.shape[1]
        noise = np.divide(1.0, unsure[here], out=np.zeros(len(here)), where=unsure[here] > 0)
        inside = self._K[here]
        F = self._F[here].toarray()
        M = np.block([[(inside + inside.T) / 2 + np.diag(noise), F], [F.T, np.zeros((parts, parts))]])
        self._M = np.asarray(np.linalg.inv(M), dtype=np.float64)
        self._of = state
        return True
