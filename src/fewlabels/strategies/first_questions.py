"""The first questions on a smooth, centred field: the look-ahead on contrasts, which finds the classes sooner.

While few labels are known the field does not know its own mean, and TSA spends questions on it. Here an answer is
judged by what it tells about differences between nodes: G and h about their means (docs/maths.md, "Few labels"). It
helps where nodes have about equally many edges; where there are hubs, TSA finds the classes sooner by itself.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.centring import Centre
from fewlabels.field import Costs, Screening
from fewlabels.field.precision import is_even
from fewlabels.kernels.reference import two_step_marginals
from fewlabels.kernels.sparse_reference import NodeState

if TYPE_CHECKING:
    from fewlabels.field import Conditioned

SMOOTH = 3.0  # smoothness from which the field is taken to be a large graph's
CANDIDATES, LEAST = 512, 32  # questions scored, on small graphs and at least
NODES = 20_000  # up to which that many are, on all nodes; beyond, fewer, on as many nodes
WASTED = 3  # answers that named no new class, after which contrasts are taken to find none
SEED = 13


def finding_classes(field: Conditioned) -> bool:
    """Whether there are answers, but fewer than classes, nearly all of them of different ones, and the field is smooth
    and centred, of an even graph.
    """
    if field.centring is None or field.smoothness < SMOOTH:
        return False
    answered = len(field.answers.nodes)
    if not 0 < answered < field.n_classes:
        return False
    return answered - len(field.answers.named) < WASTED and is_even(field.precision.links)


def first_costs(field: Conditioned, among: Flags) -> Costs:
    """(u,) R+q on contrasts of a sample of these questions (u,); the others are put behind them."""
    from fewlabels.kernels.cpu.sparse_lookahead import whole_costs  # loads Numba

    started = time.perf_counter()
    u, may = len(field.unlabelled), np.flatnonzero(among & field.askable)
    asked = candidates(field, may)  # places
    if len(asked) == 0:  # every node is skipped
        return Costs(np.zeros(u))
    X = field.columns(field.unlabelled[asked], rough=True)  # (u, m)
    judged = judges(field)
    state, X = contrasts(field, asked, judged, X)
    found = whole_costs(state, X, np.arange(len(asked)), len(judged) + np.arange(len(asked)))
    own = np.zeros(u)
    own[judged] = state.error_now[: len(judged)]
    found = (found - own[asked]) * (u / len(judged)) / field.n_nodes
    cost = np.full(u, found.max(initial=0))
    cost[asked] = found
    if len(asked) == len(may):
        return Costs(cost)
    best, now = int(np.argmin(found)), float(state.error_now.sum()) * (u / len(judged)) / field.n_nodes
    return Costs(
        cost,
        Screening(
            node=int(field.unlabelled[asked[best]]),
            cost=float(found[best]),
            gain=now - float(found[best]),
            pool=len(asked),
            sample=len(judged),
            missed=(0.0, np.inf),
            seconds=time.perf_counter() - started,
        ),
    )


def candidates(field: Conditioned, may: Ints) -> Ints:
    """The places of the questions scored: some of those that may be asked, always the same ones."""
    u = field.unlabelled
    rank = np.random.default_rng(SEED).permutation(field.n_nodes)[u[may]]
    most = max(LEAST, int(CANDIDATES * min(1.0, NODES / max(1, len(u))) ** 1.5))
    return np.sort(may[np.argsort(rank)[:most]])


def judges(field: Conditioned) -> Ints:
    """The places of the nodes whose errors are summed: all, or enough of them for a mean, always the same ones."""
    u = field.unlabelled
    rank = np.random.default_rng(SEED + 1).permutation(field.n_nodes)[u]
    return np.sort(np.argsort(rank)[:NODES])


def contrasts(field: Conditioned, asked: Ints, judged: Ints, X: Floats) -> tuple[NodeState, Floats]:
    """What `whole_costs` needs, in rows for the nodes that judge and, after them, for the questions themselves.

    A node k is its contrast to the mean of its component, of variance G_kk - 2 m_k + mean of m, m = G 1 / size; a
    question q stays as it is, G_qq and h_q: it is a label that will be told, not a contrast. Where no label reaches,
    everything stays as it is. Classes that nothing tells apart, as those no answer has named, share a column.
    """
    from fewlabels.kernels.cpu.layout import distinct_columns  # loads Numba

    rows, own = np.concatenate([judged, asked]), slice(len(judged), None)  # of the questions themselves
    nodes, h, island, group = field.unlabelled[rows], field.h[rows], field.island, field.component[field.unlabelled]
    whole = np.where(island < 0, field.variance, 1.0)
    whole[asked] = X[asked, np.arange(len(asked))]  # also where no label reaches
    whole, island, sums = whole[rows], island[rows], field.sums()
    reached, size = island < 0, np.bincount(group)[group[rows]]
    mean = np.where(reached, sums[rows] / size, 0.0)
    overall = np.where(reached, np.bincount(group, sums)[group[rows]] / size**2, 0.0)
    least = 1 / np.where(field.precision.diagonal > 0, field.precision.diagonal, np.inf)[nodes]
    variance = np.where(reached, np.maximum(whole - 2 * mean + overall, least), whole)
    variance[own] = whole[own]
    both = np.where(reached[:, None], h - Centre(field, answers_only=True).offset[nodes], h)
    both[own] = h[own]
    now = two_step_marginals(both[: len(judged)], np.where(reached, variance, np.inf)[: len(judged)])
    chance = two_step_marginals(h, np.where(reached, whole, np.inf))
    X = X[judged].astype(float)
    X -= np.where(reached[: len(judged), None] & reached[own], mean[own], 0.0)
    X[judged[:, None] == asked] = 0  # a question is no surprise to itself: its error is taken off afterwards
    kept, multiplicity = distinct_columns(np.vstack([both, chance]))
    state = NodeState(
        h=np.ascontiguousarray(both[:, kept]),
        chance=np.ascontiguousarray(chance[:, kept] * multiplicity),
        multiplicity=multiplicity,
        diagonal=variance,
        least=least,
        island=island,
        error_now=np.concatenate([1 - now.max(axis=1), np.zeros(len(asked))]),
        harmonic=False,
        size=np.abs(both).max(axis=1),
    )
    return state, np.ascontiguousarray(np.concatenate([X, np.zeros((len(asked),) * 2)]))
