"""The smooth field: on every engine it is the inverse of Q_uu, written out from its definition."""

import numpy as np
import oracle
import pytest
from field.test_unsure import closely, live, random_weights_of_answers
from support.fields import COSTS, Life, attached, field_of, plain_costs
from support.fields import taught as taught_field
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.errors import GraphError
from fewlabels.field.precision import Precision
from fewlabels.graph import Graph
from fewlabels.kernels import reference
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.suspects import chances_without
from fewlabels.marginals import two_step_marginals

SIZES = [([2], 3), ([9, 4, 2, 1], 3), ([12], 2), ([5, 5, 1], 6)]
STATES = [(60, 3, 4, 0.4, 3.3), (60, 2, 9, 1.0, 0.5), (130, 7, 12, 3.0, 10.0), (40, 4, 3, 40.0, 3.3)]


def assert_is_its_definition(field, W, close=1e-8):
    labels, unsure = field.answers.sure, attached(field)
    A = oracle.smooth_laplacian(W, field.beta, field.smoothness) + np.diag(unsure.sum(axis=1))
    u, labelled = oracle.split(len(W), labels)
    np.testing.assert_array_equal(field.unlabelled, u)
    component = Graph(W).components()
    answered = {component[k] for k in field.answers.nodes}
    reached = np.array([component[k] in answered for k in u], dtype=bool)
    np.testing.assert_array_equal(field.island < 0, reached)
    inside = np.array(u, dtype=int)[reached]
    if not len(inside):
        return
    G = np.linalg.inv(A[np.ix_(inside, inside)])
    np.testing.assert_allclose(field.variance[reached], np.diag(G), rtol=close)
    pull = np.zeros((len(inside), field.n_classes))
    for c in range(field.n_classes):
        y = oracle.one_vs_rest(labels, labelled, c)
        leaning = 2 * unsure[inside, c] - unsure[inside].sum(axis=1)
        pull[:, c] = leaning - A[np.ix_(inside, labelled)] @ y
    np.testing.assert_allclose(field.h[reached], G @ pull, atol=close * max(1, abs(G @ pull).max()))
    f = 2 * (G @ pull) / np.diag(G)[:, None]
    p = 1 / (1 + np.exp(-f))
    np.testing.assert_allclose(two_step_marginals(field)[reached], p / p.sum(axis=1, keepdims=True), atol=close)
    np.testing.assert_allclose(field.columns(inside)[reached], G, atol=close * abs(G).max())
    np.testing.assert_allclose(field.sums()[reached], G.sum(axis=1), atol=close * len(G) * abs(G).max())


@pytest.mark.parametrize("a", [0.0, 0.5, 3.3, 40.0])
def test_q_is_its_definition(a):
    rng = np.random.default_rng(0)
    W = in_pieces([9, 4, 1], rng)
    precision = Precision(Graph(W), 0.7, a)
    Q = oracle.smooth_laplacian(W, 0.7, a)
    np.testing.assert_allclose(np.diag(precision.diagonal) - precision.weights.toarray(), Q, atol=1e-12)
    np.testing.assert_allclose(Q @ np.ones(len(W)), 0, atol=1e-10)
    X = rng.normal(size=(len(W), 3))
    np.testing.assert_allclose(precision.times(X), Q @ X, atol=1e-10)
    np.testing.assert_allclose(precision.towards(X[:, 0]), precision.weights @ X[:, 0], atol=1e-10)
    some = np.array([0, 5, 13])
    np.testing.assert_allclose(precision.rows(some).toarray(), precision.weights.toarray()[some], atol=1e-12)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize(("sizes", "C"), SIZES)
def test_after_any_answers(sizes, C, engine, every):
    rng = np.random.default_rng(C)
    W = in_pieces(sizes, rng)
    live(field_of(Graph(W), C, 0.7, 3.3, engine), W, 40, rng, closely(assert_is_its_definition, engine), every)


def taught(n, C, many, beta, a, engine="dense"):
    rng = np.random.default_rng(n + C)
    W = random_weights(n, rng, density=4 / n)
    return taught_field(W, random_labels(n, many, C, rng), C, beta, a, engine)


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("verb", COSTS)
def test_costs_of_the_fast_kernels(state, verb):
    field = taught(*state)
    assert (field.G < 0).any()  # what the fast kernels may not rely on
    np.testing.assert_allclose(
        getattr(field, verb)().values, plain_costs(reference, verb, field), rtol=1e-9, atol=1e-11
    )


def test_lookahead_is_its_definition():
    """R+q from explicit inverses, every answer enumerated."""
    field = taught(14, 3, 4, 0.6, 3.3)
    Q = oracle.smooth_laplacian(field.precision.links.toarray() / field.beta, field.beta, 3.3)
    labels = field.answers.sure
    expected = oracle.lookahead(Q, labels, 3, oracle.two_step)
    np.testing.assert_allclose(field.two_step_costs().values, expected, atol=1e-10)
    for verb, total in (("vopt_costs", np.trace), ("sopt_costs", np.sum)):
        expected = oracle.variance_left(Q, labels, total)
        np.testing.assert_allclose(getattr(field, verb)().values, expected, rtol=1e-9)


def test_chances_without_an_answer_are_those_of_a_field_without_it():
    rng = np.random.default_rng(2)
    W = in_pieces([16, 5], rng)
    labels = random_labels(21, 7, 3, rng)
    field = field_of(Graph(W), 3, 0.6, 3.3).with_answers(labels)
    given = [NumberedAnswer(node, c, 1.0, np.inf) for node, c in labels.items()]
    found = chances_without(field, given, Graph(W).components())
    for row, node in enumerate(labels):
        without = field.without([node])
        if without.island[without.unlabelled == node][0] < 0:
            here = two_step_marginals(without)[without.unlabelled == node][0]
            np.testing.assert_allclose(found[row], here, atol=1e-9)


def test_taking_back_everything_leads_home():
    rng = np.random.default_rng(5)
    fresh = field_of(Graph(in_pieces([30, 7], rng)), 3, 0.5, 3.3)
    life = Life(fresh)
    for _ in range(3):
        labels = random_labels(37, 12, 3, rng)
        for node, c in labels.items():
            life.observe(node, c)
            assert np.isfinite(life.h).all()
        for node in rng.permutation(list(labels)):
            life.forget(node)
            assert np.isfinite(life.G).all()
        q = int(rng.integers(37))
        life.attach(q, random_weights_of_answers(3, rng))
        life.attach(q, np.zeros(3))
    np.testing.assert_array_equal(life.G, fresh.G)
    np.testing.assert_array_equal(life.h, 0)


def test_weights_that_span_too_far_are_refused_with_a_way_out():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1e-4, 1.0, 1e4])
    with pytest.raises(GraphError, match="smoothness=0"):
        field_of(graph, 2, 1.0, 3.3)
    assert field_of(graph, 2, 1.0).variance.shape == (4,)
