"""A damaged store is told from a whole one, and what is whole of it can be saved."""

import os
import shutil
import sqlite3
from contextlib import suppress

import numpy as np
import pytest

from fewlabels.errors import FewlabelsError, FileError
from fewlabels.session.recover import recover
from fewlabels.session.schema import STAY
from fewlabels.session.store import COLUMNS, Event, Store

ABOUT = {"fingerprint": "af01", "title": "photos", "n_items": "12"}
FLIPS = int(os.environ.get("FEWLABELS_FLIPS", "250"))  # `make soak` asks for 10,000
FORMAT_1 = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE events (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, do TEXT NOT NULL, item INTEGER, label TEXT,
    undone INTEGER REFERENCES events (id), key TEXT NOT NULL
);
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
INSERT INTO about VALUES ('format', '1'), ('begun', '2026-01-01'), ('fingerprint', 'af01'), ('title', 'photos'),
    ('n_items', '12');
INSERT INTO events (at, who, do, item, label, key) VALUES
    ('2026-01-01', 'ann', 'class', NULL, 'cat', 'k1'), ('2026-01-02', 'ann', 'answer', 3, 'cat', 'k2');
"""


def filled(path, n=60):
    """A store of n answers, two classes and an undo; its events."""
    store = Store(path, ABOUT)
    store.append([Event("class", "", "begin", label=label) for label in ("cat", "dog")])
    for k in range(n):
        store.append([Event("answer", "ann", f"key-{k}", item=k % 12, label=("cat", "dog")[k % 2])])
    store.append([Event("undo", "ann", "undo", item=3, undone=20)])
    events = list(store.events())
    store.close()
    return events


def read(path):
    store = Store(path, ABOUT)
    try:
        return list(store.events())
    finally:
        store.close()


def changed(path, statement, *values):
    """Change a store behind its back."""
    with sqlite3.connect(path) as db:
        db.execute("DROP TRIGGER events_stay")
        db.execute(statement, values)
        db.executescript(STAY)
    db.close()


def test_any_flipped_bit_is_told_or_changes_nothing(tmp_path):
    path, hurt, out = tmp_path / "whole.sqlite", tmp_path / "hurt.sqlite", tmp_path / "out.sqlite"
    events, rng = filled(path), np.random.default_rng(0)
    kept = {event.fields[:5] for event in events}
    content, told = path.read_bytes(), 0
    for _ in range(FLIPS):
        bit = int(rng.integers(8 * len(content)))
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        for beside in tmp_path.glob("hurt.sqlite*"):
            beside.unlink()
        hurt.write_bytes(flipped)
        try:
            found = read(hurt)
        except FewlabelsError:
            told += 1
        else:
            assert found == events
            continue
        out.unlink(missing_ok=True)
        with suppress(FewlabelsError):  # nothing can be read
            recover(hurt, out)
            with sqlite3.connect(out) as db:
                rows = db.execute(f"SELECT {COLUMNS} FROM events").fetchall()
            assert {row[:5] for row in rows if not row[2].startswith("recovered|")} <= kept
    assert told > FLIPS / 10


def test_any_flipped_bit_in_the_log_of_a_killed_store_is_told_or_costs_the_last_request_at_most(tmp_path):
    """Whether the end of a log was cut off by the crash or later, nobody can tell."""
    killed = tmp_path / "killed"
    killed.mkdir()
    store = Store(tmp_path / "s.sqlite", ABOUT)
    for k in range(12):
        store.append([Event("answer", "ann", f"key-{k}", item=k, label="cat")])
    for file in tmp_path.glob("s.sqlite*"):
        shutil.copy(file, killed)
    events = list(store.events())
    store.close()
    assert read_copy(killed, tmp_path / "copy") == events
    content, rng, told = (killed / "s.sqlite-wal").read_bytes(), np.random.default_rng(0), 0
    for _ in range(FLIPS):
        bit = int(rng.integers(8 * len(content)))
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        (killed / "s.sqlite-wal").write_bytes(flipped)
        try:
            assert read_copy(killed, tmp_path / "copy") in (events, events[:-1]), bit
        except FileError as error:
            told += "log beside it" in str(error)
    assert told > FLIPS / 2
    (killed / "s.sqlite-wal").write_bytes(content[:200] + b"\xff" * 9 + content[209:])
    before = {file.name: file.read_bytes() for file in killed.iterdir()}
    with pytest.raises(FileError, match="is damaged: answers in the log beside it"):
        read(killed / "s.sqlite")
    assert {file.name: file.read_bytes() for file in killed.iterdir()} == before
    found = recover(killed / "s.sqlite", tmp_path / "new.sqlite")
    assert (found.saved, found.lost) == (len(events), [])  # later frames hold the same page, whole


def read_copy(folder, copy):
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    return read(copy / "s.sqlite")


def test_an_event_that_was_changed_is_named_and_all_others_are_saved(tmp_path):
    path = tmp_path / "answers.sqlite"
    events = filled(path)
    changed(path, "UPDATE events SET label = 'cow' WHERE id = 30")
    with pytest.raises(FileError, match=r"event 30 is not as it was written, the 29 before it are.*fewlabels recover"):
        read(path)
    (tmp_path / "new.sqlite.part").write_text("of an attempt that was killed")
    found = recover(path, tmp_path / "new.sqlite")
    assert (found.saved, found.lost, found.proven) == (len(events) - 1, [30], True)
    assert not list(tmp_path.glob("*.part*"))
    assert (tmp_path / "new.sqlite").stat().st_mode & 0o077 == 0
    saved = read(tmp_path / "new.sqlite")
    assert [event.key for event in saved] == [event.key for event in events if event.id != 30]
    assert [event.at for event in saved] == [event.at for event in events if event.id != 30]


def test_an_undo_of_a_lost_event_is_lost_and_a_lost_class_is_named_again(tmp_path):
    path = tmp_path / "answers.sqlite"
    events = filled(path)
    changed(path, "UPDATE events SET who = 'bob' WHERE id IN (2, 20)")
    found = recover(path, tmp_path / "new.sqlite")
    assert found.lost == [2, 20, len(events)]
    saved = read(tmp_path / "new.sqlite")
    assert [event.label for event in saved if event.do == "class"] == ["cat", "dog"]


def test_what_it_is_about_is_proven_too(tmp_path):
    path = tmp_path / "answers.sqlite"
    filled(path)
    changed(path, "UPDATE about SET value = 'phobos' WHERE name = 'title'")
    with pytest.raises(FileError, match="is damaged: what it is about is not as it was written"):
        read(path)


def test_a_store_from_before_there_were_checksums_is_brought_up_to_date(tmp_path):
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as db:
        db.executescript(FORMAT_1)
    db.close()
    shutil.copy(path, tmp_path / "copy.sqlite")
    assert [event.label for event in read(path)] == ["cat", "cat"]
    store = Store(path, ABOUT)
    store.append([Event("answer", "ann", "k3", item=4, label="cat")])
    with pytest.raises(sqlite3.IntegrityError, match="events are never changed"):
        store._db.execute("UPDATE events SET label = 'dog'")
    store.close()
    assert len(read(path)) == 3
    found = recover(tmp_path / "copy.sqlite", tmp_path / "new.sqlite")
    assert (found.saved, found.lost, found.proven) == (2, [], False)


def test_what_cannot_be_recovered_is_said(tmp_path):
    path = tmp_path / "answers.sqlite"
    with pytest.raises(FileError, match="there is no file"):
        recover(path, tmp_path / "new.sqlite")
    path.write_bytes(b"no database at all" * 99)
    with pytest.raises(FileError, match=r"nothing of .* can be saved"):
        recover(path, tmp_path / "new.sqlite")
    with pytest.raises(FileError, match="is there already: name another file with --out"):
        recover(path, path)
