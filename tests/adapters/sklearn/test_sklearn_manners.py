"""HarmonicClassifier: its manners with labels, settings and scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.points import ENDS, LINE, blobs

import fewlabels as fl
from fewlabels.errors import GraphError, LabelError, MemoryNeededError, SettingError
from fewlabels.machine import memory


def test_all_labelled_points_are_predicted_as_labelled():
    X, y, _ = blobs()
    ours = fl.HarmonicClassifier().fit(X, y)
    assert ours.expected_error_ == 0
    assert (ours.transduction_ == y).all()
    assert (ours.predict(X) == y).all()


@pytest.mark.parametrize("y", [["x", None, None, None, "y"], pd.Series(["x", None, None, None, "y"], dtype="string")])
def test_classes_may_be_text(y):
    ours = fl.HarmonicClassifier(n_neighbors=1).fit(LINE, y)
    assert ours.classes_.tolist() == ["x", "y"]
    assert ours.predict([[0.2], [3.9]]).tolist() == ["x", "y"]


@pytest.mark.parametrize(
    "y",
    [
        [0.0, np.nan, np.nan, np.nan, 1.0],
        [0.0, -1.0, np.nan, np.nan, 1.0],
        pd.Series([0, pd.NA, pd.NA, -1, 1], dtype="Int64"),
        np.array([0, None, -1, None, 1], dtype=object),
    ],
)
def test_nan_none_and_na_are_missing_beside_the_missing_label(y):
    ours = fl.HarmonicClassifier(n_neighbors=1).fit(LINE, y)
    assert ours.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(ours.label_distributions_[:, 1], [0, 0.25, 0.5, 0.75, 1])


def test_minus_one_is_a_class_where_another_label_is_missing():
    ours = fl.HarmonicClassifier(n_neighbors=1, missing_label=None).fit(LINE, [-1, np.nan, np.nan, np.nan, 1])
    assert ours.transduction_.tolist() == [-1, -1, -1, 1, 1]


def test_classes_fix_the_columns_and_may_be_more_than_y_has():
    ours = fl.HarmonicClassifier(n_neighbors=1, classes=["y", "z", "x"]).fit(LINE, ["x", None, None, None, "y"])
    assert ours.classes_.tolist() == ["y", "z", "x"]
    np.testing.assert_allclose(ours.label_distributions_[1], [0.25, 0, 0.75], atol=1e-15)
    assert ours.active_learner().classes == ["y", "z", "x"]


def test_one_class_alone_is_predicted_with_a_warning_if_there_are_missing_labels():
    with pytest.warns(UserWarning, match="the only class in y is"):
        ours = fl.HarmonicClassifier(n_neighbors=1).fit(LINE, [1, -1, -1, -1, 1])
    assert ours.predict([[0.5]]).tolist() == [1]
    assert ours.expected_error_ == 0
    assert fl.HarmonicClassifier(n_neighbors=1).fit(LINE, [1] * 5).predict([[0.5]]).tolist() == [1]


@pytest.mark.parametrize(
    ("settings", "y", "error", "sentence"),
    [
        ({}, [-1] * 5, LabelError, "none of the 5 points has a label"),
        ({}, [np.nan] * 5, LabelError, "none of the 5 points has a label"),
        ({}, [0, np.inf, 1, 1, 1], LabelError, "y holds inf"),
        ({}, np.array(["cat", -1, "dog", -1, -1]), LabelError, "y holds the text '-1'"),
        ({}, np.array(["cat", 3, None, None, None], dtype=object), LabelError, "y holds both 'cat' and 3"),
        ({"classes": ["cat", "dog"]}, ["cat", "dgo", "cat", "cat", "dog"], LabelError, "Did you mean 'dog'"),
        ({"classes": [-1, 1]}, ENDS, SettingError, "also one of the classes"),
        ({"affinity": "kNN"}, ENDS, SettingError, "affinity is 'kNN'"),
        ({"affinity": "rbf", "gamma": 0}, ENDS, SettingError, "gamma is 0"),
        ({"unreached": "drop"}, ENDS, SettingError, "unreached is 'drop'"),
        ({"class_prior": "uniform"}, ENDS, SettingError, "class_prior is 'uniform'"),
        ({"class_prior": [0.5, 0.3]}, ENDS, SettingError, "sum to 1"),
        ({"class_prior": [0, 1]}, ENDS, SettingError, "above 0"),
        ({"class_prior": [0.5, 0.3, 0.2]}, ENDS, SettingError, r"shape \(3,\) for 2 classes"),
        ({"n_neighbors": 5}, ENDS, GraphError, "from 1 to 4"),
        ({"affinity": "rbf", "n_neighbors": 0}, ENDS, SettingError, "n_neighbors is 0"),
        ({"beta": 0}, ENDS, SettingError, "beta is 0"),
        ({"engine": "quick"}, ENDS, SettingError, "no engine 'quick'"),
        ({"affinity": "precomputed"}, ENDS, GraphError, r"shape \(5, 1\)"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(settings, y, error, sentence):
    with pytest.raises(error, match=sentence):
        fl.HarmonicClassifier(**{"n_neighbors": 1} | settings).fit(LINE, y)


def test_negative_affinities_are_refused_for_old_and_new_points():
    given = fl.HarmonicClassifier("precomputed")
    with pytest.raises(GraphError, match=r"X\[0, 1\] is -1"):
        given.fit([[0, -1], [-1, 0]], [0, 1])
    with pytest.raises(GraphError, match=r"X\[0, 1\] is -2"):
        given.fit([[0, 1], [1, 0]], [0, 1]).predict([[1, -2]])


def test_rbf_of_too_many_points_is_refused_before_memory_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(MemoryNeededError, match='Use affinity="knn"'):
        fl.HarmonicClassifier("rbf").fit(LINE, ENDS)


def test_score_counts_known_labels_only():
    ours = fl.HarmonicClassifier(n_neighbors=1).fit(LINE, ENDS)
    assert ours.score(LINE, [0, 1, -1, 1, -1]) == pytest.approx(2 / 3)
    assert ours.score(LINE, [0, 1, -1, 1, -1], sample_weight=[1, 5, 9, 1, 9]) == pytest.approx(2 / 7)
    with pytest.raises(LabelError, match="none of the 2 points to score"):
        ours.score(LINE[:2], [-1, -1])


def test_grid_search_in_a_pipeline_finds_the_neighbours_that_generalise():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    hidden = np.where(np.arange(200) % 3, -1, y)
    pipeline = make_pipeline(StandardScaler(), fl.HarmonicClassifier())
    search = GridSearchCV(pipeline, {"harmonicclassifier__n_neighbors": [3, 60]}, cv=KFold(3)).fit(X, hidden)
    assert search.best_params_ == {"harmonicclassifier__n_neighbors": 3}
    held_out = hidden < 0
    assert (search.best_estimator_[-1].transduction_ == y)[held_out].mean() > 0.8
    best = clone(search.best_estimator_).fit(X, hidden)
    assert (best.predict(X) == search.predict(X)).all()


def test_cross_validation_cuts_precomputed_affinities_both_ways():
    X, y, _ = blobs()
    K = rbf_kernel(X, gamma=0.1)
    given = cross_val_score(fl.HarmonicClassifier("precomputed"), K, y, cv=3)
    np.testing.assert_allclose(given, cross_val_score(fl.HarmonicClassifier("rbf", gamma=0.1), X, y, cv=3))


def test_parameters_are_kept_set_and_cloned():
    ours = fl.HarmonicClassifier("rbf", 3, gamma=0.5, classes=["b", "a"], unreached="missing", class_prior=[0.5, 0.5])
    assert clone(ours).get_params() == ours.get_params()
    assert ours.set_params(n_neighbors=4, engine="sparse").get_params()["n_neighbors"] == 4


def test_a_fitted_one_comes_back_from_a_pickle():
    X, _, y = blobs()
    ours = fl.HarmonicClassifier(class_prior="labels").fit(X, y)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict_proba(X + 0.1), ours.predict_proba(X + 0.1))
    assert again.active_learner().query() == ours.active_learner().query()
