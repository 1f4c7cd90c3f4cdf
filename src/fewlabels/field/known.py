"""The graph, and what is known of each node: what every engine starts from. No G here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.opinion import Opinion
from fewlabels.field.precision import Precision
from fewlabels.graph import Graph
from fewlabels.kernels.reference import answer, leaning


class Centring(NamedTuple):
    """Predictions are set about the shares of the classes: known ones (C,), or equal ones."""

    shares: Floats | None = None


class LabelTerms(NamedTuple):
    """What labels say of each other, and of everything else, a row for each of them."""

    S: Floats  # (l, l) their precision Q_ll - Q_lu inv(Q_uu) Q_ul
    total: Floats  # (l,) how much each counts at all nodes together, its own included
    sampled: Floats  # (l, s) the same at each node of a sample


class Known:
    """The graph, and what is known of each node; by node number."""

    def __init__(self, graph: Graph, n_classes: int, beta: float, smoothness: float = 0.0) -> None:
        self.n_nodes, self.n_classes, self.beta, self.smoothness = graph.n_nodes, n_classes, beta, smoothness
        self.overlap = graph.overlap
        self.precision = Precision(graph, beta, smoothness)
        self.component = graph.components()
        self.label = np.full(self.n_nodes, -1)  # (n,) class number, -1 where not known
        self.skipped = np.zeros(self.n_nodes, dtype=bool)
        self.centring: Centring | None = None
        self.opinion: Opinion | None = None
        self.attached = np.zeros((self.n_nodes, n_classes))  # weight of the unsure answers, by the class they name

    @property
    def weights(self) -> sparse.csr_array:
        return self.precision.weights

    def skip(self, nodes: int | Ints, skipped: bool = True) -> None:
        self.skipped[nodes] = skipped

    def precision_of(self, nodes: Ints, sample: Ints) -> LabelTerms | None:
        """Of these labelled nodes, to less than a percent, where that takes no solve; there are no unsure answers."""
        return None

    def _attachments(self) -> tuple[Floats, Floats]:
        """(n,) pull of each unlabelled node towards labels and unsure answers, and (n, C) the same with their signs."""
        known = self.label >= 0
        Y = np.zeros((self.n_nodes, self.n_classes))
        Y[known] = self._signs()[self.label[known]]
        unsure, leans = leaning(self.attached)
        pull = self.precision.towards(known.astype(float)) + unsure
        signed = self.precision.towards(Y) + leans
        pull[known] = signed[known] = 0
        return pull, signed

    def _signs(self) -> Floats:
        """(C, C) what an answer of each class says to each class's column."""
        return np.array([answer(c, self.n_classes) for c in range(self.n_classes)])

    def _has_label(self) -> Flags:
        """Whether each component has a label, sure or unsure."""
        has_label = np.zeros(self.component.max() + 1, dtype=bool)
        has_label[self.component[(self.label >= 0) | self.attached.any(axis=1)]] = True
        return has_label

    def _members(self, node: int) -> Flags:
        """(n,) the nodes of this node's component."""
        members: Flags = self.component == self.component[node]
        return members

    def _has_no_label(self, node: int) -> bool:
        """Whether the node's component has no label left, sure or unsure."""
        members = self._members(node)
        return bool((self.label[members] < 0).all()) and not self.attached[members].any()

    def _one_more_class(self) -> None:
        """A class that no answer has named: every answer so far speaks against it."""
        self.attached = np.hstack([self.attached, np.zeros((self.n_nodes, 1))])
        self.n_classes += 1
        if self.centring is not None and self.centring.shares is not None:
            self.centring = Centring(np.append(self.centring.shares, 0.0))
        if self.opinion is not None:
            self.opinion = self.opinion.with_class()

    def _pieces(self, unlabelled: Ints) -> Ints:
        """(u,) which piece each node is in once the labelled ones are taken out; G is zero between pieces."""
        _, piece = connected_components(self.weights[unlabelled][:, unlabelled], directed=False)
        return piece.astype(np.int64)
