import networkx as nx
import numpy as np
import pytest
from support.learners import PATH, learner

import fewlabels as fl
from fewlabels.errors import FewlabelsError, LabelError, NodeError, QueryError, SettingError


def test_it_starts_with_no_label():
    ours = learner()
    assert ours.expected_error() == pytest.approx(0.5)
    np.testing.assert_allclose(ours.predict_proba(), 0.5)
    assert ours.query() == 3
    assert ours.unreached == list(range(7))


def test_unreached_components_are_named_and_uniform_not_silently_the_first_class():
    ours = learner(fl.Graph.from_edges([0, 1, 3], [1, 2, 4]))
    ours.teach(0, "b")
    assert ours.predict().tolist() == ["b", "b", "b", "a", "a"]
    np.testing.assert_allclose(ours.predict_proba()[3:], 0.5)
    assert ours.unreached == [3, 4]


@pytest.mark.parametrize(
    "classes",
    [["cat", "dog"], [3, 7], [0.5, 2.0], [True, False], ["x", 3], [("a", 1), ("b", 2)], [2**63 + 1, -1], ["a", "a\0"]],
)
def test_labels_of_any_hashable_type(classes):
    ours = learner(classes=classes)
    ours.teach([0, 6], classes)
    assert [type(label) for label in ours.labelled.values()] == [type(c) for c in classes]
    assert ours.predict().tolist() == [classes[0]] * 4 + [classes[1]] * 3


def test_numpy_labels_and_nodes_are_taken():
    ours = learner(classes=np.array([3, 7]))
    ours.teach(np.array([0, 6]), np.array([3, 7]))
    ours.teach(np.int64(3), np.int64(7))
    assert ours.labelled == {0: 3, 6: 7, 3: 7}


def test_teaching_another_label_is_refused_and_the_same_again_accepted():
    ours = learner()
    ours.teach(0, "a")
    ours.teach(0, "a")
    with pytest.raises(LabelError, match=r"node 0 is labelled 'a' and cannot also be 'b': call forget\(0\) first"):
        ours.teach(0, "b")
    ours.forget(0)
    ours.teach(0, "b")
    assert ours.labelled == {0: "b"}


@pytest.mark.parametrize(
    ("nodes", "labels"), [([1, 2, 9], "aba"), ([1, 2, 3], "abz"), ([1, 2, 1], "abb"), ([1, 2], "a"), ([0, 1, 5], "abb")]
)
def test_of_a_list_with_a_mistake_nothing_is_taken(nodes, labels):
    ours = learner()
    ours.teach(5, "a")
    before = ours.predict_proba()
    with pytest.raises(FewlabelsError):
        ours.teach(nodes, list(labels))
    assert ours.labelled == {5: "a"}
    np.testing.assert_array_equal(ours.predict_proba(), before)


def test_forget_takes_an_answer_or_a_skip_back():
    ours = learner()
    ours.teach([0, 6], ["a", "b"])
    before = ours.predict_proba()
    ours.teach(3, "a")
    ours.skip(2)
    ours.forget(3)
    ours.forget(2)
    np.testing.assert_allclose(ours.predict_proba(), before, atol=1e-12)
    assert ours.skipped == []
    with pytest.raises(LabelError, match="neither an answer nor a skip"):
        ours.forget(3)


def test_a_skipped_node_is_not_asked_but_still_counts():
    ours = learner()
    ours.teach([0, 6], ["a", "b"])
    risk, node = ours.expected_error(), ours.query()
    ours.skip(node)
    assert ours.query() != node
    assert np.isnan(ours.costs()[node])
    assert ours.expected_error() == risk
    ours.teach(node, "a")
    assert ours.skipped == []


def test_a_labelled_node_cannot_be_skipped():
    ours = learner()
    ours.teach(0, "a")
    with pytest.raises(LabelError, match="node 0 is labelled 'a'"):
        ours.skip(0)


def test_a_class_added_midway_equals_one_known_from_the_start():
    late, early = learner(classes=[0, 1]), learner(classes=[0, 1, 2])
    for ours in (late, early):
        ours.teach([0, 6], [0, 1])
    late.add_class(2)
    for ours in (late, early):
        ours.teach(3, 2)
    np.testing.assert_allclose(late.predict_proba(), early.predict_proba(), atol=1e-12)
    np.testing.assert_allclose(late.costs(), early.costs(), atol=1e-12)


def test_the_covariance_of_another_graph_is_refused_as_engine_and_one_of_the_same_serves_many():
    other = learner(fl.Graph.from_edges([0] * 6, range(1, 7)), beta=1.0)
    with pytest.raises(SettingError, match="the covariance of another graph"):
        learner(beta=1.0, engine=other.covariance)
    one = learner(beta=1.0)
    two = learner(beta=1.0, engine=one.covariance)
    two.teach(0, "a")
    assert two.covariance is one.covariance
    assert len(one.unreached) == 7


class TestNames:
    def test_a_named_graph_takes_and_gives_names(self):
        ours = learner(fl.Graph.from_networkx(nx.path_graph("pqrstuv")))
        ours.teach(["p", "v"], ["a", "b"])
        assert ours.query() == "s"
        ours.skip("s")
        assert ours.skipped == ["s"]
        assert ours.labelled == {"p": "a", "v": "b"}

    def test_a_tuple_is_one_name(self):
        ours = learner(fl.Graph.from_networkx(nx.grid_2d_graph(3, 3)))
        ours.teach((0, 0), "a")
        ours.teach([(2, 2), (0, 2)], ["b", "a"])
        assert ours.query() in nx.grid_2d_graph(3, 3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"strategy": "tsaa"}, "there is no strategy 'tsaa'.*Did you mean 'tsa'"),
        ({"strategy": 3}, "strategy is 3"),
        ({"classes": ["a"]}, "there is 1 class"),
        ({"classes": []}, "no classes"),
        ({"classes": "ab"}, "classes is 'ab'"),
        ({"classes": ["a", "a"]}, "'a' is listed twice"),
        ({"classes": ["a", float("nan")]}, "nan cannot be a class"),
        ({"classes": [["a"], "b"]}, r"\['a'\] cannot be a class"),
        ({"beta": 0}, "beta is 0"),
        ({"beta": "strong"}, "beta is 'strong'"),
        ({"beta": float("inf")}, "beta is inf"),
        ({"engine": "gpuu"}, "there is no engine 'gpuu'"),
        ({"engine": None}, "engine is None: choose one of auto, dense"),
        ({"engine": 3, "smoothness": 0, "overlap": 0}, "engine is 3"),
        ({"engine": []}, r"engine is \[\]"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "x"}, "random_state is 'x'"),
    ],
)
def test_settings_that_cannot_be_used_get_a_sentence(options, sentence):
    with pytest.raises(SettingError, match=sentence):
        learner(**options)


def test_every_verb_takes_one_node_or_many():
    for nodes in ([0, 1], np.array([0, 1]), range(2)):
        ours = learner()
        ours.skip(nodes)
        assert ours.skipped == [0, 1]
        ours.forget(nodes)
        assert ours.skipped == []
        ours.teach(nodes, ["a", "b"])
        with pytest.raises(LabelError, match="node 1 is labelled 'b': there is no question to skip"):
            ours.skip([2, 1])
        assert ours.skipped == []  # all of them or none
        ours.skip([])
        ours.skip([3, 3])
        assert ours.skipped == [3]


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda ours: ours.teach(0, "c"), LabelError, r"'c' is not one of the classes 'a', 'b'.*add_class\('c'\)"),
        (lambda ours: ours.teach(99, "a"), NodeError, "there is no node 99: nodes of this graph are 0 to 6"),
        (lambda ours: ours.teach(1.5, "a"), NodeError, "1.5 is not a whole number"),
        (lambda ours: ours.teach([0, 1], "a"), LabelError, "2 nodes and the single label 'a'"),
        (lambda ours: ours.teach([0, 1], ["a"]), LabelError, "2 nodes and 1 labels"),
        (lambda ours: ours.teach([0, 1], {"a", "b"}), LabelError, "give a list of labels"),
        (lambda ours: ours.add_class("a"), SettingError, "'a' is listed twice"),
        (lambda ours: ours.query(0), QueryError, "at least 1"),
        (lambda ours: ours.query(1.5), QueryError, "whole number"),
    ],
)
def test_mistakes_get_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(learner())


def test_with_nothing_left_to_ask_there_is_a_sentence():
    ours = learner()
    ours.teach(list(range(7)), list("abababa"))
    with pytest.raises(QueryError, match=r"1 question\(s\) wanted and 0 node\(s\) left: 7 are labelled"):
        ours.query()
    assert ours.predict().tolist() == list("abababa")


def test_one_node_and_no_edges():
    ours = learner(fl.Graph([[0]]))
    assert ours.query() == 0
    ours.teach(0, "b")
    assert ours.predict().tolist() == ["b"]


def test_forget_takes_a_list_all_of_it_or_nothing():
    ours = learner()
    ours.teach([0, 6, 3], ["a", "b", "a"])
    ours.skip(2)
    with pytest.raises(LabelError, match="node 5 has neither an answer nor a skip"):
        ours.forget([0, 5])
    assert list(ours.labelled) == [0, 6, 3]
    ours.forget([0, 3, 2])
    assert (ours.labelled, ours.skipped) == ({6: "b"}, [])


def test_a_graph_is_hashed_when_the_learner_is_saved_and_not_before(tmp_path, monkeypatch):
    hashed = []
    fingerprint = fl.Graph.fingerprint
    monkeypatch.setattr(fl.Graph, "fingerprint", lambda graph: hashed.append(graph) or fingerprint(graph))
    learner = fl.ActiveLearner(PATH, ["a", "b"])
    learner.teach(0, "a")
    learner.query()
    assert not hashed
    learner.save(tmp_path / "journal.jsonl")
    assert hashed == [PATH]
