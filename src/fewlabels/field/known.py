"""The graph, and what is known of each node: what every engine starts from. No G here."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.errors import GraphError
from fewlabels.graph import Graph
from fewlabels.kernels.reference import answer, leaning

SPAN = 1e13  # largest over smallest weight: beyond it float64 cannot hold a node's strong and weak ties at once
RANGE = (1e-50, 1e50)  # beta times a weight


class Known:
    """The graph, and what is known of each node; by node number."""

    def __init__(self, graph: Graph, n_classes: int, beta: float) -> None:
        self.n_nodes, self.n_classes, self.beta = graph.n_nodes, n_classes, beta
        self.weights = scaled_weights(graph, beta)
        self._component = graph.components()
        self.label = np.full(self.n_nodes, -1)  # (n,) class number, -1 where not known
        self.skipped = np.zeros(self.n_nodes, dtype=bool)
        self.attached = np.zeros((self.n_nodes, n_classes))  # weight of the unsure answers, by the class they name

    def skip(self, nodes: int | Ints, skipped: bool = True) -> None:
        self.skipped[nodes] = skipped

    def _attachments(self) -> tuple[Floats, Floats]:
        """(n,) pull of each unlabelled node towards labels and unsure answers, and (n, C) the same with their signs."""
        known = self.label >= 0
        Y = np.zeros((self.n_nodes, self.n_classes))
        Y[known] = self._signs()[self.label[known]]
        unsure, leans = leaning(self.attached)
        pull, signed = self.weights @ known.astype(float) + unsure, self.weights @ Y + leans
        pull[known] = signed[known] = 0
        return pull, signed

    def _signs(self) -> Floats:
        """(C, C) what an answer of each class says to each class's column."""
        return np.array([answer(c, self.n_classes) for c in range(self.n_classes)])

    def _has_label(self) -> Flags:
        """Whether each component has a label, sure or unsure."""
        has_label = np.zeros(self._component.max() + 1, dtype=bool)
        has_label[self._component[(self.label >= 0) | self.attached.any(axis=1)]] = True
        return has_label

    def _members(self, node: int) -> Flags:
        """(n,) the nodes of this node's component."""
        members: Flags = self._component == self._component[node]
        return members

    def _has_no_label(self, node: int) -> bool:
        """Whether the node's component has no label left, sure or unsure."""
        members = self._members(node)
        return bool((self.label[members] < 0).all()) and not self.attached[members].any()

    def _one_more_class(self) -> None:
        """A class that no answer has named: every answer so far speaks against it."""
        self.attached = np.hstack([self.attached, np.zeros((self.n_nodes, 1))])
        self.n_classes += 1

    def _pieces(self, unlabelled: Ints) -> Ints:
        """(u,) which piece each node is in once the labelled ones are taken out; G is zero between pieces."""
        _, piece = connected_components(self.weights[unlabelled][:, unlabelled], directed=False)
        return piece.astype(np.int64)


def scaled_weights(graph: Graph, beta: float) -> sparse.csr_array:
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
