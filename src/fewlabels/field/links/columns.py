"""Columns of G kept at hand, and G along the edges: brought from field to field instead of solved for again."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu import blocks
from fewlabels.kernels.cpu.neighbour_gains import update_ties
from fewlabels.machine.giving_way import give_way
from fewlabels.machine.progress import Progress

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned
    from fewlabels.field.links.on_demand import OnDemand

AT_ONCE = 64  # columns solved for together: from 48 on a wider block is no quicker


class Columns:
    """What the fields of one line have in common: columns of G of chosen nodes, of which the least recently used make
    room for others; the resistance of every edge; and how the last sample was drawn.

    Whoever uses it holds its lock. An answer changes G by one of rank one, and so does taking the last one back; from
    any field to any other the change is that of what their answers take off K.
    """

    def __init__(self, covariance: OnDemand) -> None:
        self.lock = RLock()
        self.drawn_by: Floats | None = None  # (n,) what the last sample was drawn by
        self._covariance = covariance
        self._field: Conditioned | None = None  # whose columns these are
        self.X: Any = np.empty((0, 0))
        self.nodes: Ints = np.empty(0, dtype=np.int64)  # whose column is in each slot, -1 for none
        self.ties: Floats = np.empty(0)
        self._clock = 0
        self.solved = 0  # columns solved for so far

    def bring(self, field: Conditioned) -> None:
        """Make all of it that of this field."""
        was, self._field = self._field, None  # in case this is interrupted
        if was is None:
            self._begin()
            self._along(field)
        elif was.core is not field.core:
            self._move(was, field)
        self._field = field

    def has(self, nodes: Ints) -> Flags:
        """(m,) whether their columns are here."""
        return self._slot[nodes] >= 0

    def slots(self, nodes: Ints) -> Ints:
        """Where the columns of these nodes are; those missing are solved for."""
        field = self._field
        assert field is not None  # brought before
        self._clock += 1
        here = self._slot[nodes]
        self._used[here[here >= 0]] = self._clock
        missing = nodes[here < 0]
        if len(missing):
            free = np.argsort(np.where(self.nodes < 0, -1, self._used), kind="stable")[: len(missing)]
            self._drop(free)
            progress = Progress(f"scoring questions on {len(self.X):,} nodes", -(-len(missing) // AT_ONCE))
            for left in range(0, len(missing), AT_ONCE):
                give_way()
                part = slice(left, left + AT_ONCE)
                blocks.place(self.X, free[part], self._solved(field, missing[part]))
                progress.step()
            self.nodes[free], self._slot[missing], self._used[free] = missing, free, self._clock
            self.solved += len(missing)
        return self._slot[nodes]

    def of_covariance(self, nodes: Ints) -> Any:
        """(n, 1) the rough column of K of a node whose column of G is here; None where it is not, or of several."""
        with self.lock:
            if self._field is None or len(nodes) != 1 or not self.has(nodes)[0]:
                return None
            return self.X[:, self._slot[nodes]] + self._covariance.reduction(self._field, nodes)

    def _solved(self, field: Conditioned, nodes: Ints) -> Any:
        X = self._covariance.columns(nodes, rough=True)
        X -= self._covariance.reduction(field, nodes).astype(X.dtype, copy=False)
        X[field.label >= 0] = 0
        return X

    def _begin(self) -> None:
        n, budget = self._covariance.n_nodes, self._covariance.budget
        size = min(n, budget.columns)
        self.X = np.zeros((n, size), budget.dtype)
        self.nodes = np.full(size, -1)
        self._slot: Ints = np.full(n, -1)
        self._used: Ints = np.zeros(size, dtype=np.int64)

    def _drop(self, slots: Ints) -> None:
        gone = self.nodes[slots]
        self._slot[gone[gone >= 0]] = -1
        self.nodes[slots] = -1

    def _move(self, old: Conditioned, new: Conditioned) -> None:
        step, back = new.core.step, old.core.step
        if step is not None and step.before is old.core.which:
            self._change(step.column, -1 / step.pivot)
            if step.sure:
                self.X[step.node] = 0
                self._drop(self._slot[[step.node]][self._slot[[step.node]] >= 0])
        elif back is not None and back.before is new.core.which:
            self._change(back.column, 1 / back.pivot)
        else:
            labelled = np.flatnonzero(new.label >= 0)
            self._drop(self._slot[labelled][self._slot[labelled] >= 0])
            for left in range(0, len(self.nodes), AT_ONCE):
                slots = left + np.flatnonzero(self.nodes[left : left + AT_ONCE] >= 0)
                if len(slots):
                    nodes = self.nodes[slots]
                    change = self._covariance.reduction(old, nodes) - self._covariance.reduction(new, nodes)
                    self.X[:, slots] += change
            self.X[labelled] = 0
            freed = np.flatnonzero((old.label >= 0) & (new.label < 0))  # their rows were zero: columns tell them
            if len(freed):
                kept = np.flatnonzero(self.nodes >= 0)
                self.X[np.ix_(freed, kept)] = self._solved(new, freed)[self.nodes[kept]].T
            self._along(new)

    def _change(self, column: Floats, factor: float) -> None:
        """G has grown by column column' times the factor."""
        at = np.where(self.nodes >= 0, column[self.nodes], 0.0) * factor
        blocks.rank_one(self.X, column.astype(self.X.dtype), at.astype(self.X.dtype))
        update_ties(*self.edges[:2], self.ties, column, factor)

    @property
    def edges(self) -> tuple[Ints, Ints, Floats]:
        """The neighbours of every node, by rows, and G_ii + G_jj - 2 G_ij between them."""
        return self._covariance.system.indptr, self._covariance.system.indices, self.ties

    def _along(self, field: Conditioned) -> None:
        """The resistances afresh: G is K less a few columns' products, those that add to it first."""
        self.ties = self._covariance.variances.ties.copy()
        values, vectors = np.linalg.eigh(field.core.A)
        for k in range(len(values)):
            column = np.ascontiguousarray(field.spread(vectors[:, [k]])[:, 0], dtype=float)
            update_ties(*self.edges[:2], self.ties, column, -values[k])
