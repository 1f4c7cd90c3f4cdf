"""The field of a cluster: G in blocks of rows on the workers, everything else here."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from fewlabels.arrays import EPS, Floats, Ints
from fewlabels.errors import GraphError
from fewlabels.field.batch_updates import BatchUpdates
from fewlabels.field.cluster import lookahead
from fewlabels.field.cluster.blocks import Blocks
from fewlabels.field.cluster.crew import Crew
from fewlabels.field.costs import Costs
from fewlabels.field.dense.field import AGAIN, DRIFT, MANY
from fewlabels.field.dense.inverse import SIGNED_TOLERANCE, TOLERANCE
from fewlabels.field.known import Known
from fewlabels.field.opinion import asking_h
from fewlabels.graph import Graph
from fewlabels.kernels.cpu.rows import Surroundings
from fewlabels.kernels.reference import answer
from fewlabels.machine import memory
from fewlabels.machine.progress import Progress


class ClusterField(BatchUpdates, Known):
    """G and h of a graph, changed in place by every answer as in the dense engine; no (n, n) array is ever here.

    Every array below is by node number, and nodes keep their rows and columns on the workers, so an answer moves one
    row of G from the worker that holds it, and the same row to each worker.
    """

    def __init__(self, crew: Crew, graph: Graph, n_classes: int, beta: float = 1.0, *, smoothness: float = 0.0) -> None:
        super().__init__(graph, n_classes, beta, smoothness)
        self._degree = self.precision.diagonal
        self._diagonal = np.zeros(self.n_nodes)
        self._error = np.zeros(self.n_nodes)  # to expect in each G_kk
        self._h = np.zeros((self.n_nodes, n_classes))
        self._island = np.full(self.n_nodes, -1)
        self.refreshes = -1  # how often G was computed afresh since the set-up
        self._blocks = Blocks.spread(crew, self.n_nodes)
        self.refresh()

    @property
    def unlabelled(self) -> Ints:
        return np.flatnonzero(self.label < 0)

    @property
    def G(self) -> Floats:
        """A copy here, as large as all the workers' rows together: for small graphs and tests."""
        u = self.unlabelled
        memory.require(2 * 8 * len(u) ** 2, f"a copy of G for {len(u):,} nodes", "Leave it on the workers.")
        G: Floats = self._blocks.ask("block", u)
        return G

    @property
    def h(self) -> Floats:
        return self._h[self.unlabelled]

    @property
    def island(self) -> Ints:
        return self._island[self.unlabelled]

    @property
    def variance(self) -> Floats:
        return np.where(self.island < 0, self._diagonal[self.unlabelled], np.inf)

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        u = self.unlabelled
        return np.array([self._blocks.row(int(node))[u] for node in nodes]).reshape(len(nodes), len(u)).T

    def sums(self) -> Floats:
        total, _ = self._blocks.ask("sums")
        reached: Floats = total[self.unlabelled]
        return reached

    def two_step_costs(self) -> Costs:
        u = self.unlabelled
        around = self._around(None if self.opinion is None else asking_h(self))
        return Costs(lookahead.two_step_cost(self._blocks, around, self.n_nodes, self.skipped[u]))

    def harmonic_costs(self) -> Costs:
        return Costs(lookahead.harmonic_cost(self._blocks, self._around(), self.n_nodes))

    def vopt_costs(self, rough: bool = False) -> Costs:
        return Costs(lookahead.vopt_cost(self._blocks, self._around()))

    def sopt_costs(self) -> Costs:
        return Costs(lookahead.sopt_cost(self._blocks, self._around()))

    def _around(self, h: Floats | None = None) -> Surroundings:
        """What the workers need to score questions; `h` if they are chosen by another than the field's."""
        u = self.unlabelled
        signed = self.smoothness > 0 or h is not None
        h = self._h[u] if h is None else h
        return Surroundings(u, h, self._diagonal[u], self._island[u], self._pieces(u), signed)

    def observe(self, node: int, label: int) -> None:
        row = self._blocks.row(node)  # (n,) zero at labelled nodes
        before, pivot, here = self._diagonal.copy(), row[node], self._island[node]
        surprise = answer(label, self.n_classes) - self._h[node]  # (C,)
        with self._blocks.changing():
            if here < 0:
                share = row / pivot
                self._blocks.tell("downdate", row, node)
                self._diagonal -= row * row / pivot
                self._h += np.outer(share, surprise)
                self._error += EPS * before + share**2 * self._error[node]
            else:
                same = self._island == here
                self._blocks.tell("ground", row, node, same, 0.0)
                self._diagonal[same] += pivot - (row[same] + row[same])
                self._h[same] += surprise
                self._error[same] += self._error[node] + EPS * (before[same] + pivot)
                self._island[same] = -1
            self.label[node] = label
            self._diagonal[node] = self._h[node] = self._error[node] = 0
        self._watch()

    def forget(self, node: int) -> None:
        self._take_back(node)
        if self._island[node] < 0:
            self._watch()
        else:
            self._watch_island(node)

    def attach(self, node: int, weights: Floats) -> None:
        self.attached[node] = weights
        if self.label[node] >= 0:
            return
        total, here = float(weights.sum()), self._island[node]
        if here >= 0 and total == 0:
            return
        if here < 0 and self._has_no_label(node):
            with self._blocks.changing():
                self._unground(node)
            self._watch_island(node)
            return
        row = self._blocks.row(node)  # (n,) zero at labelled nodes
        before, pivot = self._diagonal.copy(), row[node]
        with self._blocks.changing():
            if here >= 0:
                same, v = self._island == here, 1 / total
                self._blocks.tell("ground", row, node, same, v)
                self._diagonal[same] += v + (pivot - (row[same] + row[same]))
                self._h[same] = 2 * weights / total - 1
                self._error[same] += self._error[node] + EPS * (before[same] + pivot + v)
                self._island[same] = -1
            else:
                pull, signed = self._attachments()  # (n,), (n, C)
                held = float(row @ pull)  # 1 + G_qq times the change of weight, as a sum that does not cancel
                kept, h_q = 1 / held, row @ signed / held
                self._blocks.tell("shift", row, node, kept)
                self._diagonal += row * row / pivot * (kept - 1)
                self._diagonal[node] = pivot * kept
                self._h += np.outer(row / pivot, h_q - self._h[node])
                self._h[node] = h_q
                self._error += EPS * before + (row / pivot) ** 2 * self._error[node] * max(1.0, kept)
        self._watch()

    def reach(self, nodes: Ints, rough: bool = False) -> Floats:
        u = self.unlabelled
        return np.array([self._reach(int(node))[u] for node in nodes]).reshape(len(nodes), len(u))

    def one_by_one(self, count: int) -> bool:
        return count <= 1 or count * MANY < len(self.unlabelled)

    def relabel(self, node: int, label: int) -> None:
        signs = answer(label, self.n_classes) - answer(int(self.label[node]), self.n_classes)  # (C,)
        self._h += np.outer(self._reach(node), signs)
        self.label[node] = label

    def add_class(self) -> None:
        unheard = np.where((self.label < 0) & (self._island < 0), -1.0, 0.0)
        self._h = np.column_stack([self._h, unheard])
        self._one_more_class()

    def can_copy(self) -> bool:
        return self._blocks.can_copy()

    def copy(self) -> ClusterField:
        """An independent field in the same state, on the same workers, which need room for it."""
        twin = object.__new__(ClusterField)
        for name, value in self.__dict__.items():
            copied = value.copy() if isinstance(value, np.ndarray | Blocks) else value
            setattr(twin, name, copied)
        return twin

    def refresh(self) -> None:
        """Compute G and h afresh from the graph and the labels: every worker eliminates all nodes from its rows.

        As in the dense engine a component without a label is lifted, which makes the constant vector an eigenvector
        like the others, and lowered again.
        """
        known = self.label >= 0
        self._island = np.where(known | self._has_label()[self.component], -1, self.component)
        size = np.bincount(self.component)[self.component]  # (n,)
        lonely = (self._island >= 0) & (size == 1)
        lifted = np.where(lonely, -1, self._island)
        lift = (np.bincount(self.component, self._degree)[self.component] / size) / size  # (n,) mean degree / size
        lift[size == 1] = 1  # not used there
        inside = sparse.diags_array((~known).astype(float))
        W = sparse.csr_array(inside @ self.weights @ inside)
        W.eliminate_zeros()
        degree = self._degree + self.attached.sum(axis=1)
        diagonal = np.where(known | lonely, 1.0, degree)
        rows = [(W[a:b], diagonal, lifted, lift) for a, b in pairwise(self._blocks.bounds)]
        _, signed = self._attachments()
        with self._blocks.changing():
            self._blocks.tell_each("fill", rows)
            steps = self._blocks.steps()
            progress = Progress(f"setting up {self.n_nodes:,} nodes", len(steps))
            done = True
            for step in steps:
                if not self._blocks.eliminate(*step):
                    done = False
                    break
                progress.step()
            if done:
                lowered = -1 / (lift * size**2)
                found = self._blocks.ask("settle", known | lonely, lifted, lowered, degree, signed)
                self._diagonal, self._error, self._h = found
                self._h[self._island >= 0] = 0
                reached = ~known & (self._island < 0)
                most = SIGNED_TOLERANCE if self.smoothness else TOLERANCE
                done = bool((self._error[reached] <= most * self._diagonal[reached]).all())
            if not done:
                if self.weights.nnz and float(self.weights.data.min()) < 0:
                    raise GraphError(
                        "the weights span so far that a smooth field would lose too much to rounding. "
                        "Use smoothness=0, which copes."
                    )
                self._build_up()
        self.refreshes += 1
        reached = ~known & (self._island < 0)
        self._drift = max(DRIFT, AGAIN * float((self._error[reached] / self._diagonal[reached]).max(initial=0)))

    def _watch(self) -> None:
        """Start afresh if rounding has cost too much."""
        reached = (self.label < 0) & (self._island < 0)
        if (self._error[reached] > self._drift * self._diagonal[reached]).any():
            self.refresh()

    def _watch_island(self, node: int) -> None:
        """The same where the node's component has just lost its last label."""
        members = self._members(node)
        if (self._error[members] * self._degree[members] > DRIFT).any():
            self.refresh()  # 1 / degree is the least resistance there can be

    def _build_up(self) -> None:
        """G afresh without a subtraction, for weights that span too far to eliminate: as if all nodes had been known
        and were taken back one after another. As slow as that many answers.
        """
        unknown = self.unlabelled
        self.label[unknown] = 0
        self._blocks.tell("clear")
        for array in (self._diagonal, self._error, self._h):
            array[:] = 0
        self._island[:] = -1
        progress = Progress(f"setting up {self.n_nodes:,} nodes", len(unknown))
        for node in unknown:
            self._take_back(int(node))
            progress.step()

    def _take_back(self, node: int) -> None:
        """The node is unlabelled again."""
        label = int(self.label[node])
        reach = self._reach(node)
        with self._blocks.changing():
            self.label[node] = -1
            if self._has_no_label(node):
                self._unground(node)
                return
            pull, signed = self._attachments()  # (n,), (n, C)
            s = float(pull[node] + reach @ pull)
            h_new = (signed[node] + reach @ signed) / s
            lost = EPS * float(abs(pull[node]) + abs(reach) @ abs(pull)) / s  # of s; EPS where nothing cancels
            self._blocks.tell("border", reach, s, node)
            self._h += np.outer(reach, h_new - answer(label, self.n_classes))
            self._h[node] = h_new
            self._diagonal += reach * reach / s
            self._diagonal[node] = 1 / s
            self._error += EPS * self._diagonal + lost * reach**2 / s
            self._error[node] = (EPS * self.n_nodes + lost) / s

    def _reach(self, node: int) -> Floats:
        """(n,) how much a label at this labelled node counts at each of the others: G times its ties to them."""
        ties = self.weights[[node], :]
        reach: Floats = self._blocks.ask("reach", ties.indices.astype(np.int64), ties.data)
        return reach

    def _unground(self, node: int) -> None:
        """The last label of a component is gone: its block becomes the pseudo-inverse again, its h zero."""
        members = self._members(node)
        mean = self._blocks.ask("sums_over", members) / members.sum()  # (n,)
        overall = float(mean[members].mean())
        self._blocks.tell("center", members, mean, overall)
        self._island[members] = self.component[node]
        self._h[members] = 0
        self._diagonal[members] += overall - (mean[members] + mean[members])
        self._error[members] = self._error[members].max() + EPS * np.abs(self._diagonal[members])
