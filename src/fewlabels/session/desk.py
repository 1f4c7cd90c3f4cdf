"""The desk: who is asked what. It holds the ledger and the leases, and lets one thread at a time see them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fewlabels.errors import FewlabelsError
from fewlabels.session.leases import Leases
from fewlabels.session.ledger import TABLE, Change, Ledger
from fewlabels.store import Event


class ConflictError(FewlabelsError):
    """What is asked contradicts the state: someone else is asked this now, or there is nothing to take back."""


@dataclass(frozen=True)
class Question:
    """An item put to one person, and why: chosen, requested, second opinion, again."""

    item: int
    reason: str


class Desk:
    """Events come in, questions go out. Whoever reads `ledger` or `leases` holds `lock`, for a moment."""

    def __init__(self, names: Sequence[str], overlap: int, clock: Callable[[], float]) -> None:
        self.ledger, self.leases = Ledger(), Leases(clock)
        self.lock = threading.Lock()
        self._names, self._overlap = names, overlap

    def take(self, events: Sequence[Event]) -> Change:
        """Take in the events of one request, and the questions back that they answer."""
        with self.lock:
            for item in self.ledger.items(events):
                self.leases.give_back(events[-1].who, item)
            return self.ledger.take(events)

    def reading(self) -> list[int]:
        """The items people are reading now and have not answered, the latest first."""
        with self.lock:
            return [item for item in reversed(self.leases.live()) if self.ledger.label(item) is None]

    def request(self, who: str, item: int, reason: str) -> Question:
        """This item for this person, unless someone else is asked about it."""
        with self.lock:
            if not self.leases.free_for(who, item):
                raise ConflictError(
                    f"{self.leases.holder(item)} is asked about {self._names[item]!r} now: take another item."
                )
            return self._lend(who, item, "again" if item in self.ledger.said else reason)

    def choose(self, ask: Callable[[list[int]], int | None], who: str) -> Question | None:
        """The question they have already, then an item that needs a second opinion, then one the learner chooses."""
        with self.lock:
            mine = self.leases.item_of(who)
            if mine is not None and self._open_to(who, mine):
                return self._lend(who, mine, "second opinion" if mine in self.ledger.said else "chosen")
            second = next((k for k in self._half_answered() if self._open_to(who, k)), None)
            if second is not None:
                return self._lend(who, second, "second opinion")
            without = [k for k in {*self.ledger.said, *self.leases.live()} if not self._open_to(who, k)]
        chosen = ask(without)
        if chosen is None:
            return None
        with self.lock:
            return self._lend(who, chosen, "chosen")

    def _lend(self, who: str, item: int, reason: str) -> Question:
        self.leases.lend(who, item)
        return Question(item, reason)

    def _open_to(self, who: str, item: int) -> bool:
        """Whether this person may be asked about the item now."""
        if not self.leases.free_for(who, item):
            return False
        said = self.ledger.said.get(item)
        if said is None:
            return True
        if said.skip or said.decision or said.disputed or who in said.votes or who in said.unsure:
            return False
        return TABLE not in said.votes and len(said.votes) < self._overlap

    def _half_answered(self) -> Iterator[int]:
        """Items that have an answer and need one of another person, the oldest first."""
        if self._overlap > 1:
            yield from (item for item, said in self.ledger.said.items() if 0 < len(said.votes) < self._overlap)
