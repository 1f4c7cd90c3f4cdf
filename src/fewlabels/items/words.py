"""The words that two texts share: why they are neighbours, for people to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

WORD = re.compile(r"\w+")
MOST = 5  # words listed


class SharedWords:
    """Which words two of these texts share, the most telling first.

    >>> SharedWords(["the red apple", "the red pear", "the sea"]).between(0, 1)
    ['red']
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._spread: Counter[str] | None = None  # in how many texts each word occurs

    def between(self, i: int, j: int, most: int = MOST) -> list[str]:
        """The words of both, by the product of their TF-IDF weights; a word that every text has tells nothing."""
        if self._spread is None:  # counted when first asked: a second for 100,000 short texts
            self._spread = Counter(word for text in self._texts for word in set(_words(text)))
        n, here, there = len(self._texts), Counter(_words(self._texts[i])), Counter(_words(self._texts[j]))
        weight = {
            word: log(n / self._spread[word]) ** 2 * (1 + log(here[word])) * (1 + log(there[word]))
            for word in here.keys() & there.keys()
        }
        telling = (word for word, value in weight.items() if value > 0)
        return sorted(telling, key=lambda word: (-weight[word], word))[:most]


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())
