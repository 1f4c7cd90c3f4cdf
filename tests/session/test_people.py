"""Notes on items, and what each person has done."""

from contextlib import closing

import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.errors import SettingError
from fewlabels.session import Session
from fewlabels.session.people import reports


def test_a_note_is_kept_replaced_exported_and_taken_back_and_changes_no_question(tmp_path):
    with closing(Session(words(), tmp_path / "s.sqlite")) as session:
        asked = session.question("ann")
        session.note("ann", asked.item, "  leaves\nare wrong ", fresh_key())
        session.note("bob", asked.item, "I think so, too", "key-of-bobs-note")
        session.note("bob", asked.item, "I think so, too", "key-of-bobs-note")  # sent again
        assert session.question("ann") == asked  # still hers, and not an answer
        session.note("ann", asked.item, "leaves are fine", fresh_key())
        row = list(session.snapshot().rows())[asked.item]
        assert row["notes"] == "ann: leaves are fine; bob: I think so, too"
        assert session.undo("ann", fresh_key())[1] == []
        assert session.question("ann") == asked
        assert session.snapshot().notes[asked.item]["ann"].value == "leaves\nare wrong"
        session.note("bob", asked.item, "", fresh_key())
        assert [*session.snapshot().notes[asked.item]] == ["ann"]
        with pytest.raises(SettingError, match="a note has 1001 characters: give at most 1000"):
            session.note("bob", asked.item, "x" * 1001, fresh_key())
        assert session.snapshot().recent(9) == []
    with closing(Session(words(), tmp_path / "s.sqlite")) as session:
        assert session.snapshot().notes[asked.item]["ann"].value == "leaves\nare wrong"


def test_people_are_told_how_much_and_how_far_they_agree(tmp_path):
    with closing(Session(words(), tmp_path / "s.sqlite", overlap=2)) as session:
        for item, ann, bob in [(0, "cat", "cat"), (1, "dog", "dog"), (2, "dog", "cat")]:
            session.answer("ann", item, ann, fresh_key())
            session.settle()
            session.answer("bob", item, bob, fresh_key())
        session.skip("bob", 9, fresh_key())
        session.unsure("cid", 10, fresh_key())
        session.settle()
        ann, bob, cid = reports(session.snapshot())
        assert (ann.name, ann.answers, ann.with_others) == ("ann", 3, (2, 3))
        assert (bob.answers, bob.skipped, bob.with_others) == (3, 1, (2, 3))
        assert (cid.answers, cid.unsure, cid.seconds, cid.with_others) == (0, 1, None, (0, 0))
        assert ann.seconds > 0
        assert session.snapshot().predictions.foreseen == {1: "cat", 2: "dog"}
        assert (ann.with_model, bob.with_model, ann.blind) == ((1, 2), (0, 2), (0, 0))


def test_pauses_and_answers_in_one_request_are_no_pace(tmp_path):
    with closing(Session(words(), tmp_path / "s.sqlite")) as session:
        session.accept("ann", [(k, "cat") for k in range(5)], fresh_key())
        session.settle()
        (ann,) = reports(session.snapshot())
        assert (ann.answers, ann.seconds) == (5, None)
