"""Centred predictions: h about the shares of the classes instead of about its own mean (docs/maths.md, "Few labels").

With few labels the mean of h says which classes happened to be asked about, and hides what differs from node to node.
"""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import TIE, Flags, Floats, Ints

if TYPE_CHECKING:
    from fewlabels.field import Conditioned

FEW = 2.0  # answers per class up to which the mean of h says nothing of the shares of the classes
RARE = 0.1  # share of the component's nodes answered, likewise
SAMPLED = 1_000  # nodes, of the whole graph, on which it is seen how far h has come from its mean
LEAST = 10  # of them in a component, for it to be seen there
SEED = 17


def centred_h(field: Conditioned) -> Floats:
    """(u, C) h, centred where the field is."""
    return field.h if field.centring is None else Centre(field).h


class Centre:
    """h moved, component by component, so that its mean over the nodes without an answer is 2 share - 1 in the classes
    heard.

    The shares are the known ones, or equal. Equal ones are a guess, and beyond `FEW` answers a class or `RARE` of the
    nodes h is moved less and less, since its own mean is worth more and more; but only as far as h has become clear,
    that is, varies from node to node as labels do. Where all of h is near its mean, the mean would win everywhere.
    Where no answer reaches, the known shares are what is left: 2 share - 1.
    """

    def __init__(self, field: Conditioned, *, answers_only: bool = False) -> None:
        """answers_only: as if no model had an opinion."""
        self._field, self._by_group = field, Components(field, answers_only=answers_only)
        self.offset: Floats = self._by_group.moved()[field.component]  # (n, C) what is taken off h

    @property
    def h(self) -> Floats:
        """(u, C)."""
        return self._field.h - self.offset[self._field.unlabelled]

    @property
    def heard(self) -> Flags:
        """(u, C) the classes that an answer names; all, where no answer reaches."""
        by_group, u = self._by_group, self._field.unlabelled
        named = ((by_group.named > 0) | by_group.all_heard)[self._field.component[u]]
        return named | ~named.any(axis=1, keepdims=True)


class Components:
    """What the centre depends on, a row for each component; or for whatever state of one its rows are changed to."""

    def __init__(self, field: Conditioned, *, answers_only: bool = False) -> None:
        C, group = field.n_classes, field.component
        groups = int(group.max()) + 1
        in_doubt, weights = field.answers.in_doubt
        u = np.flatnonzero(~field.answered)

        def count(nodes: Ints, weight: Floats | None = None) -> Floats:
            return np.bincount(group[nodes], weight, groups).astype(float)

        opinion = None if answers_only else field.opinion
        self.all_heard = opinion is not None and opinion.believed(field)  # a model has named the others
        self.shares = field.centring.shares if field.centring is not None else None
        self.total = np.stack([count(u, field.all_h[u, c]) for c in range(C)], axis=1)  # (groups, C) of h, unanswered
        self.size = count(u)  # nodes without an answer
        self.known = count(field.answers.nodes)  # nodes with one, however sure
        named = [np.append(np.flatnonzero(field.label == c), in_doubt[weights[:, c] > 0]) for c in range(C)]
        self.named = np.stack([count(nodes) for nodes in named], axis=1)  # (groups, C) nodes answered with each class
        self.sample = sampled(field.n_nodes)  # (s,)
        self.seen = ~field.answered[self.sample]  # (s,)
        self.h = np.where(self.seen[:, None], field.all_h[self.sample], 0.0)  # (s, C)
        self.of = group[self.sample]  # (s,)
        self._places: dict[int, Ints] = {}  # of each component in the sample
        away = abs(self.h - self.mean()[self.of]).sum(axis=1) * self.seen
        self.spread = _mean_of(
            np.bincount(self.of, away, groups).astype(float), np.bincount(self.of, self.seen, groups)
        )

    def mean(self) -> Floats:
        """(groups, C) of h where there is no answer."""
        found: Floats = self.total / np.maximum(self.size[:, None], 1)
        return found

    def rows(self, groups: Ints) -> Components:
        """The rows of these components, one for each time it is named; theirs to change."""
        picked = copy(self)
        picked.total, picked.size = self.total[groups], self.size[groups]
        picked.known, picked.named = self.known[groups], self.named[groups]
        picked.spread = self.spread[groups]
        return picked

    def spread_again(self, row: int, group: int, there: Floats, by: Floats, more: Floats) -> None:
        """The spread of one row, whose total and size are up to date: of this component once h has changed by (C,) `by`
        times (s,) what of it arrives `there`, in the sample; and with the values of nodes whose answer is gone,
        (k, C).
        """
        here = self._seen_in(group)
        values = np.concatenate([self.h[here] + np.outer(there[here], by), more])
        away = abs(values - self.total[row] / max(self.size[row], 1)).sum()
        self.spread[row] = _mean_of(away, np.array(len(values)))

    def _seen_in(self, group: int) -> Ints:
        """Where in the sample the nodes of this component without an answer are."""
        if group not in self._places:
            self._places[group] = np.flatnonzero(self.seen & (self.of == group))
        return self._places[group]

    def moved(self) -> Floats:
        """(groups, C) what is taken off h."""
        size, known, C = self.size[:, None], self.known[:, None], self.named.shape[1]
        shares = 1.0 if self.shares is None else np.maximum(self.shares, TIE)
        wanted = np.where((self.named > 0) | self.all_heard, shares, 0.0)  # (groups, C)
        target = 2 * wanted / np.maximum(wanted.sum(axis=1, keepdims=True), TIE) - 1
        mean = self.mean()
        few = np.minimum(FEW * C, RARE * (size + known)) / np.maximum(known, 1)
        room = (1 - np.clip(mean, -1, 1) ** 2).sum(axis=1, keepdims=True)  # the spread of labels of this mean
        clear = np.where(np.isnan(self.spread[:, None]), 1.0, (self.spread[:, None] + TIE) / (room + TIE))
        weight = np.minimum(1.0, np.maximum(few, 1 - clear)) if self.shares is None else 1.0
        blank = np.zeros(C) if self.shares is None else 1 - 2 * self.shares  # h is 0 where there is no answer at all
        return np.where(known > 0, np.where(size > 0, weight * (mean - target), 0.0), blank)


@lru_cache(maxsize=8)
def sampled(n: int) -> Ints:
    """(s,) the nodes of the sample: the same ones for all graphs of this size, and all of a small one."""
    chosen = np.random.default_rng(SEED).choice(n, SAMPLED, replace=False) if n > SAMPLED else np.arange(n)
    found = np.sort(chosen)
    found.flags.writeable = False  # all share it
    return found


def _mean_of(total: Floats, count: Ints | Floats) -> Floats:
    """Their mean; NaN where too few were seen."""
    return np.where(count >= LEAST, total / np.maximum(count, 1), np.nan)
