"""Which answers the graph contradicts: what it would say of a node if one answer to it had not been given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.centring import Centre
from fewlabels.field import Conditioned
from fewlabels.kernels.reference import answer
from fewlabels.kernels.reference import two_step_marginals as chances_of
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.marginals import largest, two_step_marginals


@dataclass(frozen=True)
class Suspect:
    """An answer that the rest of the graph contradicts."""

    node: Hashable
    label: Hashable  # that was given
    confidence: float  # it was given with
    instead: Hashable  # the most probable class by all other answers
    chance: float  # of the label given, by all other answers


def contradicted(
    field: Conditioned, answers: Sequence[NumberedAnswer], component: Ints
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


def chances_without(field: Conditioned, answers: Sequence[NumberedAnswer], component: Ints) -> Floats:
    """(m, C) TSA marginals at the node of each of the m answers so far, that answer left out.

    Other unsure answers to the same node count by their odds. Not centred. NaN where it is the only one in its
    component. Nothing is fitted again (docs/maths.md, "Answers that may be wrong").
    """
    C, nodes = field.n_classes, np.array([each.node for each in answers], dtype=np.int64)
    left = field.left_out(nodes[:0], nodes)
    order = np.argsort(left.nodes)
    row = order[np.searchsorted(left.nodes[order], nodes)]  # of each answer's node
    odds = np.zeros((field.n_nodes, C))  # what the unsure answers to a node say of itself
    for each in answers:
        if not each.sure:
            odds[each.node] += each.odds * answer(each.label, C)
    f = 2 * left.h[row] / left.variance[row, None] + odds[nodes]
    for at, each in enumerate(answers):
        if not each.sure:
            known = int(field.label[each.node])
            f[at] = np.inf * answer(known, C) if known >= 0 else f[at] - each.odds * answer(each.label, C)
    p = chances_of(f / 2, np.ones(len(f)))
    p[np.bincount(component[nodes], minlength=1)[component[nodes]] == 1] = np.nan
    return p


def chances(field: Conditioned, answers: Sequence[NumberedAnswer]) -> Floats:
    """(u, C) TSA marginals; at nodes with unsure answers what the others say together with the answers' own odds.

    The tie of an unsure answer is stronger than its odds, so that it counts for the other nodes; here it is left out.
    """
    C, u, p = field.n_classes, field.unlabelled, two_step_marginals(field)
    nodes = field.answers.in_doubt[0]
    if len(nodes) == 0:
        return p
    left = field.left_out(nodes[:0], nodes)
    order = np.argsort(left.nodes)
    row = order[np.searchsorted(left.nodes[order], nodes)]
    offset = 0.0 if field.centring is None else Centre(field).offset[nodes]
    f = 2 * (left.h[row] - offset) / left.variance[row, None]  # (m, C)
    if field.opinion is not None:
        f += field.opinion.pull(field)[nodes]
    at = {int(node): k for k, node in enumerate(nodes)}
    for each in answers:
        if not each.sure and each.node in at:
            f[at[each.node]] += each.odds * answer(each.label, C)
    p[np.searchsorted(u, nodes)] = chances_of(f / 2, np.ones(len(f)))
    return p
