"""What is sent twice counts once, and what was said can be taken back."""

import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.session import ConflictError


def test_a_request_sent_twice_counts_once(opened):
    session = opened()
    once = fresh_key()
    first = session.answer("ann", 3, "cat", once)
    assert session.answer("ann", 3, "cat", once) == first
    twice = fresh_key()
    assert session.undo("ann", twice) == session.undo("ann", twice)
    assert session.snapshot().label(3) is None
    assert session.snapshot().standing.labelled == 0


def test_a_key_that_comes_with_more_answers_is_another_request_and_is_refused(opened):
    session = opened()
    once = fresh_key()
    session.accept("ann", [(1, "cat"), (2, "dog")], once)
    for answers in ([(1, "cat")], [(1, "cat"), (2, "dog"), (3, "dog")], [(1, "cat"), (2, "cat")]):
        with pytest.raises(ConflictError, match="was used for another request"):
            session.accept("ann", answers, once)
    assert session.snapshot().labelled() == [1, 2]


def test_an_undo_of_a_whole_request_sent_twice_counts_once_whichever_event_it_names(opened):
    session = opened()
    last = session.accept("ann", [(k, "cat") for k in range(4)], fresh_key())
    for back in (3, 1):
        once, event = fresh_key(), last - back
        undone = session.undo("ann", once, event, whole=True)
        assert session.undo("ann", once, event, whole=True) == undone
        assert session.snapshot().labelled() == []
        last = session.accept("ann", [(k, "cat") for k in range(4)], fresh_key())


def test_undo_takes_back_the_last_step_by_step_and_only_ones_own(opened):
    session = opened()
    session.answer("ann", 1, "cat", fresh_key())
    session.answer("ann", 1, "dog", fresh_key())
    theirs = session.answer("bob", 2, "cat", fresh_key())
    session.undo("ann", fresh_key())
    assert session.snapshot().label(1) == "cat"
    session.undo("ann", fresh_key())
    assert session.snapshot().label(1) is None
    for event in (None, theirs):
        with pytest.raises(ConflictError, match="There is no"):
            session.undo("ann", fresh_key(), event)
    assert session.snapshot().label(2) == "cat"


def test_many_accepted_at_once_are_taken_back_at_once(opened):
    session = opened()
    session.accept("ann", [(k, "cat") for k in range(20)], fresh_key())
    assert session.snapshot().standing.labelled == 20
    _, items = session.undo("ann", fresh_key())
    assert sorted(items) == list(range(20))
    assert session.snapshot().standing.labelled == 0
    last = session.accept("ann", [(k, "cat") for k in range(20)], fresh_key())
    session.undo("ann", fresh_key(), last)
    assert session.snapshot().standing.labelled == 19
    session.undo("ann", fresh_key(), last - 1, whole=True)
    assert session.snapshot().standing.labelled == 0


@pytest.mark.parametrize("key", ["begin-3", "begin|3"])
def test_no_key_of_a_persons_request_makes_an_undo_take_the_datas_labels_back(opened, key):
    opened().answer("ann", 3, "cat", key)  # event 3, after two classes
    session = opened(words(known={5: "dog"}))
    session.undo("ann", fresh_key())
    assert (session.snapshot().label(3), session.snapshot().label(5)) == (None, "dog")
