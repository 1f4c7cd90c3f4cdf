"""Conjugate gradients as a solver of the field: the current labels are decoupled in the matrix itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.sparse.solve import jacobi, pcg
from fewlabels.field.sparse.solve.pcg import Aggregates, System, unit_columns

WIDTH = 16  # columns a block: they share the pass over the matrix, and a few blocks stay in the cache
WIDE, WIDE_FROM = 64, 200_000  # where no block stays there, a wider one makes more of every access to memory
SINGLE = 1e-4  # tolerance that float32 reaches on graphs for which the diagonal is a good preconditioner
STRICTER = 10  # the diagonal alone tells less about the error than a hierarchy does
STALE = 1.6  # steps now over steps with a fresh hierarchy, at which it is made again


class JacobiSolver:
    """Preconditioned by the diagonal and the constant: for power-law graphs and others that are well mixed."""

    exact = False
    name = "PCG (Jacobi)"

    def __init__(self, system: System) -> None:
        self.refresh(system)

    def refresh(self, system: System) -> None:
        self._scaled: dict[type, jacobi.Scaled] = {}  # of these labels, by precision
        self._work = jacobi.Work()

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        X = np.empty(B.shape, np.float32 if tolerance >= SINGLE else np.float64)
        for part in parts(*B.shape):
            start = None if guess is None else np.ascontiguousarray(guess[:, part])
            X[:, part] = self._solved(system, np.ascontiguousarray(B[:, part]), tolerance, start)
        return X

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        n = len(system.held)
        if tolerance < SINGLE:
            return self.solve(system, unit_columns(n, nodes), tolerance, guess)
        X: Any = np.empty((n, len(nodes)), np.float32)
        for part in parts(*X.shape):
            X[:, part] = jacobi.columns(self._of(system, np.float32), nodes[part], tolerance, self._work)
        return X

    def _solved(self, system: System, B: Floats, tolerance: float, start: Floats | None) -> Floats:
        if start is None:
            start, _ = jacobi.solve(self._of(system, np.float32), B, max(tolerance, SINGLE))
        if tolerance < SINGLE:
            start, _ = jacobi.solve(self._of(system, np.float64), B, tolerance / STRICTER, start.astype(float))
        return start

    def hold(self, system: System, node: int, column: Floats) -> None:
        self._scaled = {}

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self._scaled = {}

    def narrow(self, dtype: type) -> None:
        """Nothing to do: the tolerance decides."""

    def waves(self, system: System) -> Numbers | None:
        return None

    def copy(self) -> JacobiSolver:
        twin = object.__new__(JacobiSolver)
        twin._scaled, twin._work = dict(self._scaled), jacobi.Work()
        return twin

    def _of(self, system: System, dtype: type) -> jacobi.Scaled:
        if dtype not in self._scaled:
            self._scaled[dtype] = jacobi.scaled(system, dtype)
        return self._scaled[dtype]


class MultigridSolver:
    """Preconditioned by a hierarchy of aggregates, which is rebuilt when later labels have made it slow."""

    exact = False

    def __init__(self, system: System, smoothed: bool) -> None:
        self._smoothed = smoothed
        self.refresh(system)

    @property
    def name(self) -> str:
        return f"PCG ({'smoothed' if self._smoothed else 'plain'} aggregates)"

    def refresh(self, system: System) -> None:
        self.inverse = Aggregates(system, self._smoothed)
        self._fresh: dict[float, int] = {}  # steps that a fresh hierarchy took, by tolerance
        self._slow = False

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        if self._slow:
            self.refresh(system)
        X = np.empty_like(B)
        for left in range(0, B.shape[1], WIDTH):
            part = slice(left, left + WIDTH)
            start = None if guess is None else guess[:, part]
            X[:, part], steps = pcg.solve(system, B[:, part], self.inverse, tolerance, start)
            if guess is None:
                self._slow |= steps > STALE * self._fresh.setdefault(tolerance, max(steps, 5))
        return X

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        return self.solve(system, unit_columns(len(system.held), nodes), tolerance, guess)

    def hold(self, system: System, node: int, column: Floats) -> None:
        """Nothing to do: it is in the matrix."""

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        """It is in the matrix; but a hierarchy in which the node was held is rebuilt."""
        self._slow = True

    def narrow(self, dtype: type) -> None:
        """Nothing to do: the tolerance decides."""

    def waves(self, system: System) -> Numbers | None:
        return None

    def copy(self) -> MultigridSolver:
        twin = object.__new__(MultigridSolver)
        twin.__dict__.update(self.__dict__)
        twin._fresh = dict(self._fresh)
        return twin


def parts(n: int, m: int) -> list[slice]:
    """The columns that are solved for together."""
    width = WIDE if n >= WIDE_FROM else WIDTH
    return [slice(left, left + width) for left in range(0, m, width)]
