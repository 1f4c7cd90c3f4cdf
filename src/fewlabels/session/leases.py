"""Leases: who is being asked about what, so that two people never get the same question at once."""

from __future__ import annotations

from collections.abc import Callable

LEASE = 60.0  # seconds until a question that nobody answered may be put to someone else


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

    def give_back(self, who: str, item: int) -> None:
        if self.holder(item) == who:
            del self._held[item]

    def holder(self, item: int) -> str | None:
        return self._held[item][0] if item in self._held else None

    def item_of(self, who: str) -> int | None:
        """The item this person holds, also past its time while nobody else has taken it."""
        return next((item for item, (holder, _) in self._held.items() if holder == who), None)

    def free_for(self, who: str, item: int) -> bool:
        holder, until = self._held.get(item, (who, 0.0))
        return holder == who or until <= self._clock()

    def live(self) -> list[int]:
        """The items people are reading now."""
        return [item for item, (_, until) in self._held.items() if until > self._clock()]
