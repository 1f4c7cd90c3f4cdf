"""Acquisition functions of GraphLearning asking in our learners."""

import sys
import types

import numpy as np
import pytest
from support.fields import field_of
from support.graphs import in_pieces, random_labels, random_weights

import fewlabels as fl
from fewlabels.adapters.graphlearning import ACQUISITIONS, LEVEL, FromGraphLearning, covariance
from fewlabels.errors import SettingError
from fewlabels.marginals import harmonic_marginals
from fewlabels.strategies import cost_of, make_strategy


class LeastVariance:
    """An acquisition function as GraphLearning documents them: C, gamma2, compute(u, candidate_ind)."""

    def __init__(self, C, V=None, gamma2=0.01):
        self.C, self.gamma2 = C.copy(), gamma2

    def compute(self, u, candidate_ind):
        assert u.shape[0] == self.C.shape[0]
        return (self.C[:, candidate_ind] ** 2).sum(axis=0) / (self.gamma2 + self.C.diagonal()[candidate_ind])


class Scores:
    """One that needs no covariance."""

    def compute(self, u, candidate_ind):
        return 1 - u[candidate_ind].max(axis=1)


def taught(W, labels, n_classes=3):
    return field_of(fl.Graph(W), n_classes, 0.8).with_answers(labels)


@pytest.fixture
def field():
    rng = np.random.default_rng(0)
    return taught(random_weights(25, rng, 0.1), random_labels(25, 5, 3, rng))


def test_without_noise_the_least_variance_is_ours(field):
    cost = FromGraphLearning(LeastVariance, gamma2=0.0).cost(field)
    ours = cost_of(make_strategy("vopt"), field).values
    np.testing.assert_allclose(cost - cost.min(), ours - ours.min(), rtol=1e-9, atol=1e-9)


def test_scores_are_label_propagation_and_the_most_doubtful_is_asked(field):
    cost = FromGraphLearning(Scores).cost(field)
    np.testing.assert_allclose(cost, harmonic_marginals(field).max(axis=1) - 1)


def test_where_no_label_reaches_the_covariance_is_that_of_a_small_tau():
    rng = np.random.default_rng(1)
    W = in_pieces([8, 5, 1], rng)
    field = taught(W, {})
    L = field.beta * (np.diag(W.sum(axis=1)) - W)
    exact = np.linalg.inv(L + LEVEL * np.eye(len(W)))
    np.testing.assert_allclose(covariance(field), exact[np.ix_(field.unlabelled, field.unlabelled)], rtol=1e-2)


@pytest.mark.parametrize("how_many", [0, 1, 4, 17, 18])
def test_it_works_from_no_label_to_the_last_on_a_graph_in_pieces(how_many):
    rng = np.random.default_rng(how_many)
    field = taught(in_pieces([10, 5, 2, 1], rng), random_labels(18, how_many, 3, rng))
    for acquisition in (LeastVariance, Scores):
        assert cost_of(FromGraphLearning(acquisition), field).values.shape == (18 - how_many,)


def test_wrong_names_and_things_get_a_sentence():
    with pytest.raises(SettingError, match=r"no acquisition function 'varopt'.*Did you mean 'var_opt'"):
        FromGraphLearning("varopt")
    with pytest.raises(SettingError, match="has no compute"):
        FromGraphLearning(dict)


def test_a_missing_graphlearning_is_named_with_the_way_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphlearning", None)
    with pytest.raises(SettingError, match=r"needs GraphLearning.*pip install graphlearning"):
        FromGraphLearning("var_opt")


def test_a_name_is_looked_up_in_graphlearning(monkeypatch, field):
    package, module = types.ModuleType("graphlearning"), types.ModuleType("graphlearning.active_learning")
    module.var_opt = LeastVariance
    package.active_learning = module
    monkeypatch.setitem(sys.modules, "graphlearning", package)
    monkeypatch.setitem(sys.modules, "graphlearning.active_learning", module)
    np.testing.assert_array_equal(
        FromGraphLearning("var_opt").cost(field), FromGraphLearning(LeastVariance).cost(field)
    )


class TestTheRealOne:
    """Against GraphLearning itself, where it is installed; it is compiled on installation."""

    @pytest.fixture(autouse=True)
    def gl(self):
        return pytest.importorskip("graphlearning", reason="GraphLearning is not installed: pip install graphlearning")

    @pytest.mark.parametrize(("theirs", "ours"), [("var_opt", "vopt"), ("sigma_opt", "sopt")])
    def test_without_noise_it_asks_what_ours_ask(self, field, theirs, ours):
        cost, mine = FromGraphLearning(theirs, gamma2=0.0).cost(field), cost_of(make_strategy(ours), field).values
        np.testing.assert_allclose(cost - cost.min(), mine - mine.min(), rtol=1e-9, atol=1e-9)

    def test_its_laplace_model_is_label_propagation(self, gl, field):
        known = np.flatnonzero(field.label >= 0)
        u = gl.ssl.laplace(field.weights, tol=1e-12).fit(known, field.label[known])
        assert set(field.label[known]) == {0, 1, 2}
        np.testing.assert_allclose(u[field.unlabelled], harmonic_marginals(field), atol=1e-6)

    @pytest.mark.parametrize("name", ACQUISITIONS)
    def test_every_acquisition_function_asks_as_in_its_own_active_learner(self, gl, field, name):
        """Its own learner, given the prior covariance and the same scores, gives the same values at every node."""
        known = np.flatnonzero(field.label >= 0)
        cost = np.empty(25)
        cost[field.unlabelled] = FromGraphLearning(name).cost(field)
        model = gl.ssl.laplace(field.weights, tol=1e-12)
        C = np.zeros((25, 25))
        C[np.ix_(field.unlabelled, field.unlabelled)] = field.G
        given = {} if name == "unc_sampling" else {"C": C}
        theirs = gl.active_learning.active_learner(
            model, getattr(gl.active_learning, name), known, field.label[known], **given
        )
        values = theirs.acq_function.compute(theirs.u, np.arange(25))
        np.testing.assert_allclose(-cost[field.unlabelled], values[field.unlabelled], rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("name", ACQUISITIONS)
    def test_it_starts_with_no_label_and_goes_on_with_one_class(self, name):
        graph = fl.Graph(in_pieces([10, 5, 2, 1], np.random.default_rng(0)))
        learner = fl.ActiveLearner(graph, ["a", "b"], FromGraphLearning(name))
        asked = []
        for _ in range(18):
            asked.append(learner.query())
            learner.teach(asked[-1], "a")
        assert sorted(asked) == list(range(18))
