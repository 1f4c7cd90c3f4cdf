"""The map: finite, in the square, the same each time, neighbours together and nothing on top of each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.profiles import examples

from fewlabels.graph import Graph
from fewlabels.items import layout as module
from fewlabels.items.layout import layout


def clique(*nodes):
    return [(a, b) for a in nodes for b in nodes if a < b]


def graph(edges, n, weight=None):
    source, target = zip(*edges, strict=True) if edges else ((), ())
    return Graph.from_edges(np.array(source, dtype=int), np.array(target, dtype=int), weight, n_nodes=n)


AWKWARD = {
    "one edge": graph([(0, 1)], 2),
    "one node": graph([], 1),
    "no edges": graph([], 7),
    "an edge and a node alone": graph([(0, 1)], 3),
    "star": graph([(0, k) for k in range(1, 40)], 40),
    "path": graph([(k, k + 1) for k in range(60)], 61),
    "long path": graph([(k, k + 1) for k in range(999)], 1000),
    "clique": graph(clique(*range(12)), 12),
    "two components": graph(clique(*range(10)) + clique(*range(10, 16)), 16),
    "weights far apart": graph([(k, k + 1) for k in range(9)], 10, 10.0 ** np.linspace(-90, 90, 9)),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs_fit_the_square(name):
    places = layout(AWKWARD[name])
    assert places.shape == (AWKWARD[name].n_nodes, 2)
    assert np.isfinite(places).all()
    assert places.min() >= 0
    assert places.max() <= 1
    assert len(np.unique(places.round(6), axis=0)) == len(places)  # every node can be pointed at
    assert (layout(AWKWARD[name]) == places).all()


@examples(40)
@given(st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_any_graph_fits_the_square(drawn):
    n, pairs = drawn
    places = layout(graph(sorted({(min(p), max(p)) for p in pairs if p[0] != p[1]}), n))
    assert ((places >= 0) & (places <= 1)).all()


def test_another_seed_gives_another_map():
    assert not np.allclose(layout(AWKWARD["star"], 0), layout(AWKWARD["star"], 1))


def test_components_lie_apart():
    places = layout(AWKWARD["two components"])
    low, high = (
        [part.min(axis=0) for part in (places[:10], places[10:])],
        [part.max(axis=0) for part in (places[:10], places[10:])],
    )
    assert (low[0] > high[1]).any() or (low[1] > high[0]).any()  # their boxes do not meet


def test_two_groups_with_one_tie_are_two_islands():
    places = layout(graph([*clique(*range(15)), *clique(*range(15, 30)), (0, 15)], 30))
    one, other = places[:15], places[15:]
    apart = np.linalg.norm(one.mean(axis=0) - other.mean(axis=0))
    wide = max(np.linalg.norm(part - part.mean(axis=0), axis=1).mean() for part in (one, other))
    assert apart > 2 * wide


@pytest.mark.parametrize("seed", range(10))  # which way a path lies at first is for rounding to say
def test_a_path_is_unrolled(seed):
    places = layout(AWKWARD["path"], seed)
    step = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert step.max() < 0.25 * np.linalg.norm(places[0] - places[-1]) + 0.1


def test_without_convergence_the_map_is_made_all_the_same(monkeypatch):
    from scipy.sparse import linalg

    def never(*_, **__):
        raise linalg.ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(linalg, "eigsh", never)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 3)), rng.normal(size=(200, 3)) + 4])
    places = layout(Graph.from_features(X, 8))
    assert np.isfinite(places).all()
    assert np.linalg.norm(places[:200].mean(axis=0) - places[200:].mean(axis=0)) > 0.3


def test_large_and_small_components_take_the_same_eigenvectors():
    path = sparse.csr_array(AWKWARD["path"].weights)
    root = np.sqrt(AWKWARD["path"].degrees())
    A = sparse.csr_array(sparse.diags_array(1 / root) @ path @ sparse.diags_array(1 / root))
    trivial = root / np.linalg.norm(root)
    exact = module._top_vectors(A, trivial, np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", 0)
        found = module._top_vectors(A, trivial, np.random.default_rng(0))
    assert np.abs(np.abs(exact.T @ found) - np.eye(2)).max() < 1e-2


def test_places_belong_to_their_nodes_whichever_component_comes_first():
    order = np.random.default_rng(0).permutation(40)
    islands = [order[:5], order[5:15], order[15:40]]
    places = layout(graph([pair for island in islands for pair in clique(*map(int, island))], 40))
    for island in islands:
        box = places[island].min(axis=0), places[island].max(axis=0)
        inside = ((places >= box[0]) & (places <= box[1])).all(axis=1)
        assert sorted(np.flatnonzero(inside)) == sorted(island)


def test_the_unit_of_the_weights_does_not_matter():
    ties = AWKWARD["two components"].weights
    assert (layout(Graph(ties * 2.0**20)) == layout(Graph(ties))).all()  # a power of two, so that no digit is lost
