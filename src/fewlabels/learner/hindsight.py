"""Hindsight: which of the answers the others would have predicted, and what that says of all nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.centring import Centre, Components, at_sample, sampled
from fewlabels.field import Field
from fewlabels.kernels.reference import leaning, two_step_marginals
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.label_precision import LabelPrecision
from fewlabels.learner.suspects import chances_without, without_label
from fewlabels.marginals import largest, largest_centred, moved_by

MOST = 1_500  # sure answers up to which all are looked at: 18 MB; beyond, only those asked for
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

    def __init__(self, field: Field) -> None:
        self._field = field
        self._precision = LabelPrecision(field)

    @property
    def at_hand(self) -> bool:
        """Whether any answer can be judged without a solve."""
        return not self._field.attached.any() and int((self._field.label >= 0).sum()) <= MOST

    def surprise(self, given: Sequence[NumberedAnswer]) -> Surprise:
        """By each answer, as the others foretold it; over those whose class another answer names, too: nobody could
        have predicted the rest.

        Where there are unsure answers, only those are judged, which takes no solve.
        """
        field = self._field
        if field.attached.any():
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
        """The nodes with sure labels, and (l, C) the TSA marginals of each without its own, where the field is centred
        about the centre that all labels give; NaN where it is alone in its component. None at all beyond `MOST`; unsure
        answers must not be about.
        """
        field, kept = self._field, self._precision
        nodes = np.flatnonzero(field.label >= 0)
        if len(nodes) > MOST:
            return nodes[:0], np.empty((0, field.n_classes))
        kept.keep(nodes)
        own = np.diag(kept.S)[kept.rows(nodes), None]  # (l, 1) 1 / G of each without its label
        offset = 0.0 if field.centring is None else Centre(field).offset[nodes]
        half = own * (kept.signs(nodes) - offset) - kept.times_labels(nodes)  # f / 2
        if field.opinion is not None:
            half += field.opinion.pull(field)[nodes] / 2
        p = two_step_marginals(half, np.ones(len(nodes)))
        component = field.component[nodes]
        p[np.bincount(component, minlength=1)[component] == 1] = np.nan
        return nodes, p

    def predictions(self, nodes: Ints) -> Ints:
        """(m,) class number: what the learner would predict at each of these answered nodes, had it no answer."""
        return self._decided(nodes, *self._without(nodes))

    def leaning(self, nodes: Ints) -> Flags:
        """(m,) whether another class would be predicted at each of these nodes, had it no answer and one more of them
        none, either; with the centre as it is without its own. None does where there are unsure answers.
        """
        kept, found = self._precision, np.zeros(len(nodes), dtype=bool)
        if not len(nodes) or self._field.attached.any():
            return found
        h, offset, heard, variance = self._without(nodes)
        predicted = self._decided(nodes, h, offset, heard, variance)
        row, left = kept.rows(nodes), kept.times_labels(nodes)
        S, own, Y = kept.S[np.ix_(row, row)], np.diag(kept.S)[row], kept.signs(nodes)
        for i in np.flatnonzero(np.isfinite(variance)).tolist():  # those the others reach
            near = np.flatnonzero((S[i] != 0) & (np.arange(len(nodes)) != i))
            both = own[i] * own[near] - S[i, near] ** 2  # determinants of the two rows of S
            known = both > SINGULAR * own[i] * own[near]  # else nothing reaches it without the two
            pull = own[near, None] * left[i] - S[i, near, None] * left[near]
            h = np.where(known[:, None], Y[i] - _ratio(pull, np.where(known, both, 0)[:, None]), 0.0)
            same = np.full(len(near), i)
            others = self._decided(nodes[same], h, offset[same], heard[same], variance[same])
            found[i] = (others != predicted[i]).any()
        return found

    def _decided(self, nodes: Ints, h: Floats, offset: Floats, heard: Flags, variance: Floats) -> Ints:
        """(m,) the class with the largest h, less what is taken off it, among those heard."""
        if self._field.centring is None:
            return largest(self._with_opinion(nodes, h, variance))
        return largest_centred(h, self._with_opinion(nodes, h - offset, variance), heard)

    def _without(self, nodes: Ints) -> tuple[Floats, Floats, Flags, Floats]:
        """(m, C) h at each of these nodes without its answers, what the centre then takes off it, and the classes heard
        then; (m,) the variance of h there.
        """
        field, kept = self._field, self._precision
        if field.attached.any():
            h, change, own, (there, by) = self._fitted_plainly(nodes)
        else:
            labelled = np.flatnonzero(field.label >= 0)
            kept.keep(labelled if len(labelled) <= MOST else nodes)
            row, Y = kept.rows(nodes), kept.signs(nodes)
            own = np.diag(kept.S)[row]  # (m,)
            h = Y - _ratio(kept.times_labels(nodes), own[:, None])  # (m, C)
            change = h - (Y - h) * (kept.total[row, None] - 1)
            there, by = kept.sampled[row], h - Y  # how h changes at the nodes of the sample
        state = Components(field).rows(field.component[nodes])
        alone = state.known == 1  # nothing is known of its component without it
        h[alone] = 0
        variance = np.divide(1, own, out=np.full(len(own), np.inf), where=(own > 0) & ~alone)
        if field.centring is None:
            return h, np.zeros_like(h), np.ones_like(h, dtype=bool), variance
        state.total += change
        state.size += 1
        joins = np.isin(nodes, state.sample)
        for i, group in enumerate(field.component[nodes].tolist()):
            state.spread_again(i, group, there[i], by[i], h[i : i + int(joins[i])])
        state.known -= 1
        state.named -= _named(field, nodes)
        heard = (state.named > 0) | alone[:, None] | state.all_heard
        return h, state.moved(), heard, variance

    def _with_opinion(self, nodes: Ints, h: Floats, variance: Floats) -> Floats:
        """(m, C) h at these nodes, moved by the model's opinion where there is one."""
        opinion = self._field.opinion
        return h if opinion is None else moved_by(opinion.pull(self._field)[nodes], h, variance)

    def _fitted_plainly(self, nodes: Ints) -> tuple[Floats, Floats, Floats, tuple[Floats, Floats]]:
        """(m, C) h at each of these answered nodes without its answers, how its sum over the nodes without an answer
        changes, and (m,) 1 / G there; how h changes at the nodes of the sample, (m, s) times (m, C). Two solves each.
        """
        field = self._field
        h, change = np.zeros((2, len(nodes), field.n_classes))
        ties, leans = (each[nodes] for each in leaning(field.attached))  # (m,) and (m, C)
        sure = field.label[nodes] >= 0
        found = without_label(field, nodes[sure])
        h[sure] = _ratio(found.pull - leans[sure], (found.precision - ties[sure])[:, None])
        change[sure] = h[sure] - (self._precision.signs(nodes[sure]) - h[sure]) * found.reach[:, None]
        place = np.full(field.n_nodes, -1)
        place[field.unlabelled] = np.arange(len(field.unlabelled))
        place = place[nodes[~sure]]
        columns = field.columns(nodes[~sure])  # (u, m)
        blank = ~field.attached[field.unlabelled].any(axis=1)
        variance, total = field.variance[place, None], columns[blank].sum(axis=0)[:, None]
        h[~sure] = _ratio(field.h[place] / variance - leans[~sure], 1 / variance - ties[~sure, None])
        change[~sure] = h[~sure] + total * (ties[~sure, None] * h[~sure] - leans[~sure])
        own = np.empty(len(nodes))
        own[sure], own[~sure] = found.precision - ties[sure], 1 / variance[:, 0] - ties[~sure]
        there, by = np.empty((len(nodes), len(sampled(field.n_nodes)))), np.empty_like(h)
        there[sure], there[~sure] = at_sample(field, field.reach(nodes[sure])), at_sample(field, columns.T)
        by[sure], by[~sure] = h[sure] - self._precision.signs(nodes[sure]), ties[~sure, None] * h[~sure] - leans[~sure]
        return h, change, own, (there, by)


def _named(field: Field, nodes: Ints) -> Flags:
    """(m, C) the classes that the answers to each of these nodes name; where one is sure, that one."""
    label = field.label[nodes, None]
    return np.where(label >= 0, label == np.arange(field.n_classes), field.attached[nodes] > 0)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """The quotient; zero where both are, since no other answer reaches the node."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=np.broadcast_to(bottom > 0, top.shape))
