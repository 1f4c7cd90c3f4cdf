"""The sparse field is the dense one, without G: the same h, variances, columns and costs, whichever solver it uses."""

import numpy as np
import pytest
from fewlabels.field.dense import DenseField
from fewlabels.field.sparse import SparseField, budget
from fewlabels.field.sparse.query import racing
from fewlabels.field.sparse.query.lookahead import node_state
from support.fields import COSTS, plain_costs
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.errors import FewlabelsError, MemoryNeededError, SettingError
from fewlabels.field import make_field
from fewlabels.graph import Graph
from fewlabels.kernels import reference, sparse_reference
from fewlabels.kernels.cpu import neighbour_gains as beside
from fewlabels.kernels.cpu import sparse_lookahead
from fewlabels.learner import ActiveLearner
from fewlabels.machine import memory
from fewlabels.risk import expected_error

SOLVERS = ["superlu", "cholespy", "amg", "plain", "jacobi", "chebyshev"]
CLOSE = {"rtol": 1e-6, "atol": 1e-6}


def forced(solver):
    if solver == "cholespy":
        pytest.importorskip("cholespy")
    return solver


def wide_weights(n, decades, rng):
    W = random_weights(n, rng, density=0.1)
    scale = np.triu(10 ** rng.uniform(-decades / 2, decades / 2, (n, n)), 1)
    return W * (scale + scale.T)


def assert_same(ours, dense):
    """h, island, variance, columns of G and resistances along the edges, at the same nodes."""
    order = np.argsort(dense.unlabelled)
    nodes = dense.unlabelled[order]
    np.testing.assert_array_equal(ours.unlabelled, nodes)
    np.testing.assert_array_equal(ours.island, dense.island[order])
    np.testing.assert_allclose(ours.h, dense.h[order], **CLOSE)
    np.testing.assert_allclose(ours.variance, dense.variance[order], **CLOSE)
    start, other, ties = ours.grounding.edges
    whole = np.zeros((ours.n_nodes, ours.n_nodes))
    whole[np.ix_(nodes, nodes)] = dense.G[np.ix_(order, order)]
    ends = np.repeat(np.arange(ours.n_nodes), np.diff(start)), other
    np.testing.assert_allclose(ties, resistances(whole)[ends], **CLOSE)
    np.testing.assert_allclose(ours.columns(nodes), dense.G[np.ix_(order, order)], **CLOSE)
    np.testing.assert_allclose(dense.columns(nodes)[order], dense.G[np.ix_(order, order)])


def resistances(G):
    return np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("sizes", "C"), [([9, 4, 2, 1], 3), ([40], 2), ([1, 1, 1], 4), ([60, 30, 5], 7)])
def test_is_the_dense_field_after_any_answers_and_any_taking_back(solver, sizes, C):
    rng = np.random.default_rng(sum(sizes))
    n = sum(sizes)
    graph = Graph(in_pieces(sizes, rng))
    ours, dense = SparseField(graph, C, 0.7, forced(solver)), DenseField(graph, C, 0.7)
    assert_same(ours, dense)
    labels = random_labels(n, max(2, 2 * n // 3), C, rng)
    for node, c in labels.items():
        for field in (ours, dense):
            field.observe(node, c)
        if n < 20:
            assert_same(ours, dense)
    assert_same(ours, dense)
    for step, node in enumerate(rng.permutation(list(labels))):
        for field in (ours, dense):
            if step % 3:
                field.forget(int(node))
            else:
                field.relabel(int(node), (labels[int(node)] + 1) % C)
        if n < 20:
            assert_same(ours, dense)
    assert_same(ours, dense)


@pytest.mark.parametrize("solver", ["superlu", "amg"])
def test_many_answers_at_once_are_one_after_another(solver):
    rng = np.random.default_rng(1)
    graph = Graph(in_pieces([120, 15, 4, 1], rng))
    ours, dense = SparseField(graph, 3, 1.0, solver), DenseField(graph, 3)
    labels = random_labels(140, 80, 3, rng)
    for field in (ours, dense):
        field.observe_all(labels)
    assert_same(ours, dense)
    for field in (ours, dense):
        field.forget_all(list(labels)[5:])
        field.add_class()
        field.observe(next(k for k in range(140) if k not in labels), 3)
    assert_same(ours, dense)


def test_a_factor_is_made_afresh_after_many_updates(monkeypatch):
    from fewlabels.field.sparse.solve import factor

    monkeypatch.setattr(factor, "MOST_UPDATES", 5)
    monkeypatch.setattr(factor, "MORE_UPDATES", 0)
    rng = np.random.default_rng(2)
    graph = Graph(random_weights(60, rng, density=0.05))
    ours, dense = SparseField(graph, 2, 1.0, "superlu"), DenseField(graph, 2)
    for node, c in random_labels(60, 30, 2, rng).items():
        for field in (ours, dense):
            field.observe(node, c)
    assert_same(ours, dense)


@pytest.mark.parametrize("solver", ["superlu", "amg"])
def test_weights_over_six_decades(solver):
    rng = np.random.default_rng(3)
    graph = Graph(wide_weights(50, 6, rng))
    ours, dense = SparseField(graph, 3, 1.0, solver), DenseField(graph, 3)
    for node, c in random_labels(50, 20, 3, rng).items():
        for field in (ours, dense):
            field.observe(node, c)
    order = np.argsort(dense.unlabelled)
    np.testing.assert_allclose(ours.h, dense.h[order], atol=1e-5)
    np.testing.assert_allclose(ours.variance, dense.variance[order], rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("many", [0, 1, 5, 25])
@pytest.mark.parametrize("verb", COSTS)
def test_costs_are_the_dense_ones_where_the_pool_is_everything(solver, many, verb):
    rng = np.random.default_rng(many)
    graph = Graph(in_pieces([18, 9, 2, 1], rng))
    ours, dense = SparseField(graph, 4, 0.8, forced(solver)), DenseField(graph, 4, 0.8)
    for node, c in random_labels(30, many, 4, rng).items():
        for field in (ours, dense):
            field.observe(node, c)
    order = np.argsort(dense.unlabelled)
    found, truth = getattr(ours, verb)(), getattr(dense, verb)()
    np.testing.assert_allclose(found.values, truth.values[order], **CLOSE)
    assert truth.screening is None


@pytest.mark.parametrize("solver", ["superlu", "jacobi"])
@pytest.mark.parametrize("verb", ["two_step_costs", "harmonic_costs"])
def test_the_lowest_cost_is_that_of_a_finalist_and_exact(solver, verb):
    rng = np.random.default_rng(4)
    n = 400
    graph = Graph(in_pieces([n - 30, 20, 9, 1], rng))
    ours, dense = SparseField(graph, 3, 0.05, solver, pool=20, sample=64), DenseField(graph, 3, 0.05)
    for node, c in random_labels(n, 6, 3, rng).items():
        for field in (ours, dense):
            field.observe(node, c)
        found, screening = getattr(ours, verb)()
        truth = plain_costs(reference, verb, dense)[np.argsort(dense.unlabelled)]
        asked = int(np.argmin(found))
        assert found[asked] == pytest.approx(truth[asked], abs=1e-6)
        assert found[asked] == pytest.approx(found[ours.unlabelled == screening.node][0], abs=1e-9)
        assert screening.pool <= 23
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found, getattr(ours, verb)().values)


@pytest.mark.parametrize("solver", ["superlu", "cholespy", "plain", "jacobi", "chebyshev"])
def test_columns_in_float32_leave_h_exact_and_gains_within_a_hundredth(solver, monkeypatch):
    if solver == "cholespy":
        pytest.importorskip("cholespy")
    monkeypatch.setattr(budget, "SMALL", 50)  # a graph of 400 nodes is a large one
    monkeypatch.setattr(budget, "FEW", 50)
    rng = np.random.default_rng(4)
    n = 400
    graph = Graph(in_pieces([n - 30, 20, 9, 1], rng))
    ours, dense = SparseField(graph, 3, 0.5, solver, pool=20, sample=64), DenseField(graph, 3, 0.5)
    assert ours.grounding.cache.X.dtype == np.float32
    labels = random_labels(n, 8, 3, rng)
    for node, c in labels.items():
        for field in (ours, dense):
            field.observe(node, c)
        found, screening = ours.two_step_costs()
        truth = plain_costs(reference, "two_step_costs", dense)[np.argsort(dense.unlabelled)]
        asked, now = int(np.argmin(found)), expected_error(dense)
        assert found[ours.unlabelled == screening.node] == found[asked]  # the same node, or one tied with it
        assert abs(found[asked] - truth[asked]) < 0.01 * max(now - truth.min(), 1e-3)
    for node in list(labels)[::2]:
        for field in (ours, dense):
            field.forget(node)
    assert_same(ours, dense)


@pytest.mark.parametrize("harmonic", [False, True])
@pytest.mark.parametrize(("n", "C"), [(2, 3), (70, 2), (90, 7)])
def test_the_gain_at_the_neighbours_is_that_of_their_columns(n, C, harmonic):
    rng = np.random.default_rng(n + C)
    graph = Graph(in_pieces([n - n // 4, n // 4] if n > 3 else [n], rng))
    field = SparseField(graph, C, 2.0)
    for node, c in random_labels(n, n // 5, min(C, 3), rng).items():
        field.observe(node, c)
    view, questions = node_state(field, harmonic), field.unlabelled
    rows, weight, spread = beside.packed(view), rng.random(n), rng.random(n)
    some = np.flatnonzero(rng.random(n) < 0.4)
    everyone, _ = beside.neighbour_gains(view, rows, beside.all_neighbours(*field.grounding.edges, questions))
    few = beside.some_neighbours(*field.grounding.edges, some, weight[some], spread[some])
    gain, variance = (np.zeros(n) for _ in range(2))
    gain[few.questions], variance[few.questions] = beside.neighbour_gains(view, rows, few)
    for i, q in enumerate(questions):
        around = graph.weights[[q]].indices
        around = around[field.label[around] < 0]
        for nodes, w, v, found in (
            (around, np.ones(n), np.zeros(n), (everyone[i], 0.0)),
            (np.intersect1d(around, some), weight, spread, (gain[q], variance[q])),
        ):
            X, slots = field.grounding.columns(nodes), np.arange(len(nodes))
            one = sparse_reference.sampled_gains(view, X, slots, np.array([q]), nodes, w[nodes], v[nodes])
            np.testing.assert_allclose(found, (one[0][0] - view.error_now[q], one[1][0]), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("harmonic", [False, True])
@pytest.mark.parametrize(("n", "s", "C"), [(1, 1, 2), (2, 1, 3), (65, 64, 2), (131, 65, 7)])
def test_kernels_meet_their_plain_twins(n, s, C, harmonic):
    rng = np.random.default_rng(n + C)
    graph = Graph(in_pieces([n - n // 4, n // 4] if n > 3 else [n], rng))
    field = SparseField(graph, C, 3.0)
    for node, c in random_labels(n, n // 5, min(C, 3), rng).items():
        field.observe(node, c)
    view = node_state(field, harmonic)
    nodes = rng.permutation(field.unlabelled)[:s]
    X = np.ascontiguousarray(field.grounding.columns(nodes))
    slots = np.arange(len(nodes))
    weight, spread = rng.random(len(nodes)), rng.random(len(nodes))
    found = sparse_lookahead.sampled_gains(view, X, slots, field.unlabelled, nodes, weight, spread)
    truth = sparse_reference.sampled_gains(view, X, slots, field.unlabelled, nodes, weight, spread)
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-9)
    ours, theirs = (k.whole_costs(view, X, slots, nodes) for k in (sparse_lookahead, sparse_reference))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_steep_pairs_are_worked_out_in_logarithms():
    rng = np.random.default_rng(8)
    graph = Graph(random_weights(30, rng))
    field = SparseField(graph, 3, 5e3)
    for node, c in random_labels(30, 8, 3, rng).items():
        field.observe(node, c)
    view, nodes = node_state(field, False), field.unlabelled
    X = field.grounding.columns(nodes)
    ours, theirs = (k.whole_costs(view, X, np.arange(len(nodes)), nodes) for k in (sparse_lookahead, sparse_reference))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_the_sample_is_unbiased_also_its_first_part_and_tells_its_variance():
    rng = np.random.default_rng(11)
    risk, f = rng.random(300) ** 3, rng.standard_normal(300)
    f *= risk
    for s in (20, 60):
        estimates, variances = [], []
        for _ in range(4000):
            nodes, weight, spread = racing.draw(racing.sizes(risk), 1 - rng.random(300), 60).first(s)
            assert len(nodes) == s
            estimates.append(weight @ f[nodes])
            variances.append(spread @ f[nodes] ** 2)
        deviation = np.std(estimates)
        assert abs(np.mean(estimates) - f.sum()) < 4 * deviation / np.sqrt(4000)
        assert np.sqrt(np.mean(variances)) == pytest.approx(deviation, rel=0.1)


def test_the_sample_stays_while_the_risk_drifts_and_follows_where_it_leaps():
    rng = np.random.default_rng(11)
    risk, uniform = 0.1 + rng.random(300), 1 - rng.random(300)
    sizes = racing.sizes(risk)
    first = racing.draw(sizes, uniform, 60)
    drifted = racing.sizes(risk * rng.uniform(0.7, 1.4, 300), sizes)
    np.testing.assert_array_equal(racing.draw(drifted, uniform, 60).nodes, first.nodes)
    gone = risk.copy()
    gone[first.nodes[:30]] = 0
    assert not np.isin(first.nodes[:30], racing.draw(racing.sizes(gone, sizes), uniform, 60).nodes).any()


def test_a_copy_goes_its_own_way():
    rng = np.random.default_rng(12)
    graph = Graph(in_pieces([40, 10], rng))
    field, dense = SparseField(graph, 3), DenseField(graph, 3)
    for f in (field, dense):
        f.observe(3, 1)
    twin = field.copy()
    twin.observe(5, 2)
    twin.forget(3)
    assert_same(field, dense)


def test_says_that_G_is_never_formed_and_what_memory_is_missing(monkeypatch):
    field = SparseField(Graph.from_edges([0, 1], [1, 2]), 2)
    with pytest.raises(FewlabelsError, match="never forms G, 3 x 3"):
        _ = field.G
    with pytest.raises(SettingError, match="no solver 'amq'"):
        SparseField(Graph.from_edges([0], [1]), 2, solver="amq")
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(MemoryNeededError, match="the sparse engine on 20,000 nodes needs"):
        SparseField(Graph.from_edges([0], [1], n_nodes=20_000), 2)


def test_auto_takes_the_sparse_engine_where_the_dense_one_does_not_fit_and_says_why(monkeypatch, capsys):
    assert isinstance(make_field(Graph.from_edges([0, 1], [1, 2]), 2, 1.0), DenseField)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(memory, "available", lambda: 300 * 2**20)
    assert isinstance(make_field(Graph.from_edges(np.arange(7999), np.arange(1, 8000)), 2, 1.0), SparseField)
    assert "engine 'sparse' for 8,000 nodes: a dense G needs 0.5 GiB and 0.3 GiB are free" in capsys.readouterr().err


def test_a_question_tells_its_pool_its_sample_and_what_it_may_have_missed():
    rng = np.random.default_rng(13)
    graph = Graph(random_weights(900, rng, density=4 / 900))
    learner = ActiveLearner(graph, ["a", "b", "c"], engine="sparse", centred=False)
    learner.teach([3, 700], ["a", "b"])
    node = learner.query()
    told = learner.last_question
    assert told.node == node
    assert told.cost == learner.costs()[node] == np.nanmin(learner.costs())
    assert told.gain == pytest.approx(learner.expected_error() - told.cost)
    assert 0 < told.pool < 898
    assert 0 < told.sample <= 2048
    assert 0 <= told.missed[0] <= told.missed[1]
    assert learner.query() == node
    batch = learner.query(3)
    assert batch[0] == node
    assert len(set(batch)) == 3
    dense = ActiveLearner(graph, ["a", "b", "c"], engine="dense")
    assert dense.query() is not None
    assert dense.last_question is None


@pytest.mark.parametrize("strategy", ["tsa", "zlg", "sopt", "vopt", "margin", "entropy", "least_confidence", "random"])
def test_every_strategy_runs_where_the_pool_is_not_everything(strategy):
    rng = np.random.default_rng(14)
    graph = Graph(in_pieces([500, 100, 1], rng))
    learner = ActiveLearner(graph, [0, 1, 2], strategy, engine=SparseField(graph, 3, 0.1, pool=10, sample=30), beta=0.1)
    asked = []
    for step in range(6):
        asked.append(learner.query())
        learner.teach(asked[-1], step % 3)
    learner.skip(learner.query())
    learner.forget(asked[2])
    assert learner.query() not in learner.skipped
    assert len(learner.predict()) == 601
