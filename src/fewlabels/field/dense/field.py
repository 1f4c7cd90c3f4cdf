"""The dense engine: all of G in one array, changed in place by every answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewlabels.arrays import EPS, Floats, Ints
from fewlabels.field.batch_updates import BatchUpdates
from fewlabels.field.costs import Costs
from fewlabels.field.dense.inverse import green, pseudo_inverse
from fewlabels.field.opinion import asking_h
from fewlabels.field.placement import Part, Placement
from fewlabels.graph import Graph
from fewlabels.kernels.reference import answer
from fewlabels.machine import memory

MANY = 20  # a fresh G costs about as much as u / 20 answers (u / 13 to u / 48, measured at 1,000 to 5,000 nodes)
DRIFT = 1e-9  # expected relative error of a G_kk above which G is computed afresh
AGAIN = 10.0  # or this many times that of a fresh G, where even that is less exact


class DenseField(BatchUpdates, Placement):
    """G and h of a graph, updated in place: an answer is a rank-one downdate, taking it back a bordering update.

    One (n, n) buffer holds G. The unlabelled nodes fill its leading block: an answered node swaps places with the last
    unlabelled one, a forgotten node is appended. Rounding is watched: `error` (u,) is the error to expect in each G_kk,
    and G is computed afresh when it passes `DRIFT` of G_kk. In a smooth field G_kk cancels more than in the paper's.
    """

    def __init__(
        self, graph: Graph, n_classes: int, beta: float = 1.0, kernels: Any = None, *, smoothness: float = 0.0
    ) -> None:
        if kernels is None:
            from fewlabels.kernels import cpu as kernels
        super().__init__(graph, n_classes, beta, smoothness)
        self._kernels = kernels
        memory.require(
            8 * self.n_nodes * (self.n_nodes + 4 * n_classes),
            f"the dense engine on {self.n_nodes:,} nodes",
            "Take a smaller graph, or a machine with more memory.",
        )
        self._degree = self.precision.diagonal
        self._G = np.zeros((self.n_nodes, self.n_nodes))
        self._h = np.zeros((self.n_nodes, n_classes))
        self._error = np.empty(self.n_nodes)
        self.refreshes = -1  # how often G was computed afresh since the set-up
        self.refresh()

    @property
    def G(self) -> Floats:
        return self._G[: self._u, : self._u]

    @property
    def h(self) -> Floats:
        return self._h[: self._u]

    @property
    def error(self) -> Floats:
        return self._error[: self._u]

    @property
    def variance(self) -> Floats:
        return np.where(self.island < 0, np.diag(self.G), np.inf)

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        return self.G[:, self._place[nodes]]

    def sums(self) -> Floats:
        total: Floats = self.G.sum(axis=1)
        return total

    def two_step_costs(self) -> Costs:
        return Costs(
            self._kernels.two_step_cost(self.G, asking_h(self), self.island, self.n_nodes, **self._shortcuts())
        )

    def harmonic_costs(self) -> Costs:
        return Costs(self._kernels.harmonic_cost(self.G, self.h, self.island, self.n_nodes, **self._shortcuts()))

    def vopt_costs(self, rough: bool = False) -> Costs:
        return Costs(self._kernels.vopt_cost(self.G, self.island))

    def sopt_costs(self) -> Costs:
        return Costs(self._kernels.sopt_cost(self.G, self.island))

    def _shortcuts(self) -> dict[str, Any]:
        """What saves time: the nodes' pieces, and which no question is about; and whether the field is smooth."""
        return {
            "piece": self._pieces(self.unlabelled),
            "skipped": self.skipped[self.unlabelled],
            "signed": self.smoothness > 0 or self.opinion is not None,
        }

    def observe(self, node: int, label: int) -> None:
        q = int(self._place[node])
        G, island, error = self.G, self.island, self.error
        before, column = np.diag(G).copy(), G[q].copy()
        if island[q] < 0:
            error += EPS * before + (column / column[q]) ** 2 * error[q]
        else:
            same = island == island[q]
            error[same] += error[q] + EPS * (before[same] + column[q])
        self._kernels.downdate(G, self.h, island, q, label)
        self._drop(q)
        self.label[node] = label
        self._watch()

    def forget(self, node: int) -> None:
        label = int(self.label[node])
        u = self._u
        self.label[node] = -1
        self._append(node)
        if self._has_no_label(node):
            self._unground(node)
            return
        reach = self._reach(node, u)
        pull, signed = self._attachments()  # (n,), (n, C)
        others = self._order[:u]
        s = float(pull[node] + reach @ pull[others])
        h_new = (signed[node] + reach @ signed[others]) / s
        lost = EPS * float(abs(pull[node]) + abs(reach) @ abs(pull[others])) / s  # of s; EPS where nothing cancels
        self._kernels.border(self.G, self.h, reach, s, h_new, label)
        self._island[u] = -1
        self.error[:] += EPS * np.diag(self.G)
        self.error[:u] += lost * reach**2 / s
        self._error[u] = (EPS * self.n_nodes + lost) * self._G[u, u]
        self._watch()

    def attach(self, node: int, weights: Floats) -> None:
        q = int(self._place[node])
        self.attached[node] = weights
        if self.label[node] >= 0:
            return
        G, island, error = self.G, self.island, self.error
        before, row = np.diag(G).copy(), G[q].copy()
        if island[q] >= 0:
            if (total := float(weights.sum())) > 0:
                same = island == island[q]
                error[same] += error[q] + EPS * (before[same] + row[q] + 1 / total)
                self._kernels.ground(G, self.h, island, q, 1 / total, 2 * weights / total - 1)
            return
        if self._has_no_label(node):
            self._unground(node)
            return
        pull, signed = (array[self.unlabelled] for array in self._attachments())  # (u,), (u, C)
        held = float(row @ pull)  # 1 + G_qq times the change of weight, as a sum that does not cancel
        error += EPS * before + (row / row[q]) ** 2 * error[q] * max(1.0, 1 / held)
        self._kernels.shift(G, self.h, q, row[q] / held, row @ signed / held)
        self._watch()

    def reach(self, nodes: Ints, rough: bool = False) -> Floats:
        reach: Floats = self.weights[nodes][:, self.unlabelled] @ self.G
        return reach

    def one_by_one(self, count: int) -> bool:
        return count <= 1 or count * MANY < self._u

    def relabel(self, node: int, label: int) -> None:
        signs = answer(label, self.n_classes) - answer(int(self.label[node]), self.n_classes)  # (C,)
        self._h[: self._u] += np.outer(self._reach(node, self._u), signs)
        self.label[node] = label

    def add_class(self) -> None:
        unheard = np.zeros((self.n_nodes, 1))
        unheard[: self._u, 0] = np.where(self.island < 0, -1.0, 0.0)
        self._h = np.hstack([self._h, unheard])
        self._one_more_class()

    def refresh(self) -> None:
        """Compute G and h afresh from the graph and the labels, component by component."""
        parts, signed = self._arrange()
        u = self._u
        for part in parts:
            self._error[part.places] = self._invert(part)
        self._h[:u] = self.G @ signed
        self._h[:u][self._island[:u] >= 0] = 0
        self.refreshes += 1
        reached = self.island < 0
        self._drift = max(DRIFT, AGAIN * float((self.error[reached] / np.diag(self.G)[reached]).max(initial=0)))

    def can_copy(self) -> bool:
        return memory.available() > 2 * self._G.nbytes

    def copy(self) -> DenseField:
        twin = object.__new__(DenseField)
        for name, value in self.__dict__.items():
            setattr(twin, name, np.array(value) if isinstance(value, np.ndarray) else value)
        return twin

    def _invert(self, part: Part) -> Floats:
        """Fill one component's block of G; the first is worked on in the buffer itself, without a copy."""
        places, W, ground = part
        m = places.stop - places.start
        first = places.start == 0
        block = self._G.reshape(-1)[: m * m].reshape(m, m) if first else np.zeros((m, m))
        if ground is not None:
            error = green(block, W, ground, self._kernels)
        elif m > 1:
            error = pseudo_inverse(block, W, self._kernels)
        else:
            block[:], error = 0, np.zeros(1)
        if first:
            flat = self._G.reshape(-1)
            for row in range(m - 1, 0, -1):  # from the last row, so that nothing is overwritten before it has moved
                self._G[row, :m] = flat[row * m : (row + 1) * m]
            self._G[:m, m:] = 0
            self._G[m:] = 0
        else:
            self._G[places, places] = block
        return error

    def _watch(self) -> None:
        """Start afresh if rounding has cost too much."""
        now, reached = np.diag(self.G), self.island < 0
        if (self.error[reached] > self._drift * now[reached]).any():
            self.refresh()

    def _reach(self, node: int, u: int) -> Floats:
        """(u,) how much a label at this node counts at each of the others: G times its ties to them."""
        w = self._ties(node)[:u]
        beside = np.flatnonzero(w)
        return w[beside] @ self._G[beside, :u]

    def _drop(self, q: int) -> None:
        """Place q leaves the leading block: the last unlabelled node takes its place."""
        last = self._leaves(q)
        if q != last:
            G = self._G[: last + 1, : last + 1]
            G[q] = G[last]
            G[:, q] = G[:, last]
            G[q, q] = G[last, last]
            for array in (self._h, self._error):
                array[q] = array[last]

    def _append(self, node: int) -> None:
        """The node joins the leading block in its last row, which is zero until filled."""
        last = self._joins(node)
        self._G[last, : last + 1] = self._G[: last + 1, last] = 0
        self._h[last] = 0
        self._error[last] = 0

    def _unground(self, node: int) -> None:
        """The last label of a component is gone: its block becomes the pseudo-inverse again, its h zero."""
        members = self._make_island(node)
        self._kernels.center(self._G, members)
        self._h[members] = 0
        self._error[members] = self._error[members].max() + EPS * np.abs(np.diag(self.G)[members])
        degree = self._degree[self._order[members]]
        if (self._error[members] * degree > DRIFT).any():  # 1 / degree: the least resistance there can be
            self.refresh()
