"""The learner at work in a thread of its own, so that pages are served while it thinks."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from queue import Empty, PriorityQueue
from typing import Any, TypeVar

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import QueryError
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner, NextQuestion
from fewlabels.machine.progress import say
from fewlabels.session.classes import Class
from fewlabels.session.forecast import Point, extended
from fewlabels.session.ledger import Change
from fewlabels.session.predictions import Explanation, Goal, Predictions

T = TypeVar("T")

STOP, LEARN, SETTLE, ASK, EXPLAIN = range(5)  # what is done first
CALM = 0.1  # seconds without news before spare time begins: what is prepared for one state is lost with the next
LONG = 1.0  # and before preparing for answers hardly anyone will give: a quick person should not wait for those
LIKELY = 0.999  # chance that the answer is among those prepared first


class LearnerThread:
    """One learner, one thread; its jobs are done in order of importance.

    Learning comes first, then choosing questions, then explaining them; in spare time the next question is prepared for
    every answer that may come. So a foreseen answer is followed by its question at once, and any other waits at most
    for the question being worked out. The learner's classes are numbers of its own: it has at least two, so those not
    named yet are there already, without labels; and it begins afresh when a class is merged or removed.
    """

    def __init__(
        self,
        graph: Graph,
        strategy: str,
        seed: int,
        goal: Goal,
        being_read: Callable[[], list[int]],
        model: Callable[[Sequence[str | None]], Floats] | None = None,
    ) -> None:
        """`being_read` tells which items people are reading: what follows their answers is prepared. `model` gives the
        chances (n, C) of classes by their names, None for one that has none yet."""
        self._begun_with = graph, strategy, seed
        self._learner = self._new_learner(2)
        self.field = self._learner.describe()
        self._table: tuple[Class, ...] = ()  # the classes as people see them
        self._table_version = 0
        self._number: dict[int, int] = {}  # class -> its number in the learner
        self._model, self._heard_of = model, list[str | None]()  # the classes that it was asked about
        self._first_name: dict[int, str] = {}  # class -> what it was called first, which is what the model calls it
        self._aside: frozenset[int] = frozenset()
        self._jobs: PriorityQueue[tuple[int, int, Callable[[], Any], Future[Any]]] = PriorityQueue()
        self._turn = itertools.count()
        self._broken: BaseException | None = None
        self._goal = goal
        self._foreseen: dict[int, int] = {}  # item -> class predicted before it was answered; -1: none
        self._being_read = being_read
        self._costs, self._costs_last_until = np.empty(0), 0.0  # of the last look-ahead, and when they are outdated
        self._heard = 0.0  # when the last change was learnt
        self._prepared: set[tuple[int, int]] = set()  # (item, class) since then
        self._waiters: list[tuple[int, Future[list[int]]]] = []  # who wants to know what may come after an item
        self._stopped = False
        self.predictions = self._look(0, [])
        self._thread = threading.Thread(target=self._work, name="fewlabels-learner", daemon=True)

    def start(self) -> None:
        """Have the first question ready and the kernels loaded, then start the thread."""
        first = self._ask([])
        if first is not None and self._learner.can_look_further:
            self._learner.prepare(first, 0)
        self._thread.start()

    def stop(self) -> None:
        """Finish the job at hand and leave the rest; whoever waits for it is told."""
        self._put(STOP, lambda: None)
        self._thread.join()
        self._stopped = True
        while not self._jobs.empty():
            self._jobs.get()[-1].cancel()
        self._resolve_waiters()

    def learn(self, change: Change, version: int) -> None:
        """Take in a change, here and now; once the thread runs, use `submit`."""
        if change.classes is None and len(change.teach) == 1:  # many were accepted as suggested, or came with the data
            ((item, _),) = change.teach
            said = int(self.predictions.predicted[item])
            self._foreseen.setdefault(item, self._table[said].id if said >= 0 else -1)
        if change.classes is not None:
            self._table, self._table_version = change.classes, version
        if set(self._number).difference(one.id for one in self._table):
            self._begin_afresh(change)
        else:
            self._extend(change)
        if not change.changes_predictions:
            self.predictions = replace(self.predictions, version=version, audit=self._learner.audit)
            return
        self.predictions = self._look(version, self.predictions.curve)
        self._heard = time.monotonic()
        self._prepared.clear()

    def _new_learner(self, n_classes: int) -> ActiveLearner:
        graph, strategy, seed = self._begun_with
        return ActiveLearner(graph, range(max(2, n_classes)), strategy, random_state=seed)

    def _extend(self, change: Change) -> None:
        """What the change says, on top of what the learner knows."""
        for one in self._table:
            self._number.setdefault(one.id, len(self._number))
        while len(self._learner.classes) < len(self._number):
            self._learner.add_class(len(self._learner.classes))
        self._ask_model()
        self._learner.forget(list(change.forget))
        self._tell(change.check, dict(change.teach), change.skip, change.aside)

    def _ask_model(self) -> None:
        """What a model thinks, where there is one, of the classes as they are now."""
        if self._model is None or not self._table:
            return
        names: list[str | None] = [None] * len(self._learner.classes)
        for one in self._table:
            names[self._number[one.id]] = self._first_name.setdefault(one.id, one.name)
        if names != self._heard_of:
            self._heard_of = names
            self._learner.set_prior(self._model(names))

    def _begin_afresh(self, change: Change) -> None:
        """A class is gone, and a learner cannot give one up: a new one hears all that the old one knew."""
        old, class_of = self._learner, {number: k for k, number in self._number.items()}
        forgotten = set(change.forget)
        known: dict[Any, Any] = old.labelled
        labels = {k: class_of[c] for k, c in known.items() if k not in forgotten} | dict(change.teach)
        skipped: list[Any] = [k for k in old.skipped if k not in forgotten and k not in labels]
        checks: list[Any] = [check.node for check in old.checks]
        aside = self._aside if change.aside is None else change.aside
        self._number = {one.id: number for number, one in enumerate(self._table)}
        self._foreseen = {item: said for item, said in self._foreseen.items() if said in (-1, *self._number)}
        del old, self._learner  # the memory of one is needed for the other
        self._learner = self._new_learner(len(self._number))
        self._costs_last_until = 0.0
        self._heard_of = []
        self._ask_model()
        self._tell([*checks, *change.check], labels, [*skipped, *change.skip], aside)

    def _tell(
        self, checks: Sequence[int], labels: dict[int, int], skipped: Sequence[int], aside: frozenset[int] | None
    ) -> None:
        """Tell the learner of checks, {item: class}, items skipped, and those set aside, where that has changed."""
        self._learner.add_checks(checks)
        if aside is not None:
            self._aside = aside
            self._learner.set_aside(aside)
        if labels:
            self._learner.teach(list(labels), [self._number[label] for label in labels.values()])
        for item in skipped:
            self._learner.skip(item)

    def submit(self, change: Change, version: int) -> None:
        """Have the thread take in a change before it does anything else."""

        def job() -> None:
            try:
                self.learn(change, version)
            except BaseException as error:
                self._broken = error
                raise

        self._put(LEARN, job)

    def settle(self) -> None:
        """Wait until everything submitted so far is in the predictions."""
        self._put(SETTLE, lambda: None).result()

    def choose(self, without: list[int]) -> NextQuestion | None:
        """The next item to ask about, not one of these, and whether it is a check; None where none is left."""

        def job() -> NextQuestion | None:
            goal, learner = self._goal, self._learner
            if learner.wants_check(goal.target, goal.confidence, every=goal.every, without=self._being_read()):
                with suppress(QueryError):  # all that is left is closed to them as a check
                    return NextQuestion(int(learner.next_check(without)), True)
            item = self._ask(without)
            return None if item is None else NextQuestion(item, learner.is_check(item))

        return self._put(ASK, job).result()

    def order(self) -> list[int]:
        """The items that may be asked about: the next question first, then by their costs now."""

        def job() -> list[int]:
            first = self._ask([])
            cost = self._learner.costs()
            left = np.flatnonzero(~np.isnan(cost))
            ranked = left[np.argsort(cost[left], kind="stable")].tolist()
            return [] if first is None else [first, *(item for item in ranked if item != first)]

        return self._put(ASK, job).result()

    def explain(self, item: int) -> Explanation:
        """What each answer to this item would change."""
        return self._put(EXPLAIN, lambda: self._explain(item)).result()

    def upcoming(self, item: int) -> Future[list[int]]:
        """The items that may be asked about after this one, once that is prepared or there is news."""
        found: Future[list[int]] = Future()
        asked = self._put(EXPLAIN, lambda: self._waiters.append((item, found)))
        asked.add_done_callback(lambda done: found.cancel() if done.cancelled() or done.exception() else None)
        return found

    def _ask(self, without: list[int]) -> int | None:
        """When several people answer faster than questions can be worked out, one look-ahead serves everyone for as
        long again as it took: half of the machine's time is left for everything else.
        """
        begun, prepared = time.monotonic(), self._learner.ready
        if prepared or begun >= self._costs_last_until or len(self._being_read()) < 2:
            self._costs = self._learner.costs()
            if not prepared:
                self._costs_last_until = begun + 2 * (time.monotonic() - begun)
            try:
                return int(self._learner.query(without=without))
            except QueryError:
                return None
        cost = self._costs.copy()
        known: list[Any] = [*self._learner.labelled, *self._learner.skipped]
        cost[[*known, *without]] = np.nan
        left = np.flatnonzero(~np.isnan(cost))
        return int(left[np.argmin(cost[left])]) if len(left) else None

    def _explain(self, item: int) -> Explanation:
        error, classes, learner = self.predictions.expected_error, self.predictions.classes, self._learner
        if len(classes) < 2:
            return Explanation(error, (), (), "classes")
        if item in learner.labelled:
            return Explanation(error, (), (), "labelled")
        if learner.is_check(item):
            return Explanation(error, (), (), "check")
        if not learner.can_look_further:
            return Explanation(error, (), (), "memory")
        outcomes, columns = learner.outcomes(item), self._columns
        place = {number: k for k, number in enumerate(columns)}  # the learner's number of a class -> its place
        shown = [
            replace(outcomes[c], examples=tuple((k, place.get(number, -1)) for k, number in outcomes[c].examples))
            for c in columns
        ]
        return Explanation(error, classes, shown, None)

    @property
    def _columns(self) -> list[int]:
        """The number of each class in the learner, in the order people see."""
        return [self._number[one.id] for one in self._table]

    def _to_prepare(self) -> tuple[int, int, bool] | None:
        """An item someone is reading, a class it may be whose next question is not known yet, and whether it is likely.

        The likely ones come first. None if there is nothing to prepare, no memory for it, or the learner is broken.
        """
        if self._broken or not self._learner.can_look_further:
            return None
        rest = None
        for item in self._being_read():
            chance = dict(zip(self._columns, self.predictions.chance[item].tolist(), strict=True))
            before = 0.0  # chance of the classes more likely than this one
            for c in sorted(chance, key=lambda c: -chance[c]):
                if (item, c) not in self._prepared:
                    if before < LIKELY:
                        return item, c, True
                    rest = rest or (item, c, False)
                before += chance[c]
        return rest

    def _use_spare_time(self) -> None:
        """Prepare one question; when the likely ones are ready, or none can be, tell those who wait."""
        todo = self._to_prepare()
        if todo is not None and (todo[2] or not self._waiters):
            item, c, _ = todo
            self._prepared.add((item, c))
            self._learner.prepare(item, c)
        else:
            self._resolve_waiters()

    def _resolve_waiters(self) -> None:
        for item, found in self._waiters:
            if found.set_running_or_notify_cancel():
                found.set_result(list(dict.fromkeys(self._learner.upcoming(item).values())))
        self._waiters.clear()

    def _look(self, version: int, curve: Sequence[Point]) -> Predictions:
        learner = self._learner
        column = np.full(len(learner.classes), -1)
        column[self._columns] = np.arange(len(self._table))
        predicted = column[learner.predict().astype(np.int64)]
        predicted[np.array(learner.unreached, dtype=np.int64)] = -1
        chance = learner.predict_proba()
        error = learner.expected_error()
        curve = extended(curve, len(learner.labelled), error)
        labelled = learner.labelled
        known = {item: self._number[said] for item, said in self._foreseen.items() if said >= 0 and item in labelled}
        seen = (sum(labelled[item] == said for item, said in known.items()), len(known))
        name = {one.id: one.name for one in self._table}
        foreseen = {item: name[said] for item, said in self._foreseen.items() if said in name}
        settled = len(self._number) > 1 and learner.settled
        return Predictions(
            version, self._table, self._table_version, predicted, chance[:, self._columns], error, settled, curve,
            learner.audit, seen, foreseen,
        )  # fmt: skip

    def _put(self, rank: int, job: Callable[[], T]) -> Future[T]:
        done: Future[T] = Future()
        self._jobs.put((rank, next(self._turn), job, done))
        if self._stopped:  # nobody will do it: whoever waits would wait for ever
            done.cancel()
        return done

    def _work(self) -> None:
        while True:
            try:
                rank, _, job, done = self._jobs.get(timeout=self._patience())
            except Empty:
                try:
                    self._use_spare_time()
                except Exception as error:  # nothing is lost by it: the question is worked out when it is wanted
                    say(f"a question could not be prepared: {error!r}")
                continue
            try:
                if self._broken and rank != STOP:
                    raise RuntimeError(
                        "the learner could not take in an event: start fewlabels again"
                    ) from self._broken
                done.set_result(job())
            except BaseException as error:  # whoever waits hears of it
                done.set_exception(error)
            if rank == STOP:
                return

    def _patience(self) -> float | None:
        """Seconds to wait for a job before spare time is used; None, for ever, if there is no use for spare time."""
        todo = self._to_prepare()
        if todo is None and not self._waiters:
            return None
        calm = CALM if self._waiters or (todo and todo[2]) else LONG
        return max(1e-6, self._heard + calm - time.monotonic())
