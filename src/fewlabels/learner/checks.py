"""Checks: nodes drawn at random, whose answers measure how wrong the predictions are; and when to ask for one."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fewlabels.arrays import Flags
from fewlabels.field import Conditioned
from fewlabels.learner.answers import Answers
from fewlabels.learner.estimate import Audit, can_stop
from fewlabels.learner.hindsight import Hindsight

FIRST = 20  # answers before the first check: early on, a random question is a dear one
EVERY = 4  # after them one question in so many is a check
EARLY = 5  # answers per class after which a class that was never given may well have no nodes


@dataclass(frozen=True)
class Check:
    """A node drawn at random, and how it was judged."""

    node: Hashable
    label: Hashable | None  # as answered; None as long as it is not
    prediction: Hashable | None  # by all other answers
    skipped: bool

    @property
    def right(self) -> bool | None:
        """Whether the others predict the answer; None where there is none."""
        return None if self.label is None else self.prediction == self.label


class NextQuestion(NamedTuple):
    """What to ask now, and whether it is a check: then show the person no prediction."""

    node: Any
    check: bool


def audited(
    field: Conditioned,
    hindsight: Hindsight,
    answers: Answers,
    skipped: Collection[int],
    drawn: Iterable[int],
    expected: float,
) -> tuple[Audit, dict[int, tuple[int, int]]]:
    """What the checks say now; and {node: (class answered, class the others predict)} of those answered.

    `skipped` are all nodes that nobody will answer, none of them answered.
    """
    drawn = list(drawn)
    nodes = np.array([node for node in drawn if node in answers], dtype=np.int64)
    p, unsure = answers.chances(nodes, field.n_classes), answers.with_unsure  # (m, C)
    said, foretold = p.argmax(axis=1), hindsight.predictions(nodes)
    judged = dict(zip(nodes.tolist(), zip(said.tolist(), foretold.tolist(), strict=True), strict=True))
    wrong = {node: one != other for node, (one, other) in judged.items()} | {k: None for k in drawn if k in skipped}
    audit = Audit(
        field.n_nodes,
        left=field.n_nodes - len(answers) - len(skipped),
        skipped=len(set(skipped).difference(drawn)),
        wrong=tuple(wrong[node] for node in drawn if node in wrong),
        expected=expected,
        doubt=float((1 - p.max(axis=1)).mean()) if len(nodes) else 0.0,
        unsure=float((1 - answers.chances(np.array(unsure), field.n_classes).max(axis=1)).sum()) if unsure else 0.0,
        n_classes=field.n_classes,
    )
    return audit, judged


def draw(open_to: Flags, how_many: int, rng: np.random.Generator) -> list[int]:
    """Different nodes among (n,) those that may be asked, all equally likely."""
    drawn: list[int] = rng.choice(np.flatnonzero(open_to), how_many, replace=False).tolist()
    return drawn


def is_due(
    audit: Audit,
    target: float,
    confidence: float,
    answered: Sequence[int],
    drawn: Collection[int],
    settled: bool,
    every: int,
) -> bool:
    """Whether a check should be asked now, given (in their order) the nodes answered and the nodes drawn as checks.

    One question in `every`; and nothing but checks as soon as the model and the checks so far are at or below the
    target, until that is certain enough, or errors are found that send it back to learning.
    """
    since = next((k for k, node in enumerate(reversed(answered)) if node in drawn), len(answered))
    if since >= every - 1:
        return True
    found = audit.least(audit.n_wrong / audit.judged) if audit.judged else 0.0
    promising = max(audit.expected, found * audit.unanswered / audit.n_nodes) <= target
    return settled and promising and not can_stop(audit, target, confidence)
