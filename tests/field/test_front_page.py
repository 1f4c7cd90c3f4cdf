"""The front page of the field, the field on every engine, and the oracle say the same."""

import numpy as np
import oracle
import pytest
from support.fields import field_of
from support.graphs import in_pieces, random_labels, random_weights

import fewlabels as fl
from fewlabels.field import front_page
from fewlabels.marginals import two_step_marginals
from fewlabels.risk import expected_error

CLOSE = {"dense": 1e-9, "sparse": 1e-6}
GRAPHS = {
    "path": fl.Graph.from_edges(range(11), range(1, 12)).weights.toarray(),
    "weights": random_weights(16, np.random.default_rng(0)),
    "pieces": in_pieces([9, 5, 3, 1], np.random.default_rng(1)),
    "no edge": np.zeros((4, 4)),
}
STATES = {"labels": (4, 0), "unsure": (0, 3), "both": (3, 4), "one": (1, 0), "none": (0, 0)}
C = 3


def answers(n, sure, doubted):
    """Labels, and unsure answers at other nodes and at one of the same."""
    rng = np.random.default_rng(n + sure)
    labels = random_labels(n, min(sure, n - 1), C, rng)
    unsure = {int(k): rng.uniform(0.1, 3, C) * [1, 0, 1] for k in rng.permutation(n)[:doubted]}
    return labels, unsure


@pytest.fixture(params=GRAPHS)
def weights(request):
    return GRAPHS[request.param]


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("smoothness", [0.0, 3.3])
def test_it_is_the_field_of_every_engine(weights, smoothness, state, engine):
    labels, unsure = answers(len(weights), *STATES[state])
    K, together = front_page.covariance(weights, 0.7, smoothness)
    page = front_page.conditioned(K, together, labels, unsure, C)
    field = field_of(fl.Graph(weights), C, 0.7, smoothness, engine).with_answers(labels).with_unsure(unsure)
    u, close = field.unlabelled, CLOSE[engine]
    np.testing.assert_array_equal(page.asked, u)
    np.testing.assert_allclose(page.h, field.all_h, atol=close)
    np.testing.assert_allclose(page.variance[u], field.variance, rtol=close)
    np.testing.assert_array_equal(page.together, field.component[:, None] == field.component)
    assert abs(page.G[list(labels)]).max(initial=0) < 1e-12
    scale = abs(page.G).max(initial=0)
    np.testing.assert_allclose(page.G[np.ix_(u, u)], field.columns(u), atol=close * scale)
    p = front_page.chances(page.h[u], page.variance[u])
    np.testing.assert_allclose(p, two_step_marginals(field), atol=close)
    assert front_page.expected_errors(p).sum() / len(weights) == pytest.approx(expected_error(field), abs=close)
    found = field.two_step_costs().values
    if engine == "dense":
        assert abs(found - front_page.look_ahead(page)).max() < 1e-6  # far from the lowest, costs may be float32's
        best = found <= np.median(found)
        np.testing.assert_allclose(found[best], front_page.look_ahead(page)[best], atol=close)
    else:
        np.testing.assert_allclose(found, front_page.look_ahead(page), atol=close)


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("graph", ["path", "weights"])
def test_it_is_the_oracle_s(graph, smoothness):
    """By explicit inverses, every answer of every question worked out from the start."""
    W = GRAPHS[graph]
    labels, _ = answers(len(W), 4, 0)
    page = front_page.conditioned(*front_page.covariance(W, 0.7, smoothness), labels, {}, C)
    Q, u = oracle.smooth_laplacian(W, 0.7, smoothness), page.asked
    np.testing.assert_allclose(page.G[np.ix_(u, u)], np.linalg.inv(Q[np.ix_(u, u)]), atol=1e-9)
    np.testing.assert_allclose(page.h[u], oracle.propagation(Q, labels, C), atol=1e-9)
    p = oracle.two_step(Q, labels, C)
    np.testing.assert_allclose(front_page.chances(page.h[u], page.variance[u]), p, atol=1e-9)
    np.testing.assert_allclose(front_page.look_ahead(page), oracle.lookahead(Q, labels, C, oracle.two_step), atol=1e-9)


@pytest.mark.parametrize("labels", [{}, {0: 1}, {0: 1, 3: 0}], ids="{}".format)
def test_in_pieces_without_an_answer_it_is_the_limit_of_a_small_ridge(labels):
    W = in_pieces([5, 4, 2, 1, 1], np.random.default_rng(8))
    page = front_page.conditioned(*front_page.covariance(W), labels, {}, C)
    L = oracle.laplacian(W) + oracle.EPS * np.eye(13)
    np.testing.assert_allclose(front_page.look_ahead(page), oracle.lookahead(L, labels, C, oracle.two_step), atol=1e-5)


def test_an_unsure_answer_is_a_labelled_node_hung_on():
    W, (labels, unsure) = GRAPHS["weights"], answers(16, 3, 4)
    unsure = {node: w for node, w in unsure.items() if node not in labels}
    page = front_page.conditioned(*front_page.covariance(W), labels, unsure, C)
    ties = [(node, c, w) for node, by_class in unsure.items() for c, w in enumerate(by_class) if w]
    larger = np.zeros((16 + len(ties), 16 + len(ties)))
    larger[:16, :16] = W
    for d, (node, _, w) in enumerate(ties, start=16):
        larger[node, d] = larger[d, node] = w
    known = labels | {d: c for d, (_, c, _) in enumerate(ties, start=16)}
    np.testing.assert_allclose(page.h[page.asked], oracle.propagation(oracle.laplacian(larger), known, C), atol=1e-9)


@pytest.mark.parametrize("graph", ["path", "weights", "pieces"])
def test_it_asks_what_the_learner_asks_in_the_papers_field(graph):
    W = GRAPHS[graph]
    learner = fl.ActiveLearner(W, range(C), strategy="tsa", field="paper", random_state=0)
    K, together = front_page.covariance(W)
    labels, said = {}, np.random.default_rng(3).integers(C, size=len(W))
    while len(labels) < len(W) - 1:
        page = front_page.conditioned(K, together, labels, {}, C)
        node = front_page.next_question(page, np.random.default_rng([0, len(labels)]))
        assert node == learner.query()
        learner.teach(node, int(said[node]))
        labels[node] = int(said[node])
