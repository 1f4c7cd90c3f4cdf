"""Which answers the graph contradicts: what it would say of a node if one answer to it had not been given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.field import Field
from fewlabels.kernels.reference import answer, leaning
from fewlabels.kernels.reference import two_step_marginals as chances_of
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.marginals import largest

ENTRIES = 2**24  # of the reach of several nodes, held at a time


@dataclass(frozen=True)
class Suspect:
    """An answer that the rest of the graph contradicts."""

    node: Hashable
    label: Hashable  # that was given
    confidence: float  # it was given with
    instead: Hashable  # the most probable class by all other answers
    chance: float  # of the label given, by all other answers


def contradicted(
    field: Field, answers: Sequence[NumberedAnswer], component: Ints
) -> list[tuple[NumberedAnswer, int, float]]:
    """The answers that the others contradict, least probable first: with the class the others favour, and the chance
    they leave to the one given. component (n,) is each node's.
    """
    p = chances_without(field, answers, component)  # (m, C), NaN where alone
    given = np.array([each.label for each in answers], dtype=np.int64)
    chance, instead = p[np.arange(len(answers)), given], largest(p)
    rows = np.flatnonzero(~np.isnan(chance) & (instead != given))
    rows = rows[np.argsort(chance[rows], kind="stable")]
    return [(answers[row], int(instead[row]), float(chance[row])) for row in rows.tolist()]


def chances_without(field: Field, answers: Sequence[NumberedAnswer], component: Ints) -> Floats:
    """(m, C) TSA marginals at the node of each of the m answers so far, that answer left out.

    NaN where it is the only one in its component. Nothing is fitted again (docs/maths.md, "Answers that may be wrong").
    """
    C = field.n_classes
    f = np.empty((len(answers), C))
    sure = [row for row, each in enumerate(answers) if each.sure]
    f[sure] = decisions_without(field, np.array([answers[row].node for row in sure], dtype=np.int64))
    place = np.full(field.n_nodes, -1)
    place[field.unlabelled] = np.arange(len(field.unlabelled))
    h, variance = field.h, field.variance
    for row, each in enumerate(answers):
        if each.sure:
            continue
        if (known := field.label[each.node]) >= 0:
            f[row] = np.inf * answer(int(known), C)
        else:  # its own tie is one of the terms of f, and no other term depends on it
            k = place[each.node]
            f[row] = 2 * h[k] / variance[k] - 2 * each.weight * answer(each.label, C)
    p = chances_of(f / 2, np.ones(len(f)))
    of = component[np.array([each.node for each in answers], dtype=np.int64)]  # (m,)
    p[np.bincount(of, minlength=1)[of] == 1] = np.nan
    return p


def decisions_without(field: Field, nodes: Ints) -> Floats:
    """(m, C) decision value f of each of these labelled nodes, were its label not known: 2 (B_i + reach_i B).

    B (n, C) is the signed pull of all answers but i's; only sums of its terms, so nothing of i cancels.
    """
    n, C, u, W = field.n_nodes, field.n_classes, field.unlabelled, field.weights
    known = np.flatnonzero(field.label >= 0)
    Y = np.zeros((n, C))
    Y[known] = np.array([answer(c, C) for c in range(C)])[field.label[known]]
    _, unsure = leaning(field.attached)
    B = (W @ Y + unsure)[u]  # (u, C)
    place = np.full(n, -1)
    place[u] = np.arange(len(u))
    f = np.empty((len(nodes), C))
    step = max(1, ENTRIES // max(1, len(u)))
    for start in range(0, len(nodes), step):
        some = nodes[start : start + step]
        for row, (i, reach) in enumerate(zip(some, field.reach(some), strict=True), start):
            ties = W[[i]]
            beside = ties.indices[place[ties.indices] >= 0]
            own, Y[i] = Y[i].copy(), 0
            with_it = B[place[beside]]
            B[place[beside]] = W[beside] @ Y + unsure[beside]
            f[row] = 2 * ((ties @ Y)[0] + unsure[i] + reach @ B)
            Y[i], B[place[beside]] = own, with_it
    return f
