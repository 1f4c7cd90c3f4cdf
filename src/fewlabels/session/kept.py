"""What a session keeps, on disk and in mind, and how it gets there."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import groupby
from pathlib import Path

from fewlabels.errors import NodeError
from fewlabels.items import Items
from fewlabels.learner.checks import EVERY
from fewlabels.learner.estimate import CONFIDENCE, TARGET
from fewlabels.learner.prior import chances_of_model
from fewlabels.session.anew import write_anew
from fewlabels.session.assignments import Assignments, ConflictError
from fewlabels.session.changes import check_class_name, check_number
from fewlabels.session.learner_thread import LearnerThread
from fewlabels.session.learnt import Learnt
from fewlabels.session.ledger import TABLE, Change, Ledger
from fewlabels.session.predictions import Goal
from fewlabels.session.settings import check_settings
from fewlabels.session.store import Event, Store, StoreError

QUICK = 200_000  # requests times items up to which all is learnt again
LEARNT_AGAIN = 2_000_000  # requests times items up to which what is not known to have been learnt is learnt again


class Kept:
    """The store, what it says, and the learner who hears of it: an event is on disk before anybody else knows of it."""

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
        self._unwritten: list[Learnt] = []  # what was learnt, to be written with the next event
        self._learner = LearnerThread(
            items.graph, strategy, seed, self.goal, self._being_read, model, self._unwritten.append
        )
        self.field = self._learner.field  # how it learns, and why so
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
        """Have the learner in the state that all events led to, one after the other; to the last bit where that is
        quick."""
        events = list(self._store.events())
        requests = [list(group) for _, group in groupby(events, key=lambda event: event.key)]
        n = len(self.items.names)
        learnt = {} if len(requests) * n <= QUICK else self._store.learnt()
        unknown = sum(written[-1].id not in learnt for written in requests)

        def changes() -> Iterator[tuple[Change, int]]:
            told = time.monotonic()
            for written in requests:
                yield self._ledger.take(written), written[-1].id
                if time.monotonic() - told > 2:
                    tell(f"Loading the answers kept so far: {written[-1].id:,} of {events[-1].id:,}")
                    told = time.monotonic()

        with _without_collection():
            self._learner.replay(changes(), learnt, exact=unknown * n <= LEARNT_AGAIN)

    def _begin(self, items: Items) -> None:
        """Write down what comes with the data and is not in the store yet: classes and known labels.

        A class that came with the data before and was renamed, merged or removed since does not come back. A label that
        the data no longer has is taken back; but where it has none at all, its column may only have been left out.
        """
        table = self._ledger.table
        known = table.added_by.get(TABLE, ())
        named = dict.fromkeys([*items.classes, *items.known.values()])
        fresh = [label for label in named if label not in known and not table.counts(label)]
        check_number(len(self._ledger.classes) + len(fresh))
        key = f"begin|{self._learner.predictions.version}"  # no request of the page has a key with |
        events = [Event("class", TABLE, key, label=label) for label in fresh]
        given = self._ledger.given(TABLE)
        before = {event.item: event.label for event in given}
        for item, label in items.known.items():
            if before.get(item) != label:
                events.append(Event("answer", TABLE, key, item=item, label=label))
        if items.known:
            cleared = [event for event in given if event.item not in items.known]
            events += [Event("undo", TABLE, key, item=event.item, undone=event.id) for event in cleared]
        if events:
            written = self._append(events)
            self._learner.learn(self._take(written), written[-1].id)

    def close(self) -> None:
        self._learner.stop()
        with suppress(StoreError):  # it can be learnt again
            self._append([])
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

    def heard(self, key: str) -> bool:
        """Whether a request with this key was kept."""
        with self._lock:
            return key in self._ledger.requests

    def settle(self) -> None:
        """Wait until the predictions include everything said so far; not for other work of the learner."""
        with self._lock:
            current = self._learner.predictions.version == self._ledger.last_event
        if not current:
            self._learner.settle()

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
            written = self._append(events())
            change = self._take(written)
            self._learner.submit(change, written[-1].id)
        return written[-1].id

    def _append(self, events: Sequence[Event]) -> list[Event]:
        """Events go to disk, and with them what was learnt from those before."""
        learnt = self._unwritten.copy()
        written = self._store.append(events, learnt)
        del self._unwritten[: len(learnt)]
        return written

    def _take(self, written: Sequence[Event]) -> Change:
        """Events that are on disk reach the ledger, and the questions they answer are given back."""
        with self._lock:
            self._assignments.take_back(written)
            return self._ledger.take(written)

    def check_item(self, item: int) -> None:
        n = len(self.items.names)
        if not 0 <= item < n:
            raise NodeError(f"there is no item {item}: items are 0 to {n - 1}.")

    def _being_read(self) -> list[int]:
        with self._lock:
            return self._assignments.being_read()


@contextmanager
def _without_collection() -> Iterator[None]:
    """Nothing that many events make is garbage: looking for some, again and again, takes a quarter of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _same_request(written: Sequence[Event], asked: Sequence[Event]) -> bool:
    """Whether these events were written for this request, which may leave open what an undo takes back or which items
    are accepted."""
    first, wish = written[0], asked[0]
    if wish.item is None and wish.do in ("undo", "answer"):
        return (first.do, first.who) == (wish.do, wish.who) and wish.undone in {None, *(e.undone for e in written)}
    return [_meaning(event) for event in written] == [_meaning(event) for event in asked]


def _meaning(event: Event) -> tuple[str, str, int | None, str | None, str | None]:
    return event.do, event.who, event.item, event.label, event.value
