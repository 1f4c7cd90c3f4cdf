"""Answers held back from a field, so that many of them, given and taken back, are worked out once."""

from __future__ import annotations

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.field import Field


class Postponed:
    """What a field will be told: `catch_up` tells it, all at once. Until then the field says what it said before."""

    def __init__(self, field: Field) -> None:
        self._field = field
        self._label, self._attached = field.label.copy(), field.attached.copy()
        self._anew = False

    def observe_all(self, labels: dict[int, int]) -> None:
        self._label[list(labels)] = list(labels.values())

    def forget_all(self, nodes: list[int]) -> None:
        self._label[nodes] = -1

    def attach_all(self, weights: dict[int, Floats]) -> None:
        for node, each in weights.items():
            self._attached[node] = each

    def add_class(self) -> None:
        self._field.add_class()
        self._attached = np.hstack([self._attached, np.zeros((len(self._label), 1))])

    def begin_again(self, n_classes: int) -> None:
        """Nothing is known any more, and there are so many classes."""
        self._field.begin_again(n_classes)
        self._label, self._attached = self._field.label.copy(), self._field.attached.copy()
        self._anew = True

    def catch_up(self) -> None:
        field = self._field
        gone = np.flatnonzero((field.label >= 0) & (self._label != field.label))
        new = np.flatnonzero((self._label >= 0) & (self._label != field.label))
        tied = np.flatnonzero((self._attached != field.attached).any(axis=1))
        if self._anew or not field.one_by_one(len(gone) + len(new) + len(tied)):
            field.label[:], field.attached[:] = self._label, self._attached
            field.refresh()
            return
        field.attach_all({int(k): self._attached[k] for k in tied})
        field.forget_all(gone.tolist())
        field.observe_all(dict(zip(new.tolist(), self._label[new].tolist(), strict=True)))
