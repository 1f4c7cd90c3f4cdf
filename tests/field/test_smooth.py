"""The smooth field: on every engine it is the inverse of Q_uu, written out from its definition."""

import numpy as np
import oracle
import pytest
from field.test_unsure import live, random_weights_of_answers
from support.fields import COSTS, plain_costs
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.errors import GraphError
from fewlabels.field import make_field
from fewlabels.field.dense import DenseField
from fewlabels.field.precision import Precision
from fewlabels.field.sparse import SparseField
from fewlabels.graph import Graph
from fewlabels.kernels import cpu, reference
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.suspects import chances_without
from fewlabels.marginals import two_step_marginals

SIZES = [([2], 3), ([9, 4, 2, 1], 3), ([12], 2), ([5, 5, 1], 6)]
STATES = [(60, 3, 4, 0.4, 3.3), (60, 2, 9, 1.0, 0.5), (130, 7, 12, 3.0, 10.0), (40, 4, 3, 40.0, 3.3)]


def assert_is_its_definition(field, W, labels, close=1e-8):
    A = oracle.smooth_laplacian(W, field.beta, field.smoothness) + np.diag(field.attached.sum(axis=1))
    u, labelled = oracle.split(len(W), labels)
    order = np.argsort(field.unlabelled)
    np.testing.assert_array_equal(field.unlabelled[order], u)
    component = Graph(W).components()
    answered = {component[k] for k in [*labels, *np.flatnonzero(field.attached.any(axis=1))]}
    reached = np.array([component[k] in answered for k in u], dtype=bool)
    np.testing.assert_array_equal(field.island[order] < 0, reached)
    inside = np.array(u, dtype=int)[reached]
    if not len(inside):
        return
    G = np.linalg.inv(A[np.ix_(inside, inside)])
    np.testing.assert_allclose(field.variance[order][reached], np.diag(G), rtol=close)
    pull = np.zeros((len(inside), field.n_classes))
    for c in range(field.n_classes):
        y = oracle.one_vs_rest(labels, labelled, c)
        leaning = 2 * field.attached[inside, c] - field.attached[inside].sum(axis=1)
        pull[:, c] = leaning - A[np.ix_(inside, labelled)] @ y
    np.testing.assert_allclose(field.h[order][reached], G @ pull, atol=close * max(1, abs(G @ pull).max()))
    f = 2 * (G @ pull) / np.diag(G)[:, None]
    p = 1 / (1 + np.exp(-f))
    np.testing.assert_allclose(two_step_marginals(field)[order][reached], p / p.sum(axis=1, keepdims=True), atol=close)
    columns = field.columns(inside)[order][reached]
    np.testing.assert_allclose(columns, G, atol=close * abs(G).max())


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


@pytest.mark.parametrize("kernels", [cpu, reference], ids=["cpu", "reference"])
@pytest.mark.parametrize(("sizes", "C"), SIZES)
def test_dense_after_any_answers(sizes, C, kernels):
    rng = np.random.default_rng(C)
    W = in_pieces(sizes, rng)
    live(DenseField(Graph(W), C, 0.7, kernels, smoothness=3.3), W, 40, rng, assert_is_its_definition)


@pytest.mark.parametrize("solver", ["superlu", "jacobi", "amg"])
@pytest.mark.parametrize(("sizes", "C"), SIZES)
def test_sparse_after_any_answers(sizes, C, solver):
    rng = np.random.default_rng(C)
    W = in_pieces(sizes, rng)
    field = SparseField(Graph(W), C, 0.7, solver, smoothness=3.3)
    live(field, W, 14, rng, lambda *state: assert_is_its_definition(*state, close=1e-6))


def taught(n, C, many, beta, a, make, pieces=None):
    rng = np.random.default_rng(n + C)
    W = random_weights(n, rng, density=4 / n) if pieces is None else in_pieces(pieces, rng)
    field = make(Graph(W), C, beta, a)
    for node, c in random_labels(n, many, C, rng).items():
        field.observe(node, c)
    return field


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("verb", COSTS)
def test_costs_of_the_fast_kernels(state, verb):
    field = taught(*state, lambda graph, C, beta, a: DenseField(graph, C, beta, smoothness=a))
    assert (field.G < 0).any()  # what the fast kernels may not rely on
    np.testing.assert_allclose(
        getattr(field, verb)().values, plain_costs(reference, verb, field), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("verb", COSTS)
def test_costs_of_the_sparse_engine(state, verb):
    ours = taught(*state, lambda graph, C, beta, a: SparseField(graph, C, beta, smoothness=a))
    dense = taught(*state, lambda graph, C, beta, a: DenseField(graph, C, beta, smoothness=a))
    expected = plain_costs(reference, verb, dense)[np.argsort(dense.unlabelled)]
    np.testing.assert_allclose(getattr(ours, verb)().values, expected, rtol=1e-6, atol=1e-6)


def test_lookahead_is_its_definition():
    """R+q from explicit inverses, every answer enumerated."""
    field = taught(14, 3, 4, 0.6, 3.3, lambda graph, C, beta, a: DenseField(graph, C, beta, smoothness=a))
    Q = oracle.smooth_laplacian(field.precision.links.toarray() / field.beta, field.beta, 3.3)
    labels = {int(k): int(field.label[k]) for k in np.flatnonzero(field.label >= 0)}
    order = np.argsort(field.unlabelled)
    expected = oracle.lookahead(Q, labels, 3, oracle.two_step)
    np.testing.assert_allclose(field.two_step_costs().values[order], expected, atol=1e-10)
    for verb, total in (("vopt_costs", np.trace), ("sopt_costs", np.sum)):
        expected = oracle.variance_left(Q, labels, total)
        np.testing.assert_allclose(getattr(field, verb)().values[order], expected, rtol=1e-9)


@pytest.mark.parametrize("nodes", [4_200])
def test_a_sketched_diagonal_is_near(nodes):
    rng = np.random.default_rng(0)
    graph = Graph.from_features(rng.normal(size=(nodes, 6)), 8)
    sparse, dense = SparseField(graph, 2, 0.2, "jacobi", smoothness=3.3), DenseField(graph, 2, 0.2, smoothness=3.3)
    for field in (sparse, dense):
        field.observe(0, 1)
        field.observe(1, 0)
    assert not sparse.grounding.exact_diagonal
    ratio = sparse.variance / dense.variance[np.argsort(dense.unlabelled)]
    assert abs(np.log(ratio)).max() < 0.35
    assert abs(np.log(ratio)).mean() < 0.05
    np.testing.assert_allclose(sparse.h, dense.h[np.argsort(dense.unlabelled)], atol=1e-6)


def test_chances_without_an_answer_are_those_of_a_field_without_it():
    rng = np.random.default_rng(2)
    W = in_pieces([16, 5], rng)
    labels = random_labels(21, 7, 3, rng)
    field = DenseField(Graph(W), 3, 0.6, smoothness=3.3)
    field.observe_all(labels)
    given = [NumberedAnswer(node, c, 1.0, np.inf) for node, c in labels.items()]
    found = chances_without(field, given, Graph(W).components())
    for row, (node, c) in enumerate(labels.items()):
        field.forget(node)
        if field.island[field.unlabelled == node][0] < 0:
            here = two_step_marginals(field)[field.unlabelled == node][0]
            np.testing.assert_allclose(found[row], here, atol=1e-9)
        field.observe(node, c)


def test_taking_back_everything_leads_home():
    rng = np.random.default_rng(5)
    W = in_pieces([30, 7], rng)
    field = DenseField(Graph(W), 3, 0.5, smoothness=3.3)
    fresh = field.copy()
    for _ in range(3):
        labels = random_labels(37, 12, 3, rng)
        for node, c in labels.items():
            field.observe(node, c)
        for node in rng.permutation(list(labels)):
            field.forget(int(node))
        q = int(rng.integers(37))
        field.attach(q, random_weights_of_answers(3, rng))
        field.attach(q, np.zeros(3))
    a, b = np.argsort(field.unlabelled), np.argsort(fresh.unlabelled)
    np.testing.assert_allclose(field.G[np.ix_(a, a)], fresh.G[np.ix_(b, b)], atol=1e-8)
    np.testing.assert_array_equal(field.h, 0)


def test_weights_that_span_too_far_are_refused_with_a_way_out():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1e-4, 1.0, 1e4])
    with pytest.raises(GraphError, match="smoothness=0"):
        make_field(graph, 2, 1.0, smoothness=3.3)
    assert make_field(graph, 2, 1.0).variance.shape == (4,)
