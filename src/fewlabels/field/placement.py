"""Where each node stands in the arrays of a field, and what the graph and the labels say of it. No G here."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fewlabels.errors import GraphError
from fewlabels.graph import Graph
from fewlabels.kernels.reference import Flags, Floats, Ints, answer, leaning

SPAN = 1e13  # largest over smallest weight: beyond it float64 cannot hold a node's strong and weak ties at once
RANGE = (1e-50, 1e50)  # beta times a weight


class Part(NamedTuple):
    """A component's unlabelled nodes: their places, their weights, and their pull towards labels if there are any."""

    places: slice
    W: sparse.csr_array  # (m, m)
    ground: Floats | None  # (m,)


class Known:
    """The graph, and what is known of each node; by node number."""

    def __init__(self, graph: Graph, n_classes: int, beta: float) -> None:
        self.n_nodes, self.n_classes, self.beta = graph.n_nodes, n_classes, beta
        self.weights = _scaled(graph, beta)
        self._component = graph.components()
        self.label = np.full(self.n_nodes, -1)  # (n,) class number, -1 where not known
        self.skipped = np.zeros(self.n_nodes, dtype=bool)
        self.attached = np.zeros((self.n_nodes, n_classes))  # weight of the unsure answers, by the class they name

    def _attachments(self) -> tuple[Floats, Floats]:
        """(n,) pull of each node towards labelled ones and its unsure answers, and (n, C) the same with their signs."""
        known = self.label >= 0
        Y = np.zeros((self.n_nodes, self.n_classes))
        Y[known] = np.array([answer(c, self.n_classes) for c in range(self.n_classes)])[self.label[known]]
        unsure, signed = leaning(self.attached)
        return self.weights @ known.astype(float) + unsure, self.weights @ Y + signed

    def _has_label(self) -> Flags:
        """Whether each component has a label, sure or unsure."""
        has_label = np.zeros(self._component.max() + 1, dtype=bool)
        has_label[self._component[(self.label >= 0) | self.attached.any(axis=1)]] = True
        return has_label

    def _has_no_label(self, node: int) -> bool:
        """Whether the node's component has no label left, sure or unsure."""
        members = self._component == self._component[node]
        return bool((self.label[members] < 0).all()) and not self.attached[members].any()

    def _one_more_class(self) -> None:
        """Of which nothing has been heard: every answer so far speaks against it."""
        self.attached = np.hstack([self.attached, np.zeros((self.n_nodes, 1))])
        self.n_classes += 1

    def _pieces(self, unlabelled: Ints) -> Ints:
        """(u,) which piece each node is in once the labelled ones are taken out; G is zero between pieces."""
        _, piece = connected_components(self.weights[unlabelled][:, unlabelled], directed=False)
        return piece.astype(np.int64)


class Placement(Known):
    """The unlabelled nodes fill the leading places: an answered node swaps with the last of them, a forgotten one is
    appended.
    """

    def __init__(self, graph: Graph, n_classes: int, beta: float) -> None:
        super().__init__(graph, n_classes, beta)
        self._island = np.empty(self.n_nodes, dtype=np.int64)
        self._order = np.arange(self.n_nodes)  # node numbers, the unlabelled ones first
        self._u = self.n_nodes  # how many are unlabelled
        self._place = np.arange(self.n_nodes)  # where each node stands in that order

    @property
    def unlabelled(self) -> Ints:
        return self._order[: self._u]

    @property
    def island(self) -> Ints:
        return self._island[: self._u]

    def _arrange(self) -> tuple[list[Part], Floats]:
        """Put the unlabelled nodes in order, the largest component first; its parts, and (u, C) the labels' pull."""
        unlabelled = np.flatnonzero(self.label < 0)
        component = self._component[unlabelled]
        size = np.bincount(component, minlength=1)
        unlabelled = unlabelled[np.lexsort((unlabelled, component, -size[component]))]
        self._u = u = len(unlabelled)
        self._order = np.concatenate([unlabelled, np.flatnonzero(self.label >= 0)])
        self._place[self._order] = np.arange(self.n_nodes)
        has_label = self._has_label()
        component = self._component[unlabelled]
        self._island[:u] = np.where(has_label[component], -1, component)
        pull, signed = self._attachments()
        W = sparse.csr_array(self.weights[unlabelled][:, unlabelled])
        edges = np.concatenate([[0], np.flatnonzero(np.diff(component)) + 1, [u]]) if u else np.zeros(1, dtype=np.int64)
        parts = []
        for start, stop in pairwise(edges):
            part = slice(int(start), int(stop))
            ground = pull[unlabelled[part]] if has_label[component[start]] else None
            parts.append(Part(part, sparse.csr_array(W[part, part]), ground))
        return parts, signed[unlabelled]

    def _leaves(self, q: int) -> int:
        """Place q leaves the leading places; the last of them, which takes its place, is returned."""
        self._u -= 1
        last = self._u
        if q != last:
            self._island[q] = self._island[last]
            self._swap(q, last)
        return last

    def _joins(self, node: int) -> int:
        """The node joins the leading places as their last, which is returned."""
        last = self._u
        self._u += 1
        self._swap(int(self._place[node]), last)
        return last

    def _swap(self, a: int, b: int) -> None:
        self._order[[a, b]] = self._order[[b, a]]
        self._place[self._order[[a, b]]] = [a, b]

    def _make_island(self, node: int) -> Ints:
        """Mark the node's component as one without a label; the places of its nodes."""
        members = np.flatnonzero(self._component[self.unlabelled] == self._component[node])
        self._island[members] = self._component[node]
        return members

    def _ties(self, node: int) -> Floats:
        """(n,) the node's weights, in the order of places."""
        ties: Floats = self.weights[[node], :].toarray().ravel()[self._order]
        return ties


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
