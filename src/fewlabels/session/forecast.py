"""How far the labelling has come: the curve of the expected error, and about how many more answers it will take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fewlabels.learner.checks import FIRST
from fewlabels.learner.estimate import Audit, checks_to_go, percent

RECENT = 10  # last points of the curve, whose slope is followed
MOST = 10_000  # beyond this many answers an estimate says nothing

Point = tuple[int, float]  # labels, expected error


def extend(curve: list[Point], labels: int, error: float) -> None:
    """Add a point to the curve; if it went further, before answers were taken back, it is cut there."""
    while curve and curve[-1][0] >= labels:
        curve.pop()
    curve.append((labels, error))


def thinned(curve: Sequence[Point], most: int = 200) -> Sequence[Point]:
    """The curve to draw: a long one is reduced to every few points and its end."""
    return curve if len(curve) <= most else [*curve[:-1][:: math.ceil(len(curve) / (most - 1))], curve[-1]]


def answers_to_go(curve: Sequence[Point], target: float) -> int | None:
    """About how many more answers until the expected error is at the target, if it keeps falling as it has lately.

    A straight line of log error over labels is fitted to the last points. None where it does not fall, where there are
    fewer than three points, or where the target is further than 10,000 answers away.

    >>> answers_to_go([(1, 0.8), (2, 0.4), (3, 0.2)], target=0.05)
    2
    >>> answers_to_go([(1, 0.8), (2, 0.8), (3, 0.8)], target=0.05) is None
    True
    """
    if curve and curve[-1][1] <= target:
        return 0
    recent = [point for point in curve[-RECENT:] if point[1] > 0]
    if len(recent) < 3 or target <= 0:
        return None
    labels, error = np.array(recent, dtype=float).T
    slope = float(np.polyfit(labels - labels.mean(), np.log(error), 1)[0])
    if slope >= -1e-12:
        return None
    more = math.ceil(math.log(error[-1] / target) / -slope - 1e-9)
    return more if more <= MOST else None


def answers_to_verdict(
    audit: Audit, more: int | None, target: float, confidence: float, every: int
) -> tuple[int, int] | None:
    """From how many to about how many more answers until it is certain enough that the target is reached; None where
    nobody can tell.

    `more` are needed to learn. At best no check is wrong; the other end is twice the learning, and checks of which half
    as many are wrong as the target allows.
    """
    best, usual = (checks_to_go(audit, target, confidence, wrong) for wrong in (0.0, target / 2))
    if more is None or best is None or usual is None:
        return None
    beside = [math.ceil(learning / max(1, every - 1)) for learning in (more, 2 * more)]  # checks asked meanwhile
    low, high = more + max(best, beside[0]), 2 * more + max(usual, beside[1])
    return (low, high) if high <= MOST else None


def forecast(audit: Audit, answered: int, more: int | None, target: float, confidence: float, every: int) -> str:
    """The same in a sentence; how many checks it takes is known before anybody starts.

    >>> new = Audit(n_nodes=5_000, left=5_000, skipped=0, wrong=(), expected=0.9)
    >>> forecast(new, 0, None, target=0.05, confidence=0.9, every=4)
    'To know that at most 5% are wrong takes at least 54 checks, all of them right, after 20 answers.'
    """
    soon = replace(audit, left=max(0, audit.left - max(0, FIRST - answered)))
    best = checks_to_go(soon, target, confidence)
    if best == 0 and answered >= FIRST:
        return ""
    if not best:
        return f"To know that at most {percent(target)} are wrong, nearly every item must be answered."
    checks = f"{best} check{'s' if best > 1 else ''}"
    span = answers_to_verdict(soon, more, target, confidence, every)
    if span is None or answered < FIRST:
        right = ", all of them right" if best > 1 else ""
        first = f", after {FIRST} answers" if answered < FIRST else ""
        return f"To know that at most {percent(target)} are wrong takes at least {checks}{right}{first}."
    low, high = span
    about = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    return f"About {about} more answers to a verdict, at least {best} of them checks."
