"""Which names, notes and changes of classes are accepted: each refusal is a sentence."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from fewlabels.errors import LabelError, SettingError, nearest
from fewlabels.session.assignments import ConflictError
from fewlabels.session.classes import CHANGES, KEYS, Classes
from fewlabels.session.limits import (
    COLOURS,
    LONGEST_CLASS,
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    LONGEST_NOTE,
    MOST_CLASSES,
)
from fewlabels.session.store import Event


def check_class_name(text: str) -> str:
    """The name without space around it."""
    return check_text("a class", text, LONGEST_CLASS)


def check_name(text: str) -> str:
    """The name of a person, in one of the several ways Unicode has of writing it."""
    return check_text("a name", unicodedata.normalize("NFC", text), LONGEST_NAME)


def check_number(n: int) -> None:
    """Refuse more classes than a session takes."""
    if n > MOST_CLASSES:
        raise SettingError(f"that would be {n} classes: {MOST_CLASSES} is the most. Merge some of them.")


def check_text(what: str, text: str, longest: int) -> str:
    """The text without space around it; refused if it is empty, too long, or not printable."""
    text = text.strip()
    if not text or len(text) > longest or not text.isprintable():
        fact = "is empty" if not text else f"has {len(text)} characters" if text.isprintable() else "has odd characters"
        raise SettingError(f"{what} {fact}: give 1 to {longest} printable characters.")
    return text


def check_note(text: str) -> str:
    """A note without space around it; it may have several lines, and may be empty."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    note = "\n".join(lines)
    if len(note) > LONGEST_NOTE or not all(line.replace("\t", " ").isprintable() for line in lines):
        fact = f"has {len(note)} characters" if len(note) > LONGEST_NOTE else "has odd characters"
        raise SettingError(f"a note {fact}: give at most {LONGEST_NOTE} printable ones.")
    return note


def check_value(do: str, value: str | None) -> str | None:
    """What a change of this kind says, as it is kept."""
    if do not in CHANGES:
        raise SettingError(f"there is no change {do!r} of a class: choose one of {', '.join(CHANGES)}.")
    text = (value or "").strip()
    if do in ("rename", "merge"):
        return check_class_name(text)
    if do == "move":
        return text or None
    if do == "key":
        key = text.lower()
        if key and (len(key) != 1 or key not in f"0{KEYS}"):
            raise SettingError(f"a class cannot have the key {text!r}: choose a digit, or one of {KEYS[9:]}.")
        return key
    if do == "colour":
        if not text.isdecimal() or int(text) >= COLOURS:
            raise SettingError(f"there is no colour {text!r}: choose a number from 0 to {COLOURS - 1}.")
        return text
    if do == "describe":
        return check_text("a description", text, LONGEST_DESCRIPTION) if text else ""
    return None


def check_known(labels: Iterable[str], table: Classes) -> None:
    """Refuse an answer that names no class; the former name of one that was renamed or merged will do."""
    for label in labels:
        if not table.counts(label):
            gone = table.meant(label) is not None
            fact = f"the class {label!r} was removed: choose another." if gone else f"there is no class {label!r} yet:"
            raise LabelError(f"{fact}{'' if gone else ' add it first.'}{nearest(label, table.names)}")


def check_change(change: Event, table: Classes) -> None:
    """Refuse what does not fit the classes there are now; someone else may have changed them meanwhile."""
    label, value = change.label or "", change.value or ""
    _require(label, table)
    if change.do == "rename":
        if value == label:
            raise ConflictError(f"the class is called {label!r} already.")
        if table.number(value) is not None:
            raise ConflictError(f"there is already a class {value!r}: merge {label!r} into it, or choose another name.")
    if change.do == "merge":
        _require(value, table)
        if value == label:
            raise ConflictError(f"{label!r} cannot be merged into itself: choose another class.")
    if change.do == "move" and value:
        _require(value, table)


def check_undo(undone: Sequence[Event], table: Classes) -> None:
    """Refuse to bring back a class whose name another one has by now."""
    names = table.without(event.id for event in undone)
    twice = next((name for name, many in Counter(names).items() if many > 1), None)
    if twice is not None:
        raise ConflictError(f"another class is called {twice!r} by now: rename that one, then take this back.")
    if len(names) > max(MOST_CLASSES, len(table.listed)):
        raise ConflictError(f"that would be {len(names)} classes: {MOST_CLASSES} is the most. Merge some of them.")


def _require(label: str, table: Classes) -> None:
    if table.number(label) is None:
        now = table.now(table.meant(label))
        if now is not None:
            raise ConflictError(f"the class {label!r} is {table.name(now)!r} by now: someone has changed it.")
        raise LabelError(f"there is no class {label!r}: it may have been removed.{nearest(label, table.names)}")
