"""teach(..., confidence=...), answers, doubtful: what a person sees of answers that may be wrong."""

import json
import math

import numpy as np
import oracle
import pytest
from support.graphs import in_pieces
from support.learners import PATH, learner

import fewlabels as fl
from fewlabels.errors import FewlabelsError, LabelError, QueryError
from fewlabels.learner.answers import odds_of, weight_of
from fewlabels.learner.suspects import chances_without


@pytest.mark.parametrize("C", [2, 3, 10])
@pytest.mark.parametrize("confidence", [0.51, 0.9, 0.999999])
def test_an_answer_by_itself_has_exactly_its_confidence(C, confidence):
    ours = learner(fl.Graph([[0]]), list(range(C)))
    ours.teach(0, 1, confidence)
    assert ours.predict_proba()[0, 1] == pytest.approx(confidence, rel=1e-9)
    np.testing.assert_allclose(np.delete(ours.predict_proba()[0], 1), (1 - confidence) / (C - 1), rtol=1e-6)


def test_several_answers_to_one_node_multiply_their_odds():
    ours = learner(fl.Graph([[0]]))
    ours.teach(0, "a", 0.9)
    ours.teach(0, "a", 0.8)
    assert ours.predict_proba()[0, 0] == pytest.approx(36 / 37)  # 9 : 1 times 4 : 1
    ours.teach(0, "b", 0.9)
    assert ours.predict_proba()[0, 0] == pytest.approx(4 / 5)


def test_a_contradicted_answer_loses_and_a_sure_one_does_not():
    """Node 3 of seven is said to be b; the nodes beside it are surely a."""
    ours, sure = learner(), learner()
    for each in (ours, sure):
        each.teach([2, 4], ["a", "a"])
    ours.teach(3, "b", confidence=0.9)
    sure.teach(3, "b")
    assert ours.predict()[3] == "a"
    assert ours.predict_proba()[3, 0] > 0.5
    assert sure.predict()[3] == "b"


def test_confidence_one_is_a_label_whichever_way_it_is_given():
    by_default, said, listed = learner(), learner(), learner()
    by_default.teach([0, 6], ["a", "b"])
    said.teach([0, 6], ["a", "b"], confidence=1)
    listed.teach([0, 6], ["a", "b"], confidence=np.array([1.0, 1.0]))
    for other in (said, listed):
        assert other.labelled == by_default.labelled == {0: "a", 6: "b"}
        np.testing.assert_array_equal(other.predict_proba(), by_default.predict_proba())


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(4))
def test_a_confidence_of_nearly_one_is_a_label_in_a_centred_field_too(seed, engine):
    rng, path = np.random.default_rng(seed), np.diag(np.ones(27), 1)
    nodes = rng.choice(28, 14, replace=False)
    names = np.where((nodes >= 14) == (rng.random(14) < 0.9), "b", "a")
    sure, nearly = (learner(fl.Graph(path + path.T), engine=engine, centred=True) for _ in range(2))
    sure.teach(nodes, names)
    nearly.teach(nodes, names, 0.999999999999)
    np.testing.assert_array_equal(nearly.predict(), sure.predict())
    np.testing.assert_allclose(nearly.predict_proba(), sure.predict_proba(), atol=1e-8)


@pytest.mark.parametrize("confidence", [0.8, 0.99, 1.0])
def test_one_answer_between_others_that_agree_says_nothing_of_the_nodes_beyond(confidence):
    ours = learner(fl.Graph.from_edges(range(20), range(1, 21)), ["cat", "dog"])
    ours.teach([0, 4, 9, 11, 20], ["cat"] * 5)
    ours.teach(10, "dog", confidence)
    beyond = np.setdiff1d(np.arange(21), 10)
    assert (ours.predict_proba()[beyond, 0] > 0.8).all()
    assert ours.predict()[10] == ("dog" if confidence == 1 else "cat")


def test_labelled_has_the_sure_answers_and_answers_all_of_them_in_order():
    ours = learner()
    ours.teach([0, 6, 0], ["a", "b", "b"], confidence=[0.8, 1.0, 0.7])
    assert ours.labelled == {6: "b"}
    assert [(a.node, a.label, a.confidence) for a in ours.answers] == [(0, "a", 0.8), (6, "b", 1.0), (0, "b", 0.7)]


@pytest.mark.parametrize("strategy", fl.STRATEGIES)
@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_query_asks_about_every_node_once(strategy, engine):
    graph = fl.Graph(in_pieces([8, 3, 1], np.random.default_rng(0)))
    ours = learner(graph, strategy=strategy, engine=engine)
    asked = []
    for step in range(12):
        if step == 6:
            assert not set(ours.query(6)) & set(asked)
        asked.append(ours.query())
        ours.teach(asked[-1], "ab"[step % 2], confidence=[0.6, 0.95, 1.0][step % 3])
    assert sorted(asked) == list(range(12))
    assert np.isnan(ours.costs()).all()
    assert ours.expected_error() > 0
    with pytest.raises(QueryError, match="12 are labelled"):
        ours.query()


def test_a_batch_leaves_unsure_answers_as_they_were():
    ours = learner(fl.Graph(in_pieces([20, 6], np.random.default_rng(2))))
    ours.teach([3, 4, 9, 3], ["a", "b", "a", "b"], confidence=[0.9, 0.7, 1.0, 0.8])
    before = ours.predict_proba()
    ours.query(15)
    np.testing.assert_allclose(ours.predict_proba(), before, atol=1e-10)


@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_forget_takes_all_answers_to_a_node_back(engine):
    graph = fl.Graph(in_pieces([9, 4], np.random.default_rng(1)))
    ours, never = learner(graph, engine=engine), learner(graph, engine=engine)
    for each in (ours, never):
        each.teach(5, "a", 0.8)
    ours.teach([0, 0, 1, 1], ["a", "b", "b", "b"], confidence=[0.9, 0.7, 0.9, 1.0])
    ours.skip(2)
    ours.forget([0, 1, 2])
    np.testing.assert_allclose(ours.predict_proba(), never.predict_proba(), atol=1e-7)
    assert (ours.answers, ours.skipped) == (never.answers, [])
    ours.forget(5)
    assert ours.unreached == list(range(13))
    with pytest.raises(LabelError, match="neither an answer nor a skip"):
        ours.forget(0)


def test_a_sure_answer_settles_what_unsure_ones_said_before():
    ours, plain = learner(), learner()
    ours.teach(3, "a", 0.9)
    for each in (ours, plain):
        each.teach(3, "b")
    np.testing.assert_allclose(ours.predict_proba(), plain.predict_proba(), atol=1e-12)
    ours.teach(3, "b", 0.7)  # known already
    assert len(ours.answers) == 2
    with pytest.raises(LabelError, match=r"node 3 is labelled 'b' and cannot also be 'a': call forget\(3\)"):
        ours.teach(3, "a", 0.7)
    with pytest.raises(LabelError, match="node 3 is labelled 'b': there is no question to skip"):
        ours.skip(3)


def test_an_unsure_answer_can_be_given_to_a_skipped_node_but_not_skipped():
    ours = learner()
    ours.skip(3)
    ours.teach(3, "a", 0.9)
    assert ours.skipped == []
    with pytest.raises(LabelError, match="node 3 is answered: there is no question to skip"):
        ours.skip(3)


def test_a_new_class_leaves_the_odds_against_every_other_as_they_were():
    """9 to 1 against the only other class then: 9 to 1 against each of two now."""
    ours = learner(fl.Graph([[0]]))
    ours.teach(0, "a", 0.9)
    ours.add_class("c")
    np.testing.assert_allclose(ours.predict_proba()[0], [9 / 11, 1 / 11, 1 / 11])
    ours.teach(0, "c", 0.9)  # 18 to 1 against each, with three classes: c is twice as likely as a
    p = np.array([1 / 3, 1 / (1 + 9 * 18), 2 / 3])  # and b, against which both speak, has 162 to 1 against it
    np.testing.assert_allclose(ours.predict_proba()[0], p / p.sum())


def test_outcomes_and_prepared_answers_are_those_of_a_sure_answer_beside_unsure_ones():
    graph = fl.Graph(in_pieces([12, 5], np.random.default_rng(3)))
    ours = learner(graph, list("abc"), centred=False)
    ours.teach([0, 5, 9], ["a", "b", "a"], confidence=[0.9, 0.8, 1.0])
    for node in (0, 3, 16):
        for outcome in ours.outcomes(node):
            after = learner(graph, list("abc"), centred=False)
            after.teach([0, 5, 9], ["a", "b", "a"], confidence=[0.9, 0.8, 1.0])
            after.teach(node, outcome.label)
            assert outcome.expected_error == pytest.approx(after.expected_error(), abs=1e-12)
    ours.prepare(3, "a")
    plain = learner(graph, list("abc"), centred=False)
    plain.teach([0, 5, 9], ["a", "b", "a"], confidence=[0.9, 0.8, 1.0])
    for each in (ours, plain):
        each.teach(3, "a", 0.7)  # not the sure answer that was prepared
    np.testing.assert_allclose(ours.costs(), plain.costs(), atol=1e-12)


class TestJournal:
    def test_confidence_is_saved_and_replayed(self, tmp_path):
        ours = learner(fl.Graph(in_pieces([15, 6, 1], np.random.default_rng(0))), random_state=7)
        for step in range(8):
            ours.teach(ours.query(), "ab"[step % 2], [0.9, 1.0, 0.7][step % 3])
        ours.add_class("c")
        ours.teach(ours.answers[0].node, "c", 0.6)
        ours.forget(ours.answers[2].node)
        ours.save(tmp_path / "log.jsonl")
        again = fl.ActiveLearner.load(tmp_path / "log.jsonl", ours.graph)
        assert again.answers == ours.answers
        np.testing.assert_allclose(again.predict_proba(), ours.predict_proba(), atol=1e-12)
        assert again.query() == ours.query()

    def test_a_journal_of_sure_answers_says_nothing_of_confidence(self, tmp_path):
        ours = learner()
        ours.teach([0, 6], ["a", "b"], confidence=1.0)
        ours.save(tmp_path / "log.jsonl")
        lines = (tmp_path / "log.jsonl").read_text().splitlines()[1:]
        assert lines == ['{"do": "teach", "node": 0, "label": "a"}', '{"do": "teach", "node": 6, "label": "b"}']

    def test_a_confidence_that_makes_no_sense_is_refused(self, tmp_path):
        path = tmp_path / "log.jsonl"
        learner().save(path)
        record = {"do": "teach", "node": 0, "label": "a", "confidence": "high"}
        path.write_text(path.read_text() + json.dumps(record) + "\n")
        with pytest.raises(FewlabelsError, match="confidence is 'high'"):
            fl.ActiveLearner.load(path, PATH)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, "a", 0.5), "confidence is 0.5 with 2 classes, no better than guessing"),
        ((0, "a", 0.2), "no better than guessing"),
        ((0, "a", -1), "no better than guessing"),
        ((0, "a", 1.1), r"confidence is 1\.1: give a number above 1/2 and up to 1"),
        ((0, "a", math.nan), "confidence is nan"),
        ((0, "a", "sure"), "confidence is 'sure'"),
        ((0, "a", True), "confidence is True"),
        ((0, "a", None), "confidence is None"),
        (([0, 1], ["a", "b"], [0.9]), "2 nodes and 1 confidences: give one confidence for every node"),
        (([0, 1], ["a", "b"], [0.9, 0.3]), r"confidence is 0\.3"),
    ],
)
def test_a_confidence_that_cannot_be_is_refused_and_nothing_is_taken(arguments, sentence):
    ours = learner()
    with pytest.raises(LabelError, match=sentence):
        ours.teach(*arguments)
    assert ours.answers == []
    assert ours.unreached == list(range(7))


def test_a_tie_too_weak_beside_the_graph_is_refused():
    n = 4_000
    path = fl.Graph.from_edges(range(n - 1), range(1, n), [1e9, *[1.0] * (n - 2)])  # the mean is far below the heaviest
    ours = learner(path, beta=1.0, engine="sparse")
    with pytest.raises(LabelError, match=r"confidence 0\.500002 weighs .* beside edges of up to 1e\+09"):
        ours.teach(0, "a", 0.500002)
    ours.teach(0, "a", 0.51)


def refitted(graph, C, said, left_out):
    """TSA marginals at the node of one answer by the definitions, on a graph without it: every unsure answer is a node
    of its own.
    """
    others = [each for row, each in enumerate(said) if row != left_out]
    n = graph.n_nodes
    degree = graph.degrees()
    strength = degree[degree > 0].mean() if degree.any() else 1.0
    here = said[left_out][0]  # at the node itself, other answers count by their odds
    ties = [
        (node, label, odds_of(p, C) / 2 if node == here else weight_of(p, C, strength))
        for node, label, p in others
        if p < 1
    ]
    W = np.zeros((n + len(ties), n + len(ties)))
    W[:n, :n] = graph.weights.toarray()
    labels = {node: label for node, label, p in others if p == 1}
    for d, (node, label, weight) in enumerate(ties, start=n):
        W[node, d] = W[d, node] = weight
        labels[d] = label
    component = fl.Graph(W).components()
    node = said[left_out][0]
    if component[node] not in {component[k] for k in labels}:
        return None
    if node in labels:
        return np.eye(C)[labels[node]]
    L = oracle.laplacian(W) + oracle.EPS * np.diag(~np.isin(component, component[list(labels)]))
    u, _ = oracle.split(len(L), labels)
    return oracle.two_step(L, labels, C)[u.index(node)]


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize(("sizes", "C", "many"), [([1], 2, 2), ([7], 2, 4), ([9, 4, 2, 1], 3, 12), ([6, 6, 1], 5, 40)])
def test_suspects_are_what_refitting_without_each_answer_says(sizes, C, many, engine):
    rng = np.random.default_rng(many)
    graph = fl.Graph(in_pieces(sizes, rng))
    ours = learner(graph, list(range(C)), beta=1.0, engine=engine)
    said = []
    for _ in range(many):
        node, label = int(rng.integers(graph.n_nodes)), int(rng.integers(C))
        p = float(rng.choice([1.0, rng.uniform(1 / C + 0.01, 0.99)]))
        if node not in ours.labelled:
            ours.teach(node, label, p)
            said.append((node, label, p))
    before = ours.predict_proba()
    expected = [refitted(graph, C, said, row) for row in range(len(said))]
    found = chances_without(ours._field, ours._answers.given, graph.components())
    for each, truth in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, np.full(C, np.nan) if truth is None else truth, atol=1e-7)
    against = {row: p[said[row][1]] for row, p in enumerate(expected) if p is not None and p.argmax() != said[row][1]}
    suspects = ours.doubtful()
    assert [d.chance for d in suspects] == pytest.approx(sorted(against.values()), abs=1e-7)
    assert sorted((d.node, d.label, d.confidence) for d in suspects) == sorted(said[row] for row in against)
    assert ours.doubtful(2) == suspects[:2]
    np.testing.assert_array_equal(ours.predict_proba(), before)


def test_doubts_equal_forgetting_when_labels_alone_are_there():
    graph = fl.Graph(in_pieces([14, 6], np.random.default_rng(4)))
    ours = learner(graph, list("abc"), centred=False)
    labels = dict(zip([0, 3, 5, 8, 12, 15, 17], "abcabca", strict=True))
    ours.teach(list(labels), list(labels.values()))
    for doubt in ours.doubtful():
        ours.forget(doubt.node)
        p = ours.predict_proba()[doubt.node]
        assert doubt.chance == pytest.approx(p["abc".index(doubt.label)], abs=1e-10)
        assert doubt.instead == "abc"[p.argmax()]
        ours.teach(doubt.node, doubt.label)


def test_the_one_wrong_answer_of_a_path_is_the_first_doubt():
    ours = learner(fl.Graph.from_edges(range(19), range(1, 20)))
    ours.teach(range(0, 20, 2), ["a"] * 5 + ["b"] + ["a"] * 4)
    first, *_ = ours.doubtful()
    assert (first.node, first.label, first.instead) == (10, "b", "a")
    assert first.chance < 0.1
    assert len(ours.doubtful()) == 1


def test_answers_that_no_other_reaches_are_not_doubted():
    ours = learner(fl.Graph.from_edges([0, 2], [1, 3]))
    assert ours.doubtful() == []
    ours.teach([0, 2], ["a", "b"])
    assert ours.doubtful() == []
    with pytest.raises(QueryError, match="doubtful"):
        ours.doubtful(-1)
