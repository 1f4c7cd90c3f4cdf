"""Hindsight: which of the answers the others would have predicted, from a small matrix that every answer extends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.centring import Centre, Components
from fewlabels.field import Field
from fewlabels.kernels.reference import answer, leaning, two_step_marginals
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.suspects import chances_without, without_label
from fewlabels.marginals import largest, largest_centred

MOST = 1_500  # sure answers up to which the matrix is kept: 18 MB


class Hindsight:
    """S = Q_ll - Q_lu inv(Q_uu) Q_ul, the precision of the labels alone: h_i without label i is y_i - (S y)_i / S_ii.

    A new label costs one solve and O(l^2), one taken back only the latter; nothing is fitted again (docs/maths.md,
    "Answers that may be wrong"). `suspects.without_label` says the same of any label, slowly and plainly.
    """

    def __init__(self, field: Field) -> None:
        self._field = field
        self._nodes: Ints = np.empty(0, dtype=np.int64)
        self._S: Floats = np.empty((0, 0))
        self._total: Floats = np.empty(0)  # (l,) how much each label counts at all nodes together, its own included

    def wrong(self, given: Sequence[NumberedAnswer]) -> float | None:
        """The share of the answers that the others predict wrongly, over those whose class another answer names, too:
        nobody could have predicted the rest. None where there is no such answer.

        Where there are unsure answers, only those are judged, which takes no solve.
        """
        field = self._field
        times = Counter(each.label for each in given)
        if field.attached.any():
            unsure = [each for each in given if not each.sure]
            labels, p = [each.label for each in unsure], chances_without(field, unsure, field.component)
        else:
            nodes, p = self.chances()
            labels = field.label[nodes].tolist()
        judged = [
            int(np.argmax(row)) != label
            for label, row in zip(labels, p, strict=True)
            if times[label] > 1 and not np.isnan(row[0])
        ]
        return float(np.mean(judged)) if judged else None

    def chances(self) -> tuple[Ints, Floats]:
        """The nodes with sure labels, and (l, C) the TSA marginals of each without its own, centred where the field is;
        NaN where it is alone in its component. None at all beyond `MOST`; unsure answers must not be about.
        """
        field = self._field
        if not self._keeps_up():
            return self._nodes, np.empty((0, field.n_classes))
        nodes, S, Y = self._nodes, self._S, self._answers(self._nodes)
        own = np.diag(S)[:, None]  # (l, 1) 1 / G of each without its label
        offset = 0.0 if field.centring is None else Centre(field).offset[nodes]
        p = two_step_marginals(own * (Y - offset) - S @ Y, np.ones(len(nodes)))
        component = field.component[nodes]
        p[np.bincount(component, minlength=1)[component] == 1] = np.nan
        return nodes, p

    def predictions(self, nodes: Ints) -> Ints:
        """(m,) class number: what the learner would predict at each of these answered nodes, had it no answer."""
        field = self._field
        if field.attached.any() or not self._keeps_up():
            h, change = self._fitted_plainly(nodes)
        else:
            row = np.argsort(self._nodes)[np.searchsorted(np.sort(self._nodes), nodes)]
            own, Y = np.diag(self._S)[row, None], self._answers(nodes)
            h = Y - _ratio(self._S[row] @ self._answers(self._nodes), own)  # (m, C)
            change = h - (Y - h) * (self._total[row, None] - 1)
        state = Components(field).rows(field.component[nodes])
        alone = state.known == 1  # nothing is known of its component without it
        h[alone] = 0
        if field.centring is None:
            return largest(h)
        state.total += change
        state.size += field.label[nodes] >= 0  # one with unsure answers is among the unlabelled
        state.known -= 1
        state.named -= _named(field, nodes)
        heard = (state.named > 0) | alone[:, None]
        return largest_centred(h, h - state.moved(), heard)

    def _fitted_plainly(self, nodes: Ints) -> tuple[Floats, Floats]:
        """(m, C) h at each of these answered nodes without its answers, and how the sum of h over the unlabelled nodes
        changes; a solve each."""
        field = self._field
        h, change = np.zeros((2, len(nodes), field.n_classes))
        ties, leans = (each[nodes] for each in leaning(field.attached))  # (m,) and (m, C)
        sure = field.label[nodes] >= 0
        found = without_label(field, nodes[sure])
        h[sure] = _ratio(found.pull - leans[sure], (found.precision - ties[sure])[:, None])
        change[sure] = h[sure] - (self._answers(nodes[sure]) - h[sure]) * found.reach[:, None]
        place = np.full(field.n_nodes, -1)
        place[field.unlabelled] = np.arange(len(field.unlabelled))
        place = place[nodes[~sure]]
        variance, total = field.variance[place, None], field.columns(nodes[~sure]).sum(axis=0)[:, None]
        h[~sure] = _ratio(field.h[place] / variance - leans[~sure], 1 / variance - ties[~sure, None])
        change[~sure] = -total * (leans[~sure] - ties[~sure, None] * h[~sure])
        return h, change

    def _keeps_up(self) -> bool:
        """Bring the matrix up to date with the labels; False, and it is let go, where there are too many."""
        field = self._field
        now = np.flatnonzero(field.label >= 0)
        if len(now) > MOST:
            self._nodes, self._S, self._total = self._nodes[:0], self._S[:0, :0], self._total[:0]
            return False
        self._forget(self._nodes[field.label[self._nodes] < 0])
        self._learn(now[~np.isin(now, self._nodes)])
        return True

    def _answers(self, nodes: Ints) -> Floats:
        """(l, C) what the labels of these nodes say to each class's column."""
        C = self._field.n_classes
        Y: Floats = np.array([answer(c, C) for c in range(C)])[self._field.label[nodes]]
        return Y

    def _learn(self, new: Ints) -> None:
        """These nodes have labels, too."""
        if len(new) == 0:
            return
        field, old = self._field, self._nodes
        nodes = np.concatenate([old, new])
        ties = field.precision.rows(nodes)  # (l, n)
        reach = field.reach(new)  # (new, u)
        rows = -(ties[:, new].T.toarray() + reach @ ties[:, field.unlabelled].T)  # (new, l)
        rows[np.arange(len(new)), len(old) + np.arange(len(new))] += field.precision.diagonal[new]
        across, corner = rows[:, : len(old)], rows[:, len(old) :]
        total = 1 + reach.sum(axis=1)
        corrected = self._S + across.T @ _inverse(corner) @ across
        self._total = np.concatenate([self._total + across.T @ _inverse(corner) @ total, total])
        self._S = np.vstack([np.hstack([corrected, across.T]), np.hstack([across, corner])])
        self._nodes = nodes

    def _forget(self, gone: Ints) -> None:
        """The labels of these nodes are gone."""
        if len(gone) == 0:
            return
        out: Flags = np.isin(self._nodes, gone)
        corner, across = self._S[np.ix_(out, out)], self._S[np.ix_(out, ~out)]
        left: Floats = self._S[np.ix_(~out, ~out)]
        self._total = self._total[~out] - across.T @ _inverse(corner) @ self._total[out]
        self._S = left - across.T @ _inverse(corner) @ across
        self._nodes = self._nodes[~out]


def _named(field: Field, nodes: Ints) -> Flags:
    """(m, C) the classes that the answers to each of these nodes name; where one is sure, that one."""
    label = field.label[nodes, None]
    return np.where(label >= 0, label == np.arange(field.n_classes), field.attached[nodes] > 0)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """The quotient; zero where both are, since no other answer reaches the node."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=np.broadcast_to(bottom > 0, top.shape))


def _inverse(corner: Floats) -> Floats:
    """The inverse of a few rows of S; a pseudo-inverse where they are all of a component, on which S is singular."""
    return np.asarray(np.linalg.pinv(corner, hermitian=True), dtype=np.float64)
