"""A durable labelling session: people answer questions about items, and every answer is on disk before it counts.

The store's events are the truth; the ledger (who said what) and the mind (what the learner makes of it) are their
replay, so that a session opened again is in the same state.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import groupby, islice
from pathlib import Path

import numpy as np

from fewlabels.errors import LabelError, NodeError, SettingError, nearest
from fewlabels.foresight import Outcome
from fewlabels.items import Items
from fewlabels.session import overview
from fewlabels.session.desk import ConflictError, Desk, Question
from fewlabels.session.ledger import TABLE, Said
from fewlabels.session.mind import Mind, View
from fewlabels.session.overview import Standing
from fewlabels.store import Event, Store
from fewlabels.strategies import make_strategy

__all__ = ["ConflictError", "Question", "Session", "check_settings"]

MOST_CLASSES = 200
MOST_AT_ONCE = 1000
LONGEST = {"a class": 100, "a name": 50}  # characters


class Session:
    """Questions out, answers in, by any number of threads at once.

    A request that changes something carries a `key` of its own: sent again, because its reply was lost, it is answered
    again and counts once.
    """

    def __init__(
        self,
        items: Items,
        path: str | os.PathLike[str],
        *,
        strategy: str = "tsa",
        target: float = 0.05,
        overlap: int = 1,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        check_settings(strategy, target, overlap)
        classes = list(dict.fromkeys([*items.classes, *items.known.values()]))
        for label in classes:
            _check_text("a class", label)
        _check_number_of_classes(len(classes))
        self.items, self.strategy, self.target, self.overlap = items, strategy, target, overlap
        self._desk = Desk(items.names, overlap, clock)
        self._ledger = self._desk.ledger
        self._standing: tuple[int, int, Standing] | None = None  # as of which version and number of requests
        self._writing = threading.Lock()  # one request writes at a time, in the order of the store
        self._mind = Mind(items.graph, strategy, seed, self._desk.reading)
        about = {"fingerprint": items.fingerprint, "title": items.title, "n_items": str(len(items.names))}
        self._store = Store(path, about)
        try:
            self._replay(tell)
            self._begin(items)
        except BaseException:
            self._store.close()
            raise
        self._mind.start()

    def _replay(self, tell: Callable[[str], None]) -> None:
        events = list(self._store.events())
        said = time.monotonic()
        for _, group in groupby(events, key=lambda event: event.key):
            written = list(group)
            change = self._desk.take(written)
            self._mind.learn(change, self._ledger.classes, written[-1].id)
            if time.monotonic() - said > 2:
                tell(f"Taking up the answers kept so far: {written[-1].id:,} of {events[-1].id:,}")
                said = time.monotonic()

    def _begin(self, items: Items) -> None:
        """Write down what comes with the data and is not in the store yet: classes and known labels."""
        known = set(self._ledger.classes)
        fresh = [label for label in dict.fromkeys([*items.classes, *items.known.values()]) if label not in known]
        _check_number_of_classes(len(known) + len(fresh))
        key = f"begin-{self._mind.view.version}"
        events = [Event("class", TABLE, key, label=label) for label in fresh]
        said = self._ledger.said
        for item, label in items.known.items():
            before = said[item].votes.get(TABLE) if item in said else None
            if before is None or before.label != label:
                events.append(Event("answer", TABLE, key, item=item, label=label))
        if events:
            written = self._store.append(events)
            self._mind.learn(self._desk.take(written), self._ledger.classes, written[-1].id)

    def close(self) -> None:
        self._mind.stop()
        self._store.close()

    @property
    def path(self) -> Path:
        return self._store.path

    @property
    def classes(self) -> list[str]:
        return list(self._ledger.classes)

    def class_name(self, number: int) -> str:
        return self._ledger.classes[number]

    @property
    def view(self) -> View:
        """What the learner says of all items now."""
        return self._mind.view

    @property
    def last_event(self) -> int:
        """The number of the last event kept; the view has heard it once `settle` returns."""
        with self._desk.lock:
            return next(reversed(self._ledger.groups.values()))[-1].id if self._ledger.groups else 0

    # Asking

    def question(self, who: str, item: int | None = None, reason: str = "requested") -> Question | None:
        """A question for this person, lent to them for a minute; about this item, where one is given (and why).

        The question they have already comes first, then an item that needs a second opinion, then the learner's
        choice. None where nothing is left to ask them.
        """
        who = _check_text("a name", who)
        if item is None:
            found = self._mind.choose(lambda ask: self._desk.choose(ask, who))
        else:
            self.check_item(item)
            self.settle()
            found = self._desk.request(who, item, reason)
        return found

    def order(self) -> list[int]:
        """The items that may be asked, in the order in which they are worth asking now."""
        return self._mind.order()

    # Answering

    def answer(self, who: str, item: int, label: str, key: str) -> int:
        """Keep this person's answer; where they gave one before, it is changed. The number of the event."""
        return self.accept(who, [(item, label)], key)

    def accept(self, who: str, answers: Sequence[tuple[int, str]], key: str) -> int:
        """Keep several answers, all or none."""
        who = _check_text("a name", who)
        if not 1 <= len(answers) <= MOST_AT_ONCE:
            raise SettingError(f"{len(answers)} answers at once: give 1 to {MOST_AT_ONCE:,}.")
        for item, label in answers:
            self.check_item(item)
            self._check_class(label)
        if len({item for item, _ in answers}) < len(answers):
            raise LabelError("an item is there twice: give one answer for each.")
        events = [Event("answer", who, key, item=item, label=label) for item, label in answers]
        return self._write(key, events[0], lambda: events)

    def decide(self, who: str, item: int, label: str, key: str) -> int:
        """Settle what an item is, whatever was answered."""
        who = _check_text("a name", who)
        self.check_item(item)
        self._check_class(label)
        event = Event("decide", who, key, item=item, label=label)
        return self._write(key, event, lambda: [event])

    def skip(self, who: str, item: int, key: str) -> int:
        """Nobody is asked about this item again."""
        return self._set_aside("skip", who, item, key)

    def unsure(self, who: str, item: int, key: str) -> int:
        """This person cannot tell: others may still be asked."""
        return self._set_aside("unsure", who, item, key)

    def _set_aside(self, do: str, who: str, item: int, key: str) -> int:
        who = _check_text("a name", who)
        self.check_item(item)

        def events() -> list[Event]:
            label = self._ledger.label(item)
            if do == "skip" and label is not None:
                raise ConflictError(f"{self.items.names[item]!r} is labelled {label!r}: there is no question to skip.")
            return [event]

        event = Event(do, who, key, item=item)
        return self._write(key, event, events)

    def undo(self, who: str, key: str, event: int | None = None, *, whole: bool = False) -> tuple[int, list[int]]:
        """Take back this event of theirs (`whole`: the request it was part of), or else their last request.

        The number of the event that says so, and the items concerned.
        """
        who = _check_text("a name", who)

        def events() -> list[Event]:
            undone = self._ledger.to_undo(who, event, whole)
            if not undone:
                which = "nothing" if event is None else f"no answer {event} of yours"
                raise ConflictError(f"There is {which} to take back.")
            return [Event("undo", who, key, item=e.item, undone=e.id) for e in undone]

        number = self._write(key, Event("undo", who, key, undone=event), events)
        return number, self._ledger.items(self._ledger.groups[key])

    def add_class(self, who: str, label: str, key: str) -> int:
        """One more class an item may be."""
        who = _check_text("a name", who)
        label = _check_text("a class", label)

        def events() -> list[Event]:
            if label in self._ledger.classes:
                raise ConflictError(f"there is a class {label!r} already: choose another name.")
            _check_number_of_classes(len(self._ledger.classes) + 1)
            return [event]

        event = Event("class", who, key, label=label)
        return self._write(key, event, events)

    def _write(self, key: str, first: Event, events: Callable[[], list[Event]]) -> int:
        """Store the events of a request, then let ledger and mind know; a key heard before changes nothing.

        `first` is the first of the events, as far as it is known: by it the same request is told from another one.
        """
        with self._writing:
            before = self._ledger.groups.get(key)
            if before:
                if not _same_request(before[0], first):
                    raise ConflictError(f"the key {key!r} was used for another request: take a fresh one for each.")
                return before[-1].id
            written = self._store.append(events())
            change = self._desk.take(written)
            self._mind.heed(change, self.classes, written[-1].id)
        return written[-1].id

    # Looking

    def settle(self) -> None:
        """Wait until the view knows everything said so far."""
        self._mind.settle()

    def standing(self) -> Standing:
        with self._desk.lock:
            view, heard = self.view, len(self._ledger.groups)
            if self._standing is None or self._standing[:2] != (view.version, heard):
                self._standing = view.version, heard, overview.standing(self._ledger, view, self.target)
            return self._standing[2]

    def label(self, item: int) -> str | None:
        """The label people or the data gave this item."""
        return self._ledger.label(item)

    def labelled(self) -> list[int]:
        with self._desk.lock:
            return [item for item, said in self._ledger.said.items() if said.label is not None]

    def heard(self, key: str) -> bool:
        """Whether a request with this key was kept."""
        return key in self._ledger.groups

    def said(self) -> dict[int, Said]:
        """What was said about each item, and not taken back."""
        with self._desk.lock:
            return dict(self._ledger.said)

    def outcomes(self, item: int) -> list[Outcome]:
        """What each answer to this item would change, in the order of the classes."""
        self.check_item(item)
        return self._mind.explain(item)

    def upcoming(self, item: int) -> Future[list[int]]:
        """The items that may be asked after this one, when that has been worked out."""
        self.check_item(item)
        return self._mind.upcoming(item)

    def neighbours(self, item: int, most: int = 12) -> list[tuple[int, float]]:
        """The items tied to this one and the weights of the ties, the strongest first."""
        self.check_item(item)
        row = self.items.graph.weights[[item]]
        order = np.argsort(-row.data, kind="stable")[:most]
        return list(zip(row.indices[order].tolist(), row.data[order].tolist(), strict=True))

    def doubtful(self, label: str) -> list[int]:
        """The items predicted as this class that nobody has labelled, the most doubtful first."""
        self._check_class(label)
        with self._desk.lock:
            return overview.doubtful(self._ledger, self.view, self._ledger.classes.index(label))

    def recent(self, most: int, who: str | None = None) -> list[Event]:
        """The last answers, skips and decisions of people that stand, the newest first."""
        with self._desk.lock:
            mine = (e for e in reversed(self._ledger.standing.values()) if e.who != TABLE and who in (None, e.who))
            return list(islice(mine, most))

    def aside(self) -> tuple[list[int], list[int]]:
        """The items someone is unsure of, and those skipped; without those that have a label by now."""
        with self._desk.lock:
            open_ = [(item, said) for item, said in self._ledger.said.items() if said.label is None]
            return [k for k, said in open_ if said.unsure], [k for k, said in open_ if said.skip]

    def disagreements(self) -> list[tuple[int, Said]]:
        """The items people answer differently, those without a decision first."""
        with self._desk.lock:
            found = [(item, said) for item, said in self._ledger.said.items() if said.disputed]
            return sorted(found, key=lambda pair: pair[1].decision is not None)

    def rows(self) -> list[dict[str, str | int | float | None]]:
        """Everything to take away: one row for every item (see `overview.rows`)."""
        self.settle()
        with self._desk.lock:
            return list(overview.rows(self.items, self._ledger, self.view))

    def check_item(self, item: int) -> None:
        n = len(self.items.names)
        if not 0 <= item < n:
            raise NodeError(f"there is no item {item}: items are 0 to {n - 1}.")

    def _check_class(self, label: str) -> None:
        if label not in self._ledger.classes:
            known = self._ledger.classes
            raise LabelError(f"there is no class {label!r} yet: add it first.{nearest(label, known)}")


def _same_request(written: Event, first: Event) -> bool:
    """Whether this may be the first event of the request; what an undo takes back may have been left open."""
    if (written.do, written.who) != (first.do, first.who):
        return False
    if first.do == "undo":
        return first.undone in (None, written.undone)
    return (written.item, written.label) == (first.item, first.label)


def check_settings(strategy: str, target: float, overlap: int) -> None:
    """Refuse what no session can be opened with, before anything is read."""
    make_strategy(strategy)
    if not 0 < target < 1:
        raise SettingError(f"the target error is {target}: give a share between 0 and 1, such as 0.05.")
    if overlap < 1:
        raise SettingError(f"overlap is {overlap}: each item is asked of at least 1 person.")


def _check_text(what: str, text: str) -> str:
    """The text without space around it; refused where it is empty, too long, or would not be seen."""
    text = text.strip()
    if not text or len(text) > LONGEST[what] or not text.isprintable():
        fact = "is empty" if not text else f"has {len(text)} characters" if text.isprintable() else "has odd characters"
        raise SettingError(f"{what} {fact}: give 1 to {LONGEST[what]} characters that can be printed.")
    return text


def _check_number_of_classes(n: int) -> None:
    if n > MOST_CLASSES:
        raise SettingError(f"that would be {n} classes: {MOST_CLASSES} is the most. Put some of them together.")
