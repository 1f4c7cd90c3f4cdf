"""The learner as a session needs it: it hears of changes, in the classes people see, and says what it predicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.session.classes import Class
from fewlabels.session.forecast import Point, extend
from fewlabels.session.learnt import Learnt
from fewlabels.session.ledger import Change
from fewlabels.session.predictions import NOTHING, UNKNOWN, Predictions
from fewlabels.session.told import Told


class Listener:
    """One learner, its predictions after the last change, and what it had predicted before each answer.

    The learner's classes are numbers of its own: it has at least two, so those not named yet are there already, without
    labels; and it begins afresh when a class is merged or removed.
    """

    def __init__(
        self,
        graph: Graph,
        strategy: str,
        seed: int,
        model: Callable[[Sequence[str | None]], Floats] | None = None,
        note: Callable[[Learnt], None] = lambda learnt: None,
    ) -> None:
        """`model` gives the chances (n, C) of classes by their names, None for one that has none yet. `note` is told of
        every change what was learnt from it, all that `replay` needs to know."""
        self._learner = ActiveLearner(graph, range(2), strategy, random_state=seed)
        self.field = self._learner.describe()
        self._table: tuple[Class, ...] = ()  # the classes as people see them
        self._table_version = 0
        self._number: dict[int, int] = {}  # class -> its number in the learner
        self._model, self._heard_of = model, list[str | None]()  # the classes that it was asked about
        self._first_name: dict[int, str] = {}  # class -> what it was called first, which is what the model calls it
        self._aside: frozenset[int] = frozenset()
        self._said: Ints = np.full(graph.n_nodes, UNKNOWN)  # (n,) class predicted before the item was answered
        self._curve: list[Point] = []
        self._note = note
        self.predictions = self._look(0)

    def learn(self, change: Change, version: int) -> None:
        """Take in a change, here and now."""
        said = self._foretold(change)
        self._hear(change, version, said)
        if change.changes_predictions:
            self.predictions = self._look(version)
        else:
            self.predictions = replace(self.predictions, version=version, audit=self._learner.audit)
        error = self.predictions.expected_error if change.changes_predictions else None
        self._note(Learnt(version, said, error))

    def replay(self, changes: Iterable[tuple[Change, int]], learnt: Mapping[int, Learnt], exact: bool) -> None:
        """Take in changes that were learnt before, by what is known of them, and work out the predictions in the end.

        The state is that of learning one after the other. `exact`: also where nothing is known of a change; else what
        had been predicted before it, and its point of the curve, stay unknown.
        """
        changes = list(changes)
        passed = self._fast_forward(changes, learnt, exact)
        behind = changes[passed - 1][1] if passed else 0  # the last change that the predictions do not include
        answers: dict[int, int] = {}  # in a row, to be taught together
        for change, version in changes[passed:]:
            known = learnt.get(version)
            if known is None and exact:
                self._catch_up(behind, answers)
                behind = 0
                self.learn(change, version)
                continue
            behind = version
            said = None if known is None else known.predicted
            if change.only_teaches:
                self._remember(change, said)
                answers.update(change.teach)
            else:
                self._teach(answers)
                self._hear(change, version, said)
            if known is not None and known.error is not None:
                extend(self._curve, self._learner.n_labelled + len(answers), known.error)
        self._catch_up(behind, answers)

    def _fast_forward(self, changes: Sequence[tuple[Change, int]], learnt: Mapping[int, Learnt], exact: bool) -> int:
        """Pass over the changes up to the last one that makes the learner begin afresh: what they add up to is all it
        will know of them. Returns how many these are."""
        passed, table = 0, self._table
        for k, (change, version) in enumerate(changes):
            if exact and version not in learnt:
                break
            if change.classes is not None:
                passed, table = k + 1 if _gone(table, change.classes) else passed, change.classes
        if passed:
            told = self._told()
            for change, version in changes[:passed]:
                known = learnt.get(version)
                self._remember(change, None if known is None else known.predicted)
                if change.classes is not None:
                    self._see(change.classes, version)
                told.take(change)
                if known is not None and known.error is not None:
                    extend(self._curve, len(told.labels), known.error)
            self._begin_afresh(told)
        return passed

    def _catch_up(self, version: int, answers: dict[int, int]) -> None:
        self._teach(answers)
        if version:
            self.predictions = self._look(version)

    def _teach(self, labels: dict[int, int]) -> None:
        """Teach {item: class}, and empty it."""
        if labels:
            self._learner.teach(list(labels), [self._number[label] for label in labels.values()])
            labels.clear()

    def _foretold(self, change: Change) -> int | None:
        """The class predicted for the one item answered, or NOTHING; None where many were accepted as suggested, came
        with the data, or changed with their class."""
        if change.classes is not None or len(change.teach) != 1:
            return None
        ((item, _),) = change.teach
        said = int(self.predictions.predicted[item])
        return self._table[said].id if said >= 0 else NOTHING

    def _remember(self, change: Change, said: int | None) -> None:
        """This was predicted for the one item answered; the first such prediction counts, unless its class is gone."""
        if said is not None and len(change.teach) == 1:
            ((item, _),) = change.teach
            if self._said[item] not in (NOTHING, *(one.id for one in self._table)):
                self._said[item] = said

    def _hear(self, change: Change, version: int, said: int | None) -> None:
        """Tell the learner; `said` was predicted for the item answered."""
        self._remember(change, said)
        gone = change.classes is not None and _gone(self._table, change.classes)
        if change.classes is not None:
            self._see(change.classes, version)
        if gone:
            told = self._told()
            told.take(change)
            self._begin_afresh(told)
        else:
            self._extend(change)

    def _see(self, table: tuple[Class, ...], version: int) -> None:
        """These are the classes since this event."""
        self._table, self._table_version = table, version
        for one in table:
            self._first_name.setdefault(one.id, one.name)

    def _extend(self, change: Change) -> None:
        """What the change says, on top of what the learner knows."""
        if change.classes is not None:
            for one in self._table:
                self._number.setdefault(one.id, len(self._number))
            while self._learner.n_classes < len(self._number):
                self._learner.add_class(self._learner.n_classes)
            self._ask_model()
        if change.forget:
            self._learner.forget(list(change.forget))
        self._tell(change.check, dict(change.teach), change.skip, change.aside)

    def _ask_model(self) -> None:
        """What a model thinks, where there is one, of the classes as they are now."""
        if self._model is None or not self._table:
            return
        names: list[str | None] = [None] * self._learner.n_classes
        for one in self._table:
            names[self._number[one.id]] = self._first_name[one.id]
        if names != self._heard_of:
            self._heard_of = names
            self._learner.set_prior(self._model(names))

    def _told(self) -> Told:
        """What the learner knows now."""
        class_of = {number: k for k, number in self._number.items()}
        known: dict[Any, Any] = self._learner.labelled
        skipped: list[Any] = self._learner.skipped
        labels = {k: class_of[c] for k, c in known.items()}
        return Told(labels, skipped, self._learner.drawn, self._aside, self._learner.closed)

    def _begin_afresh(self, told: Told) -> None:
        """A class is gone, and a learner cannot give one up: it forgets everything, and hears what is known now."""
        self._number = {one.id: number for number, one in enumerate(self._table)}
        self._learner.begin_again(range(max(2, len(self._number))))
        self._heard_of = []
        self._ask_model()
        for checks, labels, skipped in told.turns():
            self._tell(checks, labels, skipped, told.aside)

    def _tell(
        self, checks: Sequence[int], labels: dict[int, int], skipped: Sequence[int], aside: frozenset[int] | None
    ) -> None:
        """Tell the learner of checks, {item: class}, items skipped, and those set aside, where that has changed."""
        self._learner.add_checks(checks)
        if aside is not None:
            self._aside = aside
            self._learner.set_aside(aside)
        self._teach(labels)
        for item in skipped:
            self._learner.skip(item)

    @property
    def _columns(self) -> list[int]:
        """The number of each class in the learner, in the order people see."""
        return [self._number[one.id] for one in self._table]

    def _look(self, version: int) -> Predictions:
        learner = self._learner
        column = np.full(learner.n_classes, -1)
        column[self._columns] = np.arange(len(self._table))
        predicted = column[learner.predict().astype(np.int64)]
        predicted[np.array(learner.unreached, dtype=np.int64)] = -1
        chance, error, label = learner.predict_proba(), learner.expected_error(), learner.label_numbers
        extend(self._curve, learner.n_labelled, error)
        answered = {one: label[self._said == one] for one in self._number}  # of the items predicted so before
        right = sum(int((answered[one] == number).sum()) for one, number in self._number.items())
        suggested = sum(int((each >= 0).sum()) for each in answered.values())
        settled = len(self._number) > 1 and learner.settled
        return Predictions(
            version, self._table, self._table_version, predicted, chance[:, self._columns], error, settled,
            self._curve.copy(), learner.audit, (right, suggested), self._said.copy(),
        )  # fmt: skip


def _gone(before: Sequence[Class], now: Sequence[Class]) -> bool:
    """Whether a class that was there is there no longer."""
    return bool({one.id for one in before} - {one.id for one in now})
