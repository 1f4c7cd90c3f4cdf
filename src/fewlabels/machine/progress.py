"""Progress lines on standard error while something takes long."""

from __future__ import annotations

import sys
import time

PATIENCE = 2.0  # seconds between lines


class Progress:
    """Prints every two seconds how long is left; nothing if the work is done sooner."""

    def __init__(self, what: str, steps: int) -> None:
        self.what, self.steps, self.done = what, steps, 0
        self.started = self.told = time.perf_counter()

    def step(self) -> None:
        self.done += 1
        now = time.perf_counter()
        if now - self.told > PATIENCE and self.done < self.steps:
            self.told = now
            left = (now - self.started) * (self.steps / self.done - 1)
            say(f"{self.what}, about {left:.0f} s left")


def say(sentence: str) -> None:
    print(f"fewlabels: {sentence}", file=sys.stderr, flush=True)
