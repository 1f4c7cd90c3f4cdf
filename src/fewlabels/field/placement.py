"""Where each node stands in the arrays of an engine whose unlabelled nodes fill the leading places."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.field.known import Known
from fewlabels.graph import Graph


class Part(NamedTuple):
    """A component's unlabelled nodes: their places, their weights, and their pull towards labels if there are any."""

    places: slice
    W: sparse.csr_array  # (m, m)
    ground: Floats | None  # (m,)


class Placement(Known):
    """The unlabelled nodes fill the leading places: an answered node swaps with the last of them, a forgotten one is
    appended.
    """

    def __init__(self, graph: Graph, n_classes: int, beta: float, smoothness: float = 0.0) -> None:
        super().__init__(graph, n_classes, beta, smoothness)
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
        """Put the unlabelled nodes in order, largest component first; returns the parts and (u, C) the labels' pull."""
        unlabelled = np.flatnonzero(self.label < 0)
        component = self.component[unlabelled]
        size = np.bincount(component, minlength=1)
        unlabelled = unlabelled[np.lexsort((unlabelled, component, -size[component]))]
        self._u = u = len(unlabelled)
        self._order = np.concatenate([unlabelled, np.flatnonzero(self.label >= 0)])
        self._place[self._order] = np.arange(self.n_nodes)
        has_label = self._has_label()
        component = self.component[unlabelled]
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
        """Place q leaves the leading places; returns the last of them, which takes its place."""
        self._u -= 1
        last = self._u
        if q != last:
            self._island[q] = self._island[last]
            self._swap(q, last)
        return last

    def _joins(self, node: int) -> int:
        """The node joins the leading places as the last; returns its place."""
        last = self._u
        self._u += 1
        self._swap(int(self._place[node]), last)
        return last

    def _swap(self, a: int, b: int) -> None:
        self._order[[a, b]] = self._order[[b, a]]
        self._place[self._order[[a, b]]] = [a, b]

    def _make_island(self, node: int) -> Ints:
        """Mark the node's component as one without a label; returns the places of its nodes."""
        members = np.flatnonzero(self.component[self.unlabelled] == self.component[node])
        self._island[members] = self.component[node]
        return members

    def _ties(self, node: int) -> Floats:
        """(n,) the node's weights, in the order of places."""
        ties: Floats = self.weights[[node], :].toarray().ravel()[self._order]
        return ties
