"""What was learnt from each request: kept beside the events, so that a store opens without learning it all again.

It can be worked out from the events, so it is no event itself: what is missing or damaged here is as if never written.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

TABLE = """
CREATE TABLE IF NOT EXISTS learnt (
    event INTEGER PRIMARY KEY REFERENCES events (id),  -- the last of a request
    predicted INTEGER,     -- the class foretold for the item it answers, by the event that added it; -1: none
    error REAL,            -- expected after it, where it changed predictions
    sum TEXT NOT NULL      -- checksum of the row and of the event
)
"""


class Learnt(NamedTuple):
    """What was learnt from the request that ends with this event."""

    event: int
    predicted: int | None  # the class predicted before it for the one item it answers; -1: none
    error: float | None  # expected after it, where it changed predictions


def write(db: sqlite3.Connection, learnt: Iterable[Learnt]) -> None:
    """Add rows, in a transaction that others began."""
    db.execute(TABLE)
    for one in learnt:
        found = db.execute("SELECT sum FROM events WHERE id = ?", [one.event]).fetchone()
        if found is not None:
            row = (*one, _checksum(found[0], one))
            db.execute("INSERT OR REPLACE INTO learnt VALUES (?, ?, ?, ?)", row)


def read(db: sqlite3.Connection) -> dict[int, Learnt]:
    """Every row that is as it was written, by its event."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'learnt'").fetchone():
        return {}
    query = (  # no text is read but that of events: damaged, it may be none
        "SELECT event, predicted, error, CAST(learnt.sum AS BLOB), events.sum "
        "FROM learnt JOIN events ON events.id = event "
        "WHERE typeof(predicted) IN ('integer', 'null') AND typeof(error) IN ('real', 'null') ORDER BY event"
    )
    found = {}
    for *row, stated, of_event in db.execute(query):
        one = Learnt(*row)
        if _checksum(of_event, one).encode() == stated:
            found[one.event] = one
    return found


def _checksum(of_event: str, one: Learnt) -> str:
    return hashlib.sha256(f"{of_event} {one.predicted} {one.error!r}".encode()).hexdigest()[:16]
