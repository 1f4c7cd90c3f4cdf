"""The routes of long lists: what is in them, page by page, and one answer for many of their items."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import Depends, FastAPI, Query, Request
from pydantic import Field

from fewlabels.session import Session, Snapshot
from fewlabels.session.limits import LONGEST_CLASS, LONGEST_NAME, MOST_TOGETHER
from fewlabels.session.listing import Order, Status, Wanted
from fewlabels.web import present, shapes
from fewlabels.web.guard import Rules
from fewlabels.web.routes import LONGEST_LIST, speaker

LONGEST_SEARCH = 200  # characters
Share = Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]


class Filter(shapes.Shape):
    """Which items are listed, and in which order."""

    label: Annotated[str, Field(max_length=LONGEST_CLASS)] | None = Field(None, description="Labelled or predicted so.")
    status: Status = "all"
    who: Annotated[str, Field(max_length=LONGEST_NAME)] | None = Field(None, description="Who said something of it.")
    at_least: Share = Field(0.0, description="Chance of the prediction.")
    below: Share = 2.0
    search: Annotated[str, Field(max_length=LONGEST_SEARCH)] = Field("", description="Words that are all in the item.")
    order: Order = "doubt"


class Review(shapes.Shape):
    prediction: str | None = Field(description="As asked.")
    total: int
    items: list[shapes.Item]


class Acceptable(shapes.Shape):
    """What accepting all of a list would do."""

    count: int
    wrong: float = Field(description="How many of them the model expects to be wrong.")
    counts: list[int] = Field(description="Of each class.")
    checksum: str = Field(description="Of the items and of what is predicted for them.")


class AcceptListed(shapes.Shape):
    who: shapes.Who
    wanted: Filter
    checksum: Annotated[str, Field(max_length=64)] = Field(description="As told before: refused if it is another now.")
    key: shapes.Key


class Look(shapes.Shape):
    items: Annotated[list[shapes.ItemId], Field(min_length=1, max_length=MOST_TOGETHER)]
    offset: Annotated[int, Field(ge=0, le=2**31)] = 0
    limit: Annotated[int, Field(ge=1, le=LONGEST_LIST)] = 60


class Looked(shapes.Shape):
    """Some items that may be labelled together: a page of them, and the numbers of all."""

    ids: list[int]
    checks: int = Field(description="Left out: checks that wait for an answer of their own.")
    labelled: list[int] = Field(description="Of the ids, those that have a label.")
    items: list[shapes.Item]


class LabelTogether(shapes.Shape):
    who: shapes.Who
    items: Annotated[list[shapes.ItemId], Field(min_length=1, max_length=MOST_TOGETHER)]
    label: shapes.Label
    key: shapes.Key


def _asked(
    label: Annotated[str | None, Query(max_length=LONGEST_CLASS)] = None,
    status: Status = "all",
    who: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    at_least: Annotated[float, Query(ge=0, le=2, allow_inf_nan=False)] = 0.0,
    below: Annotated[float, Query(ge=0, le=2, allow_inf_nan=False)] = 2.0,
    search: Annotated[str, Query(max_length=LONGEST_SEARCH)] = "",
    order: Order = "doubt",
) -> Wanted:
    return Wanted(label, status, who, at_least, below, search, order)


def listing(api: FastAPI, session: Session) -> None:
    @api.get("/api/review")
    def review(
        wanted: Annotated[Wanted, Depends(_asked)],
        prediction: Annotated[
            str | None, Query(max_length=LONGEST_CLASS, description="Short for label=… and status=predicted.")
        ] = None,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
        limit: Annotated[int, Query(ge=1, le=LONGEST_LIST)] = 60,
    ) -> Review:
        """The items that are wanted, a page of them: by default all, the least certain first. A check that waits for
        its answer is in no list."""
        if prediction is not None:
            wanted = Wanted(label=prediction, status="predicted", order=wanted.order)
        listing = session.listing()
        found = listing.find(wanted)
        shown = _page(listing.shot, found[offset : offset + limit].tolist())
        return Review.model_construct(prediction=prediction, total=len(found), items=shown)

    @api.get("/api/acceptable")
    def acceptable(wanted: Annotated[Wanted, Depends(_asked)]) -> Acceptable:
        """How many of a list are only predicted, and how many of these the model expects to be wrong."""
        session.settle()
        listing = session.listing()
        found, wrong = listing.acceptable(wanted)
        counts = np.bincount(listing.number[found], minlength=len(listing.shot.classes)).tolist()
        return Acceptable(count=len(found), wrong=wrong, counts=counts, checksum=listing.checksum(found))

    @api.post("/api/look")
    def look(wish: Look) -> Looked:
        """Items chosen by number, such as on the map, without checks that wait for an answer of their own."""
        for item in wish.items:
            session.check_item(item)
        shot = session.snapshot()
        ids = [item for item in dict.fromkeys(wish.items) if not shot.waiting(item)]
        shown = _page(shot, ids[wish.offset : wish.offset + wish.limit])
        left_out = len(set(wish.items)) - len(ids)
        labelled = [item for item in ids if shot.label(item) is not None]
        return Looked.model_construct(ids=ids, checks=left_out, labelled=labelled, items=shown)


def labelling_many(api: FastAPI, session: Session, rules: Rules) -> None:
    def kept(event: int) -> shapes.Kept:
        session.settle()
        return shapes.Kept(event=event, question=None, standing=present.standing(session.snapshot().standing))

    @api.post("/api/label-together")
    def label_together(given: LabelTogether, request: Request) -> shapes.Kept:
        """Keep one answer for many items, all or none; one undo takes it all back."""
        return kept(session.label_together(speaker(rules, request, given.who), given.items, given.label, given.key))

    @api.post("/api/accept-listed")
    def accept_listed(given: AcceptListed, request: Request) -> shapes.Kept:
        """Accept what is predicted for all of a list, all or none; one undo takes it all back."""
        who, wanted = speaker(rules, request, given.who), Wanted(**given.wanted.model_dump())
        return kept(session.accept_listed(who, wanted, given.checksum, given.key))


def _page(shot: Snapshot, items: list[int]) -> list[shapes.Item]:
    return [present.item(shot, k, brief=True) for k in items]
