"""The classes of a session: a fold over the events that add, rename, merge, remove, move, paint and describe them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fewlabels.session.store import Event

KEYS = "123456789abdefijklopqstvwxyz"  # c, g, h, m, n, r and u have a meaning of their own
CHANGES = ("rename", "merge", "remove", "move", "colour", "key", "describe")


@dataclass(frozen=True)
class Class:
    """A class as people see it; its number stays whatever it is called."""

    id: int  # number of the event that added it
    name: str
    colour: int  # number in the page's palette
    key: str | None  # the key that answers with it
    description: str = ""


@dataclass(frozen=True)
class _Record:
    """One class with everything done to it and not taken back."""

    id: int
    name: str
    colour: int
    slot: str | None  # the key it got when it was added
    key: str | None = None  # the key it was given since; "": none
    description: str = ""
    into: int | None = None  # the class it was merged into
    removed: bool = False


class Classes:
    """Which classes there are, in their order, and which one an answer means.

    An answer names a class by what it is called at the time, and means it ever after: when the class is renamed or
    merged the answer follows, when it is removed the answer counts no longer, and taking that back brings it back.

    >>> classes = Classes()
    >>> classes.add([Event("class", "", "k1", label=name, id=k) for k, name in enumerate(["rose", "Rose", "oak"])])
    >>> classes.change(Event("merge", "ann", "k2", label="rose", value="Rose", id=3))
    >>> classes.names, classes.now(0), classes.meant("rose")
    (['Rose', 'oak'], 1, 1)
    >>> classes.take_back(3)
    >>> classes.names, classes.now(0)
    (['rose', 'Rose', 'oak'], 0)
    """

    def __init__(self) -> None:
        self.version = 0  # number of the event that made them what they are
        self.listed: tuple[Class, ...] = ()
        self.in_force: dict[int, Event] = {}  # number -> change not taken back, in order
        self.added_by: dict[str, set[str]] = {}  # who -> the names of the classes they added
        self._added: list[_Record] = []
        self._meant: dict[int, tuple[int, int]] = {}  # change -> the class, and the other one it names (or -1)
        self._records: dict[int, _Record] = {}
        self._numbers: dict[str, int] = {}  # name -> class, of those listed
        self._former: dict[str, int] = {}  # name -> the last class that was ever called so

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.listed]

    @property
    def numbers(self) -> Mapping[str, int]:
        """name -> class, of those listed; never changed, but replaced."""
        return self._numbers

    def now(self, number: int | None) -> int | None:
        """What has become of this class: itself, the one it was merged into, or None if that is removed."""
        while number is not None:
            record = self._records[number]
            if record.removed:
                return None
            if record.into is None:
                return number
            number = record.into
        return None

    def name(self, number: int) -> str:
        return self._records[number].name

    def number(self, name: str) -> int | None:
        """The class that is called so now."""
        return self._numbers.get(name)

    def meant(self, name: str) -> int | None:
        """The class of this name or, where none has it now, the last that had it, whatever has become of it."""
        found = self._numbers.get(name)
        if found is not None:
            return found
        former = self._former.get(name)
        now = self.now(former)
        return former if now is None else now

    def counts(self, name: str) -> bool:
        """Whether an answer may name this class: it is there, or was renamed or merged into one that is."""
        return self.now(self.meant(name)) is not None

    def add(self, events: Sequence[Event]) -> None:
        """Take in classes added in one request; a name that is there already changes nothing."""
        fresh: dict[str, Event] = {}
        for event in events:
            self.added_by.setdefault(event.who, set()).add(event.label or "")
            if event.label is not None and event.label not in self._numbers:
                fresh.setdefault(event.label, event)
        own = {name for name in fresh if _is_digit(name)}
        taken = {one.key for one in self.listed} | own
        colours = {one.colour for one in self.listed}
        for name, event in fresh.items():
            slot = name if name in own else next((key for key in KEYS if key not in taken), None)
            colour = next(c for c in range(len(colours) + 1) if c not in colours)
            taken.add(slot)
            colours.add(colour)
            self._added.append(_Record(event.id, name, colour, slot))
            self._former[name] = event.id
            self.version = event.id
        self._work_out()

    def change(self, event: Event) -> None:
        """Take in a change; one of a class that is not there is none."""
        number = self._numbers.get(event.label or "")
        if number is None:
            return
        other = self._numbers.get(event.value or "", -1) if event.do in ("merge", "move") else -1
        if event.do == "merge" and other in (-1, number):
            return
        self.in_force[event.id] = event
        self._meant[event.id] = number, other
        if event.do == "rename":
            self._former[event.value or ""] = number
        self.version = event.id
        self._work_out()

    def take_back(self, change: int, by: int | None = None) -> None:
        """Undo this change; `by` is the number of the event that says so."""
        del self.in_force[change]
        self.version = change if by is None else by
        self._work_out()

    def without(self, changes: Iterable[int]) -> list[str]:
        """The names there would be if these changes were taken back; a name may be there twice."""
        undone = set(changes)
        kept = {number: event for number, event in self.in_force.items() if number not in undone}
        return [record.name for record in self._folded(kept) if record.into is None and not record.removed]

    def alike(self, name: str) -> str | None:
        """Another class that differs from this name in nothing but case, accents' spelling, spaces, - and _."""
        return next((one for one in self.names if one != name and _plain(one) == _plain(name)), None)

    def _work_out(self) -> None:
        folded = self._folded(self.in_force)
        self._records = {record.id: record for record in folded}
        seen = [record for record in folded if record.into is None and not record.removed]
        keys = _keys(seen)
        self.listed = tuple(Class(r.id, r.name, r.colour, keys[r.id], r.description) for r in seen)
        self._numbers = {one.name: one.id for one in self.listed}

    def _folded(self, changes: dict[int, Event]) -> list[_Record]:
        """Every class ever added, in their order now, after these changes."""
        records = {record.id: record for record in self._added}
        order = [record.id for record in self._added]
        for event in changes.values():
            number, other = self._meant[event.id]
            value = event.value or ""
            if event.do == "rename":
                records[number] = replace(records[number], name=value)
            elif event.do == "merge":
                records[number] = replace(records[number], into=other)
            elif event.do == "remove":
                records[number] = replace(records[number], removed=True)
            elif event.do == "colour":
                records[number] = replace(records[number], colour=int(value))
            elif event.do == "key":
                keys = _keys([r for r in records.values() if r.into is None and not r.removed])
                holder = next((k for k, key in keys.items() if value and key == value), None)
                if holder is not None:  # they swap keys
                    records[holder] = replace(records[holder], key=keys.get(number))
                records[number] = replace(records[number], key=value)
            elif event.do == "describe":
                records[number] = replace(records[number], description=value)
            elif event.do == "move":
                order.remove(number)
                order.insert(order.index(other) if other in order else len(order), number)
        return [records[number] for number in order]


def _keys(seen: Sequence[_Record]) -> dict[int, str | None]:
    """The key of every class: the one it was given; else its own name, if that is a digit; else the one it got when it
    was added, so that no key changes its meaning because of another class; else one that is free."""
    by_age = sorted(seen, key=lambda record: record.id)
    found: dict[int, str | None] = {record.id: None for record in seen if record.key == ""}
    taken: set[str | None] = set()
    wishes = [(record.id, record.key) for record in by_age]
    wishes += [(record.id, record.name) for record in by_age if _is_digit(record.name)]
    wishes += [(record.id, record.slot) for record in by_age]
    for number, key in wishes:
        if number not in found and key is not None and key not in taken:
            found[number] = key
            taken.add(key)
    for record in by_age:
        if record.id not in found:
            found[record.id] = next((key for key in KEYS if key not in taken), None)
            taken.add(found[record.id])
    return found


def _is_digit(name: str) -> bool:
    return len(name) == 1 and name in "0123456789"


def _plain(name: str) -> str:
    return "".join(unicodedata.normalize("NFKC", name).casefold().replace("_", " ").replace("-", " ").split())
