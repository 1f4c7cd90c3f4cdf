"""The ledger: what the events say about each item and class. It is a fold over the events and does no maths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fewlabels.session.classes import CHANGES, Class, Classes
from fewlabels.session.store import Event

TABLE = ""  # the `who` of labels and classes that came with the data; people have names


@dataclass(frozen=True)
class ItemHistory:
    """What has been said about one item, and not taken back. It never changes: an event makes a new one."""

    votes: Mapping[str, Event] = field(default_factory=dict)  # who -> their answer
    unsure: Mapping[str, Event] = field(default_factory=dict)  # who cannot tell
    skip: Event | None = None
    decision: Event | None = None
    source: Event | None = None  # what gives the item its label: a decision, else the most common answer of people,
    # else what came with the data; none on a tie
    disputed: bool = False  # whether people gave different answers

    def after(self, event: Event) -> ItemHistory:
        """The history with one more event."""
        if event.do == "answer" and self is NOTHING_SAID:
            return ItemHistory({event.who: event}, source=event)
        votes, unsure, skip, decision = dict(self.votes), dict(self.unsure), self.skip, self.decision
        if event.do == "skip":
            skip = event
        elif event.do == "unsure":
            votes.pop(event.who, None)
            unsure[event.who] = event
        else:
            unsure.pop(event.who, None)
            skip = None
            if event.do == "decide":
                decision = event
            else:
                votes[event.who] = event
        by_people = _by_people(votes)
        disputed = len(by_people) > 1 and len({vote.label for vote in by_people.values()}) > 1
        return ItemHistory(votes, unsure, skip, decision, decision or _most_common(by_people or votes), disputed)

    @property
    def by_people(self) -> dict[str, Event]:
        return _by_people(self.votes)

    @property
    def label(self) -> str | None:
        return self.source.label if self.source else None


NOTHING_SAID = ItemHistory()


def _by_people(votes: Mapping[str, Event]) -> dict[str, Event]:
    return {who: vote for who, vote in votes.items() if who != TABLE}


def _most_common(votes: Mapping[str, Event]) -> Event | None:
    """The first vote for the class most common among them; on a tie there is none."""
    if len(votes) == 1:
        return next(iter(votes.values()))
    top = Counter(vote.label for vote in votes.values()).most_common(2)
    if not top or (len(top) == 2 and top[0][1] == top[1][1]):
        return None
    return next(vote for vote in votes.values() if vote.label == top[0][0])


@dataclass(frozen=True)
class Change:
    """What the learner must be told about a group of events: which classes there are, what to forget, then checks,
    labels, and skips."""

    classes: tuple[Class, ...] | None = None  # where they have changed
    forget: tuple[int, ...] = ()
    teach: tuple[tuple[int, int], ...] = ()  # item, number of its class
    skip: tuple[int, ...] = ()
    check: tuple[int, ...] = ()
    aside: frozenset[int] | None = None  # where it has changed: the items of no label that someone could not tell

    @property
    def changes_predictions(self) -> bool:
        return bool(self.classes is not None or self.forget or self.teach or self.skip)

    @property
    def only_teaches(self) -> bool:
        """Whether it says nothing but labels of items that had none."""
        return self.classes is None and self.aside is None and not (self.forget or self.skip or self.check)


class Ledger:
    """Classes, and what was said about each item.

    >>> ledger = Ledger()
    >>> change = ledger.take([Event("class", "", "k1", label="cat", id=1), Event("class", "", "k1", label="dog", id=2)])
    >>> [one.name for one in change.classes]
    ['cat', 'dog']
    >>> ledger.take([Event("answer", "ann", "k2", item=7, label="dog", id=3)])
    Change(classes=None, forget=(), teach=((7, 2),), skip=(), check=(), aside=None)
    >>> ledger.take([Event("undo", "ann", "k3", item=7, undone=3, id=4)])
    Change(classes=None, forget=(7,), teach=(), skip=(), check=(), aside=None)
    """

    def __init__(self) -> None:
        self.table = Classes()
        self.history: dict[int, ItemHistory] = {}
        self.checks: dict[int, None] = {}  # the items drawn at random, in the order drawn
        self.aside: frozenset[int] = frozenset()  # of no label and not skipped: someone is unsure, or people differ
        self.requests: dict[str, list[Event]] = {}  # key of a request -> its events
        self.in_force: dict[int, Event] = {}  # number -> what was said of an item and counts, in order
        self.notes: dict[int, dict[str, Event]] = {}  # item -> who -> their note
        self.notes_in_force: dict[int, Event] = {}  # number -> note not taken back, in order
        self.last_event = 0  # number of the last event taken in
        self._noted: set[int] = set()  # every note ever written
        self._said: dict[int, tuple[Event, int | None]] = {}  # the same as it was said, and which class was meant
        self._of: defaultdict[int, list[Event]] = defaultdict(list)  # item -> its events in force, in order

    def take(self, events: Sequence[Event]) -> Change:
        """Take in the events of one request; returns what the learner must be told."""
        kinds = {event.do for event in events}
        if "note" in kinds or "undo" in kinds:
            self._take_notes(events)
        touched = {event.item for event in events if event.item is not None}
        was_listed = self.table.listed
        others = [] if kinds == {"answer"} else self._changes_of_classes(events)
        recount, numbers = self._change_answers(others), self.table.numbers
        before = {item: self._state(item, numbers) for item in touched}
        self._take_classes(events, others)
        if recount:
            changed = self._recount(numbers)
            before = {item: self._state(item, numbers) for item in changed} | before
            touched |= changed
            self._recounted(changed)
        drawn = [e.item for e in events if e.do == "check" and e.item is not None and e.item not in self.checks]
        drawn = [item for item in drawn if self.label(item) is None]  # an answer that came first was volunteered
        self.checks |= dict.fromkeys(drawn)
        for event in events:
            self.requests.setdefault(event.key, []).append(event)
            self.last_event = event.id
            if event.item is None or event.do in ("check", "note"):
                continue
            if event.undone is not None:
                if event.undone in self._noted:
                    continue
                self._said.pop(event.undone, None)
                counted = self.in_force.pop(event.undone, None)
                if counted is not None:  # else its class is gone: a recovered store may lack what brought it back
                    self._of[event.item].remove(counted)
                    self._rebuild(event.item)
            else:
                self._keep(event.item, event)
        forget, teach, skip = [], [], []
        for item in sorted(touched):
            (label, skipped), (was, was_skipped) = self._state(item, self.table.numbers), before[item]
            if was is not None and label != was:
                forget.append(item)
            if was_skipped and not skipped and label is None:
                forget.append(item)
            if label is not None and label != was:
                teach.append((item, label))
            if skipped and not was_skipped:
                skip.append(item)
        aside = {item for item in touched if self._is_aside(item)}
        if moved := aside != self.aside & touched:
            self.aside = self.aside.difference(touched) | aside
        classes = self.table.listed if self.table.listed != was_listed else None
        return Change(classes, tuple(forget), tuple(teach), tuple(skip), tuple(drawn), self.aside if moved else None)

    @property
    def classes(self) -> list[str]:
        """The names of the classes, in their order."""
        return self.table.names

    def _changes_of_classes(self, events: Sequence[Event]) -> list[Event]:
        """Those among the events that change a class, or take such a change back."""
        return [event for event in events if event.do in CHANGES or event.undone in self.table.in_force]

    def _change_answers(self, changes: Sequence[Event]) -> bool:
        """Whether these changes of classes may change what an answer counts for."""
        said = (e if e.undone is None else self.table.in_force[e.undone] for e in changes)
        return any(event.do in ("rename", "merge", "remove") for event in said)

    def _take_classes(self, events: Sequence[Event], changes: Sequence[Event]) -> None:
        added = [event for event in events if event.do == "class"]
        if added:
            self.table.add(added)
        for event in changes:
            if event.undone is None:
                self.table.change(event)
            else:
                self.table.take_back(event.undone, by=event.id)

    def _take_notes(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.do == "note":
                self._noted.add(event.id)
                self.notes_in_force[event.id] = event
            elif event.undone in self.notes_in_force:
                del self.notes_in_force[event.undone]
            else:
                continue
            said = {e.who: e for e in self.notes_in_force.values() if e.item == event.item}  # the last of each person
            self.notes[event.item or 0] = {who: note for who, note in said.items() if note.value}

    def _keep(self, item: int, event: Event) -> None:
        """One more event about an item, and the class it means."""
        self._said[event.id] = event, None if event.label is None else self.table.meant(event.label)
        counted = self._counted(event.id)
        if counted is not None:
            self.in_force[event.id] = counted
            self._of[item].append(counted)
            self.history[item] = self.history.get(item, NOTHING_SAID).after(counted)

    def _counted(self, number: int) -> Event | None:
        """What was said, under the name its class has now; None where that class was removed."""
        event, meant = self._said[number]
        if event.label is None:
            return event
        now = self.table.now(meant)
        if now is None:
            return None
        name = self.table.name(now)
        return event if name == event.label else replace(event, label=name)

    def _recount(self, numbers: Mapping[str, int]) -> set[int]:
        """After a change of classes, whose names had these numbers: what every answer counts for. Returns the items for
        which that has changed."""
        before, self.in_force = self.in_force, {}
        changed = set()
        moved = {name for name, number in numbers.items() if self.table.number(name) != number}
        for number, (event, _) in self._said.items():
            counted = self._counted(number)
            if counted is not None:
                self.in_force[number] = counted
            was = before.get(number)
            if event.item is not None and (counted != was or (was is not None and was.label in moved)):
                changed.add(event.item)
        return changed

    def _recounted(self, changed: set[int]) -> None:
        """What their answers make of these items now."""
        for item in changed:
            self._of[item] = []
        for event in self.in_force.values():
            if event.item in changed:
                self._of[event.item].append(event)
        for item in changed:
            self._rebuild(item)

    def given(self, who: str) -> list[Event]:
        """The answers this person has not taken back, in order; their labels as they were called then."""
        return [event for event, _ in self._said.values() if event.who == who and event.do == "answer"]

    def label(self, item: int) -> str | None:
        """The label of an item, given by people or with the data."""
        history = self.history.get(item)
        return history.label if history else None

    def events(self) -> list[Event]:
        """Every event so far, in the order of writing."""
        return sorted((event for request in self.requests.values() for event in request), key=lambda event: event.id)

    def items(self, events: Iterable[Event]) -> list[int]:
        """The items that some events say something of, each once, in their order; a note taken back says nothing."""
        said = (event for event in events if event.undone not in self._noted)
        return list(dict.fromkeys(event.item for event in said if event.item is not None))

    def to_undo(self, who: str, event: int | None, whole: bool) -> list[Event]:
        """Which of their events to take back, the newest first: this one, or, without a number, their last request."""
        kinds = (self.in_force, self.table.in_force, self.notes_in_force)
        if event is None:
            last = (next((e for e in reversed(kind.values()) if e.who == who), None) for kind in kinds)
            found = max(filter(None, last), key=lambda e: e.id, default=None)
            whole = True
        else:
            found = next((kind[event] for kind in kinds if event in kind), None)
        if found is None or found.who != who:
            return []
        if not whole:
            return [found]
        request = [e for e in reversed(self.requests[found.key]) if e.who == who]
        return [e for e in request if any(e.id in kind for kind in kinds)]

    def _state(self, item: int, numbers: Mapping[str, int]) -> tuple[int | None, bool]:
        """The number of its class, by the numbers of the names of classes, and whether it is skipped."""
        history = self.history.get(item)
        if history is None:
            return None, False
        label = history.label
        return None if label is None else numbers.get(label), history.skip is not None and label is None

    def _is_aside(self, item: int) -> bool:
        history = self.history.get(item)
        if history is None or history.label is not None or history.skip is not None:
            return False
        return bool(history.unsure) or history.disputed

    def _rebuild(self, item: int) -> None:
        """What is left of what was said, after an event was taken back."""
        left = NOTHING_SAID
        for event in self._of[item]:
            left = left.after(event)
        if self._of[item]:
            self.history[item] = left
        else:
            self.history.pop(item, None)
