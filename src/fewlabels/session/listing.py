"""Lists of items to look through: which of them, and in which order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.errors import LabelError, nearest
from fewlabels.session.ledger import ItemHistory
from fewlabels.session.overview import Snapshot

Status = Literal["all", "labelled", "predicted", "unknown", "unsure", "skipped", "disputed", "checks", "differs"]
Order = Literal["doubt", "sure", "newest", "given"]
STATUSES, ORDERS = get_args(Status), get_args(Order)


@dataclass(frozen=True)
class Wanted:
    """Which items to list, and how; what is not said does not narrow the list."""

    label: str | None = None  # labelled so, or else predicted so
    status: Status = "all"
    who: str | None = None  # who has said something about it
    at_least: float = 0.0  # chance of the prediction
    below: float = 2.0
    search: str = ""  # words that are all in the item
    order: Order = "doubt"


class Listing:
    """The items of one snapshot, to be filtered and sorted; made once, used for every list.

    A check that waits for its answer is in no list: where it stands would tell what is predicted for it.
    """

    def __init__(self, shot: Snapshot) -> None:
        self.shot = shot
        found = shot.predictions
        n = len(found.predicted)
        self.number: Ints = found.predicted.copy()  # (n,) class by label or prediction, -1 for none
        self.chance: Floats = found.chance_of_prediction
        self.labelled, self.disputed, self.unsure, self.skipped, self.checks, waiting = np.zeros((6, n), dtype=bool)
        self._newest = np.zeros(n, dtype=np.int64)  # the last event about each item
        number_of = {name: number for number, name in enumerate(shot.classes)}
        for item, history in shot.history.items():
            label = history.label
            if label is not None:
                self.labelled[item] = True
                self.number[item] = number_of.get(label, -1)
            else:
                self.unsure[item], self.skipped[item] = bool(history.unsure), history.skip is not None
                self.disputed[item] = history.disputed
            self._newest[item] = last_said(history)
        drawn = list(shot.checks)
        self.checks[drawn] = True
        waiting[[k for k in drawn if shot.waiting(k)]] = True
        self.shown: Flags = ~waiting

    @cached_property
    def _differs(self) -> Flags:
        """(n,) where a model's opinion is another than the label, or else the prediction."""
        opinions = self.shot.items.model_labels
        if opinions is None:
            return np.zeros(len(self.number), dtype=bool)
        number_of = {name: number for number, name in enumerate(self.shot.classes)}
        said = np.array([-2 if name is None else number_of.get(name, -3) for name in opinions])
        return (said != -2) & (self.number >= 0) & (said != self.number)

    def _of_status(self, status: Status) -> Flags:
        masks: Mapping[Status, Callable[[], Flags]] = {
            "all": lambda: self.shown,
            "labelled": lambda: self.labelled,
            "predicted": lambda: ~self.labelled & (self.number >= 0),
            "unknown": lambda: ~self.labelled & (self.number < 0),
            "unsure": lambda: self.unsure,
            "skipped": lambda: self.skipped,
            "disputed": lambda: self.disputed,
            "checks": lambda: self.checks,
            "differs": lambda: self._differs,
        }
        return masks[status]() & self.shown

    def find(self, wanted: Wanted) -> Ints:
        """The items wanted, in the order wanted; equals in the order of the data."""
        mask = self._of_status(wanted.status)
        if wanted.label is not None:
            classes = list(self.shot.classes)
            if wanted.label not in classes:
                nearby = nearest(wanted.label, classes)
                raise LabelError(f"there is no class {wanted.label!r} yet: add it first.{nearby}")
            mask = mask & (self.number == classes.index(wanted.label))
        if wanted.at_least > 0 or wanted.below <= 1:
            mask = mask & ~self.labelled & (self.chance >= wanted.at_least) & (self.chance < wanted.below)
        if wanted.who is not None:
            said = np.zeros(len(mask), dtype=bool)
            said[[item for item, history in self.shot.history.items() if wanted.who in speakers(history)]] = True
            mask = mask & said
        if wanted.search.strip():
            mask = mask & self.shot.items.haystack.matching(wanted.search)
        found = np.flatnonzero(mask)
        keys: Mapping[Order, Callable[[], Ints | Floats]] = {
            "doubt": lambda: np.where(self.labelled, 2.0, self.chance)[found],
            "sure": lambda: np.where(self.labelled, 2.0, -self.chance)[found],
            "newest": lambda: -self._newest[found],
            "given": lambda: found,
        }
        return found[np.argsort(keys[wanted.order](), kind="stable")]

    def acceptable(self, wanted: Wanted) -> tuple[Ints, float]:
        """Of the items wanted, those predicted and not labelled, skipped or disputed, and how many of them the model
        expects to be predicted wrongly."""
        found = self.find(wanted)
        open_ = ~(self.labelled | self.skipped | self.unsure | self.disputed) & (self.number >= 0)
        found = found[open_[found]]
        return found, float((1 - self.chance[found]).sum())

    def checksum(self, found: Ints) -> str:
        """Another one where these items, or what is predicted for them, are others."""
        told = [found.tolist(), self.number[found].tolist(), list(self.shot.classes)]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def speakers(history: ItemHistory) -> set[str]:
    """Who has said something about an item."""
    events = [event for event in (history.skip, history.decision) if event is not None]
    return {*history.votes, *history.unsure, *(event.who for event in events)}


def last_said(history: ItemHistory) -> int:
    """The number of the last event about an item."""
    events = [*history.votes.values(), *history.unsure.values(), history.skip, history.decision]
    return max((event.id for event in events if event is not None), default=0)
