"""What a line of fields has in common where all of G is kept: one array for whichever of them is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned, Core, Step


class Workspace(ABC):
    """One array (n, n) that is brought to whichever field it is asked for, by one change of rank one from the answer
    before or the next; else it is filled afresh from K. Rows and columns of nodes with a sure answer are zero.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: Core | None = None

    @contextmanager
    def at(self, field: Conditioned) -> Iterator[Any]:
        """G of this field, for as long as nobody else needs it."""
        with self._lock:
            self._bring(field)
            yield self._array()

    def _bring(self, field: Conditioned) -> None:
        core, was = field.core, self._of
        if was is core:
            return
        step, back = core.step, None if was is None else was.step
        self._of = None  # in case this is interrupted
        if was is not None and step is not None and step.before is was.which:
            self._forward(step)
        elif back is not None and back.before is core.which:
            self._back(back)
        else:
            self._fill(field)
        self._of = core

    @abstractmethod
    def _array(self) -> Any:
        """(n, n)."""

    @abstractmethod
    def _forward(self, step: Step) -> None:
        """This answer is taken in."""

    @abstractmethod
    def _back(self, step: Step) -> None:
        """This answer is taken back."""

    @abstractmethod
    def _fill(self, field: Conditioned) -> None:
        """All of it, from K."""
