"""What the learner asks: one question, a batch, with whom it draws ties, and what it foresees of the answers."""

import numpy as np
import pytest
from support.graphs import in_pieces, random_weights
from support.learners import PATH, learner

import fewlabels as fl
from fewlabels.errors import LabelError, QueryError, SettingError
from fewlabels.field import Conditioned
from fewlabels.kernels import cpu, reference
from fewlabels.strategies.tsa import TSA


def ask_and_answer(learner, how_many, rule=lambda node: node % 2):
    asked = []
    for _ in range(how_many):
        node = learner.query()
        learner.teach(node, learner.classes[rule(node)])
        asked.append(node)
    return asked


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


def test_ties_do_not_depend_on_the_kernels_or_on_what_was_taken_back(monkeypatch):
    square = fl.Graph.from_edges([0, 1, 2, 3, 0, 4], [1, 2, 3, 0, 4, 5])
    shuffled = learner(square, random_state=3)
    shuffled.teach([5, 1, 3], ["a", "b", "a"])
    for node in (5, 1, 3):
        shuffled.forget(node)
    fast = learner(square, random_state=3)
    shuffled._events = []  # the same history, so the same draw
    asked = ask_and_answer(fast, 6)
    monkeypatch.setattr(cpu, "two_step_cost", reference.two_step_cost)
    plain = learner(square, random_state=3)
    assert asked == ask_and_answer(plain, 6) == ask_and_answer(shuffled, 6)


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


def test_gains_reuse_the_look_ahead_that_costs_have_done(monkeypatch):
    asked = []
    look_ahead = Conditioned.two_step_costs
    monkeypatch.setattr(
        Conditioned, "two_step_costs", lambda field, among=None: asked.append(field) or look_ahead(field, among)
    )
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
