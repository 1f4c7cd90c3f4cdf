"""What each person has done: how much, how fast, and how far they agree with the others and with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median

from fewlabels.session.ledger import TABLE
from fewlabels.session.overview import Snapshot
from fewlabels.session.store import Event

PAUSE = 300.0  # seconds after which someone was away rather than thinking

Share = tuple[int, int]  # so many of so many


@dataclass(frozen=True)
class PersonReport:
    """One person's part of a session."""

    name: str
    answers: int
    skipped: int
    unsure: int
    notes: int
    seconds: float | None  # from one answer to the next, in the middle; None before there are two
    last: str | None  # when they last said something
    with_others: Share  # the same label, of all pairs of an answer of theirs and one of somebody else to the same item
    with_model: Share  # what had been predicted before their answer
    blind: Share  # the same where they were not shown the prediction: on checks


def reports(shot: Snapshot) -> list[PersonReport]:
    """Everybody who has said something, whoever answered most first."""
    said: dict[str, list[Event]] = {}
    for event in shot.in_force.values():
        if event.who != TABLE:
            said.setdefault(event.who, []).append(event)
    for notes in shot.notes.values():
        for who in notes:
            said.setdefault(who, [])
    found = [_report(shot, who, events) for who, events in said.items()]
    return sorted(found, key=lambda one: (-one.answers, one.name))


def _report(shot: Snapshot, who: str, events: Sequence[Event]) -> PersonReport:
    votes = {k: history.votes[who].label for k, history in shot.history.items() if who in history.votes}
    others = [
        vote.label == label
        for k, label in votes.items()
        for other, vote in shot.history[k].by_people.items()
        if other != who
    ]
    foreseen = {
        k: shot.predictions.foreseen[k] == label for k, label in votes.items() if k in shot.predictions.foreseen
    }
    blind = [right for k, right in foreseen.items() if k in shot.checks]
    return PersonReport(
        name=who,
        answers=sum(event.do in ("answer", "decide") for event in events),
        skipped=sum(event.do == "skip" for event in events),
        unsure=sum(event.do == "unsure" for event in events),
        notes=sum(who in notes for notes in shot.notes.values()),
        seconds=_pace(events),
        last=events[-1].at if events else None,
        with_others=(sum(others), len(others)),
        with_model=(sum(foreseen.values()), len(foreseen)),
        blind=(sum(blind), len(blind)),
    )


def _pace(events: Sequence[Event]) -> float | None:
    """Seconds between requests, in the middle; pauses are left out, and many answers in one request count once."""
    moments = [datetime.fromisoformat(at) for at in dict.fromkeys(event.at for event in events)]
    gaps = [(after - before).total_seconds() for before, after in pairwise(moments)]
    working = [gap for gap in gaps if 0 < gap <= PAUSE]
    return median(working) if working else None
