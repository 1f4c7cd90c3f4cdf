"""Where a sparse factor has little fill-in it gives the dense G: as exact as Cholesky's, and more so on long chains."""

import numpy as np
import pytest
from scipy import sparse

from fewlabels.field.dense import DenseField, inverse, sparse_factor
from fewlabels.graph import Graph


@pytest.fixture
def from_factors(monkeypatch):
    """Small graphs take this way, too; the list tells how often it was taken."""
    taken = []

    def watched(*arguments, **options):
        taken.append(sparse_factor.from_sparse_factor(*arguments, **options))
        return taken[-1]

    monkeypatch.setattr(inverse, "BLOCKS_FROM", 10)
    monkeypatch.setattr(sparse_factor, "SPARSE", 1.0)
    monkeypatch.setattr(inverse, "from_sparse_factor", watched)
    return taken


def tree_with_chords(n, decades, rng):
    child = np.arange(1, n)
    i, j = np.r_[child, rng.integers(n, size=8)], np.r_[(rng.random(n - 1) * child).astype(int), np.zeros(8, int)]
    pairs = np.unique(np.sort(np.stack([i, j]), axis=0)[:, i != j], axis=1)
    return Graph.from_edges(*pairs, 10 ** rng.uniform(-decades, decades, pairs.shape[1]))


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("n", [20, 57, 131])
def test_the_field_is_that_of_cholesky(from_factors, monkeypatch, n, smoothness):
    rng = np.random.default_rng(n)
    graph = tree_with_chords(n, 1.0, rng)
    ours = DenseField(graph, 3, smoothness=smoothness)
    assert from_factors == [pytest.approx(0, abs=1e-9)]
    monkeypatch.setattr(inverse, "BLOCKS_FROM", 10**9)
    theirs = DenseField(graph, 3, smoothness=smoothness)
    np.testing.assert_allclose(ours.G, theirs.G, atol=1e-9 * np.diag(theirs.G).max())
    for node, label in ((3, 0), (11, 2), (5, 1)):
        ours.observe(node, label)
        theirs.observe(node, label)
    theirs.refresh()
    monkeypatch.setattr(inverse, "BLOCKS_FROM", 10)
    ours.refresh()
    assert len(from_factors) == 2
    np.testing.assert_allclose(ours.h, theirs.h, atol=1e-9)
    np.testing.assert_allclose(ours.G, theirs.G, atol=1e-9 * np.diag(theirs.G).max())


def test_a_graph_with_much_fill_in_takes_the_usual_way(from_factors, monkeypatch):
    monkeypatch.setattr(sparse_factor, "SPARSE", 0.01)
    W = sparse.csr_array(np.triu(np.random.default_rng(0).random((60, 60)) < 0.3, 1).astype(float))
    DenseField(Graph(sparse.csr_array(W + W.T)), 2)
    assert from_factors == [None]


def test_a_path_of_6001_nodes_has_the_resistances_of_its_ends():
    n = 6001
    field = DenseField(Graph.from_edges(np.arange(n - 1), np.arange(1, n)), 2)
    field.observe(0, 0)
    at = field.unlabelled
    np.testing.assert_allclose(np.diag(field.G), at, rtol=1e-9)  # an edge is 1, and so are k of them in a row k
    np.testing.assert_allclose(field.G[:, -1], np.minimum(at, at[-1]), rtol=1e-9)
    field.observe(n - 1, 1)
    np.testing.assert_allclose(field.h[:, 1], 2 * field.unlabelled / (n - 1) - 1, atol=1e-9)
