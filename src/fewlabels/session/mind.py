"""The learner at work in a thread of its own, so that pages are served while it thinks."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import PriorityQueue
from typing import Any, TypeVar

import numpy as np

from fewlabels import memory
from fewlabels.foresight import Outcome
from fewlabels.graph import Graph
from fewlabels.kernels.reference import Flags, Floats, Ints
from fewlabels.learner import ActiveLearner
from fewlabels.session.ledger import Change
from fewlabels.session.progress import Point, extended

T = TypeVar("T")

STOP, LEARN, ASK, EXPLAIN, SPARE = range(5)  # what comes first


@dataclass(frozen=True)
class View:
    """What the learner says of all items after one event; never changed, so that anyone may read it at any time."""

    version: int  # number of the last event it has heard
    n_classes: int
    predicted: Ints  # (n,) class number; -1 where no label reaches
    chance: Floats  # (n, C)
    expected_error: float
    curve: Sequence[Point]

    @property
    def confidence(self) -> Floats:
        """(n,) chance of the class predicted; 0 where nothing is known."""
        known = self.predicted >= 0
        found = np.zeros(len(self.predicted))
        found[known] = self.chance[known, self.predicted[known]]
        return found

    @property
    def unreached(self) -> Flags:
        return self.predicted < 0


class Mind:
    """One learner, one thread; what is asked of it is done in the order of importance.

    Learning comes first, then choosing questions, then explaining them; in spare time the next question is prepared for
    every answer that may come. So an answer that was foreseen is followed by its question at once, and another one
    waits for at most the question being worked out. The classes are numbers here: a learner has at least two, so
    those not named yet are there already, unheard of.
    """

    def __init__(self, graph: Graph, strategy: str, seed: int) -> None:
        self._learner = ActiveLearner(graph, range(2), strategy, random_state=seed)
        self._names: dict[str, int] = {}
        self._jobs: PriorityQueue[tuple[int, int, Callable[[], Any], Future[Any]]] = PriorityQueue()
        self._turn = itertools.count()
        self._broken: BaseException | None = None
        self._stopped = False
        self.view = self._look(0, [])
        self._thread = threading.Thread(target=self._work, name="fewlabels-mind", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Finish the job at hand and leave the rest; whoever waits for it is told."""
        self._put(STOP, lambda: None)
        self._thread.join()
        self._stopped = True
        while not self._jobs.empty():
            self._jobs.get()[-1].cancel()

    def learn(self, change: Change, classes: Sequence[str], version: int) -> None:
        """Hear of a change, here and now; the thread does this by `heed`."""
        for label in classes[len(self._names) :]:
            self._names[label] = len(self._names)
        while len(self._learner.classes) < len(self._names):
            self._learner.add_class(len(self._learner.classes))
        self._learner.forget(list(change.forget))
        if change.teach:
            items, labels = zip(*change.teach, strict=True)
            self._learner.teach(list(items), [self._names[label] for label in labels])
        for item in change.skip:
            self._learner.skip(item)
        self.view = self._look(version, self.view.curve)

    def heed(self, change: Change, classes: Sequence[str], version: int, then: Callable[[], None]) -> None:
        """Hear of a change before anything else is done; then do something cheap."""

        def job() -> None:
            try:
                self.learn(change, classes, version)
                then()
            except BaseException as error:
                self._broken = error
                raise

        self._put(LEARN, job)

    def settle(self) -> None:
        """Wait until everything heard so far is in the view."""
        self._put(ASK, lambda: None).result()

    def choose(self, choice: Callable[[ActiveLearner], T]) -> T:
        """Let the learner choose; nobody else does at the same time."""
        return self._put(ASK, lambda: choice(self._learner)).result()

    def explain(self, item: int) -> list[Outcome]:
        """What each answer to this item would change; nothing where it is answered, or memory has no second field."""
        return self._put(EXPLAIN, lambda: self._outcomes(item)).result()

    def prepare(self, item: int) -> None:
        """In spare time, have the next question ready for every answer to this item, the likeliest first."""
        version = self.view.version
        for c in np.argsort(-self.view.chance[item], kind="stable"):
            self._put(SPARE, partial(self._prepare, item, int(c), version))

    def upcoming(self, item: int) -> Future[list[int]]:
        """The items that may be asked after this one, once all that was put off to spare time is done."""
        return self._put(SPARE, lambda: list(dict.fromkeys(self._learner.upcoming(item).values())))

    def _prepare(self, item: int, c: int, version: int) -> None:
        if version == self.view.version and self._roomy():
            self._learner.prepare(item, c)

    def _outcomes(self, item: int) -> list[Outcome]:
        if len(self._names) < 2 or item in self._learner.labelled or not self._roomy():
            return []
        return self._learner.outcomes(item)[: len(self._names)]

    def _roomy(self) -> bool:
        return memory.available() > 2 * 8 * self._learner.graph.n_nodes**2

    def _look(self, version: int, curve: Sequence[Point]) -> View:
        learner = self._learner
        predicted = learner.predict().astype(np.int64)
        predicted[np.array(learner.unreached, dtype=np.int64)] = -1
        error = learner.expected_error()
        return View(
            version,
            len(self._names),
            predicted,
            learner.predict_proba()[:, : len(self._names)],
            error,
            extended(curve, len(learner.labelled), error),
        )

    def _put(self, rank: int, job: Callable[[], T]) -> Future[T]:
        done: Future[T] = Future()
        self._jobs.put((rank, next(self._turn), job, done))
        if self._stopped:  # nobody will do it: whoever waits would wait for ever
            done.cancel()
        return done

    def _work(self) -> None:
        while True:
            rank, _, job, done = self._jobs.get()
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
