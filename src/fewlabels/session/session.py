"""A durable labelling session: questions out, answers in, from any number of threads at once."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from fewlabels.errors import LabelError, NodeError, SettingError
from fewlabels.items import Items
from fewlabels.learner.checks import EVERY
from fewlabels.learner.estimate import CONFIDENCE, TARGET
from fewlabels.learner.prior import chances_of_model
from fewlabels.session.anew import write_anew
from fewlabels.session.assignments import Assignments, ConflictError, Question
from fewlabels.session.changes import (
    check_change,
    check_class_name,
    check_known,
    check_name,
    check_note,
    check_number,
    check_undo,
    check_value,
)
from fewlabels.session.learner_thread import LearnerThread
from fewlabels.session.ledger import TABLE, Change, Ledger
from fewlabels.session.limits import MOST_AT_ONCE, MOST_TOGETHER
from fewlabels.session.listing import Listing, Wanted
from fewlabels.session.overview import Snapshot
from fewlabels.session.predictions import Explanation, Goal
from fewlabels.session.settings import check_settings
from fewlabels.session.store import Event, Store


class Session:
    """Questions out, answers in, from any number of threads at once; what there is to see is in `snapshot`.

    The aim is that at most `target` of the items are predicted wrongly, and to know it with this confidence: after the
    first answers, one question in `checks` is a check, an item drawn at random (0: none, and nobody is told to stop).

    A request that changes something carries a `key` of its own: if it is sent again, because its reply was lost, it is
    answered again but counts once.
    """

    def __init__(
        self,
        items: Items,
        path: str | os.PathLike[str],
        *,
        strategy: str = "tsa",
        target: float = TARGET,
        confidence: float = CONFIDENCE,
        checks: int = EVERY,
        overlap: int = 1,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        check_settings(strategy, target, overlap, confidence, checks)
        classes = list(dict.fromkeys([*items.classes, *items.known.values()]))
        for label in classes:
            check_class_name(label)
        check_number(len(classes))
        self.items, self.strategy, self.overlap = items, strategy, overlap
        self.goal = Goal(target, confidence, checks)
        self._writing = threading.Lock()  # one request writes at a time, in the order of the store
        self._lock = threading.Lock()  # around the ledger and the assignments, held briefly
        self._ledger = Ledger()
        self._assignments = Assignments(self._ledger, items.names, overlap, clock)
        model = None if items.model is None else partial(chances_of_model, items.model, items.names)
        self._learner = LearnerThread(items.graph, strategy, seed, self.goal, self._being_read, model)
        self.field = self._learner.field  # how it learns, and why so
        self._last: Snapshot | None = None
        self._last_listing: tuple[Snapshot, Listing] | None = None
        about = {"fingerprint": items.fingerprint, "title": items.title, "n_items": str(len(items.names))}
        self._store = Store(path, about)
        try:
            self._replay(tell)
            self._begin(items)
            self._learner.start()
        except BaseException:
            self._store.close()
            raise

    def _replay(self, tell: Callable[[str], None]) -> None:
        events = list(self._store.events())
        told = time.monotonic()
        for _, group in groupby(events, key=lambda event: event.key):
            written = list(group)
            self._learner.learn(self._take(written), written[-1].id)
            if time.monotonic() - told > 2:
                tell(f"Loading the answers kept so far: {written[-1].id:,} of {events[-1].id:,}")
                told = time.monotonic()

    def _begin(self, items: Items) -> None:
        """Write down what comes with the data and is not in the store yet: classes and known labels.

        A class that came with the data before and was renamed, merged or removed since does not come back.
        """
        table = self._ledger.table
        known = table.added_by.get(TABLE, ())
        named = dict.fromkeys([*items.classes, *items.known.values()])
        fresh = [label for label in named if label not in known and not table.counts(label)]
        check_number(len(self._ledger.classes) + len(fresh))
        key = f"begin-{self._learner.predictions.version}"
        events = [Event("class", TABLE, key, label=label) for label in fresh]
        before = self._ledger.given(TABLE)
        for item, label in items.known.items():
            if before.get(item) != label:
                events.append(Event("answer", TABLE, key, item=item, label=label))
        if events:
            written = self._store.append(events)
            self._learner.learn(self._take(written), written[-1].id)

    def close(self) -> None:
        self._learner.stop()
        self._store.close()

    @property
    def path(self) -> Path:
        return self._store.path

    @property
    def in_place(self) -> bool:
        """Whether the store's file is where it was."""
        return self._store.in_place

    def write_anew(self) -> int:
        """Where the store's file was moved, removed or replaced, write all events into a new one, and go on there;
        returns how many there are. `path` says where: the old place, unless something else lies there now.
        """
        with self._writing:
            if not self._store.in_place:
                self._store = write_anew(self._store, self._ledger.events())
            return self._ledger.last_event

    @property
    def classes(self) -> list[str]:
        """The classes so far, including those the learner has yet to hear of."""
        with self._lock:
            return list(self._ledger.classes)

    def takes(self, label: str) -> bool:
        """Whether an answer may name this class: it is there, or was renamed or merged into one that is."""
        with self._lock:
            return self._ledger.table.counts(label)

    # Asking

    def question(self, who: str, item: int | None = None, reason: str = "requested") -> Question | None:
        """A question for this person, lent to them for a minute; about `item` if given, for this `reason`.

        The question they already have comes first, then an item that needs a second opinion, then the learner's
        choice. None where nothing is left to ask them.
        """
        who = check_name(who)
        if item is not None:
            self.check_item(item)
        self.settle()
        while True:
            with self._lock:
                if item is not None:
                    return self._assignments.request(who, item, reason)
                found = self._assignments.without_the_learner(who)
                if found is not None:
                    return found
                closed = self._assignments.closed_to(who)
            chosen = self._learner.choose(closed)
            if chosen is None:
                return None
            if chosen.check and not self._keep_check(who, chosen.node):
                continue
            with self._lock:
                found = self._assignments.assign(who, chosen.node)
            if found is not None:  # else it has gone to someone else meanwhile
                return found

    def _keep_check(self, who: str, item: int) -> bool:
        """A check is on disk before anybody sees it: which items were drawn cannot depend on their answers. False where
        someone has answered it meanwhile, of their own accord.
        """
        with self._writing:
            if item in self._ledger.checks:  # it waits for its answer since an earlier draw
                return True
            if self._ledger.label(item) is not None:
                return False
            written = self._store.append([Event("check", who, f"check-{uuid.uuid4()}", item=item)])
            self._learner.submit(self._take(written), written[-1].id)
        return True

    def order(self) -> list[int]:
        """The items that may be asked about, in the order in which they are worth asking about now."""
        return self._learner.order()

    # Answering

    def answer(self, who: str, item: int, label: str, key: str) -> int:
        """Keep this person's answer, replacing one they gave before; returns the number of the event."""
        return self.accept(who, [(item, label)], key)

    def accept(self, who: str, answers: Sequence[tuple[int, str]], key: str) -> int:
        """Keep several answers, all or none."""
        return self._accept(who, answers, key, MOST_AT_ONCE)

    def label_together(self, who: str, items: Sequence[int], label: str, key: str) -> int:
        """Keep one and the same answer for many items, all or none."""
        return self._accept(who, [(item, label) for item in items], key, MOST_TOGETHER)

    def accept_listed(self, who: str, wanted: Wanted, count: int, key: str) -> int:
        """Give every item of a list that is only predicted the label predicted, all or none.

        `count` is how many the person was told: refused if it would be another number by now.
        """
        who = check_name(who)
        self.settle()

        def events() -> list[Event]:
            listing = self.listing()
            found, _ = listing.acceptable(wanted)
            if len(found) != count or not count:
                now = "nothing" if not len(found) else f"{len(found):,}"
                raise ConflictError(f"There is {now} to accept now, not {count:,}: look at the list again.")
            names, number = self.snapshot().classes, listing.number
            return [Event("answer", who, key, item=item, label=names[number[item]]) for item in found.tolist()]

        return self._write(key, [Event("answer", who, key)], events)

    def _accept(self, who: str, answers: Sequence[tuple[int, str]], key: str, most: int) -> int:
        who = check_name(who)
        if not 1 <= len(answers) <= most:
            raise SettingError(f"{len(answers)} answers at once: give 1 to {most:,}.")
        for item, _ in answers:
            self.check_item(item)
        with self._lock:
            check_known(dict.fromkeys(label for _, label in answers), self._ledger.table)
        if len({item for item, _ in answers}) < len(answers):
            raise LabelError("an item is listed twice: give one answer for each.")
        events = [Event("answer", who, key, item=item, label=label) for item, label in answers]
        return self._write(key, events, lambda: events)

    def decide(self, who: str, item: int, label: str, key: str) -> int:
        """Settle what an item is, whatever was answered."""
        who = check_name(who)
        self.check_item(item)
        with self._lock:
            check_known([label], self._ledger.table)
        decision = [Event("decide", who, key, item=item, label=label)]
        return self._write(key, decision, lambda: decision)

    def skip(self, who: str, item: int, key: str) -> int:
        """Nobody is asked about this item again."""
        return self._set_aside("skip", who, item, key)

    def unsure(self, who: str, item: int, key: str) -> int:
        """This person cannot tell: others may still be asked."""
        return self._set_aside("unsure", who, item, key)

    def _set_aside(self, do: str, who: str, item: int, key: str) -> int:
        who = check_name(who)
        self.check_item(item)

        def events() -> list[Event]:
            label = self._ledger.label(item)
            if do == "skip" and label is not None:
                raise ConflictError(f"{self.items.names[item]!r} is labelled {label!r}: there is no question to skip.")
            return asked

        asked = [Event(do, who, key, item=item)]
        return self._write(key, asked, events)

    def note(self, who: str, item: int, text: str, key: str) -> int:
        """Keep this person's note on an item, replacing one they wrote before; an empty one removes it."""
        who = check_name(who)
        self.check_item(item)
        noted = [Event("note", who, key, item=item, value=check_note(text))]
        return self._write(key, noted, lambda: noted)

    def undo(self, who: str, key: str, event: int | None = None, *, whole: bool = False) -> tuple[int, list[int]]:
        """Take back this event of theirs (`whole`: the request it was part of), or else their last request.

        Returns the number of the event that says so, and the items concerned.
        """
        who = check_name(who)

        def events() -> list[Event]:
            undone = self._ledger.to_undo(who, event, whole)
            if not undone:
                which = "nothing" if event is None else f"no answer {event} of yours"
                raise ConflictError(f"There is {which} to take back.")
            check_undo(undone, self._ledger.table)
            return [Event("undo", who, key, item=e.item, undone=e.id) for e in undone]

        number = self._write(key, [Event("undo", who, key, undone=event)], events)
        with self._lock:
            return number, self._ledger.items(self._ledger.requests[key])

    def add_class(self, who: str, label: str, key: str, *, sure: bool = True) -> int:
        """Add a class that items may belong to; one like another is refused unless the person is `sure`."""
        return self.add_classes(who, [label], key, sure=sure)

    def add_classes(self, who: str, labels: Sequence[str], key: str, *, sure: bool = True) -> int:
        """Add several classes, all or none."""
        who = check_name(who)
        asked = [Event("class", who, key, label=check_class_name(label)) for label in dict.fromkeys(labels)]

        def events() -> list[Event]:
            known = self._ledger.classes
            taken = next((event.label for event in asked if event.label in known), None)
            if taken is not None:
                raise ConflictError(f"there is already a class {taken!r}: choose another name.")
            check_number(len(known) + len(asked))
            like = None if sure else next(filter(None, (self._ledger.table.alike(e.label or "") for e in asked)), None)
            if like is not None:
                raise ConflictError(f"There is a class {like!r}: did you mean it?")
            return asked

        return self._write(key, asked, events)

    def change_class(self, who: str, do: str, label: str, value: str | None, key: str) -> int:
        """Rename a class, merge it into another, remove it, move it before another (None: to the end), or give it a
        colour, a key or a description.

        Answers follow a class that is renamed or merged; those of one that is removed count no longer. `undo` takes
        each of these back, with everything that followed from it.
        """
        who, label = check_name(who), label.strip()
        asked = [Event(do, who, key, label=label, value=check_value(do, value))]

        def events() -> list[Event]:
            check_change(asked[0], self._ledger.table)
            return asked

        return self._write(key, asked, events)

    def _write(self, key: str, asked: Sequence[Event], events: Callable[[], list[Event]]) -> int:
        """Store the events of a request, then tell the ledger and the learner; a key used before changes nothing.

        `asked` are the events as far as they are known beforehand: they tell the same request from another one.
        Whoever writes is alone, so the ledger may be read here without the lock.
        """
        with self._writing:
            before = self._ledger.requests.get(key)
            if before:
                if not _same_request(before, asked):
                    raise ConflictError(f"the key {key!r} was used for another request: use a fresh one for each.")
                return before[-1].id
            written = self._store.append(events())
            change = self._take(written)
            self._learner.submit(change, written[-1].id)
        return written[-1].id

    def _take(self, written: Sequence[Event]) -> Change:
        """Events that are on disk reach the ledger, and the questions they answer are given back."""
        with self._lock:
            self._assignments.take_back(written)
            return self._ledger.take(written)

    # Looking

    def settle(self) -> None:
        """Wait until the predictions include everything said so far; not for other work of the learner."""
        with self._lock:
            current = self._learner.predictions.version == self._ledger.last_event
        if not current:
            self._learner.settle()

    def snapshot(self) -> Snapshot:
        """All that can be seen now; made once for each state, and shared by all who look at it."""
        with self._lock:
            predictions, last_event = self._learner.predictions, self._ledger.last_event
            last = self._last
            if last is None or last.predictions is not predictions or last.last_event != last_event:
                history, in_force = self._ledger.history.copy(), self._ledger.in_force.copy()
                checks = dict(self._ledger.checks)
                notes = self._ledger.notes.copy()
                last = self._last = Snapshot(
                    self.items, self.goal, predictions, history, checks, in_force, last_event, notes
                )
            return last

    def listing(self) -> Listing:
        """The items as they stand now, to be filtered and sorted."""
        shot, last = self.snapshot(), self._last_listing
        if last is None or last[0] is not shot:
            last = self._last_listing = (shot, Listing(shot))
        return last[1]

    def heard(self, key: str) -> bool:
        """Whether a request with this key was kept."""
        with self._lock:
            return key in self._ledger.requests

    def explain(self, item: int) -> Explanation:
        """What each answer to this item would change, in the order of the classes."""
        self.check_item(item)
        return self._learner.explain(item)

    def upcoming(self, item: int) -> Future[list[int]]:
        """The items that may be asked about after this one, when that has been worked out."""
        self.check_item(item)
        return self._learner.upcoming(item)

    def neighbours(self, item: int, most: int = 12) -> list[tuple[int, float]]:
        """The items tied to this one and the weights of the ties, the strongest first."""
        self.check_item(item)
        row = self.items.graph.weights[[item]]
        order = np.argsort(-row.data, kind="stable")[:most]
        return list(zip(row.indices[order].tolist(), row.data[order].tolist(), strict=True))

    def check_item(self, item: int) -> None:
        n = len(self.items.names)
        if not 0 <= item < n:
            raise NodeError(f"there is no item {item}: items are 0 to {n - 1}.")

    def _being_read(self) -> list[int]:
        with self._lock:
            return self._assignments.being_read()


def _same_request(written: Sequence[Event], asked: Sequence[Event]) -> bool:
    """Whether these events were written for this request, which may leave open what an undo takes back or which items
    are accepted."""
    first, wish = written[0], asked[0]
    if wish.item is None and wish.do in ("undo", "answer"):
        return (first.do, first.who) == (wish.do, wish.who) and wish.undone in {None, *(e.undone for e in written)}
    return [_meaning(event) for event in written] == [_meaning(event) for event in asked]


def _meaning(event: Event) -> tuple[str, str, int | None, str | None, str | None]:
    return event.do, event.who, event.item, event.label, event.value
