"""Strategies of scikit-activeml asking in our learners."""

import numpy as np
import pytest
from skactiveml.classifier import ParzenWindowClassifier
from skactiveml.pool import CoreSet, Falcun, SubSamplingWrapper, UncertaintySampling
from sklearn.datasets import make_blobs

import fewlabels as fl
from fewlabels.adapters.skactiveml import FromSkactiveml
from fewlabels.adapters.skactiveml.strategies import BINARY, default_model, made, named_first, offered
from fewlabels.errors import SettingError

X, TRUTH = make_blobs(20, n_features=3, centers=2, cluster_std=4.0, random_state=0)
GRAPH = fl.Graph.from_features(X, 5)
SLOW = {"CostEmbeddingAL", "FourDs", "MonteCarloEER", "ValueOfInformationEER"}


@pytest.mark.parametrize("name", offered())
def test_every_strategy_asks_what_its_own_query_names(name):
    query_strategy = made(offered()[name], 2, seed=5)
    learner = fl.ActiveLearner(GRAPH, [0, 1], FromSkactiveml(query_strategy, X))
    y = np.full(20, np.nan)
    asked = 0
    for turn in range(1 if name in SLOW else 3):  # one class is known at first, then two
        learner.teach(asked, int(TRUTH[asked]))
        y[asked] = TRUTH[asked]
        models = FromSkactiveml(query_strategy, X)._models
        [asked] = made(offered()[name], 2, seed=5).query(
            X=X, y=y, **{model: default_model(model, query_strategy, X, 2) for model in models}
        )
        assert learner.query() == asked, turn
        asked = int(asked)


def test_what_is_offered_asks_for_labels_and_stands_alone():
    assert {"UncertaintySampling", "QueryByCommittee", "CoreSet", "Quire", "FourDs", *BINARY} <= set(offered())
    assert not {"GreedySamplingTarget", "SubSamplingWrapper", "ExpectedErrorReduction"} & set(offered())


def test_costs_are_the_negative_utilities():
    clf = ParzenWindowClassifier(classes=[0, 1], random_state=0)
    learner = fl.ActiveLearner(GRAPH, [0, 1], FromSkactiveml(UncertaintySampling(random_state=0), X, clf=clf))
    learner.teach([0, 1, 2, 3], TRUTH[:4])
    y = np.where(np.arange(20) < 4, TRUTH, np.nan)
    p = clf.fit(X, y).predict_proba(X)
    cost = learner.costs()
    assert np.isnan(cost[:4]).all()
    np.testing.assert_allclose(cost[4:], p.max(axis=1)[4:] - 1, atol=1e-8)


def test_a_question_drawn_otherwise_than_by_utility_is_still_the_one_that_is_asked():
    """Falcun draws by chance: the highest utility is not always asked."""
    differs = 0
    for seed in range(5):
        learner = fl.ActiveLearner(GRAPH, [0, 1], FromSkactiveml(Falcun(random_state=seed), X))
        learner.teach([0, 1, 2], TRUTH[:3])
        y = np.where(np.arange(20) < 3, TRUTH, np.nan)
        clf = default_model("clf", None, X, 2)
        [asked], utilities = Falcun(random_state=seed).query(X, y, clf, return_utilities=True)
        assert learner.query() == asked
        differs += asked != np.nanargmax(utilities[0])
    assert differs


def test_the_named_node_comes_first_beyond_a_tie_and_infinities_come_last():
    cost = named_first(np.array([2.0, np.inf, -3.0, -3.0, np.nan]), 3)
    np.testing.assert_allclose(cost, [2, 3, -3, -3, 3], atol=1e-7)
    assert cost.argmin() == 3
    assert fl.strategies.tied(cost, np.arange(5)).tolist() == [3]
    assert named_first(np.array([-np.inf]), 0).tolist() == [1]


def test_skipped_nodes_are_no_candidates():
    learner = fl.ActiveLearner(GRAPH, [0, 1], FromSkactiveml(CoreSet(random_state=0), X))
    learner.teach(0, int(TRUTH[0]))
    farthest = learner.query()
    assert farthest == np.linalg.norm(X - X[0], axis=1).argmax()
    learner.skip(farthest)
    assert learner.query() == np.linalg.norm(X - X[0], axis=1).argsort()[-2]
    for k in range(1, 20):
        if k != farthest:
            learner.skip(k)
    assert np.isnan(learner.costs()).all()


def test_a_batch_has_different_nodes_and_the_labels_stay_as_they_were():
    learner = fl.ActiveLearner(GRAPH, [0, 1], FromSkactiveml(SubSamplingWrapper(CoreSet(), 10, random_state=1), X))
    learner.teach(0, int(TRUTH[0]))
    assert len(set(learner.query(6))) == 6
    assert learner.labelled == {0: TRUTH[0]}


def test_the_same_history_gives_the_same_question_with_no_random_state_too():
    def first(query_strategy):
        return [fl.ActiveLearner(GRAPH, [0, 1], FromSkactiveml(query_strategy, X)).query() for _ in range(4)]

    assert len(set(first(offered()["RandomSampling"]()))) == 1
    given = UncertaintySampling()
    FromSkactiveml(given, X)
    assert given.random_state is None  # the user's own object is left as it was


def test_wrong_arguments_get_a_sentence():
    with pytest.raises(SettingError, match="has no query"):
        FromSkactiveml(UncertaintySampling, X)
    with pytest.raises(SettingError, match="missing_label is -1: make it with NaN"):
        FromSkactiveml(UncertaintySampling(missing_label=-1), X)
    with pytest.raises(SettingError, match="X has 19 rows and the graph 20 nodes"):
        fl.ActiveLearner(GRAPH, [0, 1], FromSkactiveml(CoreSet(), X[1:])).query()
