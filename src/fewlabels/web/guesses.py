"""Wrong tokens: a few are slips, more are guesses, which are answered slowly, one address after the other."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter

SLIPS, MINUTE = 10, 60.0  # wrong tokens that are forgiven, and seconds until they are forgotten
PAUSE = 0.5  # seconds before each further token from the same address is looked at
WAITING, QUEUE = 4, 32  # tokens that may wait, from one address and from all of them
ADDRESSES = 1_000  # that are remembered


class Guesses:
    """Who has shown wrong tokens lately.

    A token from such an address waits before it is looked at, right or wrong: whoever guesses learns nothing sooner by
    giving up early. Nobody at another address waits, nor any browser that was let in before.
    """

    def __init__(self) -> None:
        self._wrong: dict[str, list[float]] = {}  # address -> when
        self._waiting: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Lock] = {}

    async def may_try(self, address: str) -> bool:
        """Wait for this address's turn; False where too many wait already."""
        if len(self._lately(address)) < SLIPS:
            return True
        if self._waiting[address] >= WAITING or self._waiting.total() >= QUEUE:
            return False
        self._waiting[address] += 1
        turn = self._turns.setdefault(address, asyncio.Lock())
        try:
            async with turn:
                await asyncio.sleep(PAUSE)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address], self._turns[address]
        return True

    def note(self, address: str) -> None:
        """A wrong token came from there."""
        lately = [*self._lately(address)[-SLIPS:], time.monotonic()]
        self._wrong.pop(address, None)
        self._wrong[address] = lately  # the newest last
        while len(self._wrong) > ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        if len(lately) > SLIPS:
            logging.getLogger("uvicorn.error").warning("Wrong tokens are being tried, from %s among others.", address)

    def _lately(self, address: str) -> list[float]:
        return [then for then in self._wrong.get(address, ()) if then > time.monotonic() - MINUTE]
