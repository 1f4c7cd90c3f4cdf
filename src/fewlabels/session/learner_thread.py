"""The learner at work in a thread of its own, so that pages are served while it thinks."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from queue import Empty, PriorityQueue
from typing import Any, TypeVar

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import QueryError
from fewlabels.graph import Graph
from fewlabels.learner import NextQuestion
from fewlabels.machine.giving_way import GaveWayError, giving_way
from fewlabels.machine.progress import say
from fewlabels.session.learnt import Learnt
from fewlabels.session.ledger import Change
from fewlabels.session.listener import Listener
from fewlabels.session.predictions import Explanation, Goal

T = TypeVar("T")

STOP, LEARN, SETTLE, ASK, EXPLAIN = range(5)  # what is done first
CALM = 0.1  # seconds without news before spare time begins: what is prepared for one state is lost with the next
LONG = 1.0  # and before preparing for answers hardly anyone will give: a quick person should not wait for those
LIKELY = 0.999  # chance that the answer is among those prepared first


class LearnerThread(Listener):
    """One learner, one thread; its jobs are done in order of importance.

    Learning comes first, then choosing questions, then explaining them; in spare time the next question is prepared for
    every answer that may come, until someone wants something. So a foreseen answer is followed by its question at once.
    """

    def __init__(
        self,
        graph: Graph,
        strategy: str,
        seed: int,
        goal: Goal,
        being_read: Callable[[], list[int]],
        model: Callable[[Sequence[str | None]], Floats] | None = None,
        note: Callable[[Learnt], None] = lambda learnt: None,
    ) -> None:
        """`being_read` tells which items people are reading: what follows their answers is prepared."""
        super().__init__(graph, strategy, seed, model, note)
        self._jobs: PriorityQueue[tuple[int, int, Callable[[], Any], Future[Any]]] = PriorityQueue()
        self._turn = itertools.count()
        self._broken: BaseException | None = None
        self._goal = goal
        self._being_read = being_read
        self._costs, self._costs_last_until = np.empty(0), 0.0  # of the last look-ahead, and when they are outdated
        self._heard = 0.0  # when the last change was learnt
        self._prepared: set[tuple[int, int]] = set()  # (item, class) since then
        self._waiters: list[tuple[int, Future[list[int]]]] = []  # who wants to know what may come after an item
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="fewlabels-learner", daemon=True)

    def start(self) -> None:
        """Have the first question ready, then start the thread, which begins by loading the kernels for the next."""
        first = self._ask([])
        if first is not None:
            self._put(EXPLAIN, partial(self._prepare, first, 0))
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
        super().learn(change, version)
        if change.classes is not None:
            self._costs_last_until = 0.0
        if change.changes_predictions:
            self._heard = time.monotonic()
            self._prepared.clear()

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
        return None if np.isnan(cost).all() else int(self._learner.pick(cost))

    def _explain(self, item: int) -> Explanation:
        error, classes, learner = self.predictions.expected_error, self.predictions.classes, self._learner
        if len(classes) < 2:
            return Explanation(error, (), (), "classes")
        if item in learner.labelled:
            return Explanation(error, (), (), "labelled")
        if learner.is_check(item):
            return Explanation(error, (), (), "check")
        outcomes, columns = learner.outcomes(item), self._columns
        place = {number: k for k, number in enumerate(columns)}  # the learner's number of a class -> its place
        shown = [
            replace(outcomes[c], examples=tuple((k, place.get(number, -1)) for k, number in outcomes[c].examples))
            for c in columns
        ]
        return Explanation(error, classes, shown, None)

    def _to_prepare(self) -> tuple[int, int, bool] | None:
        """An item someone is reading, a class it may be whose next question is not known yet, and whether it is likely.

        The likely ones come first. None if there is nothing to prepare, or the learner is broken.
        """
        if self._broken:
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
            self._prepare(item, c)
        else:
            self._resolve_waiters()

    def _prepare(self, item: int, c: int) -> None:
        """What follows this answer; given up, until there is time again, when someone waits for the thread."""
        self._prepared.add((item, c))
        try:
            with giving_way(self._is_wanted):
                self._learner.prepare(item, c)
        except GaveWayError:
            self._prepared.discard((item, c))

    def _is_wanted(self) -> bool:
        """Whether someone waits for the thread: to learn, or to ask."""
        try:
            return self._jobs.queue[0][0] <= ASK
        except IndexError:
            return False

    def _resolve_waiters(self) -> None:
        for item, found in self._waiters:
            if found.set_running_or_notify_cancel():
                found.set_result(list(dict.fromkeys(self._learner.upcoming(item).values())))
        self._waiters.clear()

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
