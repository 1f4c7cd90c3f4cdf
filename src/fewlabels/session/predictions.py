"""What the learner says after an event: predictions, explanations, and the goal they are measured by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.learner import Outcome
from fewlabels.learner.estimate import Audit
from fewlabels.session.classes import Class
from fewlabels.session.forecast import Point

NOTHING, UNKNOWN = -1, -2  # in the place of a class


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the learner says about all items after one event; never changed, so anyone may read it at any time."""

    version: int  # number of the last event it has heard
    table: Sequence[Class]  # the classes, in the order of all that follows
    table_version: int  # number of the event that made them what they are
    predicted: Ints  # (n,) class number; -1 where no label reaches
    chance: Floats  # (n, C)
    expected_error: float
    settled: bool  # whether that means anything: not before the classes were heard
    curve: Sequence[Point]
    audit: Audit  # what the checks say
    suggestions: tuple[int, int]  # right, and all: how often an answer was what had been predicted
    said: Ints  # (n,) class predicted before the item was answered, by its `id`, which may be gone by now;
    # NOTHING: none, UNKNOWN: not answered

    @cached_property
    def classes(self) -> Sequence[str]:
        return tuple(one.name for one in self.table)

    @cached_property
    def foreseen(self) -> Mapping[int, str]:
        """item -> what was predicted before it was answered, where that is still a class."""
        name, items = {one.id: one.name for one in self.table}, np.flatnonzero(self.said >= 0)
        told = zip(items.tolist(), self.said[items].tolist(), strict=True)
        return {item: name[said] for item, said in told if said in name}

    @property
    def chance_of_prediction(self) -> Floats:
        """(n,) chance of the class predicted; 0 where nothing is known."""
        known = self.predicted >= 0
        found = np.zeros(len(self.predicted))
        found[known] = self.chance[known, self.predicted[known]]
        return found

    @property
    def unreached(self) -> Flags:
        return self.predicted < 0


@dataclass(frozen=True)
class Explanation:
    """What each answer to an item would change, in the order of the classes; or why that is not known."""

    expected_error: float  # now
    classes: Sequence[str]  # of the outcomes
    outcomes: Sequence[Outcome]
    missing: str | None  # "labelled", "classes" (there are not two yet) or "check"


@dataclass(frozen=True)
class Goal:
    """What a session is after: this share of wrong items at most, known with this confidence, by this many checks."""

    target: float
    confidence: float
    every: int  # one question in so many is a check; 0: none
