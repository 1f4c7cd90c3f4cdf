"""What changes add up to: labels, checks, and what nobody is asked about. No learner has to hear of them for it."""

from __future__ import annotations

from collections.abc import Iterable

from fewlabels.session.ledger import Change


class Told:
    """What a learner knows, in classes as people see them, by the number of each."""

    def __init__(
        self, labels: dict[int, int], skipped: Iterable[int], checks: Iterable[int], aside: frozenset[int]
    ) -> None:
        self.labels = labels  # item -> class, in the order of teaching
        self.skipped, self.checks, self.aside = set(skipped), dict.fromkeys(checks), aside

    def take(self, change: Change) -> None:
        """As a learner would: forget, then checks, labels, skips."""
        for item in change.forget:
            self.labels.pop(item, None)
            self.skipped.discard(item)
        self.checks |= dict.fromkeys(change.check)
        if change.aside is not None:
            self.aside = change.aside
        self.labels.update(change.teach)
        self.skipped.difference_update(item for item, _ in change.teach)
        self.skipped.update(change.skip)
