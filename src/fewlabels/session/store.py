"""The store of a session: one SQLite file of events that only ever grows. What is reported as kept is on disk."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fewlabels.errors import FewlabelsError, FileError
from fewlabels.files.atomic import sync_folder
from fewlabels.session import chain, schema
from fewlabels.session import learnt as learnt_table
from fewlabels.session.held import Held, identity
from fewlabels.session.learnt import Learnt
from fewlabels.session.log import is_damaged

FORMAT = "3"  # 1 knew neither checks nor checksums, 2 no changes of classes and no notes
COLUMNS = "do, who, key, item, label, undone, id, at, value"  # the fields of an Event
MAGIC = b"SQLite format 3\0"  # its first bytes
PATIENCE = 2.0  # seconds to wait for another program to let go of the file


class StoreError(FewlabelsError):
    """The answer could not be written and can be given again; it counts once, even where a disk that fails has kept it
    after all.
    """


class StoreFullError(StoreError):
    """There is no room left on the disk."""


class StoreGoneError(StoreError):
    """Its file was moved, removed or replaced; `anew.write_anew` can write another."""


@dataclass(frozen=True)
class Event:
    """One line of the store. `id` and `at` are given when it is written."""

    do: str
    who: str
    key: str
    item: int | None = None
    label: str | None = None
    undone: int | None = None  # the event that an undo takes back
    id: int = 0
    at: str = ""
    value: str | None = None  # what a change of a class, or a note, says

    @property
    def fields(self) -> tuple[Any, ...]:
        """All of it; without the value where there is none, as in the checksums of stores that knew no values."""
        said = self.do, self.who, self.key, self.item, self.label, self.undone, self.id, self.at
        return said if self.value is None else (*said, self.value)


class Store:
    """Append events, read them back. One process holds a store at a time.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store(Path(folder.name) / "answers.sqlite", {"fingerprint": "af01", "title": "photos", "n_items": "12"})
    >>> [event.id for event in store.append([Event("answer", "ann", "key-0001", item=3, label="cat")])]
    [1]
    >>> [(event.who, event.label) for event in store.events()]
    [('ann', 'cat')]
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, str]) -> None:
        self.path = Path(path)
        _require_a_name(self.path)
        if not self.path.parent.is_dir():
            raise FileError(f"cannot keep answers in {path}: there is no folder {self.path.parent}. Create it first.")
        if self.path.is_dir():
            raise FileError(f"cannot keep answers in {path}: it is a folder. Name a file in it with --store.")
        self._lock = threading.Lock()
        self._left = False  # for good: whether or not the file comes back, it is not what it should be
        self._logs: dict[Path, tuple[int, int]] = {}
        self._held = Held(self.path.resolve())
        try:
            if self._held.head not in (b"", MAGIC):
                raise FileError(f"cannot keep answers in {path}: file is not a database. Choose another with --store.")
            if is_damaged(beside(self.path.resolve())[0], self._held.read):
                raise _damaged(self.path, "answers in the log beside it are not as they were written")
            self._db = sqlite3.connect(
                self.path.resolve(), timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        except BaseException as error:
            self._held.close()
            raise _unfit(path, error) if isinstance(error, sqlite3.Error) else error from None
        try:
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._db.execute("PRAGMA synchronous = FULL")
            self._begin(about)
            self._logs = {log: identity(log.stat()) for log in beside(self.path.resolve()) if log.exists()}
        except BaseException as error:
            self.close()
            raise (
                _unfit(path, error) if isinstance(error, (sqlite3.Error, UnicodeError, TypeError)) else error
            ) from None

    def _begin(self, about: dict[str, str]) -> None:
        """Make the tables of a new file, or check that an old one is a store of the same data."""
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not {"about", "events"} <= tables:
            raise FileError(
                f"{self.path} is a database for something else (tables {', '.join(sorted(tables))}): "
                "choose another file with --store."
            )
        if tables and not schema.is_of_a_store(self._db):
            raise _damaged(self.path, "it has tables or triggers that are not a store's")
        self._db.execute("PRAGMA journal_mode = WAL")  # not before: it changes the file
        if not tables:
            begun = {"format": FORMAT, "begun": _now(), **about}
            begun["sum"] = chain.first(begun)
            with _transaction(self._db):
                for statement in (schema.SCHEMA + schema.STAY).split(";\n"):
                    if statement.strip():
                        self._db.execute(statement)
                self._db.executemany("INSERT INTO about VALUES (?, ?)", begun.items())
        (state,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise _damaged(self.path, "the file is not as it was written")
        found = dict(self._db.execute("SELECT name, value FROM about"))
        if found.get("format") not in ("1", "2", FORMAT):
            raise FileError(
                f"{self.path} is of format {found.get('format')!r}, this version reads {FORMAT!r}: upgrade fewlabels."
            )
        if found["format"] != "1" and found.get("sum") != chain.first(found):
            raise _damaged(self.path, "what it is about is not as it was written")
        if found.get("fingerprint") != about["fingerprint"]:
            raise FileError(
                f"{self.path} holds answers about other data ({found.get('n_items')} items of {found.get('title')!r}, "
                f"begun {found.get('begun')}): bring that data back, or start afresh with --store ANOTHER-FILE."
            )
        if found["format"] != FORMAT:
            self._upgrade(found)
        newest = self._db.execute("SELECT sum FROM events ORDER BY id DESC LIMIT 1").fetchone()
        self.about = {name: found[name] for name in chain.ABOUT if name in found}
        self.sum: str = newest[0] if newest else chain.first(found)  # of the newest event

    def _upgrade(self, about: dict[str, str]) -> None:
        """Bring an older store up to date: from now on its events may say what an older fewlabels would misread; those
        of format 1 get their checksums.
        """
        with _transaction(self._db):
            self._db.execute("ALTER TABLE events ADD COLUMN value TEXT")
            self._db.execute("UPDATE about SET value = ? WHERE name = 'format'", [FORMAT])
            if about["format"] != "1":
                return
            self._db.execute("DROP TRIGGER events_stay")
            self._db.execute("ALTER TABLE events ADD COLUMN sum TEXT")
            checksum = chain.first(about)
            for row in self._db.execute(f"SELECT {COLUMNS} FROM events ORDER BY id").fetchall():
                checksum = chain.link(checksum, Event(*row).fields)
                self._db.execute("UPDATE events SET sum = ? WHERE id = ?", [checksum, row[6]])
            self._db.execute(schema.STAY.strip().removesuffix(";"))
            self._db.execute("INSERT INTO about VALUES ('sum', ?)", [chain.first(about)])

    @property
    def in_place(self) -> bool:
        """Whether what is written here is found again: the file is where it was."""
        return self._held.in_place and not self._left

    def append(self, events: Sequence[Event], learnt: Sequence[Learnt] = ()) -> list[Event]:
        """Write the events, all or none; when this returns they are on disk, with their numbers and a time if they had
        none. With them goes what was learnt from earlier ones.
        """
        at = _now()
        if not self.in_place:
            raise self._gone()
        try:
            with self._lock:
                checksum = self.sum
                with _transaction(self._db):
                    written = []
                    for event in events:
                        written.append(self._insert(event, at, checksum))
                        checksum = chain.link(checksum, written[-1].fields)
                    if written:
                        self._read_back(written, checksum)
                    if learnt:
                        learnt_table.write(self._db, learnt)
                if not self._held.in_place:  # the event may be in the file, but nobody was told so
                    self._left = True
                    raise self._gone()
                self.sum = checksum
                return written
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_FULL:
                raise StoreFullError(
                    f"The answer is not kept: the disk that holds {self.path} is full. Make room and try again."
                ) from None
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreError(
                    f"The answer is not kept: another program has locked {self.path}. Close it there and try again."
                ) from None
            raise StoreError(f"The answer is not kept: {self.path} cannot be written ({error}). Try again.") from None

    def _gone(self) -> StoreGoneError:
        return StoreGoneError(
            f"The answer is not kept: {self.path} was moved, removed or replaced while fewlabels was running. "
            "Put it back and try again, or have all answers so far written into a new file."
        )

    def _insert(self, event: Event, at: str, before: str) -> Event:
        (newest,) = self._db.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
        written = replace(event, id=newest + 1, at=event.at or at)
        row = (*written.fields[:8], written.value, chain.link(before, written.fields))
        self._db.execute(f"INSERT INTO events ({COLUMNS}, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return written

    def _read_back(self, written: Sequence[Event], checksum: str) -> None:
        """Refuse to confirm events that are not in the file as they should be; the last has this checksum."""
        query = f"SELECT {COLUMNS}, sum FROM events WHERE id >= ? ORDER BY id"
        found = self._db.execute(query, [written[0].id]).fetchall()
        if [Event(*row[:-1]) for row in found] != written or found[-1][-1] != checksum:
            raise StoreError(f"The answer is not kept: what {self.path} has is not what was written. Use another file.")

    def events(self) -> Iterator[Event]:
        """Every event, in the order of writing; refused at the first that is not as it was written."""
        about = dict(self._db.execute("SELECT name, value FROM about"))
        checksum, number = chain.first(about), 0
        try:
            for *row, stated in self._db.execute(f"SELECT {COLUMNS}, sum FROM events ORDER BY id"):
                event = Event(*row)
                checksum = chain.link(checksum, event.fields)
                if checksum != stated:
                    raise ValueError("checksum")
                yield event
                number = event.id
        except (sqlite3.Error, ValueError, TypeError):
            raise _damaged(
                self.path, f"event {number + 1} is not as it was written, the {number} before it are"
            ) from None

    def learnt(self) -> dict[int, Learnt]:
        """What was learnt from the requests, by the last event of each, as far as it is known."""
        return learnt_table.read(self._db)

    def leave(self) -> None:
        """Take no more events, and remove the logs beside a file that is gone: they would be taken for a new one's."""
        self._left = True
        for log, known in self._logs.items():
            if log.exists() and identity(log.stat()) == known:
                log.unlink()
                sync_folder(log.parent)  # at once, or a crash might bring it back beside the new file

    def close(self) -> None:
        self._db.close()
        self._held.close()


def beside(path: Path) -> list[Path]:
    """SQLite's own files beside a store."""
    return [path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")]


def _require_a_name(path: Path) -> None:
    """Refuse what can be the name of no file, or of none of SQLite's own, which are longer."""
    try:
        beside(path.resolve())[-1].lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError, RuntimeError) as error:
        shown = str(path) if len(str(path)) < 100 and str(path).isprintable() else f"{str(path)!r:.60}…"
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"cannot keep answers in {shown}: {reason}. Give another name with --store.") from None


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; a commit that fails is rolled back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _damaged(path: Path, fact: str) -> FileError:
    return FileError(f"{path} is damaged: {fact}. Save all that is whole with: fewlabels recover {path}")


def _unfit(path: str | os.PathLike[str], error: Exception) -> FileError:
    if not isinstance(error, sqlite3.Error) or getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT:
        return _damaged(Path(path), "the file is not as it was written")
    return FileError(
        f"cannot keep answers in {path}: {error}. Choose another file with --store, or move this one away."
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
