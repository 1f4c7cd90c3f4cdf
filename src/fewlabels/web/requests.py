"""What the page asks of the server, as JSON; what it hears is in `shapes`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fewlabels.session.limits import LONGEST_DESCRIPTION, LONGEST_NOTE, MOST_AT_ONCE
from fewlabels.web.shapes import ItemId, Key, Label, Shape, Who


class AskFor(Shape):
    who: Who
    item: ItemId | None = None


class GiveAnswer(Shape):
    who: Who
    item: ItemId
    label: Label
    key: Key
    next: bool = Field(True, description="Whether to be asked the next question.")


class SetAside(Shape):
    who: Who
    item: ItemId
    key: Key
    unsure: bool = Field(False, description="Not skipped for everyone: only this person cannot tell.")
    next: bool = True


class Undo(Shape):
    who: Who
    key: Key
    event: Annotated[int, Field(ge=1, le=2**53)] | None = Field(None, description="Which one; default: the last.")
    whole: bool = Field(False, description="Take back all that was said in the same request.")
    next: bool = Field(True, description="Whether to be asked about the item again.")


class WriteNote(Shape):
    who: Who
    item: ItemId
    text: Annotated[str, Field(max_length=2 * LONGEST_NOTE, description="Empty: the note is removed.")]
    key: Key


class SignOut(Shape):
    everyone: bool = Field(False, description="Not only this browser: all of them.")


class WriteStore(Shape):
    """Nothing has to be said."""


class AddClass(Shape):
    who: Who
    name: Label
    key: Key
    sure: bool = Field(True, description="False: refuse a name that differs from another one's only in case or spaces.")


class ChangeClass(Shape):
    who: Who
    do: Literal["rename", "merge", "remove", "move", "colour", "key", "describe"]
    name: Label
    value: Annotated[str, Field(max_length=LONGEST_DESCRIPTION)] | None = Field(
        None,
        description="Its new name; the class to merge it into, or to move it before (none: last); a colour's number; a "
        "key; a description.",
    )
    key: Key


class LabelledItem(Shape):
    item: ItemId
    label: Label


class Accept(Shape):
    who: Who
    answers: Annotated[list[LabelledItem], Field(min_length=1, max_length=MOST_AT_ONCE)]
    key: Key


class Decide(Shape):
    who: Who
    item: ItemId
    label: Label
    key: Key
