"""What a model already thinks, from files to the learner."""

import json

import numpy as np
import pandas as pd
import pytest
from support.items import words
from support.keys import fresh_key

import fewlabels as fl
from fewlabels.errors import FileError
from fewlabels.experiments.datasets import Dataset
from fewlabels.experiments.user_data import model_of
from fewlabels.files.predictions import ModelPredictions, of_labels, read_predictions
from fewlabels.items.model import with_model
from fewlabels.labelstudio import read_task_items, read_tasks
from fewlabels.learner.prior import chances_of_model
from fewlabels.learner.report import write_predictions
from fewlabels.session import Session


def written(tmp_path, text):
    (tmp_path / "p.csv").write_text(text)
    return tmp_path / "p.csv"


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("node,cat,dog\na,0.9,0.1\nb,,\nc,0.2,0.8\n", []),
        ("id,p_cat,p_dog,size\na,0.9,0.1,3\nc,0.2,0.8,3\n", []),
        ("name,dog,cat,size\nc,0.8,0.2,1\na,0.1,0.9,1\n", ["cat", "dog"]),
        ("node,label,confidence\na,cat,0.9\nb,,0.3\nc,dog,0.8\n", []),
    ],
)
def test_a_column_for_every_class_or_a_label_with_a_confidence(tmp_path, text, classes):
    found = read_predictions(written(tmp_path, text), classes)
    chances = chances_of_model(found, ["a", "b", "c"], ["cat", "dog"])
    np.testing.assert_allclose(chances, [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])


def test_classes_the_model_does_not_know_get_an_equal_share_and_others_none():
    found = ModelPredictions(["a", "b"], ["cat", "wolf", "dog"], np.array([[0.6, 0.2, 0.2], [0, 1, 0]]))
    chances = chances_of_model(found, ["a", "b", 7], ["dog", "owl", "cat", None])
    np.testing.assert_allclose(chances, [[0.125, 0.25, 0.375, 0.25], [0.25] * 4, [0.25] * 4])
    unsure = of_labels(["a"], ["cat"], [0.7], ["cat", "dog", "owl"])
    np.testing.assert_allclose(unsure.chances, [[0.7, 0.15, 0.15]])
    assert unsure.labels == ["cat"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cat,dog\n1,0\n", "no column that names the nodes: call it node. Its columns are cat, dog"),
        ("node,size\na,1\n", "holds no predictions: give a column for every class, or columns label and confidence"),
        ("node,cat,dog\na,0.9,0.3\n", "row 1: the chances of cat, dog add up to 1.2, and must add up to 1"),
        ("node,cat,dog\na,0.9,0.1\nb,x,0.3\n", "row 2: cat is 'x', not a chance"),
        ("node,label,confidence\na,cat,7\n", "row 1: confidence is '7', not a chance"),
        ("node,label\na,cat\na,dog\n", "two predictions for 'a': keep one"),
    ],
)
def test_tables_that_hold_no_predictions_are_refused_in_a_sentence(tmp_path, text, sentence):
    with pytest.raises(FileError, match=sentence):
        read_predictions(written(tmp_path, text))


def test_chances_of_two_digits_need_not_add_up_to_one_exactly(tmp_path):
    found = read_predictions(written(tmp_path, "id,node,a,b,c\n0,x,.33,.33,.33\n1,y,.67,.17,.17\n"))
    np.testing.assert_allclose(found.chances, [[1 / 3] * 3, np.array([67, 17, 17]) / 101])


def test_what_suggest_wrote_last_year_can_be_read(tmp_path):
    learner = fl.ActiveLearner(fl.Graph.from_edges(range(6), range(1, 7)), ["cat", "dog"])
    learner.teach([0, 6], ["cat", "dog"])
    write_predictions(tmp_path / "p.csv", learner)
    found = read_predictions(tmp_path / "p.csv")
    np.testing.assert_allclose(chances_of_model(found, range(7), ["cat", "dog"]), learner.predict_proba(), atol=1e-3)
    dataset = Dataset("d", learner.graph, np.zeros(7, dtype=int), ("cat", "dog"))
    told = []
    np.testing.assert_allclose(model_of(dataset, tmp_path / "p.csv", told.append), learner.predict_proba(), atol=1e-3)
    assert told == ["A model's predictions for 7 of 7 nodes"]


def test_the_page_asks_and_predicts_as_a_learner_with_that_prior(tmp_path):
    """Classes come later and in another order than the model has them; it is understood by their names."""
    plain = words(classes=())
    rng = np.random.default_rng(1)
    P = rng.dirichlet([0.5, 0.5, 0.5], len(plain.names))
    found = ModelPredictions(plain.names, ["eel", "cat", "dog"], P)
    told = []
    items = with_model(words(classes=("dog",)), found, "model.csv", told.append)
    assert items.model_labels == found.labels
    assert told[0] == "A model's predictions for 40 of 40 items"
    assert "also names 'eel'" in told[1]
    assert list(with_model(plain, found, "", told.append).classes) == ["eel", "cat", "dog"]
    session = Session(items, tmp_path / "s.sqlite")
    try:
        session.add_class("ann", "cat", fresh_key())
        session.add_class("ann", "eel", fresh_key())
        for step, label in enumerate(["dog", "cat", "eel", "cat"]):
            session.answer("ann", step * 9, label, fresh_key())
        session.settle()
        learner = fl.ActiveLearner(plain.graph, range(3), prior=P[:, [2, 1, 0]])
        learner.teach([0, 9, 18, 27], [0, 1, 2, 1])
        np.testing.assert_allclose(session.snapshot().predictions.chance, learner.predict_proba(), atol=1e-6)
        assert session.question("ann").item == learner.query()
    finally:
        session.close()
    with pytest.raises(FileError, match="none of the predictions is about an item, such as 'word 0'"):
        with_model(plain, of_labels(["x"], ["cat"], [0.9], []), "model.csv", told.append)


def test_predictions_of_label_studios_tasks_are_taken_but_not_our_own(tmp_path):
    def prediction(label, **more):
        value = {"choices": label if isinstance(label, list) else [label]}
        return {"result": [{"type": "choices", "from_name": "kind", "to_name": "text", "value": value}], **more}

    said = [
        [prediction("cat", score=0.7), prediction("dog", score=0.8)],
        [prediction("cat", model_version="fewlabels-12", score=1.0)],
        [prediction("dog")],
        [prediction(["cat", "dog"])],
        None,
    ]
    tasks = [{"id": k, "data": {"text": f"some words {k % 2}"}, "predictions": each} for k, each in enumerate(said)]
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    items = read_task_items(read_tasks(tmp_path / "t.json"), classes=["cat", "dog"])
    assert items.model_labels == ["dog", None, "dog", None, None]
    chances = chances_of_model(items.model, items.names, ["cat", "dog"])
    np.testing.assert_allclose(chances[:, 1], [0.8, 0.5, 0.9, 0.5, 0.5])


def test_the_classifier_takes_them():
    from fewlabels.adapters.sklearn import HarmonicClassifier

    X = np.arange(12.0)[:, None]
    y = np.array([0] + [-1] * 11)
    prior = np.where(np.arange(12)[:, None] // 6 == np.arange(2), 0.9, 0.1)
    settings = {"n_neighbors": 2, "classes": [0, 1], "centred": True}
    plain = HarmonicClassifier(**settings).fit(X, y)
    assert plain.transduction_.tolist() == [0] * 12
    helped = HarmonicClassifier(**settings, prior=prior).fit(X, y)
    assert helped.transduction_.tolist() == [0] * 6 + [1] * 6
    frame = pd.DataFrame(prior, columns=[0, 1])
    assert (helped.active_learner().predict() == helped.transduction_).all()
    assert HarmonicClassifier(**settings, prior=frame).fit(X, y).transduction_[-1] == 1
