"""The most telling nodes: what they are by definition, and that TSA asks about no others."""

import numpy as np
import pytest
from support.fields import field_of
from support.graphs import in_pieces

import fewlabels as fl
from fewlabels.field import Conditioned
from fewlabels.strategies import telling as module
from fewlabels.strategies.telling import telling
from fewlabels.strategies.tsa import TSA


@pytest.fixture
def few(monkeypatch):
    """As on large graphs."""
    monkeypatch.setattr(module, "LEAST", 10)


def taught(graph, **options):
    ours = fl.ActiveLearner(graph, list("abc"), **options)
    ours.teach([0, 7], ["a", "b"])
    return ours


@pytest.fixture
def graph():
    return fl.Graph(in_pieces([200, 30], np.random.default_rng(0)))


@pytest.mark.parametrize("smoothness", [0, 3.3])
def test_they_take_most_variance_from_the_others(few, graph, smoothness):
    ours = taught(graph, smoothness=smoothness)
    ours.skip(5)
    field = ours._field
    G, u = field.G, field.unlabelled
    found = telling(field)
    assert found[field.island >= 0].all()  # a component without a label
    assert found[u == 5].all()
    here = np.flatnonzero((field.island < 0) & (u != 5))
    told = [sum(G[k, q] ** 2 for k in range(len(u)) if k != q and field.island[k] < 0) / G[q, q] for q in here]
    np.testing.assert_array_equal(np.flatnonzero(found[here]), np.sort(np.argsort(told)[-20:]))  # a tenth of 197


def test_the_end_of_a_single_edge_tells_nothing(few, monkeypatch):
    """Its own variance is the largest of all: by VOpt alone only such nodes were left."""
    monkeypatch.setattr(module, "SHARE", 0.05)
    a, b = np.triu_indices(20, 1)  # all linked with each other, and ten more nodes at each
    graph = fl.Graph.from_edges([*a, *np.repeat(np.arange(20), 10)], [*b, *range(20, 220)])
    ours = taught(graph)
    assert ours._field.unlabelled[telling(ours._field)].max() < 20


def test_tsa_asks_the_best_of_them(few, graph):
    ours = taught(graph)
    field = ours._field
    tell = telling(field)
    whole, costs = field.two_step_costs().values, TSA().cost(field).values
    np.testing.assert_allclose(costs[tell], whole[tell], rtol=1e-9)
    assert costs[~tell].min() > costs[tell].max()
    assert ours.query() in field.unlabelled[tell]
    assert np.ptp(ours.gains()[field.unlabelled] + whole) < 1e-9  # of all nodes


def test_the_paper_asks_about_any_node(few, graph):
    field = taught(graph, field="paper")._field
    assert telling(field).all()
    np.testing.assert_array_equal(TSA().cost(field).values, field.two_step_costs().values)


def test_very_large_graphs_have_no_choice_made_for_them(few, graph, monkeypatch):
    monkeypatch.setattr(module, "MOST", graph.n_nodes - 1)
    assert telling(taught(graph)._field).all()


def test_a_large_graph_has_a_tenth_chosen():
    n = 20_000
    ours = fl.ActiveLearner(fl.Graph.from_edges(range(n), [*range(1, n), 0]), list("abc"), engine="sparse")
    ours.teach([0, 7000], ["a", "b"])
    field = ours._field
    u, chosen = field.unlabelled, telling(field)
    assert 2000 <= chosen.sum() <= 2002  # equal nodes on both sides
    from_label = np.minimum(abs(u[:, None] - [0, 7000, n]).min(axis=1), 6500)
    assert from_label[chosen].min() > 0.8 * 6500  # a tenth of the ring: the middle of the longer way round


def test_the_more_answers_the_more_nodes(few):
    ours = fl.ActiveLearner(fl.Graph(in_pieces([200], np.random.default_rng(0))), list("abc"))
    chosen = []
    for k in range(24):
        ours.teach(k, "abc"[k % 3])
        chosen.append(int(telling(ours._field).sum()))
    assert chosen[5] == 20  # a tenth of those left: two answers a class are few
    assert chosen[11] == 76  # four times as many
    assert chosen[23] == 176  # all


def test_only_they_are_looked_ahead_of(few, graph, monkeypatch):
    asked, look_ahead = [], Conditioned.two_step_costs
    monkeypatch.setattr(
        Conditioned, "two_step_costs", lambda field, among=None: asked.append(among) or look_ahead(field, among)
    )
    field = taught(graph)._field
    TSA().cost(field)
    np.testing.assert_array_equal(asked[0], telling(field))


def test_nothing_left_to_ask(few, graph):
    ours = taught(graph)
    for k in set(range(graph.n_nodes)) - {0, 7}:
        ours.skip(k)
    assert telling(ours._field).all()
    assert not ours._field.askable.any()
    assert np.isfinite(TSA().cost(ours._field).values).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton.runtime.interpreter")
def test_the_gpu_engine_asks_among_the_same(monkeypatch):
    pytest.importorskip("support.gpus").anywhere(monkeypatch)
    monkeypatch.setattr(module, "LEAST", 3)
    graph = fl.Graph(in_pieces([30], np.random.default_rng(0)))
    learners = [taught(graph, engine=engine) for engine in ("gpu", "dense")]
    found = [np.sort(each._field.unlabelled[telling(each._field)]) for each in learners]
    assert len(found[0]) == 3
    np.testing.assert_array_equal(*found)
    assert learners[0].query() == learners[1].query()


def test_the_sparse_engine_finds_most_of_them(few, graph):
    """There the squares are estimated by the sums."""
    exact, rough = (telling(taught(graph, engine=engine)._field) for engine in ("dense", "sparse"))
    assert rough.sum() == exact.sum()
    assert (rough & exact).sum() - 30 >= 14  # of 20; the 30 no label reaches are in both


def test_rough_variances_of_a_path():
    """0-1-2-3 with 0 known: G_ij = min(i, j), tr G = 6; the columns of 1, 2 and 3 have 2, 3 and 3 beside G_qq."""
    field = field_of(fl.Graph.from_edges([0, 1, 2], [1, 2, 3]), 2, engine="sparse").with_answer(0, 0)
    told = np.array([2**2 / 2 / 1, 3**2 / 2 / 2, 3**2 / 2 / 3])
    np.testing.assert_allclose(field.vopt_costs(rough=True).values, 6 - np.array([1, 2, 3]) - told)


@pytest.mark.parametrize("smoothness", [0, 3.3])
def test_rough_variances_are_never_too_small(graph, smoothness):
    field = taught(graph, engine="sparse", smoothness=smoothness)._field
    exact = taught(graph, engine="dense", smoothness=smoothness)._field
    found, reached = field.vopt_costs(rough=True).values, field.island < 0
    G = exact.G[reached][:, reached]
    assert (found[reached] >= np.trace(G) - (G**2).sum(axis=0) / np.diag(G) - 1e-9).all()
    assert np.isfinite(found).all()  # also where no label reaches
