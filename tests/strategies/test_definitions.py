"""Costs, marginals and risk equal an oracle written from the paper's definitions."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from support.fields import taught
from support.graphs import in_pieces, random_labels, random_weights

import fewlabels as fl
from fewlabels.marginals import harmonic_marginals, two_step_marginals
from fewlabels.risk import expected_error
from fewlabels.strategies import cost_of, make_strategy

EXACT = 1e-9


@pytest.mark.parametrize("beta", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("n", "known", "C"), [(2, 1, 2), (5, 4, 3), (8, 1, 2), (9, 3, 3), (10, 4, 4), (11, 2, 5)])
class TestConnectedWeightedGraphs:
    @pytest.fixture
    def case(self, n, known, C, beta):
        rng = np.random.default_rng([n, C])
        W = random_weights(n, rng)
        labels = random_labels(n, known, C, rng)
        return taught(W, labels, C, beta), oracle.laplacian(W, beta), labels, C

    def test_marginals_and_risk(self, case):
        field, L, labels, C = case
        p = oracle.two_step(L, labels, C)
        np.testing.assert_allclose(two_step_marginals(field), p, atol=EXACT)
        np.testing.assert_allclose(harmonic_marginals(field), oracle.harmonic(L, labels, C), atol=EXACT)
        assert expected_error(field) == pytest.approx(oracle.risk(p, len(L)), abs=EXACT)

    def test_lookahead(self, case):
        field, L, labels, C = case
        for name, marginals in (("tsa", oracle.two_step), ("zlg", oracle.harmonic)):
            cost = cost_of(make_strategy(name), field).values
            np.testing.assert_allclose(cost, oracle.lookahead(L, labels, C, marginals), atol=EXACT)

    def test_variance_left(self, case):
        field, L, labels, _ = case
        for name, total in (("vopt", np.trace), ("sopt", np.sum)):
            cost = cost_of(make_strategy(name), field).values
            np.testing.assert_allclose(cost, oracle.variance_left(L, labels, total), rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("labels", [{}, {0: 1}, {0: 1, 3: 0}], ids="{}".format)
class TestComponentsWithoutALabelAreTheLimitOfARidge:
    """Against L + eps I with eps = 1e-7, on a graph in pieces of 5, 4, 2, 1 and 1 nodes."""

    @pytest.fixture
    def case(self, labels):
        W = in_pieces([5, 4, 2, 1, 1], np.random.default_rng(8))
        return taught(W, labels, 3, 1.0), oracle.laplacian(W) + oracle.EPS * np.eye(13), labels

    def test_lookahead_and_risk(self, case):
        field, L, labels = case
        p = oracle.two_step(L, labels, 3)
        assert expected_error(field) == pytest.approx(oracle.risk(p, 13), abs=1e-5)
        for name, marginals in (("tsa", oracle.two_step), ("zlg", oracle.harmonic)):
            cost = cost_of(make_strategy(name), field).values
            np.testing.assert_allclose(cost, oracle.lookahead(L, labels, 3, marginals), atol=1e-5)

    def test_variance_left_is_in_the_order_of_the_limit(self, case):
        field, _, labels = case
        eps = Fraction(1, 10**7)
        L = oracle.exact_laplacian(field.weights.toarray(), eps)  # in float64 1 / eps would drown the finite part
        for name, total in (("vopt", np.trace), ("sopt", np.sum)):
            cost = cost_of(make_strategy(name), field).values
            ridge = oracle.variance_left(L, labels, total, oracle.exact_inverse)
            infinite = np.array([round(r * eps) for r in ridge])  # (sizes of) the components still without a label
            finite = np.array([float(r - i / eps) for r, i in zip(ridge, infinite, strict=True)])
            order = np.lexsort((finite, infinite))
            assert (np.diff(cost[order]) > -1e-5).all()
            first = infinite == infinite.min()
            assert cost[first].max() < cost[~first].min(initial=np.inf)
            np.testing.assert_allclose(np.ptp(cost[first]), np.ptp(finite[first]), atol=1e-4)


def test_vopt_on_a_path_with_its_end_known():
    """G[i, j] = min(i, j) for nodes 1 to 3: the trace left is 3, 3/2, 4/3."""
    field = taught(fl.Graph.from_edges([0, 1, 2], [1, 2, 3]).weights, {0: 0}, 2, 1.0)
    np.testing.assert_allclose(cost_of(make_strategy("vopt"), field).values, [3, 3 / 2, 4 / 3])


def test_sopt_asks_the_middle_of_the_largest_component_first():
    two_paths = fl.Graph.from_edges([0, 1, 2, 3, 5, 6], [1, 2, 3, 4, 6, 7])
    assert fl.ActiveLearner(two_paths, [0, 1], "sopt").query() == 2


@pytest.mark.parametrize("strategy", ["vopt", "sopt"])
def test_strong_edges_make_no_ties(strategy):
    """All variances are 1e-10 on such edges: their differences count all the same."""
    path = fl.Graph.from_edges(range(9), range(1, 10))
    asked = set()
    for beta in (1.0, 1e10):
        for seed in range(5):
            learner = fl.ActiveLearner(path, ["a", "b"], strategy, beta, random_state=seed, smoothness=0)
            learner.teach(0, "a")
            asked.add(learner.query())
    assert len(asked) == 1


def test_zlg_before_two_classes_are_heard_ties_everywhere():
    rng = np.random.default_rng(0)
    W = random_weights(12, rng)
    for labels in ({}, {3: 1}, {3: 1, 7: 1}):
        cost = cost_of(make_strategy("zlg"), taught(W, labels, 3, 1.0)).values
        np.testing.assert_allclose(cost, 0, atol=1e-12)


def test_uncertainty_strategies_rank_by_hand_checked_numbers():
    """On a path + . . . - the middle node has h = 0 in both columns: margin 0, entropy log 2, confidence 1/2."""
    learner = {}
    for name in ("margin", "entropy", "least_confidence"):
        learner[name] = fl.ActiveLearner(fl.Graph.from_edges(range(4), range(1, 5)), ["+", "-"], name)
        learner[name].teach([0, 4], ["+", "-"])
        assert learner[name].query() == 2
    assert learner["margin"].costs()[2] == pytest.approx(0)
    assert learner["entropy"].costs()[2] == pytest.approx(-np.log(2))
    assert learner["least_confidence"].costs()[2] == pytest.approx(0.5)
