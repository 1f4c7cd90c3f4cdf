"""Conjugate gradients as a solver of the field: the current labels are decoupled in the matrix itself."""

from __future__ import annotations

import numpy as np

from fewlabels.field.sparse.pcg import Aggregates, Jacobi, Preconditioner, System, solve, unit_columns
from fewlabels.kernels.reference import Floats, Ints

WIDTH = 16  # columns a block: more no longer share the pass over the matrix, they fall out of the cache
SINGLE = 1e-4  # tolerance that float32 reaches on graphs for which the diagonal is a good preconditioner
STRICTER = 10  # the diagonal alone tells less of the error than a hierarchy does
STALE = 1.6  # steps now over steps with a fresh hierarchy, at which it is made again


class Iterative:
    """Preconditioned conjugate gradients; the hierarchy is made again when labels since have made it slow."""

    exact = False

    def __init__(self, system: System, kind: str) -> None:
        self.kind = kind
        self.refresh(system)

    @property
    def name(self) -> str:
        return {"jacobi": "PCG (Jacobi)", "amg": "PCG (smoothed aggregates)", "plain": "PCG (plain aggregates)"}[
            self.kind
        ]

    def refresh(self, system: System) -> None:
        self._inverse: Preconditioner = Jacobi() if self.kind == "jacobi" else Aggregates(system, self.kind == "amg")
        self._fresh: dict[float, int] = {}  # steps that a fresh hierarchy took, by tolerance
        self._slow = False

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        if self._slow:
            self.refresh(system)
        X = np.empty_like(B)
        if isinstance(self._inverse, Jacobi):
            self._inverse.pull_of(system)  # kept from here on: float32 would round weak answers away
        half = system._replace(weights=system.weights.astype(np.float32), diagonal=system.diagonal.astype(np.float32))
        for left in range(0, B.shape[1], WIDTH):
            part = slice(left, left + WIDTH)
            start = None if guess is None else guess[:, part]
            if self.kind == "jacobi" and start is None:
                first, _ = solve(half, B[:, part].astype(np.float32), self._inverse, max(tolerance, SINGLE))
                if tolerance >= SINGLE:
                    X[:, part] = first
                    continue
                start = first.astype(float)
            strict = tolerance / STRICTER if self.kind == "jacobi" else tolerance
            X[:, part], steps = solve(system, B[:, part], self._inverse, strict, start)
            if self.kind != "jacobi" and guess is None:
                self._slow |= steps > STALE * self._fresh.setdefault(tolerance, max(steps, 5))
        return X

    def columns(self, system: System, nodes: Ints, tolerance: float) -> Floats:
        return self.solve(system, unit_columns(len(system.held), nodes), tolerance)

    def hold(self, system: System, node: int, column: Floats) -> None:
        """The matrix says it."""

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        """The matrix says it; but a hierarchy in which the node was held is made again."""
        self._slow = self.kind != "jacobi"

    def copy(self) -> Iterative:
        twin = object.__new__(Iterative)
        twin.__dict__.update(self.__dict__)
        twin._fresh = dict(self._fresh)
        return twin
