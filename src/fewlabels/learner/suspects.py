"""Which answers the graph contradicts: what it would say of a node if one answer to it had not been given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.centring import Centre
from fewlabels.field import Field
from fewlabels.kernels.reference import answer, leaning
from fewlabels.kernels.reference import two_step_marginals as chances_of
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.marginals import largest, two_step_marginals

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

    Other unsure answers to the same node count by their odds. Not centred. NaN where it is the only one in its
    component. Nothing is fitted again (docs/maths.md, "Answers that may be wrong").
    """
    C = field.n_classes
    f = np.empty((len(answers), C))
    sure = [row for row, each in enumerate(answers) if each.sure]
    nodes = np.array([answers[row].node for row in sure], dtype=np.int64)
    _, leans = leaning(field.attached)
    odds = np.zeros((field.n_nodes, C))  # what the unsure answers to a node say of itself
    for each in answers:
        if not each.sure:
            odds[each.node] += each.odds * answer(each.label, C)
    f[sure] = 2 * (without_label(field, nodes).pull - leans[nodes]) + odds[nodes]
    place = np.full(field.n_nodes, -1)
    place[field.unlabelled] = np.arange(len(field.unlabelled))
    h, variance = field.h, field.variance
    for row, each in enumerate(answers):
        if each.sure:
            continue
        if (known := field.label[each.node]) >= 0:
            f[row] = np.inf * answer(int(known), C)
        else:  # the ties to its node are terms of f, and no other term depends on them
            k = place[each.node]
            others = odds[each.node] - each.odds * answer(each.label, C)
            f[row] = 2 * h[k] / variance[k] - 2 * leans[each.node] + others
    p = chances_of(f / 2, np.ones(len(f)))
    of = component[np.array([each.node for each in answers], dtype=np.int64)]  # (m,)
    p[np.bincount(of, minlength=1)[of] == 1] = np.nan
    return p


def chances(field: Field, answers: Sequence[NumberedAnswer]) -> Floats:
    """(u, C) TSA marginals; at nodes with unsure answers what the others say together with the answers' own odds.

    The tie of an unsure answer is stronger than its odds, so that it counts for the other nodes; here it is taken off.
    """
    C, u, p = field.n_classes, field.unlabelled, two_step_marginals(field)
    unsure = [each for each in answers if not each.sure and field.label[each.node] < 0]
    nodes = np.array(sorted({each.node for each in unsure}), dtype=np.int64)
    if len(nodes) == 0:
        return p
    place = np.full(field.n_nodes, -1)
    place[u] = np.arange(len(u))
    ties = field.attached[nodes].sum(axis=1)
    others = 1 / field.variance[place[nodes]] - ties  # (m,) 1 / G without the ties
    f = 2 * field.h[place[nodes]] / field.variance[place[nodes], None]  # (m, C)
    if field.centring is not None:
        f -= 2 * Centre(field).offset[nodes] * np.maximum(others, 0)[:, None]
    if field.opinion is not None:
        f += field.opinion.pull(field)[nodes]
    row = {int(node): at for at, node in enumerate(nodes)}
    for each in unsure:
        f[row[each.node]] += (each.odds - 2 * each.weight) * answer(each.label, C)
    p[place[nodes]] = chances_of(f / 2, np.ones(len(f)))
    return p


class Unlabelled(NamedTuple):
    """What is known of some labelled nodes, were the label of each not known."""

    pull: Floats  # (m, C) h / G
    precision: Floats  # (m,) 1 / G
    reach: Floats  # (m,) how much its label counts at all nodes without an answer together


def without_label(field: Field, nodes: Ints) -> Unlabelled:
    """Each of these labelled nodes, were its label not known: h / G is B_i + reach_i B.

    B (n, C) is the signed pull of all answers but i's; only sums of its terms, so nothing of i cancels. 1 / G is the
    same with an answer of one everywhere.
    """
    n, C, u, Q = field.n_nodes, field.n_classes, field.unlabelled, field.precision
    known = np.flatnonzero(field.label >= 0)
    Y = np.zeros((n, C + 1))
    Y[known, :C] = np.array([answer(c, C) for c in range(C)])[field.label[known]]
    Y[known, C] = 1
    total, leans = leaning(field.attached)
    unsure = np.column_stack([leans, total])
    B = (Q.towards(Y) + unsure)[u]  # (u, C + 1)
    place = np.full(n, -1)
    place[u] = np.arange(len(u))
    found, reached = np.empty((len(nodes), C + 1)), np.empty(len(nodes))
    blank = ~field.attached[u].any(axis=1)
    step = max(1, ENTRIES // max(1, len(u)))
    for start in range(0, len(nodes), step):
        some = nodes[start : start + step]
        rows = Q.rows(some)
        for row, (i, reach) in enumerate(zip(some, field.reach(some), strict=True), start):
            ties = rows[[row - start]]
            beside = ties.indices[place[ties.indices] >= 0]
            own, Y[i] = Y[i].copy(), 0
            with_it = B[place[beside]]
            B[place[beside]] = Q.rows(beside) @ Y + unsure[beside]
            found[row] = (ties @ Y)[0] + unsure[i] + reach @ B
            reached[row] = reach[blank].sum()
            Y[i], B[place[beside]] = own, with_it
    return Unlabelled(found[:, :C], found[:, C], reached)
