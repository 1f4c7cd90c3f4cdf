"""BLAS on one thread where Numba's threads do most of the work: those of BLAS would spin, and hold the cores."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


class _OneThread:
    """The limit is the process's: the first to come sets it, the last to go takes it back."""

    def __init__(self) -> None:
        self._lock, self._inside, self._limit = threading.Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit.enter_context(_libraries().limit(limits=1, user_api="blas"))
            self._inside += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.close()


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


_ONE = _OneThread()


def one_blas_thread(work: Callable[P, T]) -> Callable[P, T]:
    """The same with BLAS on one thread."""

    @functools.wraps(work)
    def alone(*args: P.args, **options: P.kwargs) -> T:
        with _ONE:
            return work(*args, **options)

    return alone
