"""Finding items by words in what is shown of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

import numpy as np

from fewlabels.arrays import Flags

BETWEEN = "\0"  # items; no word that is sought contains it


class Haystack:
    """All items' words as one long text, so that a search is a few passes over it.

    >>> Haystack(["a red ball", "A Red cube", "blue"]).matching("RED a").tolist()
    [True, True, False]
    """

    def __init__(self, texts: Iterable[str]) -> None:
        folded = [text.replace(BETWEEN, " ").casefold() + BETWEEN for text in texts]
        self._all = "".join(folded)
        self._ends = list(accumulate(map(len, folded)))

    def matching(self, sought: str) -> Flags:
        """(n,) whether an item contains every word sought, anywhere and in any case."""
        found = np.ones(len(self._ends), dtype=bool)
        for word in dict.fromkeys(sought.replace(BETWEEN, " ").casefold().split()):
            found &= self._containing(word)
        return found

    def _containing(self, word: str) -> Flags:
        found = np.zeros(len(self._ends), dtype=bool)
        at = self._all.find(word)
        while at >= 0:
            item = bisect_right(self._ends, at)
            found[item] = True
            at = self._all.find(word, self._ends[item])  # on with the next item
        return found
