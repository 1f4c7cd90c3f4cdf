"""What was answered, in numbers: all that a field is conditioned on. Nothing here changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.reference import answer


@dataclass(frozen=True, eq=False)
class Answers:
    """Sure answers fix the value of a node; unsure ones are noisy measurements of it, and together weigh what each of
    them weighs. At a node with a sure answer unsure ones count for nothing.
    """

    n_classes: int
    sure: Mapping[int, int] = field(default_factory=dict)  # {node: class}
    unsure: Mapping[int, Floats] = field(default_factory=dict)  # {node: (C,) their weights, by the class they name}

    def with_sure(self, labels: Mapping[int, int]) -> Answers:
        return replace(self, sure={**self.sure, **labels})

    def without(self, nodes: Iterable[int]) -> Answers:
        """Without the sure answers of these nodes."""
        gone = set(nodes)
        return replace(self, sure={node: label for node, label in self.sure.items() if node not in gone})

    def with_unsure(self, weights: Mapping[int, Floats]) -> Answers:
        """With these weights of unsure answers in the place of those before; zeros take them back."""
        both = {**self.unsure, **weights}
        return replace(self, unsure={node: w for node, w in both.items() if w.any()})

    def with_class(self) -> Answers:
        """One more class, which no answer names."""
        unsure = {node: np.append(w, 0.0) for node, w in self.unsure.items()}
        return replace(self, n_classes=self.n_classes + 1, unsure=unsure)

    @cached_property
    def in_doubt(self) -> tuple[Ints, Floats]:
        """The nodes that have unsure answers only, and (k, C) the weights of these."""
        nodes = [node for node in self.unsure if node not in self.sure]
        return np.array(nodes, dtype=np.int64), np.array([self.unsure[k] for k in nodes]).reshape(-1, self.n_classes)

    @cached_property
    def nodes(self) -> Ints:
        """(l,) those with an answer: the sure ones first, each in the order of being given."""
        return np.concatenate([np.fromiter(self.sure, np.int64, len(self.sure)), self.in_doubt[0]])

    @cached_property
    def values(self) -> Floats:
        """(l, C) what the answers say of their nodes: +1 in the column of the class named, -1 in the others."""
        said = np.fromiter(self.sure.values(), np.int64, len(self.sure))
        signs = np.array([answer(c, self.n_classes) for c in range(self.n_classes)])
        weights = self.in_doubt[1]
        total = weights.sum(axis=1, keepdims=True)
        return np.concatenate([signs[said], 2 * weights / total - 1])

    @cached_property
    def noise(self) -> Floats:
        """(l,) the variance of each measurement: none where sure."""
        return np.concatenate([np.zeros(len(self.sure)), 1 / self.in_doubt[1].sum(axis=1)])

    @cached_property
    def named(self) -> Ints:
        """The classes that some answer names."""
        _, weights = self.in_doubt
        return np.union1d(list(self.sure.values()), np.flatnonzero(weights.any(axis=0))).astype(np.int64)
