"""Rounding does not pile up, whatever the weights: against rational arithmetic, and against a fresh solve."""

import numpy as np
import oracle
import pytest
from support.fields import Life, afresh, covariance, field_of

from fewlabels.field import Answers, Conditioned
from fewlabels.graph import Graph

CLOSE = {
    "dense": 1e-10,
    "sparse": 2e-9,
}  # of a variance that is a thousandth of what it was: there diag(K) is a factor's


def weighted_graph(n, decades, rng):
    """A path with 4 n random chords, weights log-uniform over 10^-decades to 10^decades."""
    i, j = rng.integers(0, n, (2, 4 * n))
    i, j = np.concatenate([i, np.arange(n - 1)]), np.concatenate([j, np.arange(1, n)])
    pairs = np.unique(np.sort(np.stack([i, j]), axis=0)[:, i != j], axis=1)
    return Graph.from_edges(*pairs, 10 ** rng.uniform(-decades, decades, pairs.shape[1]))


def relative_error(G, truth):
    """Largest error of an entry, on the scale of the variances of its row and column."""
    scale = np.sqrt(np.diag(truth))
    return float((abs(G - truth) / scale[:, None] / scale[None, :]).max())


def exact_green(W, u):
    """inv(L_uu) in rational numbers: the truth, whatever the weights."""
    return oracle.exact_inverse(oracle.exact_laplacian(W)[np.ix_(u, u)]).astype(float)


def exact_propagation(field):
    """h in rational numbers."""
    L, u, o = (
        oracle.exact_laplacian(field.covariance.recipe.graph.weights.toarray()),
        field.unlabelled,
        field.label >= 0,
    )
    Y = answered(field)[o].astype(int).astype(object)
    return -(oracle.exact_inverse(L[np.ix_(u, u)]) @ (L[u][:, o] @ Y)).astype(float)


def answered(field):
    """(n, C) what the answers say, 0 elsewhere."""
    Y = np.zeros((field.n_nodes, field.n_classes))
    for node, c in field.answers.sure.items():
        Y[node] = np.where(np.arange(field.n_classes) == c, 1, -1)
    return Y


def test_500_answers_and_100_taken_back_on_1000_weighted_nodes_equal_a_fresh_solve():
    rng = np.random.default_rng(0)
    n = 1000
    life = Life(field_of(weighted_graph(n, 0.5, rng), 3))
    for step, node in enumerate(rng.permutation(n)[:500]):
        life.observe(node, rng.integers(3))
        if step % 5 == 4:
            life.forget(rng.choice(list(life.answers.sure)))
        if step % 10 == 0:
            assert np.isfinite(life.h).all()  # a step in between is worked out
    W = life.weights.toarray()
    u = life.unlabelled
    truth = np.linalg.inv(np.diag(W.sum(axis=1))[np.ix_(u, u)] - W[np.ix_(u, u)])
    assert len(u) == 600
    assert relative_error(life.G, truth) < 1e-11
    np.testing.assert_allclose(life.variance, np.diag(truth), rtol=1e-11)
    np.testing.assert_allclose(life.h, truth @ (W[u] @ answered(life)), atol=1e-11)


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(8))
def test_weights_from_1e_6_to_1e6_equal_exact_rational_arithmetic(seed, engine):
    rng = np.random.default_rng(seed)
    graph = weighted_graph(20, 6, rng)
    life = Life(field_of(graph, 2, engine=engine))
    for node in rng.permutation(20)[:8]:
        life.observe(node, rng.integers(2))
        assert np.isfinite(life.variance).all()
    life.forget(next(iter(life.answers.sure)))
    W = graph.weights.toarray()
    truth = exact_green(W, life.unlabelled)
    assert relative_error(life.columns(life.unlabelled), truth) < 1e-10
    np.testing.assert_allclose(life.variance, np.diag(truth), rtol=1e-10)
    np.testing.assert_allclose(life.h, truth @ (W[life.unlabelled] @ answered(life)), atol=1e-10)


def test_what_a_step_would_lose_is_not_taken_by_one():
    """Node 1 hangs on node 0 by 1e6 and on the rest by 1e-6: knowing 0 takes 1's variance down by twelve digits."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1e6, 1e-6, 1.0])
    first = field_of(graph, 2).with_answer(3, 0)
    assert first.core.step is None
    field = first.with_answer(0, 1)
    assert field.core.step is None
    truth = exact_green(graph.weights.toarray(), [1, 2])
    np.testing.assert_allclose(np.diag(field.G), np.diag(truth), rtol=1e-10)
    assert relative_error(field.G, truth) < 1e-10


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("bridge", [1e-2, 1e-4, 1e-8, 1e-11])
@pytest.mark.parametrize("at", [[3], [5, 3], [3, 9], [3, 4, 9, 5], [17, 3, 18]], ids=str)
def test_clusters_that_hardly_touch_equal_exact_rational_arithmetic(bridge, at, engine):
    """Three of seven nodes, in a row: where no answer is, variances are 1 / bridge, and what differs is about 1."""
    rng = np.random.default_rng(1)
    W = np.zeros((21, 21))
    for left in (0, 7, 14):
        W[left : left + 7, left : left + 7] = weighted_graph(7, 0.3, rng).weights.toarray()
    W[0, 7] = W[7, 0] = bridge
    W[8, 14] = W[14, 8] = 30 * bridge
    field = field_of(Graph(W), 2, engine=engine)
    for i, node in enumerate(at):
        field = field.with_answer(node, i % 2)
        assert np.isfinite(field.h).all()
    truth, h = exact_green(W, field.unlabelled), exact_propagation(field)
    for each in (field, afresh(field)):
        np.testing.assert_allclose(each.variance, np.diag(truth), rtol=CLOSE[engine])
        assert relative_error(each.columns(each.unlabelled), truth) < 1e-9
        assert (abs(each.h - h) < 1e-9 * np.sqrt(1 + np.diag(truth))[:, None]).all()


@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_along_a_chain_variances_are_those_of_a_brownian_bridge(engine):
    """Between two answered nodes at a and b it is (k - a) (b - k) / (b - a), and h is a straight line."""
    n = 801
    empty = covariance(Graph.from_edges(np.arange(n - 1), np.arange(1, n)), engine=engine)
    field = Conditioned(empty, Answers(2, {0: 0}))
    np.testing.assert_allclose(field.variance, field.unlabelled, rtol=1e-10)
    field = field.with_answer(n - 1, 1)
    k = field.unlabelled
    np.testing.assert_allclose(field.variance, k * (n - 1 - k) / (n - 1), rtol=1e-10)
    np.testing.assert_allclose(field.h[:, 1], 2 * k / (n - 1) - 1, atol=1e-11)
    at = np.sort(np.random.default_rng(0).choice(np.arange(1, n - 1), 158, replace=False))
    field = field.with_answers({int(node): i % 2 for i, node in enumerate(at)})
    known = np.concatenate([[0], at, [n - 1]])
    y = np.where(field.label[known] == 1, 1.0, -1.0)
    k = field.unlabelled
    after = np.searchsorted(known, k)
    a, b = known[after - 1], known[after]
    np.testing.assert_allclose(field.variance, (k - a) * (b - k) / (b - a), rtol=CLOSE[engine])
    np.testing.assert_allclose(field.h[:, 1], np.interp(k, known, y), atol=1e-11)


def test_taking_the_last_label_back_on_a_wide_graph_equals_a_fresh_field():
    graph = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [1e-9, 1, 1, 1, 1])
    fresh = field_of(graph, 2)
    field = fresh.with_answer(0, 0)
    assert np.isfinite(field.G).all()
    field = field.without([0])
    np.testing.assert_array_equal(field.two_step_costs().values, fresh.two_step_costs().values)
