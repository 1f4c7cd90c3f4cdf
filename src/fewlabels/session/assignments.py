"""Assignments: who is asked what. Two people never get the same question at once.

Nothing here takes a lock: the session lets in one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fewlabels.errors import FewlabelsError
from fewlabels.session.ledger import TABLE, Ledger
from fewlabels.session.store import Event

LEASE = 60.0  # seconds until a question that nobody answered may be put to someone else
MOST = 200  # questions lent at a time: whoever takes many names cannot keep everything from the others


class Leases:
    """Each person holds at most one item.

    >>> now = [0.0]
    >>> leases = Leases(lambda: now[0])
    >>> leases.lend("ann", 7)
    >>> leases.free_for("ann", 7), leases.free_for("bob", 7), leases.holder(7)
    (True, False, 'ann')
    >>> now[0] = 61.0  # ann may still answer, and bob may be asked
    >>> leases.item_of("ann"), leases.free_for("bob", 7), leases.live()
    (7, True, [])
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: dict[int, tuple[str, float]] = {}  # item -> who, until when

    def lend(self, who: str, item: int) -> None:
        """This person is asked about this item from now on, and about no other."""
        mine = self.item_of(who)
        if mine is not None:
            del self._held[mine]
        self._held[item] = (who, self._clock() + LEASE)
        while len(self._held) > MOST:
            del self._held[next(iter(self._held))]

    def give_back(self, who: str, item: int) -> None:
        if self.holder(item) == who:
            del self._held[item]

    def holder(self, item: int) -> str | None:
        return self._held[item][0] if item in self._held else None

    def item_of(self, who: str) -> int | None:
        """The item this person holds, even past its time while nobody else has taken it."""
        return next((item for item, (holder, _) in self._held.items() if holder == who), None)

    def free_for(self, who: str, item: int) -> bool:
        holder, until = self._held.get(item, (who, 0.0))
        return holder == who or until <= self._clock()

    def live(self) -> list[int]:
        """The items people are reading now."""
        return [item for item, (_, until) in self._held.items() if until > self._clock()]


class ConflictError(FewlabelsError):
    """The request conflicts with the current state: someone else has this question, or there is nothing to undo."""


@dataclass(frozen=True)
class Question:
    """An item put to one person, and why: chosen, check, requested, second opinion, again."""

    item: int
    reason: str

    @property
    def blind(self) -> bool:
        """Whether the person must not see what others said or what is predicted."""
        return self.reason in ("check", "second opinion")


class Assignments:
    """Hands out questions, by what the ledger says and who holds which item."""

    def __init__(self, ledger: Ledger, names: Sequence[str], overlap: int, clock: Callable[[], float]) -> None:
        self._ledger, self._leases = ledger, Leases(clock)
        self._names, self._overlap = names, overlap

    def take_back(self, events: Sequence[Event]) -> None:
        """Take back the questions that these events, all of one person, answer."""
        for item in self._ledger.items(event for event in events if event.do not in ("check", "note")):
            self._leases.give_back(events[-1].who, item)

    def being_read(self) -> list[int]:
        """The items people are reading now and have not answered, the latest first."""
        return [item for item in reversed(self._leases.live()) if self._ledger.label(item) is None]

    def request(self, who: str, item: int, reason: str) -> Question:
        """This item for this person, unless someone else is being asked about it."""
        if not self._leases.free_for(who, item):
            raise ConflictError(
                f"{self._leases.holder(item)} is being asked about {self._names[item]!r}: take another item."
            )
        return self._lend(who, item, "again" if item in self._ledger.history else reason)

    def without_the_learner(self, who: str) -> Question | None:
        """The question they already have, else an item that needs a second opinion; None where there is neither."""
        mine = self._leases.item_of(who)
        if mine is not None and self._open_to(who, mine):
            return self._lend(who, mine, "second opinion" if mine in self._ledger.history else "chosen")
        second = next((k for k in self._half_answered() if self._open_to(who, k)), None)
        return None if second is None else self._lend(who, second, "second opinion")

    def closed_to(self, who: str) -> list[int]:
        """The items without a label that this person must not be asked about now; nobody is about those skipped."""
        return [k for k in {*self._ledger.aside, *self._leases.live()} if not self._open_to(who, k)]

    def assign(self, who: str, item: int) -> Question | None:
        """The learner's choice for this person; None where it has gone to someone else meanwhile."""
        return self._lend(who, item, "chosen") if self._open_to(who, item) else None

    def _lend(self, who: str, item: int, reason: str) -> Question:
        self._leases.lend(who, item)
        if item in self._ledger.checks and self._ledger.label(item) is None and reason != "second opinion":
            reason = "check"
        return Question(item, reason)

    def _open_to(self, who: str, item: int) -> bool:
        """Whether this person may be asked about the item now."""
        if not self._leases.free_for(who, item):
            return False
        history = self._ledger.history.get(item)
        if history is None:
            return True
        if history.skip or history.decision or history.disputed or who in history.votes or who in history.unsure:
            return False
        return TABLE not in history.votes and len(history.votes) < self._overlap

    def _half_answered(self) -> Iterator[int]:
        """Items that have an answer and need one from another person, the oldest first."""
        if self._overlap > 1:
            yield from (k for k, history in self._ledger.history.items() if 0 < len(history.votes) < self._overlap)
