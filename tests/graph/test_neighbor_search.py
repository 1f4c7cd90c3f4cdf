import inspect
import os
import sys

import numpy as np
import pynndescent
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from fewlabels.errors import GraphError
from fewlabels.graph import Graph, neighbor_search
from fewlabels.graph.neighbor_search import exact_is_quick, find_neighbors, recall


def points(n, d, kinds=4, seed=0):
    """Points about some centres."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(kinds, d))[rng.integers(kinds, size=n)] * 3 + rng.normal(size=(n, d))


class StandIn:
    """Finds what pynndescent's search of the same arguments would, but for the half minute in which that compiles."""

    arguments = inspect.signature(pynndescent.NNDescent)

    def __init__(self, *given, **named):
        asked = self.arguments.bind(*given, **named).arguments
        X, rng = asked["data"], np.random.default_rng(asked["random_state"])
        near = NearestNeighbors(n_neighbors=asked["n_neighbors"]).fit(X).kneighbors(X, return_distance=False)
        near[rng.random(near.shape) < 0.02] = -1  # not found, as pynndescent says it
        self.neighbor_graph = near.astype(np.int32), None


class TestApproximate:
    @pytest.fixture(autouse=True)
    def search(self, monkeypatch):
        """`make soak`, `make test-oldest` and `make test-newest` search with pynndescent itself."""
        if not os.environ.get("FEWLABELS_APPROXIMATE"):
            monkeypatch.setattr(pynndescent, "NNDescent", StandIn)

    def test_nearly_all_neighbours_are_found_the_same_each_time_with_their_exact_distances(self):
        X = points(2000, 12)
        exact, found, again = (find_neighbors(X, 10, how) for how in ("exact", "approximate", "approximate"))
        same = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact.index, found.index, strict=True)])
        assert same > 0.95
        assert found.recall > 0.95
        assert exact.recall == 1
        np.testing.assert_array_equal(found.index, again.index)
        np.testing.assert_array_equal(found.distance, again.distance)
        gap = np.linalg.norm(X[:, None] - X[found.index], axis=2)
        np.testing.assert_allclose(found.distance, gap, rtol=1e-12)
        assert (np.diff(found.distance, axis=1) >= 0).all()
        assert not (found.index == np.arange(2000)[:, None]).any()

    def test_the_graph_is_symmetric_and_tells_its_recall(self):
        X = points(2000, 12)
        graph = Graph.from_features(X, 10, metric="cosine", method="approximate")
        assert (graph.weights != graph.weights.T).nnz == 0
        assert (np.diff(graph.weights.indptr) >= 10).all()
        assert graph.recall > 0.95
        assert Graph.from_features(X, 10).recall == 1
        assert Graph([[0, 1], [1, 0]]).recall is None

    def test_duplicates_and_huge_features_are_no_trouble(self):
        X = np.concatenate([np.zeros((60, 3)), points(400, 3)]) * 1e60 + 1e62
        found = find_neighbors(X, 5, "approximate")
        assert found.recall > 0.95
        assert (found.distance[:60] == 0).all()
        assert not (found.index == np.arange(460)[:, None]).any()

    def test_a_search_that_finds_too_few_is_repeated_wider_and_then_says_so(self, monkeypatch):
        told = iter([0.5, 0.93])
        monkeypatch.setattr(neighbor_search, "recall", lambda *_: next(told))
        assert find_neighbors(points(300, 12), 5, "approximate").recall == 0.93
        monkeypatch.setattr(neighbor_search, "recall", lambda *_: 0.5)
        with pytest.warns(UserWarning, match=r'found 50% of the 5 nearest neighbours .* give method="exact"'):
            find_neighbors(points(300, 12), 5, "approximate")

    def test_points_the_search_lost_are_searched_exactly(self, monkeypatch):
        nearest = neighbor_search._nearest_candidates

        def forgetful(X, candidates, k):
            candidates[::7] = -1
            return nearest(X, candidates, k)

        monkeypatch.setattr(neighbor_search, "_nearest_candidates", forgetful)
        X = points(300, 4)
        found, exact = find_neighbors(X, 5, "approximate"), find_neighbors(X, 5, "exact")
        np.testing.assert_array_equal(found.index[::7], exact.index[::7])


def test_many_points_are_searched_in_blocks_with_the_same_result(monkeypatch, capsys):
    X = np.concatenate([points(500, 3), np.ones((30, 3))])
    whole = find_neighbors(X, 4)
    monkeypatch.setattr(neighbor_search, "MANY", 100)
    monkeypatch.setattr(neighbor_search, "BLOCK", 64)
    monkeypatch.setattr("fewlabels.machine.progress.PATIENCE", 0.0)
    blocks = find_neighbors(X, 4)
    np.testing.assert_array_equal(blocks.index[:500], whole.index[:500])
    np.testing.assert_array_equal(blocks.distance, whole.distance)
    assert not (blocks.index == np.arange(530)[:, None]).any()
    assert "fewlabels: finding the 4 nearest of 530 points, about" in capsys.readouterr().err


def test_recall_counts_the_neighbours_found_and_equally_near_ones():
    X = np.arange(6.0)[:, None]
    index = np.array([[1], [0], [1], [2], [3], [0]])
    distance = np.array([[1.0], [1], [1], [1], [1], [5]])
    assert recall(X, index, distance) == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("n", "d", "is_sparse", "exact"),
    [
        (50_000, 784, False, True),
        (50_000, 10_000, True, True),
        (60_000, 10_000, True, False),
        (10**6, 2, False, True),
        (10**6, 16, False, False),
        (100_000, 16, False, True),
        (100_000, 64, False, False),
    ],
)
def test_exact_search_is_chosen_where_it_is_no_slower(n, d, is_sparse, exact):
    assert exact_is_quick(n, d, is_sparse) == exact


def test_a_missing_package_is_told_with_the_ways_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    monkeypatch.setattr(neighbor_search, "MANY", 100)
    monkeypatch.setattr(neighbor_search, "PAIRS", 0)
    ways_out = r"""pip install 'fewlabels\[large\]', or give method="exact" \(about 0 s on one core\)"""
    with pytest.raises(GraphError, match=r"200 points in 9 dimensions .* pynndescent is not installed: " + ways_out):
        Graph.from_features(points(200, 9))
    assert Graph.from_features(points(200, 9), method="exact").n_nodes == 200
    with pytest.raises(GraphError, match="fewlabels"):
        Graph.from_features(sparse.csr_array(points(200, 3)))


def test_an_unknown_method_is_refused():
    with pytest.raises(GraphError, match="method is 'fast': choose one of auto, exact, approximate"):
        Graph.from_features(points(20, 2), 3, method="fast")
