"""The sparse engine: h, diag(G) and a few columns of G, never all of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import FewlabelsError
from fewlabels.field.batch_updates import BatchUpdates
from fewlabels.field.costs import Costs
from fewlabels.field.known import Known, LabelTerms
from fewlabels.field.opinion import Opinion
from fewlabels.field.sparse.budget import TIGHT, Budget, budget_for
from fewlabels.field.sparse.column_cache import AT_ONCE
from fewlabels.field.sparse.grounding import SEED, Grounding
from fewlabels.field.sparse.query.lookahead import lookahead_costs
from fewlabels.field.sparse.query.variance import rough_vopt_costs, variance_costs
from fewlabels.field.sparse.solve.kriging import KEEP
from fewlabels.field.sparse.solve.waves import COUNT
from fewlabels.graph import Graph
from fewlabels.kernels.reference import answer
from fewlabels.machine import memory

MANY = 64  # answers at once from which everything is worked out afresh


class SparseField(BatchUpdates, Known):
    """h and diag(G) for all nodes and a cache of columns of G, downdated by every answer; O(n) memory per column.

    The nodes keep their numbers. A component without a label is held at one node, its anchor: G is then the inverse of
    what is left, from which the pseudo-inverse, all resistances and the first answer follow (docs/maths.md, "The sparse
    engine"). `grounding` is that G; here are the labels, and h.
    """

    def __init__(
        self,
        graph: Graph,
        n_classes: int,
        beta: float = 1.0,
        solver: str = "auto",
        pool: int | None = None,
        sample: int | None = None,
        *,
        smoothness: float = 0.0,
    ) -> None:
        n = graph.n_nodes
        most = budget_for(n, True, pool, sample, smooth=smoothness > 0)
        columns = np.dtype(most.dtype).itemsize * n * (most.columns + 4 * AT_ONCE)  # kept, and at work
        waves = 8 * n * COUNT + 4 * min(KEEP, n * n) if smoothness else 0  # with the columns of the covariance kept
        memory.require(
            columns + waves + 48 * n * n_classes + 40 * graph.weights.nnz,
            f"the sparse engine on {n:,} nodes",
            "Take a smaller graph, or a machine with more memory.",
        )
        super().__init__(graph, n_classes, beta, smoothness)
        self.uniform = 1 - np.random.default_rng(SEED).random(n)  # (n,) in (0, 1]: every node's place in the samples
        self.drawn_by: Floats | None = None  # (n,) what the last sample was drawn by
        self._island: Ints = self.component.copy()
        self._anchor = self._first_anchors()  # (components,) the node held where there is no label, else -1
        budget = partial(budget_for, n, pool=pool, sample=sample, smooth=smoothness > 0)
        self.grounding = Grounding(self.precision, self.component, self._anchor, solver, budget)
        self._h = np.zeros((n, n_classes))
        self._known_costs: dict[tuple[str, Opinion | None], Costs] = {}  # of this state, by name
        self._newest: tuple[int, Floats] | None = None  # the last label, where no other has changed since: its reach

    def __repr__(self) -> str:
        return (
            f"SparseField({self.n_nodes:,} nodes, {self.grounding.solver_name}, diag(G) {self.grounding.diagonal_is}, "
            f"pool {self.budget.pool}, sample {self.budget.sample})"
        )

    @property
    def budget(self) -> Budget:
        return self.grounding.budget

    @property
    def unlabelled(self) -> Ints:
        return np.flatnonzero(self.label < 0)

    @property
    def G(self) -> Floats:
        raise FewlabelsError(
            f"the sparse engine never forms G, {self.n_nodes:,} x {self.n_nodes:,}: use field.columns(nodes), "
            "field.variance and field.h, or engine='dense'."
        )

    @property
    def h(self) -> Floats:
        return self._h[self.label < 0]

    @property
    def island(self) -> Ints:
        return self._island[self.label < 0]

    @property
    def variance(self) -> Floats:
        free = self.label < 0
        reached = self._island[free] < 0
        if not reached.any():  # those of no label are not wanted yet, and take long
            return np.full(len(reached), np.inf)
        return np.where(reached, self.grounding.diagonal[free], np.inf)

    @property
    def all_h(self) -> Floats:
        """(n, C) `h` by node number; at a labelled node what its label says."""
        return self._h

    @property
    def all_islands(self) -> Ints:
        """(n,) `island` by node number."""
        return self._island

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        X = self.grounding.columns(
            nodes, None if rough else TIGHT
        )  # (n, m), in a component without a label held at its anchor
        islands = np.unique(self._island[nodes][self._island[nodes] >= 0])
        for island in islands:
            members = self._island == island
            mean = self.grounding.sums()[members] / members.sum()  # of each row: G knows nothing beyond the component
            own = np.flatnonzero(self._island[nodes] == island)
            part = X[np.ix_(members, own)]
            X[np.ix_(members, own)] = part - part.mean(axis=0) - mean[:, None] + mean.mean()
        return X[self.label < 0]

    def sums(self) -> Floats:
        return self.grounding.sums()[self.label < 0]

    def two_step_costs(self) -> Costs:
        return self._once("two_step", lambda: lookahead_costs(self, harmonic=False))

    def harmonic_costs(self) -> Costs:
        return self._once("harmonic", lambda: lookahead_costs(self, harmonic=True))

    def vopt_costs(self, rough: bool = False) -> Costs:
        if rough:
            return self._once("rough vopt", lambda: rough_vopt_costs(self))
        return self._once("vopt", lambda: variance_costs(self, total=False))

    def sopt_costs(self) -> Costs:
        return self._once("sopt", lambda: variance_costs(self, total=True))

    def observe(self, node: int, label: int) -> None:
        self._known_costs.clear()
        before = self.grounding.diagonal.copy()
        y, island = answer(label, self.n_classes), self._island[node]
        if island < 0:
            column = self.grounding.column(node)
            self._newest = node, column / column[node]
            self._h += np.outer(self._newest[1], y - self._h[node])
            self.grounding.hold(node, column)
        else:
            self._newest = None
            members = self.component == island
            self._anchor_at(node)
            self._anchor[island] = -1
            self._h[members] = y
            self._island[members] = -1
        self._h[node] = y
        self.label[node] = label
        self.grounding.mend(before)

    def forget(self, node: int) -> None:
        self._known_costs.clear()
        self._newest = None
        known = int(self.label[node])
        self.label[node] = -1
        if self._has_no_label(node):  # that was the last of its component: the node stays held, as its anchor
            self._make_island(node)
            return
        before = self.grounding.diagonal.copy()
        reach = self._reach(node)
        pull, signed = self._attachments()  # (n,), (n, C)
        s = float(reach @ pull)
        h_new = reach @ signed / s
        self._h += np.outer(reach, h_new - answer(known, self.n_classes))
        self._h[node] = h_new
        self.grounding.release(node, reach, s)
        self.grounding.mend(before)

    def attach(self, node: int, weights: Floats) -> None:
        self._known_costs.clear()
        self._newest = None
        before = self.grounding.diagonal.copy()
        was, total = float(self.attached[node].sum()), float(weights.sum())
        self.attached[node] = weights
        if self.label[node] >= 0:
            self.grounding.tie(node, total)
        elif self._island[node] >= 0:
            if total > 0:
                self._first_unsure(node, weights)
        elif self._has_no_label(node):  # the node's answers, now taken back, were the last
            self.grounding.tie(node, total)
            self.grounding.hold(node, np.where(self._members(node), 1 / was, 0.0))
            self._make_island(node)
        else:
            self._shift(node, total)
        self.grounding.mend(before)

    def reach(self, nodes: Ints, rough: bool = False) -> Floats:
        if self._newest is not None and nodes.tolist() == [self._newest[0]]:
            return self._newest[1][None, self.label < 0]
        ties, found = self.precision.rows(nodes), np.empty((len(nodes), np.count_nonzero(self.label < 0)))
        for left in range(0, len(nodes), AT_ONCE):
            part = slice(left, left + AT_ONCE)
            found[part] = self.grounding.solve(np.ascontiguousarray(ties[part].toarray().T), rough)[self.label < 0].T
        return found

    def precision_of(self, nodes: Ints, sample: Ints) -> LabelTerms | None:
        return self.grounding.precision_of(nodes, sample)

    def one_by_one(self, count: int) -> bool:
        return count <= MANY

    def relabel(self, node: int, label: int) -> None:
        self._known_costs.clear()
        signs = answer(label, self.n_classes) - answer(int(self.label[node]), self.n_classes)  # (C,)
        self._h += np.outer(self._reach(node), signs)
        self.label[node] = label
        self._h[node] = answer(label, self.n_classes)

    def skip(self, nodes: int | Ints, skipped: bool = True) -> None:
        self._known_costs.clear()
        super().skip(nodes, skipped)

    def add_class(self) -> None:
        self._known_costs.clear()
        unheard = np.where(self._island < 0, -1.0, 0.0)[:, None]
        self._h = np.hstack([self._h, unheard])
        self._one_more_class()

    def refresh(self) -> None:
        """Work out everything afresh from the graph and the labels."""
        self._known_costs.clear()
        self._newest = None
        known, has_label = self.label >= 0, self._has_label()
        self._island = np.where(has_label[self.component], -1, self.component)
        self._anchor = np.where(has_label, -1, self._first_anchors())
        held = np.concatenate([np.flatnonzero(known), self._anchor[self._anchor >= 0]])
        self.grounding.refresh(held, self.attached.sum(axis=1))
        _, signed = self._attachments()
        self._h = self.grounding.solve(signed)
        self._h[self._island >= 0] = 0
        self._h[known] = self._signs()[self.label[known]]

    def can_copy(self) -> bool:
        return memory.available() > 2 * (self.grounding.nbytes + self._h.nbytes + self.attached.nbytes)

    def copy(self) -> SparseField:
        twin = object.__new__(SparseField)
        for name, value in self.__dict__.items():
            setattr(twin, name, np.array(value) if isinstance(value, np.ndarray) else value)
        twin.grounding, twin._known_costs = self.grounding.copy(), dict(self._known_costs)
        return twin

    def _once(self, name: str, compute: Callable[[], Costs]) -> Costs:
        """The costs of one state are worked out once: the same question however often it is asked for."""
        key = name, self.opinion
        if key not in self._known_costs:
            self._known_costs[key] = compute()
        values, screening = self._known_costs[key]
        if np.isnan(values).any():
            low, high = self.precision.links.data.min(), self.precision.links.data.max()
            raise FewlabelsError(
                f"float64 cannot hold this field of {self.n_nodes:,} nodes with weights from {low:g} to {high:g}: "
                "drop the weakest edges, or contract the longest chains."
            )
        return Costs(values.copy(), screening)

    def _first_anchors(self) -> Ints:
        """(components,) the best connected node of each: its column is the flattest, which suits the solver."""
        order = np.lexsort((np.arange(self.n_nodes), self.precision.diagonal))
        anchors = np.empty(int(self.component.max()) + 1, dtype=np.int64)
        anchors[self.component[order]] = order
        return anchors

    def _anchor_at(self, node: int) -> None:
        """The node's component, which has no label, is held at this node."""
        anchor = int(self._anchor[self.component[node]])
        if node != anchor:
            self.grounding.move(anchor, node, self._members(node))

    def _make_island(self, node: int) -> None:
        """The node's component has lost its last label, and is held at the node."""
        members, component = self._members(node), self.component[node]
        self._anchor[component] = node
        self._island[members] = component
        self._h[members] = 0

    def _first_unsure(self, node: int, weights: Floats) -> None:
        """The first answer of the node's component is unsure: its leaning becomes every node's h."""
        members, total = self._members(node), float(weights.sum())
        self._anchor_at(node)
        self._anchor[self.component[node]] = -1
        self.grounding.tie(node, total)
        self._h[members] = 2 * weights / total - 1
        self._island[members] = -1
        self.grounding.release(node, members.astype(float), total)

    def _shift(self, node: int, total: float) -> None:
        """The unsure answers of the node, not the only one with answers, now weigh `total`."""
        column = self.grounding.column(node)  # before the diagonal changes
        self.grounding.tie(node, total)
        pull, signed = self._attachments()
        held = float(column @ pull)  # 1 + G_qq times the change of weight
        h_q = column @ signed / held
        self._h += np.outer(column / column[node], h_q - self._h[node])
        self._h[node] = h_q
        self.grounding.shift(node, column, held)

    def _reach(self, node: int) -> Floats:
        """(n,) how much a label at this node counts at each of the others: G times its ties to them; 1 at itself."""
        if self._newest is not None and self._newest[0] == node:
            return self._newest[1].copy()
        reach = self.grounding.solve(self.precision.rows(np.array([node])).toarray().T)[:, 0]
        reach[node] = 1
        return reach
