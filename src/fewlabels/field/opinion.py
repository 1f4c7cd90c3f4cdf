"""What a model already thinks of every node, and how far the answers so far bear it out (docs/prior.md)."""

from __future__ import annotations

from math import erfc, exp, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fewlabels.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy import sparse  # 0.2 s, which completion in the shell does without

    from fewlabels.field.conditioned import Conditioned

STEPS = 3  # how often chances are averaged over the links
SHARES = (np.arange(40) + 0.5) / 40  # of the nodes that a model may know something of
AT_FIRST = 0.5  # odds that a model knows something at all
REFUTED = 0.4  # how strongly two answers that a sure model got wrong speak against it; one alone does not
GUESS = 0.1  # odds by the links alone at which a model is said to guess
LEAST = 1e-6  # chances are kept this far from 0 and 1: no model is that sure


class Trust(NamedTuple):
    """What the links and the answers say of a model."""

    speaks_for: float  # how much likelier they are if the model knows something than if it knows nothing
    share: float  # of the nodes that it is taken to know
    answers: int  # that were compared with it
    guesses: bool = False  # it says no more alike of linked nodes than of any two


class Opinion:
    """The chances (n, C) that a model gives to the classes; their averages over the links; and what they are worth.

    A node's own chance is one voice, and the same class all around it is many: averages over the links are what is
    added to the field, as log odds. They are first mixed with equal chances, by the share of the nodes that the model
    knows something of, which is learnt from the answers: before the first, none at all is twice as likely as some. A
    model that says no more alike of linked nodes than of any two is a guess, and is believed only by many answers.
    """

    def __init__(self, links: sparse.csr_array, chances: Floats) -> None:
        self.chances = chances  # (n, C)
        self.around = _averaged(links, chances)  # (n, C)
        self.says_something = bool(np.ptp(chances) > LEAST)
        self.follows_links = _follows(links, chances)  # at most 1
        self._links = links

    def trust(self, field: Conditioned) -> Trust:
        """How far links and answers bear the model out; an unsure answer counts as the class it leans to."""
        nodes, said = answered(field)
        ratio = self.chances.shape[1] * np.maximum(self.chances[nodes, said], LEAST)  # (l,) to an equal chance
        log_likelihood = np.log1p(SHARES[:, None] * (ratio - 1)).sum(axis=1)  # of each share
        top = float(log_likelihood.max())
        likelihood = np.exp(log_likelihood - top)
        speaks_for = self.follows_links * float(likelihood.mean() * np.exp(min(top, 500.0)))
        known, odds = float((likelihood * SHARES).sum() / likelihood.sum()), AT_FIRST * speaks_for
        return Trust(speaks_for, known * odds / (1 + odds), len(nodes), self.follows_links < GUESS)

    def pull(self, field: Conditioned) -> Floats:
        """(n, C) what is added to the log odds of each class against the rest; 0 where the model has no opinion.

        Averages are surer than they look, so they count up to threefold while answers are fewer than classes.
        """
        trust, C = self.trust(field), self.chances.shape[1]
        p = np.clip(trust.share * self.around + (1 - trust.share) / C, LEAST, 1 - LEAST)
        weight = 1 + 2 * min(1.0, C / max(trust.answers, 1))
        return np.asarray(weight * (np.log((C - 1) * p) - np.log1p(-p)))

    def believed(self, field: Conditioned) -> bool:
        """Whether nothing speaks against the model: then classes that no answer has named may be predicted."""
        return self.says_something and self.trust(field).speaks_for > REFUTED

    def with_class(self) -> Opinion:
        """The same with one more class, of which the model knows nothing."""
        n, C = self.chances.shape
        return Opinion(self._links, np.hstack([self.chances * C / (C + 1), np.full((n, 1), 1 / (C + 1))]))


def answered(field: Conditioned) -> tuple[Ints, Ints]:
    """The nodes with an answer, and the class each has or leans to."""
    said = field.label.copy()
    in_doubt, weights = field.answers.in_doubt
    said[in_doubt] = weights.argmax(axis=1)
    nodes = np.flatnonzero(said >= 0)
    return nodes, said[nodes]


def asking_h(field: Conditioned) -> Floats:
    """(u, C) h as questions are chosen by it: moved towards the model's opinion within [-1, 1].

    By the full pull, which may lead far beyond, an answer that confirms the model would seem to be a setback.
    """
    if field.opinion is None:
        return field.h
    h, variance = field.h, field.variance
    pull = field.opinion.pull(field)[field.unlabelled]
    needed = pull * np.where(np.isfinite(variance), variance, 0.0)[:, None] / 2  # for 2 h / G to have the pull in it
    return np.asarray(h + np.tanh(needed) * np.maximum(1 - np.abs(h), 0.0))


def _averaged(links: sparse.csr_array, chances: Floats) -> Floats:
    """(n, C) means over each node and its neighbours, `STEPS` times; a node counts as much as a neighbour."""
    own = float(links.data.mean()) if links.nnz else 1.0
    degree = np.asarray(links.sum(axis=1)).ravel() + own
    found = chances
    for _ in range(STEPS):
        found = (links @ found + own * found) / degree[:, None]
    return found


def _follows(links: sparse.csr_array, chances: Floats) -> float:
    """How much likelier the agreement of linked nodes is if the model knows something than if it guesses; at most 1.

    Agreement is the mean product of what the chances of two linked nodes have beyond the mean of all, as a share of
    that of a node with itself (Moran's I): 0 give or take `spread` if the same chances lay anywhere, from 0 to 1 else.
    Only nodes that the model has an opinion of are looked at.
    """
    says = np.ptp(chances, axis=1) > LEAST
    if not says.any():
        return 1.0
    if not says.all():
        links, chances = links[says][:, says], chances[says]
    beyond = chances - chances.mean(axis=0)
    covariance = beyond.T @ beyond / len(beyond)  # (C, C)
    total, own = float(links.sum()), float(np.trace(covariance))
    if total <= 0 or own <= LEAST**2:
        return 1.0  # there is nothing to agree about
    agreement = float((beyond * (links @ beyond)).sum()) / (total * own) + 1 / max(len(beyond) - 1, 1)
    agreement = min(agreement, 1.0)  # it is more where well linked nodes have the strongest opinions
    spread = sqrt(2 * float((links.data**2).sum())) * float(np.linalg.norm(covariance)) / (total * own)
    z = min(max(agreement / spread, -10.0), 10.0)
    within = (erfc(-z / sqrt(2)) - erfc((1 - agreement) / spread / sqrt(2))) / 2  # of a Gauss curve from 0 to 1
    return min(1.0, spread * within * sqrt(2 * pi) * exp(z**2 / 2))
