"""The store: what it says it kept is on disk, what it refuses leaves nothing behind, and it says why in a sentence."""

import errno
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from fewlabels.errors import FileError
from fewlabels.session import store as store_module
from fewlabels.session.recover import recover
from fewlabels.session.store import Event, Store, StoreError, StoreFullError

ABOUT = {"fingerprint": "af01", "title": "photos", "n_items": "12"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def store(path):
    opened = Store(path, ABOUT)
    yield opened
    opened.close()


def answers(key, n=1, label="cat"):
    return [Event("answer", "ann", key, item=k, label=label) for k in range(n)]


def keys(store):
    return [event.key for event in store.events()]


def other_process(code, path, **options):
    """A Python that has opened the store in `path` as `store`; it runs the code, and says what it prints."""
    begin = f"import sys; from fewlabels.session.store import *; store = Store({str(path)!r}, {ABOUT!r})\n"
    return subprocess.Popen(
        [sys.executable, "-c", begin + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_every_commit_is_synced_to_disk(store):
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("name", ["a" * 300, "a" * 250, "a" * 5_000, "a\0b", "loop"])
def test_a_name_that_no_file_can_have_is_refused_in_a_sentence_and_leaves_nothing(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileError, match="cannot keep answers in ") as refused:
        Store(tmp_path / name, ABOUT)
    assert len(str(refused.value)) < 250
    assert [file.name for file in tmp_path.iterdir()] == ["loop"]


@pytest.mark.parametrize("change", ["DELETE FROM events", "UPDATE events SET label = 'dog'"])
def test_what_was_written_is_neither_changed_nor_deleted(store, path, change):
    store.append(answers("key-0001"))
    with pytest.raises(sqlite3.IntegrityError, match="events are never"):
        store._db.execute(change)
    assert [event.label for event in store.events()] == ["cat"]


def test_events_are_numbered_and_dated_in_the_order_of_writing(path):
    store = Store(path, ABOUT)
    written = store.append(answers("key-0001", 2)) + store.append(answers("key-0002"))
    store.close()
    again = Store(path, ABOUT)
    assert list(again.events()) == written
    assert [event.id for event in written] == [1, 2, 3]
    assert all(event.at.endswith("Z") for event in written)
    again.close()


def test_of_a_group_that_fails_nothing_is_kept(store):
    bad = Event("answer", None, "key-0001", item=1, label="dog")  # nobody said it
    with pytest.raises(StoreError, match="not kept"):
        store.append([*answers("key-0001", 3), bad])
    assert keys(store) == []
    assert [event.id for event in store.append(answers("key-0002"))] == [1]


def test_answers_about_other_data_are_refused_and_left_alone(store, path):
    store.append(answers("key-0001"))
    store.close()
    with pytest.raises(FileError, match=r"holds answers about other data \(12 items of 'photos'.*--store"):
        Store(path, ABOUT | {"fingerprint": "b0b0"})
    again = Store(path, ABOUT)
    assert keys(again) == ["key-0001"]
    again.close()


def test_a_later_format_is_refused(path):
    Store(path, ABOUT).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE about SET value = '9' WHERE name = 'format'")
    db.close()
    with pytest.raises(FileError, match=r"of format '9'.*upgrade"):
        Store(path, ABOUT)


def test_a_lock_by_another_program_is_said_and_the_answer_can_be_given_again(path, monkeypatch):
    monkeypatch.setattr(store_module, "PATIENCE", 0.05)
    store = Store(path, ABOUT)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another program has locked") as refusal:
        store.append(answers("key-0001"))
    assert not isinstance(refusal.value, StoreFullError)
    other.execute("ROLLBACK")
    other.close()
    store.append(answers("key-0001"))
    assert keys(store) == ["key-0001"]
    store.close()


def test_a_full_disk_is_said_and_the_store_goes_on_once_there_is_room(store):
    store.append(answers("key-0001"))
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFullError, match=r"is full. Make room"):
        store.append(answers("key-0002", 50, label="x" * 1000))
    assert keys(store) == ["key-0001"]
    store._db.execute("PRAGMA max_page_count = 1000000")
    store.append(answers("key-0002", 50, label="x" * 1000))
    assert keys(store) == ["key-0001"] + ["key-0002"] * 50


def test_a_write_the_system_refuses_is_said_and_the_store_goes_on_afterwards(path):
    """As with a quota: past RLIMIT_FSIZE the system refuses to let a file grow."""
    code = """if True:
        import resource
        kept = 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        try:
            while kept < 1000:
                store.append([Event("answer", "ann", f"key-{kept:04}", item=1, label="x" * 1000)])
                kept += 1
        except StoreError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        store.append([Event("answer", "ann", "key-last", item=1, label="x" * 1000)])
        print(kept)
        """
    said, problem = other_process(code, path).communicate(timeout=60)
    assert not problem
    sentence, kept = said.splitlines()
    assert "not kept" in sentence
    store = Store(path, ABOUT)
    assert keys(store) == [f"key-{k:04}" for k in range(int(kept))] + ["key-last"]
    store.close()


def test_a_store_is_open_in_one_process_and_free_again_once_that_is_killed(path):
    other = other_process("print('open', flush=True); sys.stdin.read()", path, stdin=subprocess.PIPE)
    assert other.stdout.readline() == "open\n"
    with pytest.raises(FileError, match="open in another fewlabels"):
        Store(path, ABOUT)
    other.send_signal(signal.SIGKILL)
    other.communicate()
    Store(path, ABOUT).close()


def test_a_store_is_opened_once_in_one_process_too(store, path):
    with pytest.raises(FileError, match="open in another fewlabels"):
        Store(path, ABOUT)
    store.append(answers("key-0001"))  # the first still works


def test_a_file_that_is_no_database_is_refused_and_left_alone(path):
    path.write_text("name,label\n" * 1000)
    with pytest.raises(FileError, match=r"file is not a database.*--store"):
        Store(path, ABOUT)
    assert path.read_text() == "name,label\n" * 1000


def test_a_database_of_something_else_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"database for something else \(tables recipes\)"):
        Store(path, ABOUT)
    assert path.read_bytes() == before


HIDDEN = "--''); DELETE FROM events; SELECT max(1, ''\n"  # what follows -- is no comment in a string


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER thief AFTER INSERT ON events BEGIN DELETE FROM events WHERE id = new.id; END",
        "CREATE TRIGGER liar AFTER INSERT ON about BEGIN SELECT load_extension('theirs'); END",
        "CREATE VIEW theirs AS SELECT * FROM events",
        "CREATE TABLE learnt (event INTEGER PRIMARY KEY, predicted INTEGER, error REAL)",
        "CREATE INDEX theirs ON events (who)",
        "DROP TRIGGER events_are_kept",
        "UPDATE sqlite_master SET sql = replace(sql, 'who TEXT NOT NULL', 'who TEXT NOT NULL CHECK (who != ''bob'')')",
        f"UPDATE sqlite_master SET sql = replace(sql, 'events are never', '{HIDDEN}')",
    ],
)
def test_a_store_with_something_of_its_own_in_its_schema_is_refused_left_alone_and_recovered(path, change):
    store = Store(path, ABOUT)
    written = store.append(answers("key-0001", 3))
    store.close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute(change)
    db.close()
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"tables or triggers that are not a store's.*fewlabels recover"):
        Store(path, ABOUT)
    assert path.read_bytes() == before
    assert recover(path, path.with_name("new.sqlite")).saved == len(written)
    saved = Store(path.with_name("new.sqlite"), ABOUT)
    assert [event.item for event in saved.events() if event.do == "answer"] == [0, 1, 2]
    saved.close()


@pytest.mark.parametrize(
    "deed", ["DELETE FROM events WHERE id = new.id", "UPDATE events SET label = 'dog' WHERE id = new.id"]
)
def test_what_is_written_is_read_back_before_it_is_confirmed(store, path, deed):
    store.append(answers("key-0001"))
    with sqlite3.connect(path) as other:
        for trigger in ("events_are_kept", "events_stay"):
            other.execute(f"DROP TRIGGER {trigger}")
        other.execute(f"CREATE TRIGGER thief AFTER INSERT ON events BEGIN {deed}; END")
    with pytest.raises(StoreError, match=r"not kept.*not what was written"):
        store.append(answers("key-0002", 2))
    other.execute("DROP TRIGGER thief")
    other.close()
    store.append(answers("key-0003"))
    assert keys(store) == ["key-0001", "key-0003"]


def test_functions_in_a_schema_are_not_trusted(store):
    assert store._db.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(FileError, match="there is no folder"):
        Store(tmp_path / "no" / "answers.sqlite", ABOUT)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said(tmp_path, path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(FileError, match="cannot keep answers in"):
            Store(path, ABOUT)
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_in_place_of_the_file_is_said(path):
    path.mkdir()
    with pytest.raises(FileError, match="cannot keep answers in"):
        Store(path, ABOUT)


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_store_that_is_open_cannot_be_opened_by_another_path(path, link):
    store = Store(path, ABOUT)
    other = path.with_name("other.sqlite")
    getattr(other, link)(path)
    with pytest.raises(FileError, match="open in another fewlabels"):
        Store(other, ABOUT)
    code = f"from fewlabels.session.store import Store; Store({str(other)!r}, {ABOUT!r})"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "open in another fewlabels" in elsewhere.stderr
    store.append(answers("key-0001"))
    assert keys(store) == ["key-0001"]
    store.close()
    again = Store(other, ABOUT)
    assert keys(again) == ["key-0001"]
    again.close()


@pytest.mark.parametrize("away", ["removed", "moved", "replaced"])
def test_answers_are_not_confirmed_into_a_file_that_is_no_longer_there(path, away):
    store = Store(path, ABOUT)
    store.append(answers("key-0001"))
    aside = path.with_name("aside.sqlite")
    path.rename(aside)
    if away == "removed":
        aside.unlink()
    elif away == "replaced":
        path.write_bytes(b"")
    with pytest.raises(StoreError, match="was moved, removed or replaced") as refusal:
        store.append(answers("key-0002"))
    assert not isinstance(refusal.value, StoreFullError)
    if away == "moved":
        aside.rename(path)
        store.append(answers("key-0002"))
        assert keys(store) == ["key-0001", "key-0002"]
    store.close()


def test_a_new_store_is_readable_by_its_owner_alone(path):
    store = Store(path, ABOUT)
    store.append(answers("key-0001"))
    made = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    assert len(made) > 1  # SQLite's own beside it
    assert {file.stat().st_mode & 0o077 for file in made} == {0}
    store.close()


def test_a_refused_second_opening_costs_no_confirmed_answer(path):
    """Opening and closing the file again would end SQLite's locks, and another program would remove its journal."""
    code = """if True:
        store.append([Event("answer", "ann", "key-0001", item=1, label="cat")])
        try:
            Store(sys.argv[1], ABOUT)
        except Exception:
            pass
        subprocess.run([sys.executable, "-c", "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
                        "db.execute('SELECT count(*) FROM events').fetchone(); db.close()", sys.argv[1]], check=True)
        store.append([Event("answer", "ann", "key-0002", item=2, label="cat")])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    begin = "import os, signal, subprocess, sys\nfrom fewlabels.session.store import Event, Store\n"
    begin += f"ABOUT = {ABOUT!r}\nstore = Store(sys.argv[1], ABOUT)\n"
    subprocess.run([sys.executable, "-c", begin + code, str(path)], check=False)
    again = Store(path, ABOUT)
    assert keys(again) == ["key-0001", "key-0002"]
    again.close()


def test_closing_a_store_twice_leaves_the_next_one_alone(path):
    first = Store(path, ABOUT)
    first.close()
    second = Store(path, ABOUT)
    first.close()
    with pytest.raises(FileError, match="open in another fewlabels"):
        Store(path, ABOUT)
    code = f"from fewlabels.session.store import Store; Store({str(path)!r}, {ABOUT!r})"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "open in another fewlabels" in elsewhere.stderr
    second.close()


@pytest.mark.parametrize("code", [errno.ENOTSUP, errno.ENOLCK])
def test_a_file_system_without_locks_is_no_obstacle(path, code, monkeypatch):
    def none(*arguments):
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "fcntl", none)
    store = Store(path, ABOUT)
    store.append(answers("key-0001"))
    assert keys(store) == ["key-0001"]
    store.close()
