"""The verdict: how far a labelling has come, in one of four words and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fewlabels.learner.estimate import Audit, ErrorEstimate, can_stop, estimate, few_left, interval, percent

SOME = 5  # checks before they are said to speak for or against it

State = Literal["learning", "probable", "checked", "above"]


@dataclass(frozen=True)
class Verdict:
    """What one can say about the error now.

    learning: nothing yet. probable: the estimate is at or below the target, and not enough is checked. checked: it is
    safe to say that the error is at most the target. above: it is not, by the checks.
    """

    state: State
    estimate: ErrorEstimate
    target: float
    at_most: float  # the error, with the same confidence, where only this side matters
    few_left: bool = False  # so few nodes are left that all of them may be wrong

    @property
    def can_stop(self) -> bool:
        return self.state == "checked"

    def __str__(self) -> str:
        found, target = self.estimate, percent(self.target)
        sure, checks = f"({percent(found.confidence)} sure)", counted(found)
        if self.state == "checked" and self.few_left:
            return f"Nearly all are answered: at most {percent(self.at_most)} can be wrong. You can stop."
        if self.state == "checked":
            return f"Checked: {found if found.high <= self.target else f'at most {target} wrong {sure}'}. You can stop."
        if self.state == "above":
            return f"No: {found}. Going on."
        if self.state == "probable":
            return f"Probably below {target}: {checks}; at most {percent(self.at_most)} {sure}."
        return f"Still learning: {checks}; {found}." if found.checks else f"Still learning: {checks}."


def verdict(audit: Audit, target: float, confidence: float, settled: bool) -> Verdict:
    """The verdict on this audit; not settled: a class was not heard yet, and the model's own numbers mean nothing."""
    found = estimate(audit, confidence)
    state: State = "learning"
    if can_stop(audit, target, confidence):
        state = "checked"
    elif found.checks >= SOME and found.low > target:
        state = "above"
    elif settled and found.checks >= SOME and found.value <= target:
        state = "probable"
    few = few_left(audit, target)
    at_most = (audit.unanswered + audit.unsure) / audit.n_nodes if few else interval(audit, 2 * confidence - 1)[1]
    return Verdict(state, found, target, at_most, few)


def counted(found: ErrorEstimate) -> str:
    """The checks in words.

    >>> counted(ErrorEstimate(0.1, 0.05, 0.2, 0.9, checks=12, wrong=0, expected=0.1))
    '12 checks, none wrong'
    """
    aside = "".join(f", {k} {what}" for k, what in ((found.skipped, "skipped"), (found.waiting, "open")) if k)
    if not found.checks:
        return f"no check is answered{aside}" if aside else "nothing is checked yet"
    wrong = f"{found.wrong} wrong" if found.wrong else "none wrong" if found.checks > 1 else "not wrong"
    return f"{found.checks} check{'s' if found.checks > 1 else ''}, {wrong}{aside}"
