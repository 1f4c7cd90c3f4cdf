"""Checks: nodes drawn at random, whose answers measure how wrong the predictions are; and when to ask for one."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
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
    closed: Mapping[int, int],
    expected: float,
) -> tuple[Audit, dict[int, tuple[int, int]]]:
    """What the checks say now; and {node: (class answered, class the others predict)} of those answered.

    `skipped` are all nodes that nobody will answer, none of them answered; `closed` says of each node with an answer or
    a skip how many checks had been drawn before. Checks drawn after the last with an answer have not had their turn.
    """
    drawn = list(drawn)
    turns = drawn[: max((turn for turn, k in enumerate(drawn, 1) if k in answers or k in skipped), default=0)]
    checks, others = [k for k in turns if k in answers], [*{*answers.nodes, *skipped}.difference(drawn)]
    late = [k for k in others if k in answers and closed[k]] if turns and hindsight.at_hand else []
    nodes = np.array([*checks, *late], dtype=np.int64)
    p, unsure = answers.chances(nodes, field.n_classes), answers.with_unsure  # (m, C)
    said, foretold = p.argmax(axis=1), hindsight.predictions(nodes)
    judged = dict(zip(nodes.tolist(), zip(said.tolist(), foretold.tolist(), strict=True), strict=True))
    right = {k for k, (one, other) in judged.items() if one == other}
    leaning = hindsight.leaning(nodes[: len(checks)])
    doubt = 1 - p[: len(checks)].max(axis=1)
    waiting = tuple(turn for turn, k in enumerate(turns) if k not in answers and k not in skipped)
    audit = Audit(
        field.n_nodes,
        left=field.n_nodes - len(answers) - len(skipped) - len(waiting),
        skipped=len(set(skipped).difference(turns)),
        wrong=tuple(k not in right if k in answers else None for k in turns),
        expected=expected,
        doubt=float(doubt.mean()) if checks else 0.0,
        unsure=float((1 - answers.chances(np.array(unsure), field.n_classes).max(axis=1)).sum()) if unsure else 0.0,
        n_classes=field.n_classes,
        waiting=waiting,
        since=_after(turns, [closed.get(k, len(turns)) for k in others]),
        found=_after(turns, [closed[k] for k in others if k in answers and k not in right]),
        leaning=sum(k in right for k, leans in zip(checks, leaning, strict=True) if leans),
    )
    return audit, {k: judged[k] for k in checks}


def _after(turns: Sequence[int], closed: Iterable[int]) -> tuple[int, ...]:
    """For each check, how many of the nodes closed after so many checks were closed after it."""
    order = np.sort(np.fromiter(closed, np.int64))
    return tuple((len(order) - np.searchsorted(order, np.arange(1, len(turns) + 1))).tolist())


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
