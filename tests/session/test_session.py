"""A session asks, keeps what is said, and comes back as it was."""

import time

import numpy as np
import pytest
from support.items import words
from support.keys import fresh_key

import fewlabels as fl
from fewlabels.errors import FewlabelsError, FileError, LabelError, NodeError, SettingError
from fewlabels.session import ConflictError
from fewlabels.session.store import Event


def state(session):
    """Everything a person can see, settled."""
    session.settle()
    shot = session.snapshot()
    return shot.classes, shot.standing, list(shot.rows()), shot.recent(100), shot.predictions.predicted.tolist()


def test_it_asks_what_the_learner_asks(opened):
    session = opened()
    learner = fl.ActiveLearner(session.items.graph, range(2))
    for step in range(15):
        item = session.question("ann").item
        assert item == learner.query()
        session.answer("ann", item, ("cat", "dog")[step % 2], fresh_key())
        learner.teach(item, step % 2)
    session.settle()
    np.testing.assert_allclose(session.snapshot().predictions.chance, learner.predict_proba(), atol=1e-12)
    assert session.snapshot().standing.expected_error == pytest.approx(learner.expected_error())
    assert [labels for labels, _ in session.snapshot().standing.curve] == list(range(16))


def test_opened_again_it_is_in_the_same_state_and_asks_the_same(opened):
    session = opened()
    for label in ("cat", "dog", "dog", "cat", "dog"):
        session.answer("ann", session.question("ann").item, label, fresh_key())
    session.skip("ann", session.question("ann").item, fresh_key())
    session.unsure("bob", session.question("bob").item, fresh_key())
    session.undo("ann", fresh_key())
    session.add_class("bob", "owl", fresh_key())
    session.answer("bob", session.question("bob").item, "owl", fresh_key())
    before, question = state(session), session.question("cid")
    again = opened()
    assert state(again) == before
    assert again.question("cid") == question


def answer_question(session, who, label):
    question = session.question(who)
    if question is not None:  # else nothing is left to ask them
        session.answer(who, question.item, label, fresh_key())


def test_any_sequence_of_requests_replays_to_the_same_state(opened):
    rng = np.random.default_rng(7)
    session = opened(overlap=2)
    done = refused = 0
    for step in range(150):
        who = ("ann", "bob", "cid")[rng.integers(3)]
        item, label = int(rng.integers(40)), str(rng.choice(session.classes))
        actions = [
            lambda who=who, item=item, label=label: session.answer(who, item, label, fresh_key()),
            lambda who=who, label=label: answer_question(session, who, label),
            lambda who=who, item=item: session.skip(who, item, fresh_key()),
            lambda who=who, item=item: session.unsure(who, item, fresh_key()),
            lambda who=who: session.undo(who, fresh_key()),
            lambda who=who, item=item, label=label: session.decide(who, item, label, fresh_key()),
            lambda who=who, step=step: session.add_class(who, f"class {step}", fresh_key()) if step % 40 == 0 else None,
            lambda who=who: session.accept(who, [(k, "dog") for k in range(3)], fresh_key()),
        ]
        try:
            actions[rng.integers(len(actions))]()
            done += 1
        except ConflictError:  # nothing to take back, already labelled, or asked of someone else
            refused += 1
    assert done > 100
    assert refused
    before = state(session)
    assert state(opened(overlap=2)) == before
    taught = {row["item"]: row["label"] for row in before[2] if row["status"] == "labelled"}
    fresh = fl.ActiveLearner(session.items.graph, before[0])
    fresh.teach(list(taught), list(taught.values()))
    np.testing.assert_allclose([before[1].expected_error], [fresh.expected_error()], atol=1e-9)


def test_begun_with_no_class_the_first_are_added_on_the_way(opened):
    session = opened(words(classes=()))
    item = session.question("ann").item
    assert session.snapshot().standing.counts == []
    with pytest.raises(LabelError, match="there is no class 'cat' yet"):
        session.answer("ann", item, "cat", fresh_key())
    session.add_class("ann", "cat", fresh_key())
    session.answer("ann", item, "cat", fresh_key())
    assert not session.snapshot().standing.reached
    session.add_class("ann", "dog", fresh_key())
    session.answer("ann", session.question("ann").item, "dog", fresh_key())
    session.settle()
    assert sum(session.snapshot().standing.counts) == 40
    assert session.snapshot().predictions.chance.shape == (40, 2)


def test_known_labels_are_taken_in_and_give_way_to_a_person(opened):
    session = opened(words(classes=("cat", "dog"), known={0: "dog", 9: "owl"}))
    assert session.classes == ["cat", "dog", "owl"]
    assert [session.snapshot().label(k) for k in (0, 9, 10)] == ["dog", "owl", None]
    assert next(session.snapshot().rows())["who"] == "table"
    session.answer("ann", 0, "cat", fresh_key())
    assert session.snapshot().label(0) == "cat"
    assert session.snapshot().standing.disagreements == 0
    session.undo("ann", fresh_key())
    assert session.snapshot().label(0) == "dog"


def test_a_label_cleared_in_the_data_is_taken_back_and_one_that_a_person_gave_stays(opened):
    opened(words(known={0: "dog", 5: "cat", 9: "dog"})).answer("ann", 5, "dog", fresh_key())
    opened(words(known={0: "dog", 5: "cat", 9: "cat"}))
    session = opened(words(known={0: "dog"}))
    assert {k: session.snapshot().label(k) for k in (0, 5, 9)} == {0: "dog", 5: "dog", 9: None}
    before = state(session)
    assert state(opened(words(known={0: "dog"}))) == before
    session = opened()  # as by a command that leaves the column of labels out: that takes back nothing
    assert session.snapshot().label(0) == "dog"
    session = opened(words(known={0: "dog", 9: "dog"}))
    assert session.snapshot().label(9) == "dog"


def test_several_classes_are_added_all_or_none(opened):
    session = opened()
    with pytest.raises(SettingError, match="that would be 301 classes"):
        session.add_classes("ann", [f"class {k}" for k in range(299)], fresh_key())
    with pytest.raises(ConflictError, match="already a class 'dog'"):
        session.add_classes("ann", ["owl", "dog"], fresh_key())
    assert session.classes == ["cat", "dog"]
    session.add_classes("ann", ["owl", "eel"], fresh_key())
    assert session.classes == ["cat", "dog", "owl", "eel"]


def test_when_all_is_said_there_is_no_question(opened):
    session = opened(words(n=6))
    for _ in range(6):
        session.answer("ann", session.question("ann").item, "cat", fresh_key())
    assert session.question("ann") is None
    assert session.snapshot().standing.left == 0


def test_no_number_is_shown_before_every_class_was_heard(opened):
    session = opened(words(classes=("cat", "dog", "owl")), target=0.9)
    session.answer("ann", 0, "cat", fresh_key())
    session.answer("ann", 20, "dog", fresh_key())
    session.settle()
    assert session.snapshot().standing.expected_error < 0.9
    assert not session.snapshot().standing.settled
    session.answer("ann", 30, "owl", fresh_key())
    session.settle()
    assert session.snapshot().standing.settled


def test_outcomes_and_neighbours_of_a_question(opened):
    session = opened()
    session.accept("ann", [(0, "cat"), (20, "dog")], fresh_key())
    learner = fl.ActiveLearner(session.items.graph, range(2))
    learner.teach([0, 20], [0, 1])
    session.settle()
    assert session.explain(10).outcomes == learner.outcomes(10)
    assert session.explain(0).missing == "labelled"
    ties = dict(session.neighbours(10))
    assert ties == {int(k): 1.0 for k in session.items.graph.weights[[10]].indices}


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (lambda s: s.answer("ann", 40, "cat", fresh_key()), NodeError, "there is no item 40: items are 0 to 39"),
        (lambda s: s.answer("ann", -1, "cat", fresh_key()), NodeError, "there is no item -1"),
        (
            lambda s: s.answer("ann", 0, "cta", fresh_key()),
            LabelError,
            "no class 'cta' yet: add it first. Did you mean 'cat'",
        ),
        (lambda s: s.answer(" ", 0, "cat", fresh_key()), SettingError, "a name is empty"),
        (lambda s: s.answer("a" * 51, 0, "cat", fresh_key()), SettingError, "a name has 51 characters"),
        (lambda s: s.answer("a\0n", 0, "cat", fresh_key()), SettingError, "a name has odd characters"),
        (lambda s: s.add_class("ann", "dog", fresh_key()), ConflictError, "there is already a class 'dog'"),
        (lambda s: s.accept("ann", [(1, "cat"), (1, "dog")], fresh_key()), LabelError, "an item is listed twice"),
        (lambda s: s.accept("ann", [(1, "cat"), (99, "dog")], fresh_key()), NodeError, "there is no item 99"),
        (lambda s: s.accept("ann", [], fresh_key()), SettingError, "0 answers at once"),
        (lambda s: s.undo("ann", fresh_key()), ConflictError, "There is nothing to take back"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence_and_nothing_is_kept(opened, wrong, kind, message):
    session = opened()
    before = state(session)
    with pytest.raises(kind, match=message):
        wrong(session)
    assert state(session) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 0}, "the target is 0"),
        ({"confidence": 0.5}, "the confidence is 0.5"),
        ({"checks": -1}, "checks is -1"),
        ({"overlap": 0}, "overlap is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(opened, options, message):
    with pytest.raises(SettingError, match=message):
        opened(**options)


def test_other_data_is_refused_and_the_store_is_left_as_it_was(opened):
    session = opened()
    session.answer("ann", 3, "cat", fresh_key())
    before = state(session)
    with pytest.raises(FileError, match="holds answers about other data \\(40 items of 'words'"):
        opened(words(seed=1))
    assert state(opened()) == before


def test_a_class_too_many_is_refused(opened):
    with pytest.raises(FewlabelsError, match="that would be 201 classes: 200 is the most"):
        opened(words(classes=[f"c{k}" for k in range(201)]))


def test_a_class_that_stands_twice_in_the_store_is_one_class(opened):
    session = opened()
    for key in ("begun-on-one", "begun-on-two"):
        session._store.append([Event("class", "ann", key, label="owl")])
    session._store.append([Event("answer", "ann", "answer-owl", item=3, label="owl")])
    again = opened()
    assert again.classes == ["cat", "dog", "owl"]
    assert again.snapshot().label(3) == "owl"
    again.add_class("ann", "eel", fresh_key())
    again.answer("ann", 5, "eel", fresh_key())
    again.settle()
    assert again.snapshot().prediction(5) == ("eel", 1.0)


def test_classes_named_on_the_command_line_later_are_added(opened):
    opened().answer("ann", 3, "cat", fresh_key())
    assert opened(words(classes=("owl", "cat"))).classes == ["cat", "dog", "owl"]


def test_what_follows_each_answer_is_prepared_while_the_person_reads(opened):
    session = opened()
    for step in range(8):
        item = session.question("ann").item
        session.upcoming(item).result(timeout=30)
        while len(session._learner._prepared) < 2:  # the likely answer was first
            time.sleep(0.01)
        session.upcoming(item).result(timeout=30)
        assert set(session._learner._learner._foresight.prepared) == {(item, 0), (item, 1)}
        foreseen = session._learner._learner.upcoming(item)
        session.answer("ann", item, ("cat", "dog")[step % 2], fresh_key())
        assert session.question("ann").item == foreseen[step % 2]
