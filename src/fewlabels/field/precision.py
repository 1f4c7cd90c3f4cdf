"""Q, the matrix of the field: the graph's Laplacian, or a smoother one (docs/maths.md, "A smoother field")."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import GraphError
from fewlabels.graph import Graph
from fewlabels.machine import memory

SPAN = 1e13  # largest over smallest weight: beyond it float64 cannot hold a node's strong and weak ties at once
SMOOTH_SPAN = 1e5  # the same where weights are multiplied with each other
EVEN = 1.35  # mean degree times mean 1 / degree; nearest neighbours have 1.02 to 1.13, citations 1.6 to 1.8
MIDDLE = 0.45  # of the mean degree: an eigenvalue of L in the middle of the waves that labels decide
RANGE = (1e-50, 1e50)  # beta times a weight


class Precision:
    """Q = beta (L + smoothness L^2 / mean degree), the inverse covariance of the field; smoothness 0 is the paper's L.
    The mean is over the nodes that have edges: others have no part in the field.

    Q takes the constant to zero as L does, so it is the Laplacian of some weights between nodes up to two edges apart,
    a few of them negative: all that holds for L without the signs of its entries holds for Q.
    """

    def __init__(self, graph: Graph, beta: float, smoothness: float = 0.0) -> None:
        self.beta, self.smoothness = beta, smoothness
        self.links = scaled_weights(graph, beta, SMOOTH_SPAN if smoothness else SPAN)  # (n, n) beta W
        self.degree: Floats = np.asarray(self.links.sum(axis=1), dtype=float).ravel()  # (n,) of the links
        mean = mean_degree(self.degree)
        self.share = smoothness / mean if mean > 0 else 0.0  # Q = beta L + share (beta L)^2
        self.strength = strength(mean, smoothness) if mean > 0 else 1.0
        self.diagonal = self.degree.copy()  # (n,) Q_kk, which is also the sum of the node's weights
        if self.share:
            self.diagonal += self.share * (self.degree**2 + np.asarray((self.links**2).sum(axis=1)).ravel())

    @cached_property
    def weights(self) -> sparse.csr_array:
        """(n, n) the weights whose Laplacian is Q; as many as there are pairs up to two edges apart."""
        if not self.share:
            return self.links
        pairs = float((np.diff(self.links.indptr).astype(float) ** 2).sum())
        memory.require(
            int(40 * min(pairs, float(self.links.shape[0]) ** 2)),
            "the smooth field, which ties all nodes up to two edges apart,",
            "Use smoothness=0, or engine='sparse'.",
        )
        found = self._two_steps(self.links, self.degree, np.arange(self.links.shape[0]))
        found.indptr, found.indices = found.indptr.astype(np.int64), found.indices.astype(np.int64)
        return found

    def rows(self, nodes: Ints) -> sparse.csr_array:
        """(m, n) the same for some nodes."""
        some = sparse.csr_array(self.links[nodes])
        return self._two_steps(some, self.degree[nodes], nodes) if self.share else some

    def towards(self, X: Floats) -> Floats:
        """(n, m) weights @ X, without the weights."""
        if not self.share:
            return self.links @ X
        return (X.T * self.diagonal).T - self.times(X)

    def times(self, X: Floats) -> Floats:
        """(n, m) Q X."""
        LX = self._laplacian(X)
        return LX + self.share * self._laplacian(LX) if self.share else LX

    def _laplacian(self, X: Floats) -> Floats:
        LX: Floats = (X.T * self.degree).T - self.links @ X
        return LX

    def _two_steps(self, some: sparse.csr_array, degree: Floats, nodes: Ints) -> sparse.csr_array:
        """W + share (D W + W D - W W) in the rows of these nodes, without the diagonal; `some` are their rows of W."""
        both = some.copy()
        both.data *= 1 + self.share * (np.repeat(degree, np.diff(some.indptr)) + self.degree[some.indices])
        found = sparse.csr_array(both - self.share * (some @ self.links))
        rows = np.repeat(np.arange(len(nodes)), np.diff(found.indptr))
        found.data[found.indices == nodes[rows]] = 0
        found.eliminate_zeros()
        found.sort_indices()
        return found


def mean_degree(degree: Floats) -> float:
    """That of the nodes that have edges; 0 where there are none."""
    some = degree[degree > 0]
    return float(some.mean()) if len(some) else 0.0


def is_even(links: sparse.csr_array) -> bool:
    """Whether the nodes have about equally many edges, as in a graph of nearest neighbours: mean degree times mean
    1 / degree is near one.
    """
    neighbours = np.diff(links.indptr)
    some = neighbours[neighbours > 0]
    return len(some) > 0 and bool(some.mean() * (1 / some).mean() < EVEN)


def strength(degree: float, smoothness: float) -> float:
    """How strongly Q ties a typical node of this degree (beta times the graph's) to the others: Q's eigenvalue where
    that of L is `MIDDLE` of the degree. Fields of the same strength are about equally sure of themselves.
    """
    return degree * (1 + MIDDLE * smoothness)


def scaled_weights(graph: Graph, beta: float, span: float = SPAN) -> sparse.csr_array:
    """beta W, refused when float64 cannot hold its spread."""
    W = sparse.csr_array(beta * graph.weights)
    if W.nnz == 0:
        return W
    low, high = float(W.data.min()), float(W.data.max())
    if high > span * low:
        floor = graph.weights.data.max() / span
        way_out = f"Drop the edges below {floor:g}" + (", or use smoothness=0." if span < SPAN else ".")
        raise GraphError(
            f"the weights span {graph.weights.data.min():g} to {graph.weights.data.max():g}, more than a factor "
            f"{span:g}: float64 cannot hold that. {way_out}"
        )
    if low < RANGE[0] or high > RANGE[1]:
        raise GraphError(
            f"beta times the weights runs from {low:g} to {high:g}: "
            f'it must stay within {RANGE[0]:g} and {RANGE[1]:g}. Use beta="auto".'
        )
    return W
