"""Several people at once: who is asked what, and whose word counts."""

from contextlib import closing

import numpy as np
import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.session import ConflictError, Session


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_two_people_never_have_the_same_question_until_a_minute_is_over(opened):
    clock = Clock()
    session = opened(clock=clock)
    everyone = ["ann", "bob", "cid", "dan"]
    asked = {who: session.question(who).item for who in everyone}
    assert len(set(asked.values())) == 4
    assert session.question("ann").item == asked["ann"]
    with pytest.raises(ConflictError, match="ann is being asked about"):
        session.question("bob", asked["ann"])
    clock.now = 61
    best = session.question("eve").item
    assert best in asked.values()
    assert session.question("eve").item == best


def test_a_question_not_answered_in_time_can_still_be_answered(opened):
    clock = Clock()
    session = opened(clock=clock)
    item = session.question("ann").item
    clock.now = 61
    assert session.question("bob").item == item
    session.answer("ann", item, "cat", fresh_key())
    session.answer("bob", item, "dog", fresh_key())
    assert session.snapshot().standing.disagreements == 1


def test_with_overlap_an_item_is_asked_of_two_and_never_of_a_third(opened):
    session = opened(overlap=2)
    item = session.question("ann").item
    session.answer("ann", item, "cat", fresh_key())
    second = session.question("bob")
    assert (second.item, second.reason) == (item, "second opinion")
    assert session.question("cid").item != item
    session.answer("bob", item, "cat", fresh_key())
    assert session.question("dan").item != item
    assert session.snapshot().standing.shared == 1


def test_a_disagreement_is_no_label_until_someone_decides(opened):
    session = opened(overlap=3)
    session.answer("ann", 5, "cat", fresh_key())
    session.answer("bob", 5, "dog", fresh_key())
    assert session.snapshot().label(5) is None
    assert list(session.snapshot().rows())[5]["status"] == "disputed"
    assert [item for item, _ in session.snapshot().disagreements()] == [5]
    session.decide("cid", 5, "dog", fresh_key())
    assert session.snapshot().label(5) == "dog"
    assert session.snapshot().standing.disagreements == 0
    session.undo("cid", fresh_key())
    session.answer("cid", 5, "cat", fresh_key())
    assert session.snapshot().label(5) == "cat"  # two of three


def test_what_one_person_is_unsure_of_another_is_asked_and_what_is_skipped_nobody(opened):
    session = opened()
    item = session.question("ann").item
    session.unsure("ann", item, fresh_key())
    assert session.question("ann").item != item
    assert session.question("bob").item == item
    session.skip("bob", item, fresh_key())
    assert item not in {session.question(who).item for who in ("ann", "bob", "cid")}
    assert session.snapshot().aside() == ([item], [item])
    session.answer("ann", item, "dog", fresh_key())
    assert session.snapshot().aside() == ([], [])


def test_when_several_people_hurry_one_look_ahead_serves_them_all_and_nobody_twice(opened):
    session = opened(checks=0)
    people = ["ann", "bob", "cid"]
    asked = {who: session.question(who).item for who in people}
    session._learner._being_read = lambda: list(asked.values())
    session._learner._to_prepare = lambda: None  # nothing is prepared
    session._learner._costs_last_until = np.inf  # as if the last look-ahead had taken for ever
    look_ahead, session._learner._learner._strategy = session._learner._learner._strategy, None  # any other would fail
    for _ in range(10):
        for who in people:
            session.answer(who, asked[who], "cat", fresh_key())
            asked[who] = session.question(who).item
        assert len(set(asked.values())) == 3
        assert not set(asked.values()) & set(session.snapshot().labelled())
    session._learner._learner._strategy = look_ahead
    session._learner._costs_last_until = 0.0
    session.answer("ann", asked["ann"], "dog", fresh_key())
    assert session.question("ann").item == session._learner._learner.query(without=[asked["bob"], asked["cid"]])


def test_among_equals_a_question_is_drawn_by_the_seed_when_several_people_hurry_too(tmp_path):
    def asked(seed, name):
        """The items of some questions, all of equal cost, that one look-ahead serves."""
        with closing(Session(words(), tmp_path / name, strategy="random", seed=seed, checks=0)) as session:
            items = []
            session._learner._to_prepare, session._learner._being_read = lambda: None, lambda: items[-2:]
            items += [session.question(who).item for who in ("ann", "bob")]
            session._learner._costs_last_until = np.inf  # as if it had taken for ever
            for _ in range(8):
                session.answer("bob", items[-1], "cat", fresh_key())
                items.append(session.question("bob").item)
            return items[2:]

    first = asked(1, "a")
    assert first == asked(1, "b")
    assert first != asked(2, "c")
    assert first != sorted(first)


def test_one_name_written_in_two_ways_is_one_person(opened):
    session = opened(overlap=2)
    session.answer("Zoe\u0308", 3, "cat", fresh_key())
    session.answer("Zo\u00eb", 3, "dog", fresh_key())
    assert [event.label for event in session.snapshot().history[3].votes.values()] == ["dog"]


def test_a_name_cannot_forge_a_vote_in_the_export(opened):
    session = opened(overlap=2)
    session.answer("ann", 3, "cat", fresh_key())
    session.answer("bob: dog; cid", 3, "cat", fresh_key())
    session.settle()
    rows = list(session.snapshot().rows())
    assert rows[3]["answers"] == 'ann: cat; "bob: dog; cid": cat'


def test_whoever_takes_many_names_cannot_keep_everything_from_the_others(opened, monkeypatch):
    monkeypatch.setattr("fewlabels.session.assignments.MOST", 5)
    session = opened()
    asked = [session.question(f"name {k}").item for k in range(50)]
    assert len(asked) == 50
    assert session.question("ann") is not None
