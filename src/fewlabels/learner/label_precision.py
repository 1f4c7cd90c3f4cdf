"""The precision of the labels alone: a small matrix that every answer changes a little, and nothing is fitted again."""

from __future__ import annotations

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.centring import at_sample, sampled
from fewlabels.field import Field
from fewlabels.kernels.reference import answer


class LabelPrecision:
    """S = Q_ll - Q_lu inv(Q_uu) Q_ul, a row for each label that is kept: h_i without label i is y_i - (S y)_i / S_ii.

    A new label costs one solve and O(l^2), one taken back only the latter (docs/maths.md, "Answers that may be wrong").
    Where several are new at once, as when a session is opened, the sparse engine tells S to less than a percent. Every
    label is accounted for, kept or not; there must be no unsure answers. `suspects.without_label` says the same, slowly
    and plainly.
    """

    def __init__(self, field: Field) -> None:
        self._field = field
        self._begin()

    def _begin(self) -> None:
        self.nodes: Ints = np.empty(0, dtype=np.int64)  # of the rows
        self.S: Floats = np.empty((0, 0))
        self.total: Floats = np.empty(0)  # (l,) how much each label counts at all nodes together, its own included
        self._sample = sampled(self._field.n_nodes)
        self.sampled: Floats = np.empty((0, len(self._sample)))  # (l, s) the same at each node of the sample
        self._heard = self.nodes  # every label that is accounted for

    def keep(self, kept: Ints) -> None:
        """Bring the matrix up to date with the field, with rows for these labelled nodes."""
        now = self._field.label >= 0
        gone, new, wanted, there = np.zeros((4, len(now)), dtype=bool)
        gone[self._heard[~now[self._heard]]] = True
        new[:] = now
        new[self._heard] = False
        wanted[kept] = True
        there[self.nodes] = True
        if ((gone | wanted) & ~(there | new)).any() or new.sum() > len(kept):
            self._begin()
            new = wanted
        found = self._field.precision_of(np.flatnonzero(wanted), self._sample) if new.sum() > 1 else None
        if found is not None:
            self.nodes, (self.S, self.total, self.sampled) = np.flatnonzero(wanted), found
            self.S[self._apart(self.nodes, self.nodes)] = 0
        else:
            self._forget(gone[self.nodes])
            self._learn(np.flatnonzero(new))
            self._restrict(wanted[self.nodes])
        self._heard = np.flatnonzero(now)

    def rows(self, nodes: Ints) -> Ints:
        """The rows of these nodes, which are kept."""
        order = np.argsort(self.nodes)
        return order[np.searchsorted(self.nodes[order], nodes)]

    def signs(self, nodes: Ints) -> Floats:
        """(m, C) y: what the labels of these nodes say to each class's column."""
        C = self._field.n_classes
        Y: Floats = np.array([answer(c, C) for c in range(C)])[self._field.label[nodes]]
        return Y

    def times_labels(self, nodes: Ints) -> Floats:
        """(m, C) the rows of S times y, by all labels: what Q says at these nodes of the labels and of h."""
        field = self._field
        values = np.zeros((field.n_nodes, field.n_classes))
        known = np.flatnonzero(field.label >= 0)
        values[known], values[field.unlabelled] = self.signs(known), field.h
        Q = field.precision
        return np.asarray(Q.diagonal[nodes, None] * values[nodes] - Q.rows(nodes) @ values)

    def _learn(self, new: Ints) -> None:
        """These nodes have labels, too."""
        if len(new) == 0:
            return
        field, old = self._field, self.nodes
        nodes = np.concatenate([old, new])
        ties = field.precision.rows(nodes)  # (l, n)
        reach = field.reach(new, rough=len(new) > 1)  # (new, u)
        rows = -(ties[:, new].T.toarray() + reach @ ties[:, field.unlabelled].T)  # (new, l)
        rows[np.arange(len(new)), len(old) + np.arange(len(new))] += field.precision.diagonal[new]
        rows[self._apart(new, nodes)] = 0
        across, corner = rows[:, : len(old)], rows[:, len(old) :]
        total, there = 1 + reach.sum(axis=1), at_sample(field, reach) + (new[:, None] == self._sample)
        share = across.T @ _inverse(corner) if len(old) else across.T  # (old, new)
        corrected = self.S + share @ across
        self.total = np.concatenate([self.total + share @ total, total])
        self.sampled = np.vstack([self.sampled + share @ there, there])
        self.S = np.vstack([np.hstack([corrected, across.T]), np.hstack([across, corner])])
        self.nodes = nodes

    def _apart(self, nodes: Ints, others: Ints) -> Flags:
        """(m, l) which are in different components: zero to the last bit, as what is alone in its own has no more than
        rounding to be divided by.
        """
        component = self._field.component
        found: Flags = component[nodes][:, None] != component[others]
        return found

    def _forget(self, out: Flags) -> None:
        """(l,) The labels of these rows are gone."""
        if not out.any():
            return
        corner, across = self.S[np.ix_(out, out)], self.S[np.ix_(out, ~out)]
        share = across.T @ _inverse(corner)  # (kept, gone)
        change, total, there = share @ across, share @ self.total[out], share @ self.sampled[out]
        self._restrict(~out)
        self.S, self.total, self.sampled = self.S - change, self.total - total, self.sampled - there

    def _restrict(self, rows: Flags) -> None:
        """Let go of the other rows; their labels stay accounted for."""
        if not rows.all():
            self.nodes, self.S, self.total = self.nodes[rows], self.S[np.ix_(rows, rows)], self.total[rows]
            self.sampled = self.sampled[rows]


def _inverse(corner: Floats) -> Floats:
    """The inverse of a few rows of S; a pseudo-inverse where they are all of a component, on which S is singular."""
    return np.asarray(np.linalg.pinv(corner, hermitian=True), dtype=np.float64)
