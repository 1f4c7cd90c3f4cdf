"""A store opened by what was learnt from its requests is in the state of learning them again, one after the other."""

import sqlite3

import numpy as np
import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.errors import FewlabelsError
from fewlabels.session import Session, kept


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens the store: plainly, learning every request again, or else by what is known of them."""
    sessions = []

    def open_session(plainly=False, again=kept.LEARNT_AGAIN, **options):
        while sessions:
            sessions.pop().close()
        monkeypatch.setattr(kept, "QUICK", 10**9 if plainly else 0)
        monkeypatch.setattr(kept, "LEARNT_AGAIN", again)
        items = words(60, classes=("a", "b", "c", "d"), known={1: "a"})
        sessions.append(Session(items, tmp_path / "store.sqlite", overlap=2, **options))
        return sessions[-1]

    yield open_session
    while sessions:
        sessions.pop().close()


def live(session, seed, steps=100):
    """Three people answer, differ, take back, skip, are unsure, and change the classes."""
    rng, checks = np.random.default_rng(seed), 0
    session.accept("ann", [(k, "abcd"[k % 4]) for k in range(20, 40)], fresh_key())  # checks come after these
    for step in range(steps):
        who, item = ("ann", "bob", "cid")[rng.integers(3)], int(rng.integers(60))
        one, other = (str(name) for name in rng.choice(session.classes, 2))
        kind = rng.integers(18)
        try:
            if kind < 10 and (asked := session.question(who)) is not None:
                checks += asked.reason == "check"
                session.answer(who, asked.item, one, fresh_key())
            elif kind < 12:
                session.answer(who, item, one, fresh_key())
            elif kind == 12:
                session.undo(who, fresh_key())
            elif kind == 13:
                (session.skip if rng.integers(2) else session.unsure)(who, item, fresh_key())
            elif kind == 14:
                session.accept(who, [(k, one) for k in range(3)], fresh_key())
            elif kind == 15:
                session.decide(who, item, one, fresh_key())
            elif kind == 16 and len(session.classes) > 2:
                do = ("merge", "remove", "rename", "move")[rng.integers(4)]
                session.change_class(who, do, one, f"{one}{step}" if do == "rename" else other, fresh_key())
            elif kind == 17:
                session.add_class(who, f"new {step}", fresh_key())
        except FewlabelsError:  # nothing to take back, or a conflict with what someone else did
            continue
    return checks


def remembered(session):
    """All that predictions, checks and later questions depend on."""
    session.settle()
    found, learner = session.snapshot().predictions, session._learner._learner
    whole = (
        found.version, found.table, found.table_version, found.predicted.tolist(), found.said.tolist(),
        found.suggestions, found.settled, found.audit.wrong, found.audit.left, found.audit.skipped,
        [labels for labels, _ in found.curve], learner.labelled, learner.skipped, learner.checks,
        learner._events, learner._answers.given,
    )  # fmt: skip
    return whole, found.chance, [found.expected_error, found.audit.expected], [error for _, error in found.curve]


def same(one, other):
    assert one[0] == other[0]
    for mine, theirs in zip(one[1:], other[1:], strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_any_life_opens_as_it_was_whether_learnt_again_or_known(opened, seed):
    session = opened(seed=seed)
    checks = live(session, seed)
    assert checks
    before = remembered(session)
    assert before[0][5][1] > 5  # suggestions
    plainly = opened(plainly=True, seed=seed)
    same(remembered(plainly), before)
    question = plainly.question("dan")
    known = opened(again=0, seed=seed)
    same(remembered(known), before)
    assert known.question("dan") == question


def test_what_was_not_written_before_a_crash_or_is_damaged_is_learnt_again(opened, tmp_path):
    live(opened(), 5)
    before = remembered(opened())
    opened().close()
    with sqlite3.connect(tmp_path / "store.sqlite") as store:
        (many,) = store.execute("SELECT count(*) FROM learnt").fetchone()
        store.execute("DELETE FROM learnt WHERE event % 7 = 0 OR event > (SELECT max(event) - 3 FROM learnt)")
        store.execute("UPDATE learnt SET predicted = -1, error = 0.5 WHERE event % 5 = 0")
        store.execute("UPDATE learnt SET sum = CAST(x'ff' AS TEXT) WHERE event % 11 = 0")  # no text in any encoding
        store.execute("UPDATE learnt SET predicted = CAST(x'ff' AS TEXT) WHERE event % 13 = 0")
    same(remembered(opened()), before)
    opened().close()
    with sqlite3.connect(tmp_path / "store.sqlite") as store:
        assert store.execute("SELECT count(*) FROM learnt").fetchone() == (many,)  # and written again


def test_an_older_store_too_large_to_be_learnt_again_opens_without_what_was_predicted_then(opened, tmp_path):
    live(opened(), 6)
    before, _, error, _ = remembered(opened())
    opened().close()
    with sqlite3.connect(tmp_path / "store.sqlite") as store:
        store.execute("DROP TABLE learnt")
    session = opened(again=0)
    after, _, error_after, curve = remembered(session)
    known = (0, 1, 2, 3, 7, 8, 9, 11, 12, 13, 14, 15)
    assert [after[k] for k in known] == [before[k] for k in known]
    np.testing.assert_allclose(error_after, error, atol=1e-9)
    assert session.snapshot().predictions.foreseen == {}
    assert len(curve) == 2  # where it began, and now
    item = next(k for k in range(60) if k not in session.snapshot().history)
    session.answer("dan", item, session.classes[0], fresh_key())
    session.settle()
    assert list(session.snapshot().predictions.foreseen) == [item]  # from now on it is known


def test_what_was_learnt_goes_along_into_a_new_file(opened, tmp_path):
    session = opened()
    live(session, 7)
    before = remembered(session)
    (tmp_path / "store.sqlite").rename(tmp_path / "elsewhere.sqlite")
    session.write_anew()
    same(remembered(opened(again=0)), before)
