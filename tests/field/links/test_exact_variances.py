"""What the sparse engine calls an exact diag(G) is that of an inverse worked out directly."""

import networkx as nx
import numpy as np
import oracle
import pytest
from support.fields import field_of, on_demand

from fewlabels.graph import Graph


def inverse(W, smoothness, known):
    """(n, n) G of the unlabelled nodes, zero elsewhere."""
    G = np.zeros_like(W)
    left = np.setdiff1d(np.arange(len(W)), known)
    G[np.ix_(left, left)] = np.linalg.inv(oracle.smooth_laplacian(W, 1, smoothness)[np.ix_(left, left)])
    return G


def assert_exact(W, smoothness, known=(0,)):
    field = on_demand(Graph(W), 2, smoothness=smoothness)
    for node in known:
        field = field.with_answer(node, node % 2)
        field.workspace.bring(field)
    assert field.covariance.exact
    G = inverse(W, smoothness, known)
    np.testing.assert_allclose(field.variance, np.diag(G)[field.unlabelled], rtol=1e-9)
    start, other, ties = field.workspace.edges
    ends = np.repeat(np.arange(len(W)), np.diff(start)), other
    resistances = np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G
    np.testing.assert_allclose(ties, resistances[ends], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("size", "smoothness"), [(4, 1.0), (5, 0.5), (7, 0.25), (5, 3.3)])
def test_where_entries_of_the_factor_cancel(size, smoothness):
    assert_exact(nx.to_numpy_array(nx.complete_bipartite_graph(size, size)), smoothness)


@pytest.mark.parametrize("steps", [(1, 3), (1, 13), (7, 19)])
def test_on_regular_graphs(steps):
    assert_exact(nx.to_numpy_array(nx.circulant_graph(40, steps)), 4.0, known=(0, 7))


def test_the_resistance_of_an_edge_whose_ends_the_field_does_not_tie():
    W = np.array([[0, 1, 4, 0], [1, 0, 4, 0], [4, 4, 0, 3], [0, 0, 3, 0]], dtype=float)
    assert abs(oracle.smooth_laplacian(W, 1, 1.0)[0, 1]) < 1e-15
    assert_exact(W, 1.0, known=(3,))


@pytest.mark.parametrize(
    ("weight", "size", "smoothness"),
    [(w, 40, a) for w in (1e-4, 1e-8, 1e-11) for a in (0.0, 0.5) if not a or w == 1e-4]
    + [(1e-6, 300, 0.0), (1e-11, 300, 0.0)],
)
def test_where_clusters_hardly_touch(weight, size, smoothness):
    cluster = nx.to_numpy_array(nx.random_regular_graph(6, size, seed=0))
    W = np.kron(np.eye(2), cluster)
    W[0, size] = W[size, 0] = weight
    ours, dense = (engine(Graph(W), 2, smoothness=smoothness) for engine in (on_demand, field_of))
    for node, c in [(3, 0), (size + 5, 1), (7, 0)]:
        ours, dense = (field.with_answer(node, c) for field in (ours, dense))
        np.testing.assert_allclose(ours.variance, dense.variance, rtol=1e-10)
        np.testing.assert_allclose(ours.h, dense.h, atol=1e-10)
