"""What is said on a terminal: sentences that it obeys in nothing, and progress while something takes long."""

from __future__ import annotations

import sys
import time
import unicodedata

from fewlabels.errors import brief

PATIENCE = 2.0  # seconds between lines
MOST = 2_000  # characters of a sentence


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


def plain(sentence: str) -> str:
    """One line without commands for the terminal, whoever chose the words in it: all of them go through here.

    >>> print(plain("a\\x1b[2Jb\\nc"))
    a\\x1b[2Jb\\nc
    """
    sentence = brief(sentence, MOST)
    return sentence if sentence.isprintable() else "".join(map(_shown, sentence))


def _shown(character: str) -> str:
    kind = unicodedata.category(character)
    commands = kind[0] == "C" or kind in ("Zl", "Zp")  # control, direction, half a character; the ends of lines
    return character.encode("unicode_escape").decode() if commands else character


def say(sentence: str) -> None:
    print(f"fewlabels: {plain(sentence)}", file=sys.stderr, flush=True)
