"""Centred predictions: h about the shares of the classes instead of about its own mean (docs/maths.md, "Few labels").

With few labels the mean of h says which classes happened to be asked about, and hides what differs from node to node.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from fewlabels.arrays import TIE, Flags, Floats, Ints
from fewlabels.field import Field

FEW = 2.0  # answers per class up to which the mean of h says nothing of the shares of the classes
RARE = 0.1  # share of the component's nodes answered, likewise


def centred_h(field: Field) -> Floats:
    """(u, C) h, centred where the field is."""
    return field.h if field.centring is None else Centre(field).h


class Centre:
    """h moved, component by component, so that its mean over the unlabelled nodes is 2 share - 1 in the classes heard.

    The shares are the known ones, or equal. Equal ones are a guess: the more answers there are, beyond `FEW` a class or
    `RARE` of the nodes, the less h is moved, since its own mean is worth more and more.
    """

    def __init__(self, field: Field, *, answers_only: bool = False) -> None:
        """answers_only: as if no model had an opinion."""
        group, u = field.component, field.unlabelled
        by_group = Components(field, answers_only=answers_only)
        self.offset: Floats = by_group.moved()[group]  # (n, C) what is taken off h
        self.h: Floats = field.h - self.offset[u]  # (u, C)
        named = (by_group.named[group[u]] > 0) | by_group.all_heard
        self.heard: Flags = named | ~named.any(axis=1, keepdims=True)  # (u, C) all, where no answer reaches


class Components:
    """What the centre depends on, a row for each component; or for whatever state of one its rows are changed to."""

    def __init__(self, field: Field, *, answers_only: bool = False) -> None:
        C, u, group = field.n_classes, field.unlabelled, field.component
        groups = int(group.max()) + 1
        free = field.label < 0  # where a label is sure, unsure answers count for nothing
        answered = np.flatnonzero(~free | field.attached.any(axis=1))

        def count(nodes: Ints, weight: Floats | None = None) -> Floats:
            return np.bincount(group[nodes], weight, groups).astype(float)

        opinion = None if answers_only else field.opinion
        self.all_heard = opinion is not None and opinion.believed(field)  # a model has named the others
        self.shares = field.centring.shares if field.centring is not None else None
        self.total = np.stack([count(u, field.h[:, c]) for c in range(C)], axis=1)  # (groups, C) of h where unlabelled
        self.size = count(u)  # unlabelled nodes
        self.known = count(answered)  # answered nodes
        named = [np.flatnonzero((field.label == c) | (free & (field.attached[:, c] > 0))) for c in range(C)]
        self.named = np.stack([count(nodes) for nodes in named], axis=1)  # (groups, C) nodes answered with each class

    def rows(self, groups: Ints) -> Components:
        """The rows of these components, one for each time it is named; theirs to change."""
        picked = copy(self)
        picked.total, picked.size = self.total[groups], self.size[groups]
        picked.known, picked.named = self.known[groups], self.named[groups]
        return picked

    def moved(self) -> Floats:
        """(groups, C) what is taken off h."""
        size, known, C = self.size[:, None], self.known[:, None], self.named.shape[1]
        shares = 1.0 if self.shares is None else np.maximum(self.shares, TIE)
        wanted = np.where((self.named > 0) | self.all_heard, shares, 0.0)  # (groups, C)
        target = 2 * wanted / np.maximum(wanted.sum(axis=1, keepdims=True), TIE) - 1
        few = np.minimum(FEW * C, RARE * (size + known)) / np.maximum(known, 1)
        weight = np.minimum(1.0, few) if self.shares is None else 1.0
        return np.where(known > 0, weight * (self.total / np.maximum(size, 1) - target), 0.0)
