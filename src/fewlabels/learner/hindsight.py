"""Hindsight: which of the answers the others would have predicted, and what that says of all nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.centring import Centre, Components, sampled
from fewlabels.field import Conditioned
from fewlabels.field.conditioned import LeftOut
from fewlabels.kernels.reference import two_step_marginals
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.suspects import chances_without
from fewlabels.marginals import largest, largest_centred, moved_by

OF_RISK, OF_SURPRISE = 0.4, 0.8  # what the expected error is made of, fitted (docs/few-labels.md, "How wrong")
SINGULAR = 1e-6  # share of a product of two diagonals below which their determinant is rounding
UNKNOWN = 0.5  # what one more answer is thought to have missed by


class Surprise(NamedTuple):
    """What some answers were to the model, each before it was heard, on their mean."""

    answers: int
    missed: float  # chance that the model had given to other classes than the answer's
    foretold: float  # chance that it had given to other classes than its first

    def expected_error(self, risk: float) -> float:
        """The share of nodes to expect to be wrong where the model itself says `risk` (docs/maths.md, "How wrong")."""
        if not self.answers:
            return risk
        missed = (self.answers * self.missed + UNKNOWN) / (self.answers + 1)
        return min(1.0, OF_RISK * risk + OF_SURPRISE * max(0.0, missed - self.foretold))


class Hindsight:
    """What the learner would say of an answered node, had it no answer."""

    def __init__(self, field: Conditioned) -> None:
        self._field = field

    @cached_property
    def _left(self) -> LeftOut:
        return self._field.left_out(sampled(self._field.n_nodes))

    @property
    def at_hand(self) -> bool:
        """Whether any answer can be judged without a solve."""
        return self._field.covariance.base is None

    def surprise(self, given: Sequence[NumberedAnswer]) -> Surprise:
        """By each answer, as the others foretold it; over those whose class another answer names, too: nobody could
        have predicted the rest. Where there are unsure answers, only those are judged.
        """
        field = self._field
        if field.answers.unsure:
            unsure = [each for each in given if not each.sure]
            labels = np.array([each.label for each in unsure], dtype=np.int64)
            p = chances_without(field, unsure, field.component)
        else:
            nodes, p = self.chances()
            labels = field.label[nodes]
        times = Counter(each.label for each in given)
        judged = np.array([times[label] > 1 for label in labels.tolist()], dtype=bool) & ~np.isnan(p[:, 0])
        labels, p = labels[judged], p[judged]
        if not len(p):
            return Surprise(0, 0.0, 0.0)
        missed, foretold = 1 - p[np.arange(len(p)), labels], 1 - p.max(axis=1)
        return Surprise(len(p), float(missed.mean()), float(foretold.mean()))

    def chances(self) -> tuple[Ints, Floats]:
        """The answered nodes, and (l, C) the TSA marginals of each without its own answer, where the field is centred
        about the centre that all answers give; NaN where it is alone in its component.
        """
        field, left = self._field, self._left
        offset = 0.0 if field.centring is None else Centre(field).offset[left.nodes]
        half = (left.h - offset) / left.variance[:, None]  # f / 2
        if field.opinion is not None:
            half += field.opinion.pull(field)[left.nodes] / 2
        p = two_step_marginals(half, np.ones(len(half)))
        p[np.isinf(left.variance)] = np.nan
        return left.nodes, p

    def predictions(self, nodes: Ints) -> Ints:
        """(m,) class number: what the learner would predict at each of these answered nodes, had it no answer."""
        return self._decided(nodes, *self._without(nodes))

    def leaning(self, nodes: Ints) -> Flags:
        """(m,) whether another class would be predicted at each of these nodes, had it no answer and one more of them
        none, either; with the centre as it is without its own. None is said to where the covariance begins at some of
        these answers.
        """
        found = np.zeros(len(nodes), dtype=bool)
        if not len(nodes) or not np.isin(nodes, self._field.known.nodes).all():
            return found
        h, offset, heard, variance = self._without(nodes)
        predicted, left, row = self._decided(nodes, h, offset, heard, variance), self._left, self._rows(nodes)
        A, Y = self._field.precision_of_answers[np.ix_(row, row)], left.values[row]
        own = np.diag(A)
        pulls = own[:, None] * (Y - left.h[row])  # the rows of A times y
        for i in np.flatnonzero(np.isfinite(variance)).tolist():  # those the others reach
            near = np.flatnonzero((A[i] != 0) & (np.arange(len(nodes)) != i))
            both = own[i] * own[near] - A[i, near] ** 2  # determinants of the two rows of A
            known = both > SINGULAR * own[i] * own[near]  # else nothing reaches it without the two
            pull = own[near, None] * pulls[i] - A[i, near, None] * pulls[near]
            h = np.where(known[:, None], Y[i] - pull / np.where(known, both, np.inf)[:, None], 0.0)
            same = np.full(len(near), i)
            others = self._decided(nodes[same], h, offset[same], heard[same], variance[same])
            found[i] = (others != predicted[i]).any()
        return found

    def _decided(self, nodes: Ints, h: Floats, offset: Floats, heard: Flags, variance: Floats) -> Ints:
        """(m,) the class with the largest h, less what is taken off it, among those heard."""
        if self._field.centring is None:
            return largest(self._with_opinion(nodes, h, variance))
        return largest_centred(h, self._with_opinion(nodes, h - offset, variance), heard)

    def _rows(self, nodes: Ints) -> Ints:
        """Where each of these nodes is among those left out."""
        order = np.argsort(self._left.nodes)
        return np.asarray(order[np.searchsorted(self._left.nodes[order], nodes)])

    def _without(self, nodes: Ints) -> tuple[Floats, Floats, Flags, Floats]:
        """(m, C) h at each of these nodes without its answers, what the centre then takes off it, and the classes heard
        then; (m,) the variance of h there.
        """
        field = self._field
        if not np.isin(nodes, self._left.nodes).all():  # at some of them the covariance begins
            self._left = field.left_out(sampled(field.n_nodes), nodes)
        left, row = self._left, self._rows(nodes)
        h, variance = left.h[row], left.variance[row]
        if field.centring is None:
            return h, np.zeros_like(h), np.ones_like(h, dtype=bool), variance
        by = h - left.values[row]
        state = Components(field).rows(field.component[nodes])
        state.total += by * left.total[row, None] + h
        state.size += 1
        joins = np.isin(nodes, state.sample)
        for i, group in enumerate(field.component[nodes].tolist()):
            state.spread_again(i, group, left.there[row[i]], by[i], h[i : i + int(joins[i])])
        state.known -= 1
        state.named -= _named(field, nodes)
        heard = (state.named > 0) | np.isinf(variance)[:, None] | state.all_heard
        return h, state.moved(), heard, variance

    def _with_opinion(self, nodes: Ints, h: Floats, variance: Floats) -> Floats:
        """(m, C) h at these nodes, moved by the model's opinion where there is one."""
        opinion = self._field.opinion
        return h if opinion is None else moved_by(opinion.pull(self._field)[nodes], h, variance)


def _named(field: Conditioned, nodes: Ints) -> Flags:
    """(m, C) the classes that the answers to each of these nodes name; where one is sure, that one."""
    named = field.label[nodes, None] == np.arange(field.n_classes)
    for row, node in enumerate(nodes.tolist()):
        if field.label[node] < 0:
            named[row] = field.answers.unsure[node] > 0
    return named
