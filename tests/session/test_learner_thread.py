"""The learner's thread: it sleeps when there is nothing to do, and says why it cannot explain."""

import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace

import numpy as np
import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.errors import SettingError
from fewlabels.graph import Graph
from fewlabels.machine.giving_way import give_way
from fewlabels.session import Session
from fewlabels.session.learner_thread import LearnerThread


@pytest.fixture
def session(tmp_path):
    opened = Session(words(), tmp_path / "store.sqlite")
    opened.accept("ann", [(0, "cat"), (20, "dog")], fresh_key())
    yield opened
    opened.close()


def turns_in(seconds, session, monkeypatch):
    """How often the thread looks round for something to do in its spare time."""
    turns = []
    look = LearnerThread._use_spare_time
    monkeypatch.setattr(LearnerThread, "_use_spare_time", lambda thread: turns.append(1) or look(thread))
    session.settle()
    time.sleep(seconds)
    return len(turns)


def test_a_learner_that_is_broken_does_not_spin_and_leaves_nobody_waiting(session, monkeypatch):
    item = session.question("ann").item
    monkeypatch.setattr(session._learner._learner, "teach", None)  # any answer breaks it
    session.answer("ann", item, "cat", fresh_key())
    with pytest.raises(RuntimeError, match="could not take in an event"):
        session.settle()
    with pytest.raises(CancelledError):
        session.upcoming(item).result(timeout=5)
    with pytest.raises(RuntimeError, match="could not take in an event"):
        turns_in(0.0, session, monkeypatch)
    turns = []
    monkeypatch.setattr(LearnerThread, "_use_spare_time", lambda thread: turns.append(1))
    time.sleep(0.3)
    assert not turns


def test_classes_and_chances_of_a_snapshot_are_of_one_version_while_classes_are_added(tmp_path):
    session = Session(words(classes=("cat", "dog")), tmp_path / "store.sqlite")
    over, problems = threading.Event(), []

    def look():
        seen = 0
        while not over.is_set():
            shot = session.snapshot()
            assert len(shot.classes) >= seen
            seen = len(shot.classes)
            assert shot.predictions.chance.shape == (40, len(shot.classes))
            assert len(shot.standing.counts) == len(shot.standing.to_review) == len(shot.classes)
            assert all(shot.prediction(k) is None or shot.prediction(k)[0] in shot.classes for k in range(40))
            assert {f"p_{name}" for name in shot.classes} <= next(shot.rows()).keys()

    def watched():
        try:
            look()
        except BaseException as error:
            problems.append(error)

    looking = [threading.Thread(target=watched) for _ in range(2)]
    for thread in looking:
        thread.start()
    for k in range(30):
        session.add_class("ann", f"class {k}", fresh_key())
        session.answer("ann", k, f"class {k}", fresh_key())
    session.settle()
    over.set()
    for thread in looking:
        thread.join()
    assert len(session.snapshot().classes) == 32
    session.close()
    assert not problems


def test_a_snapshot_stays_as_it_was(session):
    session.settle()
    shot = session.snapshot()
    before = shot.standing, list(shot.rows()), shot.recent(9), shot.labelled()
    session.answer("bob", 5, "dog", fresh_key())
    session.undo("ann", fresh_key())
    session.settle()
    assert (shot.standing, list(shot.rows()), shot.recent(9), shot.labelled()) == before
    assert session.snapshot() is session.snapshot()
    assert session.snapshot().labelled() == [5]


def test_many_people_at_once_never_get_the_same_question(session):
    asked, people = {}, [f"person {k}" for k in range(8)]

    def ask(who):
        asked[who] = session.question(who).item

    threads = [threading.Thread(target=ask, args=[who]) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(asked.values())) == len(people)


def test_a_question_that_cannot_be_prepared_ends_nothing(session, monkeypatch, capsys):
    def full(*arguments):
        raise MemoryError("no room")

    monkeypatch.setattr(session._learner._learner, "prepare", full)
    item = session.question("ann").item
    assert session.upcoming(item).result(timeout=5) == []
    session.upcoming(item).cancel()  # as by a page that is closed
    session.settle()
    session.answer("ann", item, "cat", fresh_key())
    assert session.question("ann").item != item
    assert "a question could not be prepared: MemoryError" in capsys.readouterr().err


def test_a_session_that_cannot_begin_leaves_its_store_free(tmp_path):
    around = np.arange(900).reshape(30, 30)
    right, down = (around[:, :-1], around[:, 1:]), (around[:-1], around[1:])
    grid = Graph.from_edges(*(np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(right, down, strict=True)))
    items = replace(words(), graph=grid, names=[f"n{k}" for k in range(900)], texts=None)
    with pytest.raises(SettingError, match="treewidth"):
        Session(items, tmp_path / "store.sqlite", strategy="bmrf")
    Session(items, tmp_path / "store.sqlite", strategy="random").close()


def test_what_is_prepared_gives_way_to_an_answer_and_is_begun_again(session, monkeypatch):
    learner, begun = session._learner._learner, []

    def prepare(item, c):
        begun.append((item, c))
        while len(begun) == 1:  # the first would take for ever
            give_way()
            time.sleep(0.001)

    item = session.question("ann").item
    session.settle()
    monkeypatch.setattr(learner, "prepare", prepare)
    waiting = session.upcoming(item)  # does not end it
    deadline = time.monotonic() + 5
    while not begun and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not waiting.done()
    assert session._learner.order()  # somebody wants something
    waiting.result(timeout=5)
    assert begun.count(begun[0]) == 2
