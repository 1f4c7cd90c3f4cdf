"""How wrong the predictions are, from nodes drawn at random: an interval, and whether one may stop (docs/honest.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.errors import SettingError

TARGET, CONFIDENCE = 0.1, 0.9  # what is asked for where nobody says otherwise
BETS = ((0.0, 0.4), (0.25, 0.3), (0.5, 0.3))  # (what is kept of a stake when a check is wrong, share of the money)
BELIEVED = 2  # checks that the model's own estimate counts for, in the value
TRIED = 32  # numbers at a time among which a bound is looked for
FARTHEST = 10_000  # checks beyond which nobody is told how many it takes


@dataclass(frozen=True)
class Audit:
    """What the checks say about a labelling: the input of every estimate."""

    n_nodes: int
    left: int  # nodes without an answer that may still be drawn, or whose turn has not come
    skipped: int  # questions that were skipped and no checks: nobody knows, and none of them can be drawn
    wrong: tuple[bool | None, ...]  # of each check in the order drawn, None where nobody has said
    expected: float  # share of wrong nodes by the model alone
    doubt: float = 0.0  # mean chance that the answer to a check is wrong itself
    unsure: float = 0.0  # wrong ones to expect among the nodes with an answer, where answers may be wrong
    n_classes: int = 2
    waiting: tuple[int, ...] = ()  # the checks, by their places in `wrong`, that were passed over and may be answered
    since: tuple[int, ...] = ()  # for each check, nodes answered or skipped since it was drawn that are no checks; or 0
    found: tuple[int, ...] = ()  # of these, how many at most were predicted wrongly; or 0
    leaning: int = 0  # right checks that would be wrong without one other check

    @property
    def among(self) -> Ints:
        """(m,) the nodes that each check was drawn from."""
        m = len(self.wrong)
        return self.left + m - np.arange(m) + np.array(self.since or [0] * m, dtype=np.int64)

    @property
    def unanswered(self) -> int:
        return self.left + self.skipped + self.not_judged

    @property
    def judged(self) -> int:
        return len(self.wrong) - self.not_judged

    @property
    def not_judged(self) -> int:
        return self.wrong.count(None)

    @property
    def n_wrong(self) -> int:
        return self.wrong.count(True)

    def allowed(self, target: float) -> float:
        """How many wrong nodes the target allows among those that may still be drawn."""
        return target * self.n_nodes - self.skipped - self.not_judged - self.unsure

    @property
    def agreeing(self) -> float:
        """Share of the wrong predictions that a wrong answer confirms, by chance."""
        return self.doubt / (self.n_classes - 1)

    def least(self, contradicted: float) -> float:
        """The share of wrong predictions where answers contradict this share: some of those answers are wrong."""
        slope = 1 - self.doubt - self.agreeing
        return min(1.0, max(0.0, (contradicted - self.doubt) / slope)) if slope > 0 else 0.0

    def most(self, contradicted: float) -> float:
        """The same if no answer that contradicts is wrong: people may be better than they say."""
        return min(1.0, contradicted / (1 - self.agreeing))


@dataclass(frozen=True)
class ErrorEstimate:
    """The share of all nodes that are predicted wrongly; answered nodes count as right."""

    value: float  # the best guess
    low: float
    high: float
    confidence: float  # that the truth is between low and high
    checks: int  # nodes drawn at random and answered
    wrong: int  # of these, predicted wrongly by all other answers
    expected: float  # what the model says by itself
    skipped: int = 0  # checks that nobody could answer: wrong in `high`, right in `low`
    waiting: int = 0  # checks without an answer, drawn before one that has one: the same

    def __str__(self) -> str:
        if not self.checks:
            return f"about {percent(self.value)} wrong by the answers so far; nothing was checked"
        return f"between {percent(self.low)} and {percent(self.high)} wrong ({percent(self.confidence)} sure)"


def percent(share: float) -> str:
    """A share as people read it: one digit more below 10%, and never 0% or 100% for what is not.

    >>> [percent(share) for share in (0.0, 0.0004, 0.021, 0.05, 0.173, 0.995, 0.99999)]
    ['0%', '<0.1%', '2.1%', '5%', '17%', '99.5%', '99.99%']
    """
    value = 100 * share
    if 0 < value < 0.05:
        return "<0.1%"
    if 99 < value < 100:
        return f"{min(value, 99.99):.2f}".rstrip("0").removesuffix(".") + "%"
    return f"{value:.1f}".removesuffix(".0") + "%" if value < 9.95 else f"{value:.0f}%"


def estimate(audit: Audit, confidence: float) -> ErrorEstimate:
    """The interval that holds at this moment, and the value within it."""
    low, high = interval(audit, confidence)
    m, share = audit.judged, audit.unanswered / audit.n_nodes
    if m:
        risk = audit.expected / share if share else 0.0  # of an unanswered node
        rate = (m * audit.least(audit.n_wrong / m) + BELIEVED * risk) / (m + BELIEVED)
        value = rate * share
    else:
        value = audit.expected
    value = min(max(value + audit.unsure / audit.n_nodes, low), high)
    waiting = len(audit.waiting)
    skipped = audit.not_judged - waiting
    return ErrorEstimate(value, low, high, confidence, m, audit.n_wrong, audit.expected, skipped, waiting)


def interval(audit: Audit, confidence: float) -> tuple[float, float]:
    """Bounds on the share of wrong nodes, where each check is one of those that could be drawn then.

    Of the checks and of the nodes without an answer K are contradicted: low is the smallest K for which so many wrong
    checks, high the largest for which so few are not too unlikely. What else was answered since a draw was in it, right
    in high and as wrong as it was in low. A check that nobody has judged is wrong in high, right in low.
    """
    w, m, tail = audit.n_wrong, len(audit.wrong), _tail(audit, confidence)
    among, most = audit.among, audit.left + m
    found = np.array(audit.found or [0] * m)
    few = _last(lambda K: 1 - _at_most(w - 1, K, among, found) <= tail, -1, most) + 1
    many = _last(lambda K: _at_most(w + audit.not_judged, K, among, 0 * found) > tail, 0, most)
    rest = audit.left + audit.not_judged  # of those that could be drawn, the ones without an answer
    lowest, highest = (min(max(K - w, 0), rest) / max(rest, 1) for K in (few, many))
    n = audit.n_nodes
    high = (audit.most(highest) * rest + audit.skipped + audit.unsure) / n
    return audit.least(lowest) * rest / n, min(high, 1.0)


def _tail(audit: Audit, confidence: float) -> float:
    """The chance on either side of the interval: less where checks lean on each other, and so are right together.

    The number w of m that are wrong has the variance w (1 - w / m), to which those add their number (Esty's, for the
    share of a population that a sample has not met).
    """
    w, normal = audit.n_wrong, NormalDist()
    wider = 1 + audit.leaning / (w * (1 - w / max(audit.judged, 1)) + 1)
    return normal.cdf(normal.inv_cdf((1 - confidence) / 2) * math.sqrt(wider))


def _at_most(wrong: int, K: Ints, among: Ints, beside: Ints) -> Floats:
    """(t,) the chance that at most so many of (m,) checks are wrong.

    Each is one of `among` so many nodes; wrong are (t,) K of them, less the checks before, and some answered `beside`.
    """
    x = np.arange(wrong + 1)  # wrong so far
    chance = np.tile(x == 0, (len(K), 1)).astype(float)
    for size, more in zip(among, beside, strict=True):
        bad = np.clip((K[:, None] + more - x) / size, 0, 1)
        lost = chance * bad
        chance -= lost
        chance[:, 1:] += lost[:, :-1]
    found: Floats = chance.sum(axis=1)
    return found


def _last(holds: Callable[[Ints], Flags], low: int, high: int) -> int:
    """The last whole number from low to high up to which something holds; it holds at low."""
    while low < high:
        tried = np.unique(np.linspace(low + 1, high, TRIED).astype(np.int64))
        n_held = int(holds(tried).sum())
        low, high = int([low, *tried][n_held]), int([*tried - 1, high][n_held])
    return low


def evidence(audit: Audit, target: float) -> float:
    """What a gambler has made of 1 by betting, check by check, that at most this share of all nodes is wrong.

    If more are, the odds are against them at every check, and they reach 1 / (1 - confidence), at whatever time, with a
    chance of at most 1 - confidence (an e-value; docs/honest.md). A check that nobody has judged is lost. Where some
    wait, the best time to look may be before them, as long as no later one is known to be wrong.
    """
    waits = set(audit.waiting)
    known = [k + 1 for k, wrong in enumerate(audit.wrong) if wrong is not False and k not in waits]
    return float(_money(audit, target, _lost(audit))[max(known, default=0) :].max())


def can_stop(audit: Audit, target: float, confidence: float) -> bool:
    """Whether the error is at most the target, whenever one looks; without a check only where so few nodes are left."""
    return few_left(audit, target) or evidence(audit, target) >= 1 / (1 - confidence)


def few_left(audit: Audit, target: float) -> bool:
    """Whether so few nodes are left that all of them may be wrong."""
    return audit.left <= audit.allowed(target)


def checks_to_go(audit: Audit, target: float, confidence: float, wrong: float = 0.0) -> int | None:
    """How many more checks until one may stop, if this share of them is wrong, evenly spread; None if it never comes.
    Those that wait are among them.

    >>> new = Audit(n_nodes=10**6, left=10**6, skipped=0, wrong=(), expected=0.1)
    >>> [checks_to_go(new, target, confidence=0.9) for target in (0.05, 0.1, 0.2)]
    [54, 27, 13]
    """
    if can_stop(audit, target, confidence):
        return 0
    audit = _without_waiting(audit)
    more = np.arange(1, min(audit.left, FARTHEST) + 1)
    lost = np.floor(more * wrong + 0.5) > np.floor((more - 1) * wrong + 0.5)
    money = _money(audit, target, np.concatenate([_lost(audit), lost]))[len(audit.wrong) + 1 :]
    enough = np.flatnonzero((money >= 1 / (1 - confidence)) | (audit.left - more <= audit.allowed(target)))
    return int(more[enough[0]]) if len(enough) else None


def _without_waiting(audit: Audit) -> Audit:
    """As if the checks that wait had not been drawn."""
    drawn = [k for k in range(len(audit.wrong)) if k not in audit.waiting]
    wrong, since = tuple(audit.wrong[k] for k in drawn), tuple(audit.since[k] for k in drawn if audit.since)
    return replace(audit, left=audit.left + len(audit.waiting), wrong=wrong, since=since, found=(), waiting=())


def _lost(audit: Audit) -> Flags:
    """(m,) the checks at which a bet on a small error is lost."""
    return np.array([wrong is not False for wrong in audit.wrong], dtype=bool)


def _money(audit: Audit, target: float, lost: Flags) -> Floats:
    """(k + 1,) what the gambler has before the first and after each of k checks, those of the audit coming first."""
    allowed = audit.allowed(target)
    if allowed <= 0:
        return np.zeros(len(lost) + 1)
    more = audit.left + len(audit.wrong) - np.arange(len(audit.wrong), len(lost))
    among = np.concatenate([audit.among, more])
    theta = np.minimum(1 - 1e-12, allowed / among) * (1 - audit.agreeing)  # (k,) chance to lose, at least
    money = np.zeros(len(lost) + 1)
    for kept, share in BETS:
        won = np.log1p(-kept * theta) - np.log1p(-theta)
        growth = np.where(lost, np.log(kept) if kept else -np.inf, won)
        money += share * np.exp(np.minimum(np.concatenate([[0.0], np.cumsum(growth)]), 700.0))
    return money


def require_share(name: str, value: Any, low: float, such_as: float) -> None:
    """Refuse a target or a confidence outside (low, 1)."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low < float(value) < 1:
        raise SettingError(f"the {name} is {value!r}: give a share between {low:g} and 1, such as {such_as:g}.")
