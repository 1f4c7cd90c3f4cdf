"""Lists of items: who is in them, in which order; and answers for many at once."""

from dataclasses import replace

import numpy as np
import pytest
from support.items import words

from fewlabels.errors import LabelError
from fewlabels.session import ConflictError, Session
from fewlabels.session.listing import Wanted
from fewlabels.session.store import StoreError

TEXTS = [f"Nr {k} {'red' if k % 2 else 'BLUE'} {'ball' if k % 3 else 'cube'}" for k in range(40)]


@pytest.fixture
def session(tmp_path):
    items = replace(words(texts=TEXTS, known={39: "dog"}), model_labels=[None] * 38 + ["cat", "cat"])
    made = Session(items, tmp_path / "s.sqlite")
    made.answer("ann", 0, "cat", "key-00001")
    made.answer("bob", 20, "dog", "key-00002")
    made.skip("ann", 5, "key-00003")
    made.unsure("bob", 6, "key-00004")
    made.settle()
    yield made
    made.close()


def found(session, **wanted):
    return session.listing().find(Wanted(**wanted)).tolist()


def test_all_the_most_doubtful_first_and_the_labelled_last(session):
    listed = found(session)
    chance = session.snapshot().predictions.chance_of_prediction
    assert sorted(listed) == list(range(40))
    assert listed[-3:] == [0, 20, 39]
    assert np.all(np.diff(chance[listed[:-3]]) >= 0)
    assert found(session, order="sure")[:37] != listed[:37]
    assert found(session, order="newest")[:5] == [6, 5, 20, 0, 39]
    assert found(session, order="given") == list(range(40))


def test_every_filter_alone_and_together(session):
    assert found(session, status="labelled") == [0, 20, 39]
    assert found(session, status="unsure") == [6]
    assert found(session, status="skipped") == [5]
    assert found(session, who="ann", order="given") == [0, 5]
    assert found(session, search="red BALL", order="given") == [k for k in range(40) if k % 2 and k % 3]
    assert found(session, search="Nr 17") == [17]
    assert set(found(session, label="dog")) | set(found(session, label="cat")) == set(range(40))
    assert found(session, label="dog", status="labelled", who="bob") == [20]
    assert all(k % 2 for k in found(session, search="red", status="predicted"))
    below = found(session, below=0.9)
    assert below
    assert not set(below) & set(found(session, at_least=0.9))
    assert 39 in found(session, status="differs")
    with pytest.raises(LabelError, match="no class 'cow'"):
        found(session, label="cow")


def test_a_check_that_waits_is_in_no_list(session):
    waiting = 11
    session._keep_check("ann", waiting)
    session.settle()
    assert all(waiting not in found(session, status=status) for status in ("all", "predicted", "checks"))
    session.answer("ann", waiting, "cat", "key-00009")
    session.settle()
    assert found(session, status="checks") == [waiting]


def test_a_list_is_accepted_whole_or_not_at_all_and_taken_back_at_once(session):
    wanted = Wanted(at_least=0.6)
    items, wrong = session.listing().acceptable(wanted)
    chance = session.snapshot().predictions.chance_of_prediction
    assert wrong == pytest.approx((1 - chance[items]).sum())
    assert not {5, 6, 0, 20, 39} & set(items.tolist())
    with pytest.raises(ConflictError, match="look at the list again"):
        session.accept_listed("ann", wanted, session.listing().checksum(items[1:]), "key-00010")
    before = [session.snapshot().prediction(k)[0] for k in items]
    checksum = session.listing().checksum(items)
    event = session.accept_listed("ann", wanted, checksum, "key-00010")
    session.settle()
    assert [session.snapshot().label(k) for k in items] == before
    assert session.accept_listed("ann", wanted, checksum, "key-00010") == event  # its reply was lost: sent again
    session.undo("ann", "key-00011")
    session.settle()
    assert sorted(session.snapshot().labelled()) == [0, 20, 39]


def other_items(session, agreed):
    session.answer("bob", agreed[0], "cat", "key-00010")
    session.undo("ann", "key-00011")  # item 5 was skipped


def other_predictions(session, agreed):
    session.answer("ann", 0, "dog", "key-00010")  # it was a cat: the only one


@pytest.mark.parametrize("meanwhile", [other_items, other_predictions])
def test_a_list_as_long_as_the_one_agreed_to_but_another_is_not_accepted(session, meanwhile):
    wanted = Wanted(search="red")
    agreed, _ = session.listing().acceptable(wanted)
    told = session.listing().checksum(agreed)
    meanwhile(session, agreed.tolist())
    session.settle()
    now, _ = session.listing().acceptable(wanted)
    assert len(now) == len(agreed)
    with pytest.raises(ConflictError, match="look at the list again"):
        session.accept_listed("ann", wanted, told, "key-00012")
    nothing = Wanted(search="no such word")
    with pytest.raises(ConflictError, match="Nothing is left"):
        session.accept_listed("ann", nothing, session.listing().checksum(now[:0]), "key-00012")


def test_one_label_for_many_is_one_write_that_fails_whole(session, monkeypatch):
    kept = len(list(session._store.events()))
    with pytest.raises(LabelError, match="listed twice"):
        session.label_together("ann", [1, 1], "cat", "key-00012")

    def full(*_):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(session._store, "append", full)
        with pytest.raises(StoreError):
            session.label_together("ann", [1, 2, 3], "cat", "key-00013")
    assert len(list(session._store.events())) == kept
    session.label_together("ann", [1, 2, 3], "cat", "key-00013")
    session.undo("ann", "key-00014")
    session.settle()
    assert session.snapshot().label(2) is None
