"""Checks in a session: drawn, kept, asked blind, and counted."""

import sqlite3

import numpy as np
import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.session import Session
from fewlabels.session.listing import Wanted
from fewlabels.session.store import Event
from fewlabels.web import present

HALF = 60  # words 0 to 59 are cats, the others dogs


def truth(item):
    return "cat" if item < HALF else "dog"


@pytest.fixture
def opened(tmp_path):
    sessions = []

    def open_session(n=2 * HALF, **options):
        for earlier in sessions:
            earlier.close()
        sessions[:] = [Session(words(n), tmp_path / "store.sqlite", **options)]
        return sessions[0]

    yield open_session
    for last in sessions:
        last.close()


def answer(session, how_many, who="ann", tell=truth):
    """Answer so many questions; the reasons they were asked for."""
    reasons = []
    for _ in range(how_many):
        question = session.question(who)
        reasons.append(question.reason)
        session.answer(who, question.item, tell(question.item), fresh_key())
    session.settle()
    return reasons


def standing(session):
    return session.snapshot().standing


def test_after_twenty_answers_checks_are_asked_and_counted(opened):
    session = opened(target=0.05)
    assert set(answer(session, 20)) == {"chosen"}
    assert standing(session).estimate.checks == 0
    reasons = answer(session, 16)
    assert reasons.count("check") >= 4
    assert standing(session).estimate.checks == reasons.count("check")
    assert len(session.snapshot().checks) == reasons.count("check")
    assert str(reasons.count("check")) in standing(session).verdict


def test_a_check_is_on_disk_before_it_is_seen(opened):
    session = opened()
    answer(session, 20)
    drawn = session.question("ann").item
    assert session.question("ann").reason == "check"
    with sqlite3.connect(f"file:{session.path}?mode=ro", uri=True) as db:
        assert db.execute("SELECT item FROM events WHERE do = 'check'").fetchall() == [(drawn,)]


def test_opened_again_the_checks_are_the_same(opened):
    session = opened()
    answer(session, 34)
    before, checks, asked = standing(session), list(session.snapshot().checks), session.question("ann").item
    session = opened()
    assert list(session.snapshot().checks)[: len(checks)] == checks
    assert standing(session).estimate == before.estimate
    assert standing(session).suggestions == before.suggestions
    assert session.question("ann").item == asked


def test_it_says_that_one_can_stop_when_the_checks_say_so_and_not_before(opened):
    session = opened(target=0.2)
    answer(session, 20)
    assert standing(session).state == "learning"
    states = []
    while not standing(session).reached:
        answer(session, 1)
        states.append(standing(session).state)
    assert states[-1] == "checked"
    assert "probable" in states
    assert standing(session).verdict.endswith("You can stop.")
    assert standing(session).estimate.checks >= 10
    assert {row["verdict"] for row in session.snapshot().rows()} == {standing(session).verdict}


def test_answers_at_random_are_told_as_such(opened):
    session, coins = opened(n=400), np.random.default_rng(0).integers(2, size=400)
    answer(session, 80, tell=lambda item: ("cat", "dog")[coins[item]])
    assert standing(session).state == "above"
    assert standing(session).verdict.startswith("No: between")
    assert not standing(session).reached
    right, of = standing(session).suggestions
    assert 20 < right < of


def test_without_checks_it_never_says_that_one_can_stop(opened):
    session = opened(checks=0, target=0.9)
    assert set(answer(session, 40)) == {"chosen"}
    assert not standing(session).reached
    assert standing(session).verdict.startswith("Nobody can be sure: about ")
    assert standing(session).shown == standing(session).expected_error
    assert standing(session).forecast == ""


def test_a_check_taken_back_is_asked_again_and_counts_once_answered(opened):
    session = opened()
    answer(session, 20)
    item = session.question("ann").item
    session.answer("ann", item, truth(item), fresh_key())
    session.settle()
    assert standing(session).estimate.checks == 1
    session.undo("ann", fresh_key())
    session.settle()
    assert standing(session).estimate.checks == 0
    again = session.question("ann", item, reason="again")
    assert (again.item, again.reason, again.blind) == (item, "check", True)
    session.answer("ann", item, truth(item), fresh_key())
    session.settle()
    assert standing(session).estimate.checks == 1


@pytest.mark.parametrize("do", ["skip", "unsure"])
def test_a_check_nobody_can_answer_counts_against_the_target(opened, do):
    session = opened()
    answer(session, 24)
    while (question := session.question("ann")).reason != "check":
        session.answer("ann", question.item, truth(question.item), fresh_key())
    session.settle()
    before = standing(session).estimate
    getattr(session, do)("ann", question.item, fresh_key())
    session.settle()
    after = standing(session).estimate
    assert (after.skipped, after.checks) == (before.skipped + 1, before.checks)
    assert after.high > before.high
    assert session.question("ann").item != question.item


def test_two_people_who_differ_on_a_check_leave_it_open(opened):
    session = opened(overlap=2)
    for item in range(0, 40, 2):
        for who in ("ann", "bob"):
            session.answer(who, item, truth(item), fresh_key())
    question = session.question("ann")
    assert question.reason == "check"
    session.answer("ann", question.item, "cat", fresh_key())
    session.settle()
    assert standing(session).estimate.checks == 1
    second = session.question("bob")
    assert (second.item, second.reason, second.blind) == (question.item, "second opinion", True)
    session.answer("bob", question.item, "dog", fresh_key())
    session.settle()
    assert (standing(session).estimate.checks, standing(session).estimate.skipped) == (0, 1)
    session.decide("ann", question.item, "dog", fresh_key())
    session.settle()
    assert (standing(session).estimate.checks, standing(session).estimate.skipped) == (1, 0)


def test_people_at_once_do_not_all_get_checks(opened):
    session = opened(target=0.01)
    answer(session, 20)
    reasons = [session.question(who).reason for who in ("ann", "bob", "cid", "dan")]
    assert reasons.count("check") == 1


def test_a_check_that_stands_twice_in_the_store_is_one_check(opened):
    session = opened()
    session._store.append([Event("check", "ann", key, item=7) for key in ("key-00000001", "key-00000002")])
    session = opened()
    assert list(session.snapshot().checks) == [7]


def test_the_forecast_is_there_from_the_start_and_shrinks(opened):
    session = opened(n=400, target=0.05)
    assert standing(session).forecast.startswith("To know that at most 5% are wrong takes at least 48 checks")
    answer(session, 60, tell=lambda item: "cat" if item < 200 else "dog")
    assert "more answers to a verdict, at least" in standing(session).forecast


def test_an_answer_that_comes_between_the_draw_and_its_record_was_volunteered(opened):
    """Someone answers the item from the map while it is being drawn: the store must open again."""
    session = opened()
    answer(session, 20)
    choose, seen = session._learner.choose, []

    def slowly(closed):
        found = choose(closed)
        if not seen:
            seen.append(found.node)
            session.answer("bob", found.node, truth(found.node), fresh_key())
        return found

    session._learner.choose = slowly
    question = session.question("ann")
    assert question.item != seen[0]
    assert seen[0] not in session.snapshot().checks
    assert session.snapshot().label(seen[0]) is not None
    assert list(opened().snapshot().checks) == [question.item]


def test_a_check_recorded_after_its_answer_is_none_and_the_store_opens(opened):
    session = opened()
    session.answer("ann", 7, "cat", fresh_key())
    session._store.append([Event("check", "ann", "key-00000001", item=7)])
    assert list(opened().snapshot().checks) == []


def test_what_a_check_was_drawn_from_outlasts_a_class_that_is_gone(opened):
    session = opened()
    answer(session, 40)
    session.add_class("ann", "kitten", fresh_key())
    session.answer("ann", open_items(session, 1)[0], "kitten", fresh_key())
    session.settle()
    before = session.snapshot().predictions.audit
    assert max(before.since) > min(before.since) > 0
    session.change_class("ann", "merge", "kitten", "cat", fresh_key())
    session.settle()
    now, again = session.snapshot().predictions.audit, opened().snapshot().predictions.audit
    assert before.among.tolist() == now.among.tolist() == again.among.tolist()


def open_items(session, how_many):
    return [item for item in range(len(session.items.names)) if session.snapshot().label(item) is None][:how_many]


def test_what_someone_is_unsure_of_counts_against_the_target(opened):
    session = opened(target=0.2)
    while not standing(session).reached:
        answer(session, 1)
    for item in open_items(session, 30):  # a quarter of all
        session.unsure("ann", item, fresh_key())
    session.settle()
    assert not standing(session).reached
    before = standing(session)
    assert standing(opened(target=0.2)) == before


def test_what_someone_is_unsure_of_asks_for_no_more_checks(opened):
    session = opened(target=0.01)
    answer(session, 24)
    for item in open_items(session, 30):
        session.unsure("ann", item, fresh_key())
    assert 4 <= answer(session, 20).count("check") <= 6


def test_unsure_before_it_is_drawn_and_taken_back_after(opened):
    session = opened()
    session.unsure("ann", 7, fresh_key())
    answer(session, 20, who="bob")
    session._keep_check("bob", 7)
    session.undo("ann", fresh_key())
    session.settle()
    answer(session, 4, who="bob")
    before = standing(session)
    assert standing(opened()) == before


def test_nobody_sees_what_is_predicted_for_a_check_that_waits(opened):
    session = opened()
    answer(session, 20)
    item = session.question("ann").item
    shot = session.snapshot()
    assert shot.prediction(item) is not None
    assert present.item(shot, item).prediction is None
    assert present.predictions(shot).predicted[item] == -1
    assert item not in session.listing().find(Wanted())


def test_suggestions_are_counted_once_by_what_was_predicted_before_the_answer(opened):
    session = opened()
    answer(session, 10)
    right, of = standing(session).suggestions
    item = session.question("ann").item
    predicted = session.snapshot().prediction(item)[0]
    session.answer("ann", item, "dog" if predicted == "cat" else "cat", fresh_key())
    session.answer("ann", item, predicted, fresh_key())
    session.settle()
    assert standing(session).suggestions == (right + 1, of + 1)
    session.accept("ann", [(k, session.snapshot().prediction(k)[0]) for k in range(100, 110)], fresh_key())
    session.settle()
    assert standing(session).suggestions == (right + 1, of + 1)


def test_an_event_that_changes_no_label_is_a_new_version(opened):
    session = opened(overlap=3)
    for who, label in (("ann", "cat"), ("bob", "cat"), ("cid", "dog")):
        before = session.snapshot().predictions.version
        session.answer(who, 3, label, fresh_key())
        session.settle()
        assert session.snapshot().predictions.version > before
