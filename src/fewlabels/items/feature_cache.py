"""What was computed about files and texts, kept in the user's cache folder, so that a second start takes seconds.

One SQLite file holds everything. A chunk is stored whole or not at all: work stopped with Ctrl-C goes on where it was.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import numpy as np

from fewlabels.arrays import Floats, Numbers
from fewlabels.errors import FileError

T = TypeVar("T")
FOLDER = "FEWLABELS_CACHE"  # environment variable: a folder for the cache, instead of the user's own
NAME = "features-1.sqlite"  # the number is that of the format
MOST = 2 * 2**30  # bytes; beyond them, what was not used for longest is dropped
CHUNK = 64  # things computed and stored at a time
FRESH = 2.0  # seconds; a file younger than this may still change without its date showing it
DAY = 86_400
PRAGMAS = ("page_count", "freelist_count", "page_size")
TABLE = """CREATE TABLE IF NOT EXISTS features
    (kind TEXT, key TEXT, value BLOB NOT NULL, used INTEGER NOT NULL, UNIQUE (kind, key))"""


def cached_features(
    things: Sequence[T],
    keys: Sequence[str],
    kind: str,
    compute: Callable[[Sequence[T]], Numbers],
    *,
    tell: Callable[[str], None] = lambda sentence: None,
    chunk: int = CHUNK,
) -> Floats:
    """(n, d) the features of each thing, a path or a text: those stored, and the others computed a chunk at a time.

    `keys` are `file_keys` or `text_keys`; "" is computed and not stored. `kind` names how features are computed, with a
    version: other kinds share nothing. They are rounded to float32, stored or not.
    """
    if not len(things):
        raise FileError("there is nothing to compute features of: give at least one file or text.")
    cache = Cache(kind)
    held = cache.find(keys)
    rows: dict[int, Numbers] = {}
    missing = []
    for k, key in enumerate(keys):
        if key in held:
            rows[k] = np.frombuffer(held[key], "<f4")
        else:
            missing.append(k)
    started = time.monotonic()
    for start in range(0, len(missing), chunk):
        part = missing[start : start + chunk]
        found = np.asarray(compute([things[k] for k in part])).astype("<f4")  # (m, d)
        rows.update(zip(part, found, strict=True))
        cache.keep({keys[k]: rows[k].tobytes() for k in part})
        tell(far_along(start + len(part), len(missing), time.monotonic() - started))
    return np.stack([rows[k] for k in range(len(things))]).astype(float)


def file_keys(paths: Iterable[Path]) -> list[str]:
    """What tells each file from any other, and from itself once changed: path, size and date; "" where unsure."""
    return keys_of_real(real_paths(paths))


def real_paths(paths: Iterable[Path]) -> list[str]:
    """Where each path leads, links followed; every folder is looked up once."""
    folders: dict[str, str] = {}
    found = []
    for path in map(os.fspath, paths):
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], name)  # noqa: PTH118, a Path takes longer
        found.append(os.path.realpath(real) if os.path.islink(real) else real)  # noqa: PTH114, a Path takes longer
    return found


def keys_of_real(paths: Iterable[str]) -> list[str]:
    """`file_keys` of paths without links."""
    now = time.time()
    return [_file_key(path, now) for path in paths]


def text_keys(texts: Iterable[str]) -> list[str]:
    """What tells each text from any other."""
    return [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]


def far_along(done: int, total: int, seconds: float) -> str:
    """How far the work is, with a bar and the time left.

    >>> far_along(600, 1200, 30)
    '██████████░░░░░░░░░░ 600 of 1,200, about 30 s left'
    """
    filled = 20 * done // max(total, 1)
    left = seconds * (total - done) / max(done, 1)
    soon = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
    return f"{'█' * filled}{'░' * (20 - filled)} {done:,} of {total:,}, about {soon} left"


class Cache:
    """Bytes by key, of one kind. Where the file cannot be used, nothing is found and nothing is kept."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.path = cache_folder() / NAME

    def find(self, keys: Iterable[str]) -> dict[str, bytes]:
        """{key: value} of those that are stored."""
        found: dict[str, bytes] = {}
        wanted = sorted({key for key in keys if key})
        with self._open() as file:
            if file is None:
                return found
            for start in range(0, len(wanted), 500):
                part = wanted[start : start + 500]
                marks = ", ".join("?" * len(part))
                query = f"SELECT key, value FROM features WHERE kind = ? AND key IN ({marks})"
                found.update(file.execute(query, [self.kind, *part]))
            today = int(time.time() // DAY)
            file.executemany(
                "UPDATE features SET used = ? WHERE kind = ? AND key = ? AND used < ?",
                [(today, self.kind, key, today) for key in found],
            )
        return found

    def keep(self, values: dict[str, bytes]) -> None:
        """Store these, all or none."""
        today = int(time.time() // DAY)
        with self._open() as file:
            if file is None:
                return
            file.executemany(
                "INSERT OR REPLACE INTO features VALUES (?, ?, ?, ?)",
                [(self.kind, key, value, today) for key, value in values.items() if key],
            )
            pages, free, size = (file.execute(f"PRAGMA {what}").fetchone()[0] for what in PRAGMAS)
            if (pages - free) * size > MOST:
                file.execute(
                    "DELETE FROM features WHERE rowid IN (SELECT rowid FROM features ORDER BY used, rowid LIMIT "
                    "(SELECT 1 + COUNT(*) / 10 FROM features))"
                )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """The file in a transaction; None where it cannot be used. A damaged one is dropped: it is only a cache."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(0o600)
            file = sqlite3.connect(self.path, timeout=5)
        except (OSError, sqlite3.Error):
            yield None
            return
        with closing(file):
            try:
                file.execute(TABLE)
                usable = file
            except sqlite3.Error as error:
                self._drop_if_damaged(error)
                usable = None
            try:
                with file:
                    yield usable
            except sqlite3.Error as error:
                self._drop_if_damaged(error)

    def _drop_if_damaged(self, error: sqlite3.Error) -> None:
        if not isinstance(error, sqlite3.OperationalError):  # those are: locked, read-only, full
            with suppress(OSError):
                self.path.unlink()


def cache_folder() -> Path:
    """Where what can be computed again is kept; the variable FEWLABELS_CACHE names another folder."""
    import pooch

    return Path(os.environ.get(FOLDER) or pooch.os_cache("fewlabels"))


def _file_key(real: str, now: float) -> str:
    try:
        found = os.stat(real)  # noqa: PTH116, a Path takes longer
    except (OSError, ValueError):
        return ""
    if now - found.st_mtime < FRESH:
        return ""
    text = b"%d %d " % (found.st_size, found.st_mtime_ns) + os.fsencode(real)
    return hashlib.sha256(text).hexdigest()
