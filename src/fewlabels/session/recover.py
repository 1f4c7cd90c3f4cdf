"""Recover a damaged store: everything that is provably whole goes into a new one."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fewlabels.errors import FileError
from fewlabels.session import chain
from fewlabels.session.log import is_damaged, with_log
from fewlabels.session.store import COLUMNS, Event, Store, beside

GIVE_UP = 1_000  # events in a row that cannot be read, after which there are no more


@dataclass(frozen=True)
class Recovered:
    """What was saved, and what was not."""

    saved: int
    lost: list[int]  # numbers of the events that are damaged, or that take back one that is
    proven: bool  # False: written before there were checksums, so saved as far as it can be read


def recover(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Recovered:
    """Write the events of a damaged store that are whole into a new one; the damaged one is left as it is."""
    path, out = Path(path), Path(out)
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    if out.exists():
        raise FileError(f"{out} is there already: name another file with --out.")
    try:
        with tempfile.TemporaryDirectory() as folder, closing(_opened(path.resolve(), Path(folder))) as db:
            about = dict(db.execute("SELECT name, value FROM about"))
            proven = about.get("format") != "1"
            valued = about.get("format") not in ("1", "2")
            whole, lost = _sorted_out(db, about, proven, valued)
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise FileError(f"nothing of {path} can be saved: {error}. Bring back a copy of it.") from None
    draft = out.with_name(out.name + ".part")  # killed half-way, no half of a store is taken for one
    draft.unlink(missing_ok=True)
    _write(draft, about, whole)
    draft.replace(out)
    return Recovered(len(whole), lost, proven)


def _opened(path: Path, folder: Path) -> sqlite3.Connection:
    """The store to read from; where its log is damaged, a copy with all that is in the log, whole or not."""
    log, options = beside(path)[0], "mode=ro"
    if is_damaged(log, path.read_bytes):
        copy = folder / "copy.sqlite"
        copy.write_bytes(with_log(path.read_bytes(), log))
        path, options = copy, "mode=ro&immutable=1"
    db = sqlite3.connect(f"{path.as_uri()}?{options}", uri=True)
    db.execute("PRAGMA trusted_schema = OFF")
    return db


def _sorted_out(
    db: sqlite3.Connection, about: dict[str, Any], proven: bool, valued: bool
) -> tuple[list[Event], list[int]]:
    """The events that are whole, and the numbers of the others."""
    whole: list[Event] = []
    lost: list[int] = []
    kept: set[int] = set()
    before: Any = about.get("sum")
    for number, row in _rows(db, proven, valued):
        event, checksum = (None, None) if row is None else (Event(*row[:-1]), row[-1])
        if event is None or (proven and not _follows(before, event, checksum)) or event.undone not in (None, *kept):
            lost.append(number)
        else:
            whole.append(event)
            kept.add(number)
        before = checksum
    return whole, lost


def _follows(before: Any, event: Event, checksum: Any) -> bool:
    try:
        return isinstance(before, str) and chain.link(before, event.fields) == checksum
    except TypeError:  # a number that has become a blob
        return False


def _rows(db: sqlite3.Connection, proven: bool, valued: bool) -> Iterator[tuple[int, Any]]:
    """(number, row) of every event, the row None where it cannot be read."""
    columns = f"{COLUMNS if valued else COLUMNS.replace('value', 'NULL')}, {'sum' if proven else 'NULL'}"
    number, missing = 0, 0
    while missing < GIVE_UP:
        number += 1
        try:
            row = db.execute(f"SELECT {columns} FROM events WHERE id = ?", [number]).fetchone()
        except (sqlite3.Error, UnicodeDecodeError):
            row = None
        if row is None:
            missing += 1
            continue
        yield from ((lost, None) for lost in range(number - missing, number))
        missing = 0
        yield number, row


def _write(out: Path, about: dict[str, Any], whole: list[Event]) -> None:
    """A new store with these events, renumbered; a class that only a lost event had named is named again."""
    store = Store(out, {name: str(about.get(name, "")) for name in ("fingerprint", "title", "n_items")})
    try:
        new: list[Event] = []
        renumbered: dict[int | None, int] = {}
        known: set[str] = set()
        for event in whole:
            if event.label is not None and event.label not in known:
                known.add(event.label)
                if event.do != "class":
                    new.append(Event("class", event.who, f"recovered|{event.id}", label=event.label, at=event.at))
            if event.do == "rename" and event.value is not None:
                known.add(event.value)
            new.append(replace(event, undone=None if event.undone is None else renumbered[event.undone]))
            renumbered[event.id] = len(new)
        store.append(new)
    finally:
        store.close()
