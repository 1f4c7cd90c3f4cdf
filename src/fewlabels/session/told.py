"""What changes add up to: labels, checks, and what nobody is asked about. No learner has to hear of them for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from fewlabels.session.ledger import Change


class Told:
    """What a learner knows, in classes as people see them, by the number of each."""

    def __init__(
        self,
        labels: dict[int, int],
        skipped: Iterable[int],
        checks: Iterable[int],
        aside: frozenset[int],
        closed: Mapping[int, int] | None = None,
    ) -> None:
        self.labels = labels  # item -> class, in the order of teaching
        self.skipped, self.checks, self.aside = set(skipped), dict.fromkeys(checks), aside
        self._closed = dict(closed or {})  # item with a label or skipped -> how many checks had been drawn before

    def turns(self) -> Iterator[tuple[list[int], dict[int, int], list[int]]]:
        """Checks, labels and skips, as many at a time as keep each check among what came before and after its draw."""
        checks, after = list(self.checks), sorted({0, *self._closed.values()})
        labels: dict[int, dict[int, int]] = {turn: {} for turn in after}
        for item, label in self.labels.items():
            labels[self._closed[item]][item] = label
        skipped: dict[int, list[int]] = {turn: [] for turn in after}
        for item in sorted(self.skipped):
            skipped[self._closed[item]].append(item)
        for before, turn in pairwise([0, *after]):
            yield checks[before:turn], labels[turn], skipped[turn]
        yield checks[after[-1] :], {}, []

    def take(self, change: Change) -> None:
        """As a learner would: forget, then checks, labels, skips."""
        for item in change.forget:
            self.labels.pop(item, None)
            self.skipped.discard(item)
            self._closed.pop(item, None)
        self.checks |= dict.fromkeys(change.check)
        if change.aside is not None:
            self.aside = change.aside
        self.labels.update(change.teach)
        self.skipped.difference_update(item for item, _ in change.teach)
        self.skipped.update(change.skip)
        for item in (*(item for item, _ in change.teach), *change.skip):
            self._closed.setdefault(item, len(self.checks))
