"""Neighbours and map of many items are computed once."""

import numpy as np
import pytest

from fewlabels.graph import Graph
from fewlabels.items import neighbours
from fewlabels.items.feature_cache import Cache
from fewlabels.items.neighbours import map_of, neighbour_graph, text_neighbours


@pytest.fixture
def points(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWLABELS_CACHE", str(tmp_path))
    monkeypatch.setattr(neighbours, "MANY", 50)
    return np.random.default_rng(0).normal(size=(60, 3))


def quiet(sentence):
    pass


def test_the_second_start_computes_nothing(points, monkeypatch):
    graph = neighbour_graph(points, 5, quiet)
    places = map_of(graph)
    other = neighbour_graph(points, 4, quiet)
    monkeypatch.setattr(Graph, "from_features", None)
    monkeypatch.setattr(neighbours, "layout", None)
    again = neighbour_graph(points, 5, quiet)
    assert again.fingerprint() == graph.fingerprint() != other.fingerprint()
    np.testing.assert_array_equal(map_of(again), places)
    with pytest.raises(TypeError):  # other points are others
        neighbour_graph(points + 1e-9, 5, quiet)


def test_what_is_broken_is_computed_anew(points, monkeypatch):
    graph = neighbour_graph(points, 5, quiet)
    map_of(graph)
    kept = Cache.find
    monkeypatch.setattr(Cache, "find", lambda self, keys: {k: v[:-40] for k, v in kept(self, keys).items()})
    assert neighbour_graph(points, 5, quiet).fingerprint() == graph.fingerprint()
    assert map_of(graph).shape == (60, 2)


def test_neighbours_of_texts_are_found_once(points, monkeypatch):
    texts = [f"word{k % 9} and word{k % 7}" for k in range(60)]
    by_words, by_numbers = (text_neighbours(texts, 3, X, quiet) for X in (None, points))
    monkeypatch.setattr(neighbours, "text_graph", None)
    for graph, X in ((by_words, None), (by_numbers, points)):
        assert text_neighbours(texts, 3, X, quiet).fingerprint() == graph.fingerprint()
    with pytest.raises(TypeError):
        text_neighbours([*texts[1:], "another"], 3, None, quiet)
