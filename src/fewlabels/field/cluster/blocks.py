"""G in blocks of rows: which worker holds which, the memory they take there, and what becomes of a lost one."""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import ClusterError, MemoryNeededError
from fewlabels.field.cluster.crew import Crew, WorkerGone
from fewlabels.machine.memory import GIB

PIVOT = 256  # nodes eliminated together while G is set up
PANELS = 4  # (PIVOT, n) arrays in use then, besides the rows
WAY_OUT = (
    "No answer is lost: save() the learner if it is not on disk yet, and load it with a new engine, "
    "ActiveLearner.load(path, graph, engine=Cluster(address))."
)

_numbers = itertools.count()


class Blocks:
    """The rows of one field's G, the first ones on the first worker and so on; known to every worker by one number."""

    def __init__(self, crew: Crew, n: int, bounds: list[int], number: int) -> None:
        self.crew, self.n, self.bounds = crew, n, bounds
        self._number = number
        self.broken: str | None = None  # why, once the rows can no longer be trusted
        weakref.finalize(self, _drop, crew, number)

    @classmethod
    def spread(cls, crew: Crew, n: int) -> Blocks:
        """Room for n rows, shared out by the workers' threads and memory; refused if there is not enough."""
        spare = 8 * n * PIVOT * PANELS
        free = _free(crew)
        fits = [max(0, (f - spare) // (8 * n)) for f in free]
        if sum(fits) < n:
            need = 8 * n * n + spare * len(free)
            each = ", ".join(f"{f / GIB:.1f}" for f in free)
            raise MemoryNeededError(
                f"a dense G of {n:,} nodes needs {need / GIB:.1f} GiB on the {len(free)} worker(s) at {crew.address}, "
                f"and {sum(free) / GIB:.1f} GiB are free ({each}). Add workers, or take a smaller graph."
            )
        counts = shares(n, [crew.threads[worker] for worker in crew.workers], fits)
        bounds = [0, *itertools.accumulate(counts)]
        blocks = cls(crew, n, bounds, next(_numbers))
        crew.each("take_up", [(blocks._number, a, (b - a, n)) for a, b in pairwise(bounds)])
        return blocks

    def copy(self) -> Blocks:
        """A second copy of the rows, on the same workers."""
        for worker, wanted, free in self._needed_for_copy():
            if wanted > free:
                raise MemoryNeededError(
                    f"a second field needs {wanted / GIB:.1f} GiB on the worker {worker}, and {free / GIB:.1f} GiB are "
                    "free. Do without outcomes() and prepare(), or add workers."
                )
        twin = Blocks(self.crew, self.n, self.bounds, next(_numbers))
        with self._talking():
            self.crew.everyone("copy", self._number, twin._number)
        return twin

    def can_copy(self) -> bool:
        """Whether every worker has room for a second copy of its rows."""
        return all(wanted <= free for _, wanted, free in self._needed_for_copy())

    def _needed_for_copy(self) -> list[tuple[str, int, int]]:
        """For each worker: its address, the bytes of its rows, and the bytes it has free."""
        need = [8 * self.n * (b - a) for a, b in pairwise(self.bounds)]
        return list(zip(self.crew.workers, need, _free(self.crew), strict=True))

    def owner(self, node: int) -> int:
        return int(np.searchsorted(self.bounds, node, side="right")) - 1

    def row(self, node: int) -> Floats:
        """(n,)"""
        with self._talking():
            row: Floats = self.crew.one(self.owner(node), "do", self._number, "row", node)
        return row

    def tell(self, verb: str, *arguments: Any) -> list[Any]:
        """What each worker answers, in the order of the rows."""
        with self._talking():
            return self.crew.everyone("do", self._number, verb, *arguments)

    def tell_each(self, verb: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        with self._talking():
            return self.crew.each("do", [(self._number, verb, *mine) for mine in arguments])

    def ask(self, verb: str, *arguments: Any) -> Any:
        """The workers' answers, an array or several, put together in the order of the rows."""
        answers = self.tell(verb, *arguments)
        if isinstance(answers[0], tuple):
            return tuple(np.concatenate(parts) for parts in zip(*answers, strict=True))
        return np.concatenate(answers)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Around a change of G: interrupted halfway, it leaves rows that no longer match."""
        try:
            yield
        except BaseException:
            self.broken = self.broken or f"a change of G was interrupted, and its rows no longer match. {WAY_OUT}"
            raise

    def eliminate(self, start: int, stop: int) -> bool:
        """One step of the inversion, on nodes of one worker; False when rounding has left nothing to divide by."""
        owner = self.owner(start)
        with self._talking():
            done = self.crew.one(owner, "do", self._number, "invert_pivot", start, stop)
            if done:
                self.crew.everyone("sweep", self._number, start, stop, owner)
        return bool(done)

    def steps(self) -> list[tuple[int, int]]:
        """The nodes, a few at a time, never from two workers."""
        return [(k, min(k + PIVOT, b)) for a, b in pairwise(self.bounds) for k in range(a, b, PIVOT)]

    @contextmanager
    def _talking(self) -> Iterator[None]:
        if self.broken is not None:
            raise ClusterError(self.broken)
        try:
            yield
        except WorkerGone as gone:
            rows = " and ".join(f"{self.bounds[k]:,} to {self.bounds[k + 1] - 1:,}" for k in gone.which)
            self.broken = f"{gone}, and the rows of G of nodes {rows} with it. {WAY_OUT}"
            raise ClusterError(self.broken) from None


def shares(n: int, threads: list[int], fits: list[int]) -> list[int]:
    """How many of n rows go to each worker: by its threads, but no more than fit."""
    counts = [0] * len(fits)
    while (left := n - sum(counts)) > 0:
        open_to = [k for k, fit in enumerate(fits) if counts[k] < fit]
        total = sum(threads[k] for k in open_to)
        for k in open_to:
            more = min(-(-left * threads[k] // total), fits[k] - counts[k], n - sum(counts))
            counts[k] += more
    return counts


def _free(crew: Crew) -> list[int]:
    """Bytes free for each worker; those on one machine share what it has."""
    machine = [urlsplit(worker).hostname for worker in crew.workers]
    together = Counter(machine)
    return [
        min(process, free // together[name])
        for name, (process, free) in zip(machine, crew.everyone("free"), strict=True)
    ]


def _drop(crew: Crew, number: int) -> None:
    crew.forget_rows(number)
