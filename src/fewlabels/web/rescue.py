"""Where the store's file is gone while the page runs: write all answers into a new one, and say so in the terminal."""

from __future__ import annotations

import logging

from fewlabels.session import Session


def rescue(session: Session) -> int:
    """Have all events in a file; returns how many there are. Where the file is in its place, nothing is done."""
    gone = not session.in_place
    events = session.write_anew()
    if gone:
        logging.getLogger("uvicorn.error").error("All answers, %s events, are written into %s.", events, session.path)
    return events
