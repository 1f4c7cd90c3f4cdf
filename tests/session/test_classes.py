"""Classes are renamed, merged, removed, moved, painted: answers follow, and everything can be taken back."""

import sqlite3

import numpy as np
import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.errors import FewlabelsError, LabelError, SettingError
from fewlabels.learner import ActiveLearner
from fewlabels.session import ConflictError, Session
from fewlabels.session.classes import Classes
from fewlabels.session.recover import recover
from fewlabels.session.store import Event


@pytest.fixture
def begin(tmp_path):
    """A session on forty words; the same file again goes on."""
    open_now = []

    def open_one(**options):
        while open_now:
            open_now.pop().close()
        settings = {name: options.pop(name) for name in ("overlap", "checks") if name in options}
        open_now.append(Session(words(**options), tmp_path / "s.sqlite", **settings))
        return open_now[-1]

    yield open_one
    while open_now:
        open_now.pop().close()


def change(session, do, label, value=None, who="ann"):
    return session.change_class(who, do, label, value, fresh_key())


def answer(session, who="ann", **labels):
    for item, label in labels.items():
        session.answer(who, int(item[1:]), label, fresh_key())


def labels(session):
    shot = seen(session)
    return {k: shot.label(k) for k in sorted(shot.labelled())}


def seen(session):
    session.settle()
    return session.snapshot()


def same(one, other):
    """Two snapshots in which everything people see is alike."""
    assert one.predictions.table == other.predictions.table
    assert one.history == other.history
    assert one.standing.suggestions == other.standing.suggestions
    np.testing.assert_array_equal(one.predictions.predicted, other.predictions.predicted)
    np.testing.assert_allclose(one.predictions.chance, other.predictions.chance, atol=1e-9)


def test_answers_follow_a_class_that_is_renamed_and_undo_gives_it_its_name_back(begin):
    session = begin(classes=("cat", "dog"))
    answer(session, i0="cat", i5="dog")
    before = seen(session)
    change(session, "rename", "cat", "Tiger")
    assert session.classes == ["Tiger", "dog"]
    assert labels(session) == {0: "Tiger", 5: "dog"}
    np.testing.assert_array_equal(seen(session).predictions.chance, before.predictions.chance)
    assert {row["label"] for row in seen(session).rows()} == {"Tiger", "dog", None}
    assert "p_Tiger" in next(seen(session).rows())
    session.undo("ann", fresh_key())
    assert labels(session) == {0: "cat", 5: "dog"}
    same(seen(session), before)


def test_a_merge_ends_a_dispute_and_undoing_it_brings_the_dispute_back(begin):
    session = begin(classes=("rose", "Rose", "oak"), overlap=2)
    answer(session, who="ann", i3="rose", i7="oak")
    answer(session, who="bob", i3="Rose")
    assert seen(session).standing.disagreements == 1
    change(session, "merge", "rose", "Rose", who="bob")
    assert session.classes == ["Rose", "oak"]
    assert labels(session) == {3: "Rose", 7: "oak"}
    assert seen(session).standing.disagreements == 0
    assert seen(session).predictions.chance.shape == (40, 2)
    answer(session, who="ann", i9="rose")  # her page has not heard of it yet
    assert labels(session)[9] == "Rose"
    session.undo("bob", fresh_key())
    assert session.classes == ["rose", "Rose", "oak"]
    assert labels(session) == {7: "oak", 9: "Rose"}  # what was said since means the class it was merged into
    assert seen(session).standing.disagreements == 1


def test_after_a_merge_the_predictions_are_those_of_a_session_that_never_knew_the_other_class(begin, tmp_path):
    session = begin(classes=("rose", "Rose", "oak"))
    answer(session, i0="rose", i5="Rose", i20="oak", i30="oak")
    session.skip("ann", 11, fresh_key())
    change(session, "merge", "rose", "Rose")
    other = Session(words(classes=("Rose", "oak")), tmp_path / "other.sqlite")
    try:
        answer(other, i0="Rose", i5="Rose", i20="oak", i30="oak")
        other.skip("ann", 11, fresh_key())
        np.testing.assert_allclose(seen(session).predictions.chance, seen(other).predictions.chance, atol=1e-9)
        assert seen(session).standing.expected_error == pytest.approx(seen(other).standing.expected_error)
        assert seen(session).standing.skipped == 1
    finally:
        other.close()


def test_the_answers_of_a_removed_class_are_open_again_and_its_checks_wait(begin):
    session = begin(classes=("cat", "dog", "typo"), checks=2)
    for _ in range(26):
        asked = session.question("ann").item
        session.answer("ann", asked, "typo" if asked % 5 == 0 else "cat" if asked % 2 else "dog", fresh_key())
    before = seen(session)
    lost = [k for k, label in labels(session).items() if label == "typo"]
    checked = [k for k in lost if k in before.checks]
    assert checked
    assert before.standing.estimate.checks > len(checked)
    change(session, "remove", "typo")
    after = seen(session)
    assert session.classes == ["cat", "dog"]
    assert not set(lost) & set(labels(session))
    assert after.standing.labelled == before.standing.labelled - len(lost)
    assert all(after.waiting(k) for k in checked)
    assert after.standing.estimate.checks == before.standing.estimate.checks - len(checked)
    with pytest.raises(LabelError, match="the class 'typo' was removed: choose another"):
        session.answer("ann", 1, "typo", fresh_key())
    assert session.question("ann") is not None
    session.undo("ann", fresh_key())
    assert labels(session) == {k: before.label(k) for k in sorted(before.labelled())}
    assert seen(session).standing.estimate.checks == before.standing.estimate.checks


def test_order_colour_key_and_description_stay_with_the_class(begin):
    session = begin(classes=("cat", "dog", "eel"))
    answer(session, i0="cat", i5="dog", i9="eel")
    before = seen(session).predictions
    change(session, "move", "eel", "cat")
    change(session, "colour", "dog", "7")
    change(session, "key", "dog", "3")
    change(session, "describe", "eel", "  a long fish ")
    table = seen(session).predictions.table
    assert [(c.name, c.colour, c.key, c.description) for c in table] == [
        ("eel", 2, "2", "a long fish"), ("cat", 0, "1", ""), ("dog", 7, "3", ""),
    ]  # fmt: skip
    np.testing.assert_allclose(seen(session).predictions.chance, before.chance[:, [2, 0, 1]])
    change(session, "remove", "cat")
    assert [c.key for c in seen(session).predictions.table] == ["2", "3"]  # no key changes its meaning
    session.add_class("ann", "owl", fresh_key())
    assert [(c.name, c.key, c.colour) for c in seen(session).predictions.table][-1] == ("owl", "1", 0)
    for _ in range(5):
        session.undo("ann", fresh_key())
    assert session.classes == ["cat", "dog", "eel", "owl"]


@pytest.mark.parametrize(
    ("do", "label", "value", "error", "said"),
    [
        ("rename", "cat", "dog", ConflictError, "already a class 'dog': merge 'cat' into it"),
        ("rename", "cat", " ", SettingError, "a class is empty"),
        ("rename", "cow", "ox", LabelError, "no class 'cow'"),
        ("merge", "cat", "cat", ConflictError, "cannot be merged into itself"),
        ("merge", "cat", "cow", LabelError, "no class 'cow'"),
        ("key", "cat", "n", SettingError, "cannot have the key 'n'"),
        ("key", "cat", "12", SettingError, "cannot have the key '12'"),
        ("colour", "cat", "red", SettingError, "no colour 'red'"),
        ("vanish", "cat", None, SettingError, "no change 'vanish'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(begin, do, label, value, error, said):
    session = begin(classes=("cat", "dog"))
    with pytest.raises(error, match=said):
        change(session, do, label, value)
    assert session.classes == ["cat", "dog"]


def test_a_name_like_another_is_asked_back_and_two_people_renaming_at_once_hear_of_each_other(begin):
    session = begin(classes=("Rose", "oak"))
    for like in ("rose", "ROSE", " ro-se"):
        with pytest.raises(ConflictError, match="There is a class 'Rose': did you mean it"):
            session.add_class("ann", like, fresh_key(), sure=False)
    session.add_class("ann", "rose", fresh_key(), sure=True)
    change(session, "rename", "oak", "Oak", who="ann")
    with pytest.raises(ConflictError, match="'oak' is 'Oak' by now"):
        change(session, "rename", "oak", "Eiche", who="bob")
    change(session, "remove", "rose", who="ann")
    session.add_class("bob", "rose", fresh_key())
    with pytest.raises(ConflictError, match="another class is called 'rose' by now"):
        session.undo("ann", fresh_key())


def test_a_request_sent_again_counts_once_even_if_the_class_has_another_name_by_then(begin):
    session = begin(classes=("cat", "dog"))
    event = session.answer("ann", 3, "cat", "key-of-the-answer")
    renamed = session.change_class("bob", "rename", "cat", "Cat", "key-of-the-change")
    assert session.answer("ann", 3, "cat", "key-of-the-answer") == event
    assert session.change_class("bob", "rename", "cat", "Cat", "key-of-the-change") == renamed
    with pytest.raises(ConflictError, match="was used for another request"):
        session.change_class("bob", "rename", "cat", "Puss", "key-of-the-change")


def test_a_restart_is_in_the_same_state_and_the_command_lines_classes_do_not_come_back(begin):
    given = {"classes": ("cat", "dog", "typo", "eel"), "known": {1: "cat", 2: "typo", 3: "eel"}}
    session = begin(**given)
    answer(session, i8="dog", i9="typo", i12="cat")
    change(session, "rename", "cat", "Cat")
    change(session, "remove", "typo")
    change(session, "merge", "eel", "dog")
    change(session, "move", "dog", "Cat")
    session.undo("ann", fresh_key())
    answer(session, i20="dog", i21="Cat")
    before, question = seen(session), session.question("ann")
    session = begin(**given)
    assert session.classes == ["Cat", "dog"]
    assert labels(session) == {1: "Cat", 3: "dog", 8: "dog", 12: "Cat", 20: "dog", 21: "Cat"}
    same(seen(session), before)
    assert session.question("ann").item == question.item
    session = begin(classes=("owl",))
    assert session.classes == ["Cat", "dog", "owl"]


@pytest.mark.parametrize("do", ["merge", "remove"])
def test_what_had_been_predicted_counts_again_once_the_end_of_its_class_is_taken_back(begin, do):
    session = begin(classes=("cat", "dog", "owl"))
    for step in range(15):
        session.answer("ann", session.question("ann").item, ("cat", "dog", "owl")[step % 3], fresh_key())
    before = seen(session)
    change(session, "rename", "cat", "Tiger")
    change(session, do, "Tiger", "dog" if do == "merge" else None)
    assert seen(session).standing.suggestions[1] < before.standing.suggestions[1]
    assert set(seen(session).predictions.foreseen.values()) <= {"dog", "owl"}
    for _ in range(2):
        session.undo("ann", fresh_key())
    for now in (seen(session), seen(begin(classes=("cat", "dog", "owl")))):
        same(now, before)
        assert now.predictions.foreseen == before.predictions.foreseen


def test_a_store_of_the_former_format_opens_and_takes_changes_and_is_recovered(begin, tmp_path):
    answer(begin(classes=("cat", "dog")), i0="cat", i5="dog")
    path = begin(classes=("cat", "dog")).path
    begin().close()
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE events DROP COLUMN value")
        db.execute("UPDATE about SET value = '2' WHERE name = 'format'")
    db.close()
    assert recover(path, tmp_path / "whole.sqlite").lost == []
    session = begin(classes=("cat", "dog"))
    change(session, "rename", "cat", "Tiger")
    assert labels(begin(classes=("cat", "dog"))) == {0: "Tiger", 5: "dog"}
    begin().close()
    assert recover(path, tmp_path / "again.sqlite").lost == []


def test_any_history_of_changes_can_be_taken_back_step_by_step():
    rng = np.random.default_rng(0)
    for _ in range(30):
        table, seen_before = Classes(), []
        table.add([Event("class", "", "k", label=name, id=k) for k, name in enumerate("abcde")])
        for number in range(10, 40):
            names = table.names
            if len(names) < 2:
                break
            do = str(rng.choice(["rename", "merge", "remove", "move", "key", "colour", "describe"]))
            one, other = rng.choice(names, 2, replace=False)
            value = {"rename": f"n{number}", "colour": "3", "key": "x"}.get(do, str(other))
            seen_before.append((number, table.listed))
            table.change(Event(do, "ann", f"k{number}", label=str(one), value=value, id=number))
        for number, listed in reversed(seen_before):
            table.take_back(number)
            assert table.listed == listed


def test_any_sequence_of_answers_and_changes_replays_to_the_state_of_a_learner_taught_what_is_left(begin):
    """The learner is rebuilt, relabelled and extended on the way; in the end it knows what one taught at once knows."""
    given = {"classes": ("a", "b", "c", "d"), "overlap": 2}
    session, rng = begin(**given), np.random.default_rng(3)
    for step in range(120):
        who, item = ("ann", "bob")[rng.integers(2)], int(rng.integers(40))
        one, other = (str(name) for name in rng.choice(session.classes, 2))
        kind = rng.integers(12)
        try:
            if kind < 5:
                session.answer(who, item, one, fresh_key())
            elif kind < 7:
                session.undo(who, fresh_key())
            elif kind == 7:
                change(session, "rename", one, f"{one[0]}{step}", who)
            elif kind == 8 and len(session.classes) > 2:
                change(session, str(rng.choice(["merge", "remove"])), one, other, who)
            elif kind == 9:
                change(session, "move", one, other, who)
            elif kind == 10:
                session.note(who, item, f"note {step}", fresh_key())
            elif kind == 11:
                session.add_class(who, f"new {step}", fresh_key())
        except FewlabelsError:  # nothing to take back, merged into itself, or a name that is taken again
            continue
    before = seen(session)
    again = seen(begin(**given))
    same(again, before)
    assert again.notes == before.notes
    fresh = ActiveLearner(before.items.graph, range(len(before.classes)))
    taught = {k: before.classes.index(before.label(k)) for k in before.labelled()}
    fresh.teach(list(taught), list(taught.values()))
    np.testing.assert_allclose(before.predictions.chance, fresh.predict_proba(), atol=1e-9)


def test_what_would_change_is_told_in_the_order_people_see(begin):
    session = begin(classes=("a", "b", "c"))
    answer(session, k1="a", k9="b", k20="c", k33="a")
    change(session, "move", "c", "a")
    explained = session.explain(15)
    assert list(explained.classes) == ["c", "a", "b"]
    for name, outcome in zip(explained.classes, explained.outcomes, strict=True):
        taught = ActiveLearner(session.items.graph, ["a", "b", "c"])
        taught.teach([1, 9, 20, 33, 15], ["a", "b", "c", "a", name])
        for node, number in outcome.examples:
            assert taught.predict()[node] == explained.classes[number]


def test_an_answer_sent_again_counts_though_its_class_is_gone_and_a_new_one_is_refused(begin):
    session = begin(classes=("a", "b"))
    key = fresh_key()
    event = session.answer("ann", 3, "b", key)
    change(session, "remove", "b")
    assert session.answer("ann", 3, "b", key) == event
    with pytest.raises(LabelError):
        session.answer("bob", 4, "b", fresh_key())
    with pytest.raises(LabelError):
        session.decide("bob", 4, "b", fresh_key())


def test_an_answer_that_was_replaced_is_not_among_those_of_its_class(begin):
    session = begin(classes=("a", "b"))
    answer(session, k5="a", k6="a")
    answer(session, k5="b")
    assert seen(session).labelled_as("a") == [6]
    change(session, "remove", "b")
    assert labels(session) == {5: "a", 6: "a"}


def test_taking_back_an_answer_whose_class_is_gone_in_a_recovered_store_changes_nothing(begin, tmp_path):
    session = begin(classes=("a", "b"))
    event = session.answer("ann", 3, "b", fresh_key())
    change(session, "remove", "b")
    brought_back, _ = session.undo("ann", fresh_key())
    session.undo("ann", fresh_key(), event)
    session.close()
    with sqlite3.connect(tmp_path / "s.sqlite") as file:
        for (trigger,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f"DROP TRIGGER {trigger}")
        file.execute("UPDATE events SET key = 'damaged!' WHERE id = ?", [brought_back])
    recover(tmp_path / "s.sqlite", tmp_path / "r.sqlite")
    whole = Session(words(classes=("a", "b")), tmp_path / "r.sqlite")
    assert labels(whole) == {}
    whole.close()
