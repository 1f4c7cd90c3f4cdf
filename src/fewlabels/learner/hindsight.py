"""Hindsight: which of the answers the others would have predicted, from a small matrix that every answer extends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.centring import Centre
from fewlabels.field import Field
from fewlabels.kernels.reference import answer, two_step_marginals
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.suspects import chances_without

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
        now = np.flatnonzero(field.label >= 0)
        if len(now) > MOST:
            self._nodes, self._S = self._nodes[:0], self._S[:0, :0]
            return self._nodes, np.empty((0, field.n_classes))
        self._forget(self._nodes[field.label[self._nodes] < 0])
        self._learn(now[~np.isin(now, self._nodes)])
        nodes, S = self._nodes, self._S
        Y = np.array([answer(c, field.n_classes) for c in range(field.n_classes)])[field.label[nodes]]  # (l, C)
        own = np.diag(S)[:, None]  # (l, 1) 1 / G of each without its label
        offset = 0.0 if field.centring is None else Centre(field).offset[nodes]
        p = two_step_marginals(own * (Y - offset) - S @ Y, np.ones(len(nodes)))
        component = field.component[nodes]
        p[np.bincount(component, minlength=1)[component] == 1] = np.nan
        return nodes, p

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
        corrected = self._S + across.T @ _inverse(corner) @ across
        self._S = np.vstack([np.hstack([corrected, across.T]), np.hstack([across, corner])])
        self._nodes = nodes

    def _forget(self, gone: Ints) -> None:
        """The labels of these nodes are gone."""
        if len(gone) == 0:
            return
        out: Flags = np.isin(self._nodes, gone)
        corner, across = self._S[np.ix_(out, out)], self._S[np.ix_(out, ~out)]
        left: Floats = self._S[np.ix_(~out, ~out)]
        self._S = left - across.T @ _inverse(corner) @ across
        self._nodes = self._nodes[~out]


def _inverse(corner: Floats) -> Floats:
    """The inverse of a few rows of S; a pseudo-inverse where they are all of a component, on which S is singular."""
    return np.asarray(np.linalg.pinv(corner, hermitian=True), dtype=np.float64)
