"""Work done ahead of need gives way when something is wanted now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_urgent: ContextVar[Callable[[], bool] | None] = ContextVar("urgent", default=None)


class GaveWayError(Exception):
    """The work was given up halfway; whatever it was done on is as it was."""


@contextmanager
def giving_way(urgent: Callable[[], bool]) -> Iterator[None]:
    """What is done in here, in this thread, is given up (GaveWayError) soon after `urgent` becomes true."""
    before = _urgent.set(urgent)
    try:
        yield
    finally:
        _urgent.reset(before)


def give_way() -> None:
    """Called now and then by what takes long, where nothing is half done: ends it if something else is urgent."""
    urgent = _urgent.get()
    if urgent is not None and urgent():
        raise GaveWayError
