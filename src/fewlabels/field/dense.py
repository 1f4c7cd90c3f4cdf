"""The dense engine: all of G in one array, changed in place by every answer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels import memory
from fewlabels.errors import GraphError
from fewlabels.field.inverse import green, pseudo_inverse
from fewlabels.graph import Graph
from fewlabels.kernels.reference import EPS, Floats, Ints, answer

DRIFT = 1e-9  # expected relative error of a G_kk above which G is computed afresh
SPAN = 1e13  # largest over smallest weight: beyond it float64 cannot hold a node's strong and weak ties at once
RANGE = (1e-50, 1e50)  # beta times a weight


class DenseField:
    """G and h of a graph, updated in place: an answer is a rank-one downdate, taking it back a bordering update.

    One (n, n) buffer holds G. The unlabelled nodes fill its leading block: an answered node swaps places with the last
    unlabelled one, a forgotten node is appended. Rounding is watched: `error` (u,) is the error to expect in each G_kk,
    and G is computed afresh when it passes `DRIFT` of G_kk.
    """

    def __init__(self, graph: Graph, n_classes: int, beta: float = 1.0, kernels: Any = None) -> None:
        if kernels is None:
            from fewlabels.kernels import cpu as kernels
        self.kernels = kernels
        self.n_nodes, self.n_classes, self.beta = graph.n_nodes, n_classes, beta
        self.weights = _scaled(graph, beta)
        memory.require(
            8 * self.n_nodes * (self.n_nodes + 4 * n_classes),
            f"the dense engine on {self.n_nodes:,} nodes",
            "Take a smaller graph, or a machine with more memory.",
        )
        self._degree = np.asarray(self.weights.sum(axis=1)).ravel()
        self._component = graph.components()
        self.label = np.full(self.n_nodes, -1)  # (n,) class number, -1 where not known
        self.skipped = np.zeros(self.n_nodes, dtype=bool)
        self._G = np.zeros((self.n_nodes, self.n_nodes))
        self._h = np.zeros((self.n_nodes, n_classes))
        self._island = np.empty(self.n_nodes, dtype=np.int64)
        self._error = np.empty(self.n_nodes)
        self._order = np.arange(self.n_nodes)  # node numbers, the unlabelled ones first
        self._u = self.n_nodes  # how many are unlabelled
        self._place = np.arange(self.n_nodes)  # where each node stands in that order
        self.refreshes = -1  # how often drift has forced a fresh G
        self.refresh()

    @property
    def unlabelled(self) -> Ints:
        return self._order[: self._u]

    @property
    def G(self) -> Floats:
        return self._G[: self._u, : self._u]

    @property
    def h(self) -> Floats:
        return self._h[: self._u]

    @property
    def island(self) -> Ints:
        return self._island[: self._u]

    @property
    def error(self) -> Floats:
        return self._error[: self._u]

    @property
    def doubt(self) -> Floats:
        return np.where(self.island < 0, np.diag(self.G), np.inf)

    def observe(self, node: int, label: int) -> None:
        q = int(self._place[node])
        G, island, error = self.G, self.island, self.error
        before, column = np.diag(G).copy(), G[q].copy()
        if island[q] < 0:
            error += EPS * before + (column / column[q]) ** 2 * error[q]
        else:
            same = island == island[q]
            error[same] += error[q] + EPS * (before[same] + column[q])
        self.kernels.downdate(G, self.h, island, q, label)
        self._drop(q)
        self.label[node] = label
        now, reached = np.diag(self.G), self.island < 0
        if (self.error[reached] > DRIFT * now[reached]).any():
            self.refresh()

    def forget(self, node: int) -> None:
        label = int(self.label[node])
        u = self._u
        self.label[node] = -1
        self._append(node)
        if (self.label[self._component == self._component[node]] < 0).all():
            self._unground(node)
            return
        w = self.weights[[node], :].toarray().ravel()[self._order[:u]]  # (u,) ties of the node to the unlabelled
        beside = np.flatnonzero(w)
        reach = w[beside] @ self._G[beside, :u]  # (u,)
        pull, signed = self._attachments()  # (n,), (n, C)
        others = self._order[:u]
        s = float(pull[node] + reach @ pull[others])
        h_new = (signed[node] + reach @ signed[others]) / s
        self.kernels.border(self.G, self.h, reach, s, h_new, label)
        self._island[u] = -1
        self.error[:] += EPS * np.diag(self.G)
        self._error[u] = EPS * self.n_nodes * self._G[u, u]

    def add_class(self) -> None:
        unheard = np.zeros((self.n_nodes, 1))
        unheard[: self._u, 0] = np.where(self.island < 0, -1.0, 0.0)
        self._h = np.hstack([self._h, unheard])
        self.n_classes += 1

    def refresh(self) -> None:
        """Compute G and h afresh from the graph and the labels, component by component."""
        unlabelled = np.flatnonzero(self.label < 0)
        component = self._component[unlabelled]
        size = np.bincount(component, minlength=1)
        unlabelled = unlabelled[np.lexsort((unlabelled, component, -size[component]))]  # the largest component first
        self._u = u = len(unlabelled)
        self._order = np.concatenate([unlabelled, np.flatnonzero(self.label >= 0)])
        self._place[self._order] = np.arange(self.n_nodes)
        has_label = np.zeros(self._component.max() + 1, dtype=bool)
        has_label[self._component[self.label >= 0]] = True
        component = self._component[unlabelled]
        self._island[:u] = np.where(has_label[component], -1, component)
        pull, signed = self._attachments()
        W = sparse.csr_array(self.weights[unlabelled][:, unlabelled])
        edges = np.concatenate([[0], np.flatnonzero(np.diff(component)) + 1, [u]]) if u else np.zeros(1, dtype=np.int64)
        for start, stop in pairwise(edges):
            part = slice(int(start), int(stop))
            ground = pull[unlabelled[part]] if has_label[component[start]] else None
            self._error[part] = self._invert(part, W, ground)
        self._h[:u] = self.G @ signed[unlabelled]
        self._h[:u][self._island[:u] >= 0] = 0
        self.refreshes += 1

    def copy(self) -> DenseField:
        twin = object.__new__(DenseField)
        for name, value in self.__dict__.items():
            setattr(twin, name, np.array(value) if isinstance(value, np.ndarray) else value)
        return twin

    def _invert(self, part: slice, W: sparse.csr_array, ground: Floats | None) -> Floats:
        """Fill one component's block of G; the first is worked on in the buffer itself, without a copy."""
        m = part.stop - part.start
        first = part.start == 0
        block = self._G.reshape(-1)[: m * m].reshape(m, m) if first else np.zeros((m, m))
        inside = sparse.csr_array(W[part, part])
        if ground is not None:
            error = green(block, inside, ground, self.kernels)
        elif m > 1:
            error = pseudo_inverse(block, inside, self.kernels)
        else:
            block[:], error = 0, np.zeros(1)
        if first:
            flat = self._G.reshape(-1)
            for row in range(m - 1, 0, -1):  # from the last row, so that nothing is overwritten before it has moved
                self._G[row, :m] = flat[row * m : (row + 1) * m]
            self._G[:m, m:] = 0
            self._G[m:] = 0
        else:
            self._G[part, part] = block
        return error

    def _attachments(self) -> tuple[Floats, Floats]:
        """(n,) pull of each node towards labelled ones, and (n, C) the same with the labels' signs."""
        known = self.label >= 0
        Y = np.zeros((self.n_nodes, self.n_classes))
        Y[known] = np.array([answer(c, self.n_classes) for c in range(self.n_classes)])[self.label[known]]
        return self.weights @ known.astype(float), self.weights @ Y

    def _drop(self, q: int) -> None:
        """Place q leaves the leading block: the last unlabelled node takes its place."""
        self._u -= 1
        last = self._u
        if q != last:
            G = self._G[: last + 1, : last + 1]
            G[q] = G[last]
            G[:, q] = G[:, last]
            G[q, q] = G[last, last]
            for array in (self._h, self._island, self._error):
                array[q] = array[last]
            self._swap(q, last)

    def _append(self, node: int) -> None:
        """The node joins the leading block in its last row, which is zero until filled."""
        last = self._u
        self._u += 1
        self._swap(int(self._place[node]), last)
        self._G[last, : last + 1] = self._G[: last + 1, last] = 0
        self._h[last] = 0
        self._error[last] = 0

    def _swap(self, a: int, b: int) -> None:
        self._order[[a, b]] = self._order[[b, a]]
        self._place[self._order[[a, b]]] = [a, b]

    def _unground(self, node: int) -> None:
        """The last label of a component is gone: its block becomes the pseudo-inverse again, its h zero."""
        component = self._component[node]
        members = np.flatnonzero(self._component[self.unlabelled] == component)
        self.kernels.center(self._G, members)
        self._island[members] = component
        self._h[members] = 0
        self._error[members] = self._error[members].max() + EPS * np.abs(np.diag(self.G)[members])
        degree = self._degree[self._order[members]]
        if (self._error[members] * degree > DRIFT).any():  # 1 / degree: the least resistance there can be
            self.refresh()


def _scaled(graph: Graph, beta: float) -> sparse.csr_array:
    """beta W, refused when float64 cannot hold its spread."""
    W = sparse.csr_array(beta * graph.weights)
    if W.nnz == 0:
        return W
    low, high = float(W.data.min()), float(W.data.max())
    if high > SPAN * low:
        floor = graph.weights.data.max() / SPAN
        raise GraphError(
            f"the weights span {graph.weights.data.min():g} to {graph.weights.data.max():g}, more than a factor "
            f"{SPAN:g}: "
            f"float64 cannot hold that. Drop the edges below {floor:g}."
        )
    if low < RANGE[0] or high > RANGE[1]:
        raise GraphError(
            f"beta times the weights runs from {low:g} to {high:g}: "
            f'it must stay within {RANGE[0]:g} and {RANGE[1]:g}. Use beta="auto".'
        )
    return W
