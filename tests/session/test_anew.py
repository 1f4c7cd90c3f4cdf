"""A store whose file is gone while it is open is written anew: everything confirmed, and nothing else."""

import sqlite3
from contextlib import closing

import pytest
from support.items import words
from support.keys import fresh_key

from fewlabels.session import Session
from fewlabels.session import store as store_module
from fewlabels.session.store import Event, Store, StoreError, StoreGoneError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.fewlabels.sqlite"


@pytest.fixture
def session(path):
    opened = Session(words(), path)
    for k in range(5):
        opened.answer("ann", k, "cat", f"key-{k:05}")
    opened.undo("ann", "key-undo")
    yield opened
    opened.close()


def remove(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("aside.sqlite"))


def move_with_logs(path):
    for file in list(path.parent.glob(path.name + "*")):
        file.rename(file.with_name("aside" + file.name))


def replace_by_text(path):
    path.unlink()
    path.write_text("a shopping list")


def replace_by_a_store(path):
    path.unlink()
    with closing(Store(path, {"fingerprint": "b0b0", "title": "others", "n_items": "3"})) as other:
        other.append([Event("answer", "eve", "key-eve", item=0, label="cat")])


def read(path, items=None):
    """The keys of the events of a store, read afresh: whole, or an error."""
    items = items or words()
    about = {"fingerprint": items.fingerprint, "title": items.title, "n_items": str(len(items.names))}
    with closing(Store(path, about)) as store:
        return [event.key for event in store.events()]


@pytest.mark.parametrize("go", [remove, move, move_with_logs, replace_by_text, replace_by_a_store])
def test_all_answers_are_in_the_new_file_and_the_refused_one_can_be_sent_again(session, path, go):
    before = session._ledger.events()
    go(path)
    there = path.read_bytes() if path.exists() else None
    with pytest.raises(StoreGoneError, match="into a new file"):
        session.answer("ann", 9, "dog", "key-refused")
    assert session.write_anew() == len(before)
    assert session.path == (path if there is None else path.with_name("words.fewlabels-2.sqlite"))
    assert there is None or path.read_bytes() == there
    assert session.write_anew() == len(before)  # again: nothing to do
    session.answer("ann", 9, "dog", "key-refused")
    assert list(session._store.events()) == session._ledger.events()
    assert session._ledger.events()[: len(before)] == before
    mode = {file.stat().st_mode & 0o077 for file in path.parent.glob(session.path.name + "*")}
    assert mode == {0}
    session.close()
    assert read(session.path) == [*(event.key for event in before), "key-refused"]
    assert not list(path.parent.glob("*.part*"))


def test_a_file_that_vanishes_while_an_answer_is_written_leaves_no_doubt(session, path, monkeypatch):
    """The answer is not confirmed; put back, the file may hold it, and is left alone from then on."""
    link, aside = store_module.chain.link, path.with_name("aside.sqlite")

    def vanish(*given):
        if path.exists():
            path.rename(aside)
        return link(*given)

    with monkeypatch.context() as patch:
        patch.setattr(store_module.chain, "link", vanish)
        with pytest.raises(StoreGoneError):
            session.answer("ann", 9, "dog", "key-refused")
    aside.rename(path)
    with pytest.raises(StoreGoneError):
        session.answer("ann", 9, "dog", "key-refused")
    session.write_anew()
    session.answer("ann", 9, "dog", "key-refused")
    assert [event.key for event in session._store.events()].count("key-refused") == 1


def test_what_cannot_be_written_is_said_and_tried_again(session, path):
    path.unlink()
    path.parent.rename(path.parent.with_name("elsewhere"))
    with pytest.raises(StoreError, match=r"No new file could be written beside .*there is no folder"):
        session.write_anew()
    path.parent.mkdir()
    session.write_anew()
    session.answer("ann", 9, "dog", fresh_key())
    assert session.path == path


def test_a_log_of_another_database_is_not_mixed_with_the_new_file(session, path):
    for file in path.parent.glob(path.name + "*"):
        file.unlink()
    log = path.with_name(path.name + "-wal")
    log.write_bytes(b"of somebody else")
    session.write_anew()
    assert session.path.name == "words.fewlabels-2.sqlite"
    assert log.read_bytes() == b"of somebody else"


def test_memory_that_differs_from_what_was_written_is_not_passed_off_as_it(session, path):
    session._ledger.requests.popitem()
    path.unlink()
    with pytest.raises(StoreError, match="what is in memory is not what had been written"):
        session.write_anew()
    assert [file for file in path.parent.iterdir() if not file.name.endswith(("-wal", "-shm"))] == []


def test_an_old_log_beside_a_new_file_would_have_been_taken_for_its_own(session, path):
    """Why the logs are removed: SQLite goes by the name alone."""
    path.unlink()
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    session.write_anew()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT count(*) FROM events").fetchone() == (len(session._ledger.events()),)
