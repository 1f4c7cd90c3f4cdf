"""G with some nodes held: its diagonal, a few of its columns, the resistance of every edge; never all of G.

Held are the labelled nodes and, in a component without a label, one node: its anchor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.known import LabelTerms
from fewlabels.field.precision import Precision
from fewlabels.field.sparse.budget import TIGHT, Budget
from fewlabels.field.sparse.column_cache import Block, ColumnCache, Probes
from fewlabels.field.sparse.solve.choose import make_solver
from fewlabels.field.sparse.solve.diagonal import Variances, variances
from fewlabels.field.sparse.solve.kriging import Kriging
from fewlabels.field.sparse.solve.pcg import System
from fewlabels.kernels.cpu.neighbour_gains import update_ties
from fewlabels.machine.threads import one_blas_thread

PROBES = 64  # for VOpt's sums of squares: 18% noise, before the pool is scored in full
PROBED = 1e-6  # tolerance of a probe: SOpt's sums are among them
JUDGING = 1e-4  # of what only tells classes and chances
SEED = 20160219
SHRUNK = 0.1  # share of a variance left by an answer, below which what is left may be rounding
ROUNDING = 1e-5  # share of it that may


class Grounding:
    """inv(A) of the nodes not held, A = Q + diag(unsure answers); only its verbs change it.

    Every array is by node number. The columns in the cache and the probes follow every change at O(n) per column.
    """

    @one_blas_thread
    def __init__(
        self, precision: Precision, component: Ints, held: Ints, solver: str, budget: Callable[[bool], Budget]
    ) -> None:
        """`held` are the nodes held at first, one for every component; the budget depends on whether there is a
        factor."""
        weights, degree = precision.links, precision.diagonal
        n = len(degree)
        self._precision, self._component, self._degree = precision, component, degree
        flags = np.zeros(n, dtype=bool)
        flags[held] = True
        pivots = np.where(degree > 0, degree, 1.0)  # a node without edges is always held
        indptr, indices = weights.indptr.astype(np.int64), weights.indices.astype(np.int64)
        self._system = System(indptr, indices, weights.data, pivots, flags)
        self._solver = make_solver(self._system, solver, precision, component)
        self.least = np.divide(1.0, degree, out=np.full(n, np.finfo(float).tiny), where=degree > 0)  # no G_kk is below
        self._known: Variances | None = None
        self._probes: Probes | None = None
        self._totals: Probes | None = None
        self._budget_for = budget

    @cached_property
    @one_blas_thread
    def budget(self) -> Budget:
        """What a question may spend, settled when the first one is asked."""
        return self._budget_for(self.has_factor)

    @cached_property
    def cache(self) -> ColumnCache:
        n = len(self._degree)
        return ColumnCache(n, min(n, self.budget.columns), self.budget.dtype)

    @property
    def solver_name(self) -> str:
        return self._solver.name

    @property
    def has_factor(self) -> bool:
        """Whether columns come from a Cholesky factor: cheap, and exact to rounding."""
        return self._solver.exact

    @property
    @one_blas_thread
    def variances(self) -> Variances:
        """diag(G) and the resistances, worked out when first wanted, and before anything changes. From then on float32
        may do for columns.
        """
        if self._known is None:
            rng = np.random.default_rng(SEED)
            self._known = variances(self._system, self._solver, self._precision, self._component, self.sums, rng)
            self._solver.narrow(self.budget.dtype)
        return self._known

    @property
    def diagonal(self) -> Floats:
        """(n,) G_kk, zero where held; may be written to."""
        return self.variances.diagonal

    @property
    def exact_diagonal(self) -> bool:
        return self.variances.exact

    @property
    def diagonal_is(self) -> str:
        """ "exact", "sketched", or "to come"."""
        if self._known is None:
            return "to come"
        return "exact" if self._known.exact else "sketched"

    @property
    def nbytes(self) -> int:
        """Bytes that a copy takes, apart from arrays of n numbers."""
        return int(self.cache.X.nbytes + (0 if self._probes is None else self._probes.X.nbytes))

    @property
    def edges(self) -> tuple[Ints, Ints, Floats]:
        """The neighbours of every node, by rows, and G_ii + G_jj - 2 G_ij between them."""
        return self._system.indptr, self._system.indices, self.variances.ties

    @one_blas_thread
    def solve(self, B: Floats, rough: bool = False) -> Floats:
        """(n, m) G B, zero in the rows held."""
        return self._solver.solve(self._system, B, JUDGING if rough else TIGHT)

    @one_blas_thread
    def columns(self, nodes: Ints, tolerance: float | None = None) -> Floats:
        """(n, m) columns of G; without a tolerance, good enough to score questions."""
        return self._solver.columns(self._system, nodes, tolerance or self.budget.tolerance)

    @one_blas_thread
    def column(self, node: int) -> Floats:
        """(n,) the node's column of G, to rounding; the cached one serves as a guess."""
        near = self.cache.column(node)
        guess = None if near is None else near[:, None].astype(float)
        return self._solver.columns(self._system, np.array([node]), TIGHT, guess)[:, 0]

    def precision_of(self, nodes: Ints, sample: Ints) -> LabelTerms | None:
        """Of these labels, where the solver knows it."""
        return self._solver.precision_of(self._system, nodes, sample) if isinstance(self._solver, Kriging) else None

    def slots(self, nodes: Ints) -> Ints:
        """Where the cache has the columns of these nodes; a sketched diag(G) is corrected there."""
        slots = self.cache.slots(nodes, self.columns)
        if not self.exact_diagonal:
            pivots = self.cache.X[nodes, slots]
            self.diagonal[nodes] = np.where(self._system.held[nodes], 0.0, pivots)
        return slots

    @one_blas_thread
    def probes(self) -> Probes:
        """G 1 and G z, made when first wanted."""
        if self._probes is None:
            n = len(self._degree)
            Z = np.ones((n, 1 + PROBES))
            Z[:, 1:] -= 2 * np.random.default_rng(SEED).integers(2, size=(n, PROBES))
            self._probes = Probes(Z, self._solver.solve(self._system, Z, PROBED))
        return self._probes

    @one_blas_thread
    def sums(self) -> Floats:
        """(n,) G 1."""
        if self._totals is None:
            ones = np.ones((len(self._degree), 1))
            self._totals = Probes(ones, self.solve(ones))
        return self._totals.sums

    def hold(self, node: int, column: Floats) -> None:
        """The node, whose column of G this is, is held from now on: G' = G - G_q G_q' / G_qq."""
        self._each(lambda block: block.hold(node, column))
        self._grow(column, -1 / column[node])
        self._hold(node, column)
        self.cache.drop(np.array([node]))

    def release(self, node: int, reach: Floats, s: float) -> None:
        """The node is held no longer: G' = G + reach reach' / s, reach (n,) being 1 at the node itself."""
        self._each(lambda block: block.release(reach, s))
        self._grow(reach, 1 / s)
        self._system.held[node] = False
        self._solver.release(self._system, node, reach, s)

    def move(self, anchor: int, node: int, members: Flags) -> None:
        """A component without a label is held at this node instead of its anchor: the node's column says how."""
        column = self.column(node)
        pivot = column[node]
        self.diagonal[members] += pivot - 2 * column[members]
        self._each(lambda block: block.move(node, column, members))
        self._hold(node, column)
        self._system.held[anchor] = False
        self._solver.release(self._system, anchor, np.where(members, 1 - column / pivot, 0.0), 1 / pivot)
        self.cache.drop(np.array([node]))

    def shift(self, node: int, column: Floats, held: float) -> None:
        """The answers at the node have changed: its G_qq is divided by `held`; column is its column of G until now."""
        pivot = column[node]
        share, change = column / pivot, pivot / held - pivot
        self._each(lambda block: block.shift(node, share, 1 / held))
        self._grow(share, change)
        self.diagonal[node] = pivot / held
        if change < 0:
            self._solver.hold(self._system, node, -change * share)  # G loses as much as if such a column were held
        elif change > 0:
            self._solver.release(self._system, node, share, 1 / change)

    def tie(self, nodes: Any, unsure: Floats | float) -> None:
        """Set the weight of the unsure answers of these nodes in A; G has to be told by another verb."""
        self._known = self.variances  # of before
        self._tie(nodes, unsure)

    def _tie(self, nodes: Any, unsure: Floats | float) -> None:
        held_by = self._degree[nodes] + unsure
        self._system.diagonal[nodes] = np.where(held_by > 0, held_by, 1.0)  # nothing at all: the node is held
        self.least[nodes] = 1 / np.where(held_by > 0, held_by, 1 / np.finfo(float).tiny)

    def mend(self, before: Floats) -> None:
        """Keep every variance at 1 / d_k or above, whatever rounding or a sketch says, and at 0 where held.

        Where one is so much less than `before` that rounding of the larger one is left of it, all are found afresh:
        G_kk is known to about a rounding of d_k G_kk times itself.
        """
        now = self.diagonal
        np.maximum(now, self.least, out=now)
        now[self._system.held] = 0
        shrunk = (now > 0) & (now < SHRUNK * before)
        lost = np.finfo(float).eps * before[shrunk] ** 2 * self._system.diagonal[shrunk]
        if (lost > ROUNDING * now[shrunk]).any():
            self._begin()

    def refresh(self, held: Ints, unsure: Floats) -> None:
        """Start again with these nodes held and (n,) these weights of unsure answers."""
        self._tie(slice(None), unsure)
        self._system.held[:] = False
        self._system.held[held] = True
        self._begin()

    def _begin(self) -> None:
        """Forget all that follows from the nodes held and the unsure answers."""
        self._solver.refresh(self._system)
        if "cache" in self.__dict__:
            self.cache.clear()
        self._known = self._probes = self._totals = None

    def copy(self) -> Grounding:
        twin = object.__new__(Grounding)
        for name, value in self.__dict__.items():
            setattr(twin, name, np.array(value) if isinstance(value, np.ndarray) else value)
        system = self._system
        twin._system = system._replace(held=system.held.copy(), diagonal=system.diagonal.copy())
        twin._solver, twin.cache = self._solver.copy(), self.cache.copy()
        twin._known = None if self._known is None else self._known.copy()
        twin._probes = None if self._probes is None else self._probes.copy()
        twin._totals = None if self._totals is None else self._totals.copy()
        return twin

    def _grow(self, v: Floats, change: float) -> None:
        """G has grown by v v' times the change, and so have its diagonal and the resistances."""
        self.diagonal[:] += change * v * v
        update_ties(*self.edges, v, change)

    def _hold(self, node: int, column: Floats) -> None:
        self._system.held[node] = True
        self._solver.hold(self._system, node, column)

    def _each(self, change: Callable[[Block], None]) -> None:
        for block in (self.cache, self._probes, self._totals):
            if block is not None:
                change(block)
