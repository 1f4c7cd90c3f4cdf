"""The sparse engine: h, diag(G) and a few columns of G; all of G is never formed."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels import memory
from fewlabels.errors import FewlabelsError
from fewlabels.field.at_once import AtOnce
from fewlabels.field.placement import _scaled
from fewlabels.field.question import Question
from fewlabels.field.sparse import costs, near, unsure
from fewlabels.field.sparse.diagonal import variances
from fewlabels.field.sparse.panel import AT_ONCE, Panel, Probes
from fewlabels.field.sparse.pcg import System, unit_columns
from fewlabels.field.sparse.sizes import TIGHT, sizes
from fewlabels.field.sparse.solvers import make_solver
from fewlabels.graph import Graph
from fewlabels.kernels.reference import Floats, Ints, answer, leaning

MANY = 64  # answers at once from which everything is worked out afresh
PROBES = 64  # of VOpt's sums of squares: 18% of noise, before the pool is scored in full
PROBED = 1e-6  # tolerance of a probe: SOpt's sums are among them
SEED = 20160219


class SparseField(AtOnce):
    """h and diag(G) for all nodes and a panel of columns of G, downdated by every answer; needs O(n) memory a column.

    The nodes keep their numbers. A component without a label is held at one node, its anchor: G is then the inverse of
    what is left, from which the pseudo-inverse, all resistances and the first answer follow (docs/maths.md, "The sparse
    engine").
    """

    def __init__(
        self,
        graph: Graph,
        n_classes: int,
        beta: float = 1.0,
        solver: str = "auto",
        pool: int | None = None,
        sample: int | None = None,
        quiet: bool = True,
    ) -> None:
        started = time.perf_counter()
        self.n_nodes, self.n_classes, self.beta = graph.n_nodes, n_classes, beta
        n = self.n_nodes
        self.kernels: Any = costs
        most = sizes(n, True, pool, sample)
        columns = np.dtype(most.number).itemsize * n * (most.columns + 4 * AT_ONCE)  # kept, and at work
        memory.require(
            columns + 48 * n * n_classes + 40 * graph.weights.nnz,
            f"the sparse engine on {n:,} nodes",
            "Take a smaller graph, or a machine with more memory.",
        )
        self.weights: sparse.csr_array = _scaled(graph, beta)
        self._component: Ints = graph.components()
        self.label = np.full(n, -1)
        self.skipped = np.zeros(n, dtype=bool)
        self.attached = np.zeros((n, n_classes))
        self.degree: Floats = np.asarray(self.weights.sum(axis=1), dtype=float).ravel()
        self.least = np.divide(1.0, self.degree, out=np.full(n, np.finfo(float).tiny), where=self.degree > 0)
        self.uniform = 1 - np.random.default_rng(SEED).random(n)  # (n,) in (0, 1]: every node's place in the samples
        self._island: Ints = self._component.copy()
        self._anchor = self._first_anchors()  # (components,) the node held where there is no label, else -1
        held = np.zeros(n, dtype=bool)
        held[self._anchor] = True
        W = self.weights
        pivots = np.where(self.degree > 0, self.degree, 1.0)  # a node without edges is always held
        self._system = System(W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, pivots, held)
        self._solver = make_solver(self._system, solver)
        self.sizes = sizes(n, self._solver.exact, pool, sample)
        self._h = np.zeros((n, n_classes))
        self.panel = Panel(n, min(n, self.sizes.columns), self.sizes.number)
        self.question: Question | None = None
        self.remembered: tuple[Any, Floats] | None = None
        self.version = 0
        self._probes: Probes | None = None
        self._diagonal_afresh()
        self.set_up_seconds = time.perf_counter() - started
        if not quiet:
            print(f"fewlabels: {self}", file=sys.stderr, flush=True)

    def __repr__(self) -> str:
        exact = "exact" if self.exact_diagonal else "sketched"
        return (
            f"SparseField({self.n_nodes:,} nodes, {self._solver.name}, diag(G) {exact}, pool {self.sizes.pool}, "
            f"sample {self.sizes.sample}, set up in {self.set_up_seconds:.1f} s)"
        )

    @property
    def unlabelled(self) -> Ints:
        return np.flatnonzero(self.label < 0)

    @property
    def G(self) -> Floats:
        raise FewlabelsError(
            f"the sparse engine never forms G, {self.n_nodes:,} x {self.n_nodes:,}: use field.columns(nodes), "
            "field.doubt and field.h, or engine='dense'."
        )

    @property
    def h(self) -> Floats:
        return self._h[self.label < 0]

    @property
    def island(self) -> Ints:
        return self._island[self.label < 0]

    @property
    def doubt(self) -> Floats:
        free = self.label < 0
        return np.where(self._island[free] < 0, self.diagonal[free], np.inf)

    @property
    def state(self) -> tuple[SparseField, Floats, Ints]:
        return self, self.h, self.island

    @property
    def hints(self) -> dict[str, Any]:
        return {}

    @property
    def islands(self) -> Ints:
        """(n,) `island` for every node, by number."""
        return self._island

    def distinct(self) -> tuple[Floats, Floats]:
        """(n, D) the different columns of h, and (D,) how many classes share each, as those never heard do."""
        kept: list[int] = []
        many: list[float] = []
        for c in range(self.n_classes):
            same = [i for i, d in enumerate(kept) if np.array_equal(self._h[:, c], self._h[:, d])]
            if same:
                many[same[0]] += 1
            else:
                kept.append(c)
                many.append(1)
        return np.ascontiguousarray(self._h[:, kept]), np.array(many, dtype=float)

    @property
    def edges(self) -> tuple[Ints, Ints, Floats]:
        """The neighbours of every node, by rows, and G_ii + G_jj - 2 G_ij between them."""
        return self._system.indptr, self._system.indices, self._ties

    def columns(self, nodes: Ints, tolerance: float | None = None) -> Floats:
        """(n, m) columns of G by node number; in a component without a label those of G held at its anchor."""
        return self._solver.columns(self._system, nodes, tolerance or self.sizes.tolerance)

    def slots(self, nodes: Ints) -> Ints:
        """Where the panel has the columns of these nodes; a sketched diag(G) is mended there."""
        slots = self.panel.slots(nodes, self.columns)
        if not self.exact_diagonal:
            pivots = self.panel.X[nodes, slots]
            self.diagonal[nodes] = np.where(self._system.held[nodes], 0.0, pivots)
        return slots

    def probes(self) -> Probes:
        """G 1 and G z, made when first wanted."""
        if self._probes is None:
            Z = np.ones((self.n_nodes, 1 + PROBES))
            Z[:, 1:] -= 2 * np.random.default_rng(SEED).integers(2, size=(self.n_nodes, PROBES))
            self._probes = Probes(Z, self._solver.solve(self._system, Z, PROBED))
        return self._probes

    def observe(self, node: int, label: int) -> None:
        self._changed()
        y, island = answer(label, self.n_classes), self._island[node]
        if island < 0:
            column = self._column(node)
            r = column / column[node]
            self._h += np.outer(r, y - self._h[node])
            self.diagonal -= r * column
            self._each(lambda block: block.hold(node, column))
            near.change(*self.edges, column, -1 / column[node])
            self._hold(node, column)
        else:
            members = self._component == island
            if node != self._anchor[island]:
                self._move_anchor(node, members)
            self._anchor[island] = -1
            self._h[members] = y
            self._island[members] = -1
        self._h[node] = y
        self.label[node] = label
        self.panel.drop(np.array([node]))
        self._mend()

    def forget(self, node: int) -> None:
        self._changed()
        known, component = int(self.label[node]), self._component[node]
        members = self._component == component
        self.label[node] = -1
        if self._has_no_label(members):  # that was the last of its component: the node stays held, as its anchor
            self._anchor[component] = node
            self._island[members] = component
            self._h[members] = 0
            return
        reach = self._reach(node)
        pull, signed = self._attachments()  # (n,), (n, C)
        s = float(reach @ pull)
        h_new = reach @ signed / s
        self._h += np.outer(reach, h_new - answer(known, self.n_classes))
        self._h[node] = h_new
        self._release(node, reach, s)
        self._mend()

    def attach(self, node: int, weights: Floats) -> None:
        self._changed()
        unsure.attach(self, node, weights)
        self._mend()

    def reach(self, nodes: Ints) -> Floats:
        ties = np.ascontiguousarray(self.weights[nodes].toarray().T)  # (n, m)
        return self._solver.solve(self._system, ties, TIGHT)[self.label < 0].T

    def few(self, many: int) -> bool:
        return many <= MANY

    def relabel(self, node: int, label: int) -> None:
        self._changed()
        signs = answer(label, self.n_classes) - answer(int(self.label[node]), self.n_classes)  # (C,)
        self._h += np.outer(self._reach(node), signs)
        self.label[node] = label
        self._h[node] = answer(label, self.n_classes)

    def add_class(self) -> None:
        self._changed()
        unheard = np.where(self._island < 0, -1.0, 0.0)[:, None]
        self._h = np.hstack([self._h, unheard])
        self.attached = np.hstack([self.attached, np.zeros((self.n_nodes, 1))])
        self.n_classes += 1

    def refresh(self) -> None:
        """Work out everything afresh from the graph and the labels."""
        self._changed()
        known = self.label >= 0
        has_label = np.zeros(len(self._anchor), dtype=bool)
        has_label[self._component[known | self.attached.any(axis=1)]] = True
        unsure.tie(self, slice(None))
        self._island = np.where(has_label[self._component], -1, self._component)
        anchors = self._first_anchors()
        self._anchor = np.where(has_label, -1, anchors)
        self._system.held[:] = known
        self._system.held[self._anchor[self._anchor >= 0]] = True
        self._solver.refresh(self._system)
        self.panel.clear()
        self._probes = None
        _, signed = self._attachments()
        self._h = self._solver.solve(self._system, signed, TIGHT)
        self._h[self._island >= 0] = 0
        signs = np.array([answer(c, self.n_classes) for c in range(self.n_classes)])
        self._h[known] = signs[self.label[known]]
        self._diagonal_afresh()

    def copy(self) -> SparseField:
        twin = object.__new__(SparseField)
        for name, value in self.__dict__.items():
            setattr(twin, name, np.array(value) if isinstance(value, np.ndarray) else value)
        system = self._system
        twin._system = system._replace(held=system.held.copy(), diagonal=system.diagonal.copy())
        twin._solver, twin.panel = self._solver.copy(), self.panel.copy()
        twin._probes = None if self._probes is None else self._probes.copy()
        return twin

    def _changed(self) -> None:
        """A new state: costs and how a question was chosen belong to the old one."""
        self.version += 1
        self.question = None

    def _first_anchors(self) -> Ints:
        """(components,) the best connected node of each: its column is the flattest, and the solver likes that."""
        order = np.lexsort((np.arange(self.n_nodes), self.degree))
        anchors = np.empty(int(self._component.max()) + 1, dtype=np.int64)
        anchors[self._component[order]] = order
        return anchors

    def _diagonal_afresh(self) -> None:
        alone = self._has_no_label(slice(None))
        rng = np.random.default_rng(SEED)
        found = variances(self._system, self._solver, self._component, alone, rng)
        self.diagonal, self._ties, self.exact_diagonal = found
        self._solver.narrow(self.sizes.number)

    def _column(self, node: int) -> Floats:
        """(n,) the node's column of G, from the panel's as a guess."""
        guess = self.panel.column(node)
        if guess is None or self._solver.exact:
            return self._solver.columns(self._system, np.array([node]), TIGHT)[:, 0]
        B = unit_columns(self.n_nodes, np.array([node]))
        return self._solver.solve(self._system, B, TIGHT, guess[:, None].astype(float))[:, 0]

    def _reach(self, node: int) -> Floats:
        """(n,) how much a label at this node counts at each of the others: G times its ties to them; 1 at itself."""
        ties = self.weights[[node], :].toarray().T  # (n, 1)
        reach = self._solver.solve(self._system, ties, TIGHT)[:, 0]
        reach[node] = 1
        return reach

    def _attachments(self) -> tuple[Floats, Floats]:
        """(n,) pull of each unlabelled node towards labels and unsure answers, and (n, C) the same with their signs."""
        known = self.label >= 0
        signs = np.array([answer(c, self.n_classes) for c in range(self.n_classes)])
        Y = np.zeros((self.n_nodes, self.n_classes))
        Y[known] = signs[self.label[known]]
        own, leans = leaning(self.attached)
        pull, signed = self.weights @ known.astype(float) + own, self.weights @ Y + leans
        pull[known] = signed[known] = 0
        return pull, signed

    def _has_no_label(self, members: Any) -> bool:
        """Whether nothing is known of these nodes, neither surely nor unsurely."""
        return bool((self.label[members] < 0).all()) and not self.attached[members].any()

    def _move_anchor(self, node: int, members: Any) -> None:
        """The component is held at this node instead of its anchor: all of G there follows from the node's column."""
        anchor = int(self._anchor[self._component[node]])
        column = self._column(node)
        pivot = column[node]
        self.diagonal[members] += pivot - 2 * column[members]
        self._each(lambda block: block.move(node, column, members))
        self._hold(node, column)
        self._system.held[anchor] = False
        self._solver.release(self._system, anchor, np.where(members, 1 - column / pivot, 0.0), 1 / pivot)

    def _hold(self, node: int, column: Floats) -> None:
        self._system.held[node] = True
        self._solver.hold(self._system, node, column)

    def _release(self, node: int, reach: Floats, s: float) -> None:
        self.diagonal += reach**2 / s
        self._each(lambda block: block.release(reach, s))
        near.change(*self.edges, reach, 1 / s)
        self._system.held[node] = False
        self._solver.release(self._system, node, reach, s)

    def _each(self, change: Any) -> None:
        change(self.panel)
        if self._probes is not None:
            change(self._probes)

    def _mend(self) -> None:
        """No variance is below 1 / d_k, whatever rounding or a sketch says; where held it is none."""
        np.maximum(self.diagonal, self.least, out=self.diagonal)
        self.diagonal[self._system.held] = 0
