"""The store of a session: one SQLite file of events that only ever grows. What is reported as kept is on disk."""

from __future__ import annotations

import errno
import os
import sqlite3
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from fewlabels.errors import FewlabelsError, FileError
from fewlabels.session import chain

FORMAT = "2"  # 1 knew neither checks nor checksums
COLUMNS = "do, who, key, item, label, undone, id, at"  # the fields of an Event
MAGIC = b"SQLite format 3\0"
FAR = 2**60  # the byte that is locked
PATIENCE = 2.0  # seconds to wait for another program to let go of the file

SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,      -- UTC
    who TEXT NOT NULL,
    do TEXT NOT NULL,      -- class, check, answer, skip, unsure, decide, undo
    item INTEGER,
    label TEXT,
    undone INTEGER REFERENCES events (id),
    key TEXT NOT NULL,     -- of the request: the same for all events of one request, and never twice
    sum TEXT               -- checksum of this event and of the one before it
);
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
"""
STAY = """
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
"""


class StoreError(FewlabelsError):
    """The answer could not be written; nothing of it is kept, and it can be given again."""


class StoreFullError(StoreError):
    """There is no room left on the disk."""


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

    @property
    def fields(self) -> tuple[Any, ...]:
        return self.do, self.who, self.key, self.item, self.label, self.undone, self.id, self.at


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
        if not self.path.parent.is_dir():
            raise FileError(f"cannot keep answers in {path}: there is no folder {self.path.parent}. Create it first.")
        if self.path.is_dir():
            raise FileError(f"cannot keep answers in {path}: it is a folder. Name a file in it with --store.")
        self._lock = threading.Lock()
        self._held = _Held(self.path.resolve())
        try:
            if self._held.head not in (b"", MAGIC):
                raise FileError(f"cannot keep answers in {path}: file is not a database. Choose another with --store.")
            self._db = sqlite3.connect(
                self.path.resolve(), timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        except BaseException as error:
            self._held.close()
            raise _unfit(path, error) if isinstance(error, sqlite3.Error) else error from None
        try:
            self._db.execute("PRAGMA synchronous = FULL")
            self._begin(about)
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
        self._db.execute("PRAGMA journal_mode = WAL")  # not before: it changes the file
        if not tables:
            begun = {"format": FORMAT, "begun": _now(), **about}
            begun["sum"] = chain.first(begun)
            with _transaction(self._db):
                for statement in (SCHEMA + STAY).split(";\n"):
                    if statement.strip():
                        self._db.execute(statement)
                self._db.executemany("INSERT INTO about VALUES (?, ?)", begun.items())
        (state,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise _damaged(self.path, "the file is not as it was written")
        found = dict(self._db.execute("SELECT name, value FROM about"))
        if found.get("format") not in ("1", FORMAT):
            raise FileError(
                f"{self.path} is of format {found.get('format')!r}, this version reads {FORMAT!r}: upgrade fewlabels."
            )
        if found["format"] == FORMAT and found.get("sum") != chain.first(found):
            raise _damaged(self.path, "what it is about is not as it was written")
        if found.get("fingerprint") != about["fingerprint"]:
            raise FileError(
                f"{self.path} holds answers about other data ({found.get('n_items')} items of {found.get('title')!r}, "
                f"begun {found.get('begun')}): bring that data back, or start afresh with --store ANOTHER-FILE."
            )
        if found["format"] != FORMAT:
            self._upgrade(found)
        newest = self._db.execute("SELECT sum FROM events ORDER BY id DESC LIMIT 1").fetchone()
        self._sum = newest[0] if newest else chain.first(found)

    def _upgrade(self, about: dict[str, str]) -> None:
        """Bring a store of format 1 up to date: from now on its events have checksums and may be checks, which an older
        fewlabels would take for answers.
        """
        with _transaction(self._db):
            self._db.execute("DROP TRIGGER events_stay")
            self._db.execute("ALTER TABLE events ADD COLUMN sum TEXT")
            checksum = chain.first(about)
            for row in self._db.execute(f"SELECT {COLUMNS} FROM events ORDER BY id").fetchall():
                checksum = chain.link(checksum, row)
                self._db.execute("UPDATE events SET sum = ? WHERE id = ?", [checksum, row[6]])
            self._db.execute(STAY.strip().removesuffix(";"))
            self._db.execute("INSERT INTO about VALUES ('sum', ?)", [chain.first(about)])
            self._db.execute("UPDATE about SET value = ? WHERE name = 'format'", [FORMAT])

    def append(self, events: Sequence[Event], at: str | None = None) -> list[Event]:
        """Write the events, all or none; when this returns they are on disk, and have their numbers and time."""
        at = at or _now()
        if not self._held.in_place:
            raise StoreError(
                f"The answer is not kept: {self.path} was moved, removed or replaced while fewlabels was running. "
                "Put it back and try again; or stop fewlabels, and start it again with another --store."
            )
        try:
            with self._lock:
                checksum = self._sum
                with _transaction(self._db):
                    written = []
                    for event in events:
                        written.append(self._insert(event, at, checksum))
                        checksum = chain.link(checksum, written[-1].fields)
                self._sum = checksum
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

    def _insert(self, event: Event, at: str, before: str) -> Event:
        (newest,) = self._db.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
        written = replace(event, id=newest + 1, at=at)
        row = (*written.fields, chain.link(before, written.fields))
        self._db.execute(f"INSERT INTO events ({COLUMNS}, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return written

    def events(self) -> Iterator[Event]:
        """Every event, in the order of writing; refused at the first that is not as it was written."""
        about = dict(self._db.execute("SELECT name, value FROM about"))
        checksum, number = chain.first(about), 0
        try:
            for *row, stated in self._db.execute(f"SELECT {COLUMNS}, sum FROM events ORDER BY id"):
                checksum = chain.link(checksum, row)
                if checksum != stated:
                    raise ValueError("checksum")
                yield Event(*row)
                number = row[6]
        except (sqlite3.Error, ValueError, TypeError):
            raise _damaged(
                self.path, f"event {number + 1} is not as it was written, the {number} before it are"
            ) from None

    def close(self) -> None:
        self._db.close()
        self._held.close()


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


class _Held:
    """The store's own file, held so that nobody else opens it, by whatever path: no other thread, no other process.

    The lock is on the file itself, so no link and no removed lock file leads past it, and the system releases it
    however the process ends. Nothing else in this process may open and close that file: it would end SQLite's locks.
    """

    _here: ClassVar[set[tuple[int, int]]] = set()  # files held by this process
    _guard = threading.Lock()

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        with self._guard:
            try:
                if path.exists() and _identity(path.stat()) in self._here:
                    raise _open_elsewhere(path)
                self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # answers are nobody else's
                self._identity = _identity(os.fstat(self._file))
                self.head = os.pread(self._file, len(MAGIC), 0)  # the first bytes, none where the file is new
                _lock(self._file)
            except OSError as error:
                if self._file is not None:
                    os.close(self._file)
                if isinstance(error, BlockingIOError | PermissionError) and self._file is not None:
                    raise _open_elsewhere(path) from None
                raise FileError(
                    f"cannot keep answers in {path}: {error.strerror}. Choose another file with --store."
                ) from None
            self._here.add(self._identity)

    @property
    def in_place(self) -> bool:
        """Whether the path still leads to this file: it may have been moved, removed or replaced."""
        try:
            return _identity(self._path.stat()) == self._identity
        except OSError:
            return False

    def close(self) -> None:
        with self._guard:
            if self._file is not None:
                file, self._file = self._file, None
                self._here.discard(self._identity)
                os.close(file)


def _lock(file: int) -> None:
    """Lock a byte far beyond SQLite's own locks; BlockingIOError or PermissionError where another process has.

    With Linux's locks of an open file, which end with that file alone. Where a file system has no locks, there is none.
    """
    try:
        import fcntl  # not on every system
    except ImportError:
        return
    try:
        if hasattr(fcntl, "F_OFD_SETLK"):
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, FAR, 1, 0))
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, FAR)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS, errno.EINVAL):
            raise


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _open_elsewhere(path: Path) -> FileError:
    return FileError(f"{path} is open in another fewlabels: go to its page, stop it there, or give another --store.")


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
