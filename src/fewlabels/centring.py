"""Centred predictions: h about the shares of the classes instead of about its own mean (docs/maths.md, "Few labels").

With few labels the mean of h says which classes happened to be asked about, and hides what differs from node to node.
"""

from __future__ import annotations

import numpy as np

from fewlabels.arrays import TIE, Flags, Floats
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

    def __init__(self, field: Field) -> None:
        C, u = field.n_classes, field.unlabelled
        free = field.label < 0  # where a label is sure, unsure answers count for nothing
        answered = np.flatnonzero(~free | field.attached.any(axis=1))
        group = field.component
        groups = int(group.max()) + 1
        heard = np.zeros((groups, C), dtype=bool)
        for c in range(C):
            heard[group[(field.label == c) | (free & (field.attached[:, c] > 0))], c] = True
        shares = field.centring.shares if field.centring is not None else None
        size = np.bincount(group[u], minlength=groups)[:, None]  # (groups, 1) unlabelled nodes
        known = np.bincount(group[answered], minlength=groups)[:, None]
        mean = np.stack([np.bincount(group[u], field.h[:, c], groups) for c in range(C)], axis=1) / np.maximum(size, 1)
        wanted = np.where(heard, 1.0 if shares is None else np.maximum(shares, TIE), 0.0)  # (groups, C)
        target = 2 * wanted / np.maximum(wanted.sum(axis=1, keepdims=True), TIE) - 1
        few = np.minimum(FEW * C, RARE * (size + known)) / np.maximum(known, 1)
        weight = np.minimum(1.0, few) if shares is None else 1.0
        moved = np.where(known > 0, weight * (mean - target), 0.0)  # (groups, C)
        self.offset: Floats = moved[group]  # (n, C) what is taken off h
        self.h: Floats = field.h - self.offset[u]  # (u, C)
        named = heard[group[u]]
        self.heard: Flags = named | ~named.any(axis=1, keepdims=True)  # (u, C) all, where no answer reaches
