"""The tables and triggers of a store, and whether a file that came from elsewhere has these and no others."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

from fewlabels.session import learnt

SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,      -- UTC
    who TEXT NOT NULL,
    do TEXT NOT NULL,      -- class, check, answer, skip, unsure, decide, note, undo, or a change of a class
    item INTEGER,
    label TEXT,
    undone INTEGER REFERENCES events (id),
    key TEXT NOT NULL,     -- of the request: the same for all events of one request, and never twice
    sum TEXT,              -- checksum of this event and of the one before it
    value TEXT             -- of a change of a class, or a note: its new name, its text
);
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
"""
STAY = """
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
"""
LATER = {("events", "sum TEXT"), ("events", "value TEXT")}  # columns that older stores lack


def is_of_a_store(db: sqlite3.Connection) -> bool:
    """Whether tables and triggers are those of a store and no others: a trigger of somebody's own could drop what is
    written."""
    ours, learnt_table, found = _made(SCHEMA + STAY), _made(learnt.TABLE), _parts(db)
    return found <= ours | learnt_table and (ours | learnt_table) - found - LATER in (set(), learnt_table)


def _made(script: str) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(script)
        return _parts(db)


def _parts(db: sqlite3.Connection) -> set[tuple[str, str]]:
    """All there is, each with its name: triggers whole, tables as their columns, whose order and comments do not count.

    (In our tables no text is quoted, so that two dashes can begin nothing but a comment; in a trigger they could.)
    """
    found: set[tuple[str, str]] = set()
    for name, sql in db.execute("SELECT name, CAST(sql AS TEXT) FROM sqlite_master WHERE sql IS NOT NULL"):
        parts = [sql]
        if sql.startswith("CREATE TABLE"):
            begin, _, rest = re.sub("--.*", "", sql).partition("(")
            columns, _, end = rest.rpartition(")")
            parts = [begin, *columns.split(","), end]
        found |= {(name, " ".join(part.split())) for part in parts}
    return found
