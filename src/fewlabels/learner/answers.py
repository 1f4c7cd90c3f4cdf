"""Answers as a caller passes them: read, checked, and kept in the order they came."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import count
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import LabelError, nearest
from fewlabels.field.precision import SPAN
from fewlabels.graph import Graph
from fewlabels.learner.settings import quoted

TRUST = 2.0  # weight of an answer in units of the field's strength: of 0.2, 0.6 and 2 the one never worse than sure
LEAST = 1e-6  # a confidence above 1 / C by less says nothing, and its tie would be too weak for float64


@dataclass(frozen=True)
class Answer:
    """One answer to one node. With confidence 1 it is the node's label; with less the graph may contradict it."""

    node: Hashable
    label: Hashable
    confidence: float


class NumberedAnswer(NamedTuple):
    """An answer in numbers."""

    node: int
    label: int  # class number
    confidence: float
    weight: float  # of the edge that ties it to its node; infinite where sure
    odds: float = math.inf  # the decision value f at which its class has this confidence, the others sharing the rest

    @property
    def sure(self) -> bool:
        return math.isinf(self.weight)


class Answers:
    """Every answer that was not taken back, and the labels that are sure."""

    def __init__(self) -> None:
        self.sure: dict[int, int] = {}  # node number -> class number
        self._unsure: set[int] = set()  # nodes with unsure answers
        self._given: dict[int, NumberedAnswer] = {}  # by a number of its own, in the order of giving
        self._of: dict[int, list[int]] = {}  # node -> the numbers of its answers
        self._numbers = count()
        self._times: Counter[int] = Counter()  # how often each class was answered

    def __contains__(self, node: int) -> bool:
        return node in self.sure or node in self._unsure

    def __len__(self) -> int:
        """How many nodes have an answer."""
        return len(self.sure) + sum(node not in self.sure for node in self._unsure)

    @property
    def given(self) -> list[NumberedAnswer]:
        """All of them, in the order of giving."""
        return list(self._given.values())

    @property
    def named(self) -> set[int]:
        """The classes that some answer names."""
        return {label for label, times in self._times.items() if times}

    @property
    def unsure_given(self) -> list[NumberedAnswer]:
        """Those of finite weight, in the order of giving."""
        numbers = sorted(number for node in self._unsure for number in self._of[node])
        return [self._given[number] for number in numbers if not self._given[number].sure]

    def latest(self, k: int) -> list[int]:
        """The last k nodes answered, each once, the latest last."""
        found: dict[int, None] = {}
        for each in reversed(self._given.values()):
            if len(found) == k:
                break
            found.setdefault(each.node)
        return list(found)[::-1]

    @property
    def nodes(self) -> set[int]:
        """Those with an answer."""
        return self._unsure | self.sure.keys()

    def new_answers(
        self, answers: Iterable[NumberedAnswer], names: Any, classes: list[Hashable]
    ) -> list[NumberedAnswer]:
        """Those that are new: a sure label stays as it is, and a conflicting label raises LabelError."""
        known: dict[int, int] = {}  # by those that come here
        new = []
        for each in answers:
            label = known.get(each.node, self.sure.get(each.node))
            if label is not None and label != each.label:
                raise LabelError(
                    f"node {names[each.node]!r} is labelled {classes[label]!r} and cannot also be "
                    f"{classes[each.label]!r}: call forget({names[each.node]!r}) first."
                )
            if label is None:
                new.append(each)
                if each.sure:
                    known[each.node] = each.label
        return new

    def add(self, answer: NumberedAnswer) -> None:
        number = next(self._numbers)
        self._given[number] = answer
        self._times[answer.label] += 1
        self._of.setdefault(answer.node, []).append(number)
        if answer.sure:
            self.sure[answer.node] = answer.label
        else:
            self._unsure.add(answer.node)

    def drop(self, nodes: Iterable[int]) -> None:
        """Take back all answers to these nodes."""
        gone = set(nodes)
        for node in gone:
            for number in self._of.pop(node, ()):
                self._times[self._given.pop(number).label] -= 1
        self._unsure -= gone
        for node in gone & self.sure.keys():
            del self.sure[node]

    def chances(self, nodes: Ints, n_classes: int) -> Floats:
        """(m, C) chance of each class at each of these nodes, by the answers given to it alone."""
        f = np.zeros((len(nodes), n_classes))
        sure: list[tuple[int, int]] = []
        for row, node in enumerate(nodes.tolist()):
            if node in self.sure:
                sure.append((row, self.sure[node]))
                continue
            for each in (self._given[number] for number in self._of.get(node, ())):
                f[row, each.label] += each.odds
        p = np.exp(f - f.max(axis=1, keepdims=True, initial=0))
        for row, label in sure:
            p[row] = np.arange(n_classes) == label
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    @property
    def with_unsure(self) -> list[int]:
        """The nodes with answers of finite weight."""
        return sorted(self._unsure)

    def unsure(self, nodes: Iterable[int]) -> list[int]:
        """Those of the nodes that have answers of finite weight."""
        return [node for node in nodes if node in self._unsure]


def weights_by_class(answers: Iterable[NumberedAnswer], nodes: Iterable[int], n_classes: int) -> dict[int, Floats]:
    """{node: (C,)} the weights of the unsure answers to these nodes, added up by the class they name."""
    found = {node: np.zeros(n_classes) for node in nodes}
    for each in answers:
        if each.node in found and not each.sure:
            found[each.node][each.label] += each.weight
    return found


def weight_of(confidence: Any, n_classes: int, strength: float) -> float:
    """The weight of the edge that ties an unsure answer to its node, in a field of this strength.

    An answer that is right with chance p says y = rho x + noise about the truth x, with rho = (C p - 1) / (C - 1), the
    noise of variance 1 - rho^2; so x = y / rho up to (1 - rho^2) / rho^2, in units of the variance of the field, and
    the weight, its inverse, grows without bound as p goes to 1 (docs/maths.md, "Answers that may be wrong").
    """
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not confidence <= 1:
        raise LabelError(f"confidence is {confidence!r}: give a number above 1/{n_classes} and up to 1 (sure).")
    p = float(confidence)
    if p <= 1 / n_classes + LEAST:
        raise LabelError(
            f"confidence is {confidence!r} with {n_classes} classes, no better than guessing: "
            f"give a number above {1 / n_classes + LEAST:g}, or no answer at all."
        )
    rho = (n_classes * p - 1) / (n_classes - 1)
    return math.inf if p == 1 else TRUST * strength * rho**2 / (1 - rho**2)


def odds_of(confidence: float, n_classes: int) -> float:
    """log((C - 1) p / (1 - p))."""
    return math.inf if confidence == 1 else math.log((n_classes - 1) * confidence / (1 - confidence))


def require_span(answers: Iterable[NumberedAnswer], strongest: float) -> None:
    """Refuse a tie so weak beside the graph's strongest (beta times a weight) that float64 cannot hold both."""
    for each in answers:
        if each.weight * SPAN < strongest:
            raise LabelError(
                f"an answer of confidence {each.confidence:g} weighs {each.weight:.3g} beside edges of up to "
                f'{strongest:.3g} (beta times the weight): float64 cannot hold both. Use beta="auto", or confidence 1.'
            )


def read(
    graph: Graph, classes: list[Hashable], strength: float, node: Any, label: Any, confidence: Any
) -> list[NumberedAnswer]:
    """One answer, or several as lists of nodes and labels and one confidence or a list of them."""
    nodes = positions(graph, node)
    labels = _one_each(nodes, label, "label") if several(node) else [label]
    each_has = several(confidence) or isinstance(confidence, tuple)

    def worth(chance: Any) -> tuple[float, float, float]:
        """Confidence, weight and odds; refused here if invalid."""
        weight = weight_of(chance, len(classes), strength)
        return float(chance), weight, odds_of(float(chance), len(classes))

    if each_has:
        worths = [worth(chance) for chance in _one_each(nodes, confidence, "confidence")]
    else:
        worths = [worth(confidence)] * len(nodes)
    return [
        NumberedAnswer(k, class_number(classes, name), *one) for k, name, one in zip(nodes, labels, worths, strict=True)
    ]


def _one_each(nodes: list[int], values: Any, what: str) -> list[Any]:
    if not isinstance(values, (list, tuple, range)) and getattr(values, "ndim", 0) != 1:
        raise LabelError(
            f"{len(nodes)} nodes and the single {what} {values!r}: give a list of {what}s, one for every node."
        )
    if len(nodes) != len(values):
        raise LabelError(f"{len(nodes)} nodes and {len(values)} {what}s: give one {what} for every node.")
    return list(values)


def positions(graph: Graph, node: Any) -> list[int]:
    """Node numbers of one node or of several."""
    return [graph.position(k) for k in (node if several(node) else [node])]


def several(node: Any) -> bool:
    """Whether this is a list of nodes; a tuple may be one node's name."""
    return isinstance(node, (list, range)) or getattr(node, "ndim", 0) > 0


def class_number(classes: list[Hashable], label: Any) -> int:
    try:
        return classes.index(label)
    except (ValueError, TypeError):
        hint = nearest(label, classes)
        raise LabelError(
            f"{label!r} is not one of the classes {quoted(classes)}.{hint} Add it with add_class({label!r})."
        ) from None
