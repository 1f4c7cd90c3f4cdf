"""How far people agree beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations


def kappa(items: Iterable[Mapping[str, str]]) -> float | None:
    """Cohen's kappa of each pair of people on the items both answered, averaged over pairs, weighted by those items.

    Each item is {who: label}. A pair that always gives one and the same label has nothing to agree on beyond
    chance and is left out; None where no pair is left.

    >>> round(kappa([{"ann": "cat", "bob": "cat"}, {"ann": "dog", "bob": "dog"}, {"ann": "dog", "bob": "cat"}]), 3)
    0.4
    """
    shared: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for votes in items:
        for one, other in combinations(sorted(votes), 2):
            shared.setdefault((one, other), []).append((votes[one], votes[other]))
    total, weight = 0.0, 0
    for pairs in shared.values():
        n = len(pairs)
        left, right = (Counter(pair[side] for pair in pairs) for side in (0, 1))
        same = sum(a == b for a, b in pairs) * n
        by_chance = sum(left[label] * right[label] for label in left)
        if by_chance < n * n:
            total += n * (same - by_chance) / (n * n - by_chance)
            weight += n
    return total / weight if weight else None
