import networkx as nx
import numpy as np
import pytest
from support.graphs import in_pieces, random_weights
from support.learners import PATH, learner

import fewlabels as fl
from fewlabels.errors import FewlabelsError, LabelError, NodeError, QueryError, SettingError
from fewlabels.field import dense, make_field
from fewlabels.field.dense import DenseField
from fewlabels.kernels import reference
from fewlabels.strategies.tsa import TSA


def ask_and_answer(learner, how_many, rule=lambda node: node % 2):
    asked = []
    for _ in range(how_many):
        node = learner.query()
        learner.teach(node, learner.classes[rule(node)])
        asked.append(node)
    return asked


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


def test_costs_are_at_their_nodes_and_the_lowest_is_asked():
    ours = learner(fl.Graph(random_weights(20, np.random.default_rng(0))), centred=False)
    ours.teach([3, 8], ["a", "b"])
    cost = ours.costs()
    assert np.flatnonzero(np.isnan(cost)).tolist() == [3, 8]
    assert ours.query() == np.nanargmin(cost)
    assert ours.gains()[ours.query()] == pytest.approx(ours.expected_error() - np.nanmin(cost))


@pytest.mark.parametrize("strategy", fl.STRATEGIES)
def test_every_strategy_asks_every_node_once(strategy):
    graph = fl.Graph(in_pieces([8, 4, 1], np.random.default_rng(0)))
    ours = learner(graph, strategy=strategy)
    assert sorted(ask_and_answer(ours, 13)) == list(range(13))
    assert ours.expected_error() == 0


def test_the_same_seed_gives_the_same_questions_and_another_seed_others():
    runs = [ask_and_answer(learner(strategy="random", random_state=seed), 7) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_asking_twice_without_an_answer_gives_the_same_question():
    ours = learner(strategy="random")
    assert len({ours.query() for _ in range(5)}) == 1


def test_a_generator_or_none_may_be_the_seed():
    rng = np.random.default_rng(5)
    a, b = (ask_and_answer(learner(strategy="random", random_state=r), 5) for r in (rng, np.random.default_rng(5)))
    assert a == b
    learner(random_state=None).query()


def test_ties_are_drawn_uniformly():
    draws = [learner(strategy="random", random_state=seed).query() for seed in range(350)]
    counts = np.bincount(draws, minlength=7)
    assert ((counts - 50) ** 2 / 50).sum() < 22.5  # chi-squared, 6 degrees of freedom: exceeded once in 1000


def test_ties_do_not_depend_on_engine_or_storage_order(monkeypatch):
    square = fl.Graph.from_edges([0, 1, 2, 3, 0, 4], [1, 2, 3, 0, 4, 5])
    shuffled = learner(square, random_state=3)
    shuffled.teach([5, 1, 3], ["a", "b", "a"])
    for node in (5, 1, 3):
        shuffled.forget(node)
    assert shuffled._field.unlabelled.tolist() != list(range(6))
    fast = learner(square, random_state=3)
    shuffled._events = []  # the same history, so the same draw
    original = dense.DenseField.__init__
    monkeypatch.setattr(dense.DenseField, "__init__", lambda self, *a, **k: original(self, *a, kernels=reference, **k))
    plain = learner(square, random_state=3)
    assert ask_and_answer(fast, 6) == ask_and_answer(plain, 6) == ask_and_answer(shuffled, 6)


@pytest.mark.parametrize("strategy", ["tsa", "vopt", "sopt", "zlg", "margin"])
def test_scaling_all_weights_by_1000_changes_no_question(strategy):
    W = in_pieces([15, 5], np.random.default_rng(2))
    a, b = (ask_and_answer(learner(fl.Graph(w), strategy=strategy), 15) for w in (W, 1000 * W))
    assert a == b


def test_a_strategy_of_ones_own():
    class Highest:
        def cost(self, field):
            return -field.unlabelled.astype(float)

    assert ask_and_answer(learner(strategy=Highest()), 3) == [6, 5, 4]


@pytest.mark.parametrize("cost", [[1.0], [np.nan] * 7, [np.inf] * 7])
def test_a_strategy_of_ones_own_with_wrong_costs_is_told_so(cost):
    class Wrong:
        def cost(self, field):
            return cost

    with pytest.raises(SettingError, match=r"strategy Wrong gave .* one finite number for each of the 7"):
        learner(strategy=Wrong()).query()


class TestBatches:
    def test_a_batch_has_no_duplicates_and_starts_with_the_single_question(self):
        ours = learner(fl.Graph(random_weights(40, np.random.default_rng(0))))
        ours.teach([3, 8], ["a", "b"])
        batch = ours.query(10)
        assert len(set(batch)) == 10
        assert batch[0] == ours.query()
        assert not set(batch) & {3, 8}

    def test_a_batch_is_what_the_most_probable_answers_would_have_asked(self):
        W = random_weights(30, np.random.default_rng(1))
        ours, step = learner(fl.Graph(W)), learner(fl.Graph(W))
        for each in (ours, step):
            each.teach([3, 8], ["a", "b"])
        one_by_one = []
        for _ in range(6):
            node = step.query()
            one_by_one.append(node)
            step.teach(node, step.classes[step.predict_proba()[node].argmax()])
        assert ours.query(6) == one_by_one

    def test_a_batch_leaves_the_learner_as_it_was(self):
        ours = learner(fl.Graph(in_pieces([20, 6], np.random.default_rng(2))))
        ours.teach(3, "a")
        before = ours.predict_proba(), ours.labelled
        ours.query(12)
        np.testing.assert_allclose(ours.predict_proba(), before[0], atol=1e-10)
        assert ours.labelled == before[1]

    def test_all_that_is_left_can_be_one_batch(self):
        ours = learner()
        ours.skip(2)
        assert sorted(ours.query(6)) == [0, 1, 3, 4, 5, 6]
        with pytest.raises(
            QueryError, match=r"7 question\(s\) wanted and 6 node\(s\) left: 0 are labelled and 1 skipped"
        ):
            ours.query(7)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_batch_that_is_interrupted_leaves_the_learner_as_it_was(error):
    class FailsLater:
        calls = 0

        def cost(self, field):
            self.calls += 1
            if self.calls == 3:
                raise error
            return field.unlabelled.astype(float)

    ours = learner(strategy=FailsLater())
    ours.teach(0, "a")
    before = ours.predict_proba()
    with pytest.raises(error):
        ours.query(5)
    np.testing.assert_allclose(ours.predict_proba(), before, atol=1e-12)
    ours.teach([1, 2, 3], ["a", "b", "b"])


def test_a_field_of_another_graph_is_refused_as_engine():
    other = make_field(fl.Graph.from_edges([0] * 6, range(1, 7)), 2, 1.0)
    with pytest.raises(SettingError, match="a field of another graph"):
        learner(beta=1.0, engine=other)
    mine = make_field(PATH, 2, 1.0)
    learner(beta=1.0, engine=mine).teach(0, "a")
    assert len(mine.unlabelled) == 7


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
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "x"}, "random_state is 'x'"),
    ],
)
def test_settings_that_cannot_be_used_get_a_sentence(options, sentence):
    with pytest.raises(SettingError, match=sentence):
        learner(**options)


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


@pytest.mark.parametrize("strategy", ["tsa", "zlg", "sopt", "margin", "random"])
def test_a_prepared_answer_asks_what_an_unprepared_one_asks(strategy):
    graph = fl.Graph(in_pieces([30, 12, 3, 1], np.random.default_rng(0)))
    ready, plain = (learner(graph, list("abc"), strategy=strategy) for _ in range(2))
    for step in range(12):
        node = plain.query()
        for label in ready.classes:
            ready.prepare(node, label)
        foreseen = ready.upcoming(node)["abc"[step % 3]]
        for ours in (ready, plain):
            ours.teach(node, "abc"[step % 3])
        assert foreseen == plain.query()
        np.testing.assert_allclose(ready.costs(), plain.costs(), atol=1e-9)
        assert ready.query() == plain.query()


def test_what_was_prepared_is_dropped_when_something_else_is_said():
    ready, plain = learner(), learner()
    for ours in (ready, plain):
        ours.teach(0, "a")
    ready.prepare(6, "b")
    for ours in (ready, plain):
        ours.teach(3, "a")
        ours.teach(6, "b")
    np.testing.assert_array_equal(ready.costs(), plain.costs())


def guesses(learner):
    """Predictions, with none where no label reaches."""
    found = learner.predict()
    found[learner.unreached] = "?"
    return found


def test_outcomes_are_what_teaching_each_answer_gives():
    graph = fl.Graph(in_pieces([14, 5, 1], np.random.default_rng(1)))
    ours = learner(graph, list("abc"), centred=False)
    ours.teach([0, 5, 9], ["a", "b", "a"])
    for node in set(range(20)) - {0, 5, 9}:
        before, chances = guesses(ours), ours.predict_proba()[node]
        found = ours.outcomes(node)
        assert [o.label for o in found] == ["a", "b", "c"]
        np.testing.assert_allclose([o.chance for o in found], chances)
        for outcome in found:
            ours.teach(node, outcome.label)
            assert outcome.expected_error == pytest.approx(ours.expected_error(), abs=1e-12)
            others = np.arange(20) != node
            assert outcome.changes == (guesses(ours) != before)[others].sum()
            ours.forget(node)
        gain = ours.expected_error() - sum(o.chance * o.expected_error for o in found)
        assert gain == pytest.approx(ours.gains()[node], abs=1e-9)
    with pytest.raises(LabelError, match="its answer is known"):
        ours.outcomes(0)


def test_query_leaves_out_what_others_are_asking():
    ours = learner()
    ours.teach([0, 6], ["a", "b"])
    assert ours.query() == 3
    assert ours.query(without=[3, 0]) in (2, 4)
    assert 3 not in ours.query(4, without=[3])
    with pytest.raises(QueryError, match=r"0 node\(s\) left.*5 left out"):
        ours.query(without=range(1, 6))


def test_forget_takes_a_list_all_of_it_or_nothing():
    ours = learner()
    ours.teach([0, 6, 3], ["a", "b", "a"])
    ours.skip(2)
    with pytest.raises(LabelError, match="node 5 has neither an answer nor a skip"):
        ours.forget([0, 5])
    assert list(ours.labelled) == [0, 6, 3]
    ours.forget([0, 3, 2])
    assert (ours.labelled, ours.skipped) == ({6: "b"}, [])


def test_gains_reuse_the_look_ahead_that_costs_have_done(monkeypatch):
    asked = []
    look_ahead = DenseField.two_step_costs
    monkeypatch.setattr(DenseField, "two_step_costs", lambda field: asked.append(field) or look_ahead(field))
    for strategy in ("tsa", "sopt"):
        learner = fl.ActiveLearner(PATH, ["a", "b"], strategy)
        learner.teach([0, 6], ["a", "b"])
        asked.clear()
        learner.query()
        np.testing.assert_array_equal(learner.gains(), learner.gains())
        learner.costs()
        assert len(asked) == 1
        learner.teach(5, "a")
        learner.gains()
        assert len(asked) == 2


def test_gains_are_those_of_tsa_whatever_a_subclass_of_it_costs():
    class Halved(TSA):
        def cost(self, field):
            return field.two_step_costs().values / 2

    ours, plain = (learner(strategy=strategy) for strategy in (Halved(), "tsa"))
    for one in (ours, plain):
        one.teach([0, 6], ["a", "b"])
    np.testing.assert_array_equal(ours.gains(), plain.gains())


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
