"""The look-ahead of the sparse engine: every question on a sample of nodes, the best of them on every node.

A cost is exact, to the solver's tolerance, for the questions in the pool; the others get an estimate that is never
below the lowest exact cost, so what is asked has been scored in full.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.costs import Costs, Screening
from fewlabels.field.opinion import asking_h
from fewlabels.field.sparse.budget import CLIMB
from fewlabels.field.sparse.query import racing
from fewlabels.field.sparse.query.racing import Sample
from fewlabels.kernels.cpu import sparse_marginals
from fewlabels.kernels.cpu.layout import distinct_columns, size_of
from fewlabels.kernels.cpu.sparse_lookahead import whole_costs
from fewlabels.kernels.cpu.wide_rows import WIDE
from fewlabels.kernels.sparse_reference import NodeState
from fewlabels.machine.giving_way import give_way

if TYPE_CHECKING:
    from fewlabels.field.sparse.field import SparseField
    from fewlabels.field.sparse.grounding import Grounding

AGAIN = 4  # best of the pool, scored again in float64
BATCH = 128  # columns solved for together where all questions are scored
ABOVE = 4e-9  # an estimate stays this share above the lowest exact cost: no tie with it
CLIMB_FROM = 8  # best finalists, some of whose neighbours are scored as well
LATE = 0.125  # share of the sample whose columns may wait for the finalists', and for the next question


def node_state(field: SparseField, harmonic: bool) -> NodeState:
    """What is known of every node, classes that h does not tell apart put together."""
    all_h = field.all_h if harmonic or field.opinion is None else _asking(field)
    kept, multiplicity = distinct_columns(all_h)
    h, G, island = np.ascontiguousarray(all_h[:, kept]), field.grounding, field.all_islands
    chance, error_now = np.empty_like(h), np.empty(field.n_nodes)
    if harmonic:
        sparse_marginals.harmonic(h, multiplicity, field.label, island, chance, error_now)
    else:
        sparse_marginals.two_step(h, multiplicity, G.diagonal, field.label, island, chance, error_now)
    size = size_of(h) if field.smoothness or field.opinion is not None else np.empty(0)
    return NodeState(h, chance, multiplicity, G.diagonal, G.least, island, error_now, harmonic, size)


def _asking(field: SparseField) -> Floats:
    """(n, C) h as questions are chosen by it."""
    h = field.all_h.copy()
    h[field.unlabelled] = asking_h(field)
    return h


def _single(state: NodeState) -> NodeState:
    """In float32."""
    h, chance, multiplicity = (array.astype(np.float32) for array in (state.h, state.chance, state.multiplicity))
    return state._replace(h=h, chance=chance, multiplicity=multiplicity)


def lookahead_costs(field: SparseField, harmonic: bool) -> Costs:
    """(u,) look-ahead risk R+q of the harmonic marginals (ZLG) or of the two-step ones (TSA)."""
    started = time.perf_counter()
    u, n, G, budget = field.unlabelled, field.n_nodes, field.grounding, field.budget
    state = node_state(field, harmonic)
    asked = u[~field.skipped[u]]
    if len(asked) <= budget.pool:
        parts = [_scored_apart(G, state, asked[i : i + BATCH]) for i in range(0, len(asked), BATCH)]
        found = np.concatenate([*parts, np.empty(0)]) / n
        cost = np.full(len(u), found.max(initial=0))  # those not asked come last
        cost[~field.skipped[u]] = found
        return Costs(cost)
    risk = float(state.error_now.sum())
    field.drawn_by = racing.sizes(state.error_now, field.drawn_by)
    sample = racing.draw(field.drawn_by, field.uniform, budget.sample)
    late = _may_wait(G, sample) if budget.once else sample.nodes[:0]
    sample = sample.without(late)
    slots = G.slots(sample.nodes)
    state = state._replace(diagonal=G.diagonal)  # exact at the nodes whose columns have been solved for
    single = _single(state)
    gain, deviation = racing.race(single, G.cache.X, slots, sample, asked, G.edges)
    allowed = np.zeros(n, dtype=bool)
    allowed[asked] = True
    risk_around = field.precision.links @ state.error_now + field.precision.degree * state.error_now
    pool = racing.finalists(gain, risk_around, allowed, budget.pool, n - len(u), field.uniform)
    cheap = single if budget.dtype is np.float32 else state  # it ranks the pool, right to 1e-6 of a cost
    if budget.once:
        pool = np.concatenate([pool, _beside(field, pool[:CLIMB_FROM], pool, allowed, gain)])
        G.slots(np.concatenate([pool, _that_fit(G, pool, late[~np.isin(late, pool)])]))
        exact = _scored(G, cheap, pool)
    else:
        exact = _scored(G, cheap, pool)
        climbed = _beside(field, pool[np.argsort(exact)[:CLIMB_FROM]], pool, allowed, gain)
        if len(climbed):
            pool, exact = np.concatenate([pool, climbed]), np.concatenate([exact, _scored(G, cheap, climbed)])
    if cheap is single:
        again = np.argsort(exact, kind="stable")[:AGAIN]
        exact[again] = _scored(G, state, pool[again])
    lowest = float(exact.min())
    cost = np.maximum(risk - np.where(np.isfinite(gain), gain, 0.0), lowest + ABOVE * max(n, lowest))
    cost[pool] = exact
    allowed[pool] = False
    low, high = racing.missed(gain, deviation, np.flatnonzero(allowed), risk - lowest)
    screening = Screening(
        node=int(pool[np.argmin(exact)]),
        cost=lowest / n,
        gain=(risk - lowest) / n,
        pool=len(pool),
        sample=len(sample.nodes),
        missed=(low / n, high / n),
        seconds=time.perf_counter() - started,
    )
    return Costs(cost[u] / n, screening)


def _may_wait(G: Grounding, sample: Sample) -> Ints:
    """Those of the sample whose columns are missing, if they are few; else those that would begin another block."""
    missing = sample.nodes[~G.cache.has(sample.nodes)]
    few = len(missing) if len(missing) <= LATE * len(sample.nodes) else len(missing) % WIDE
    return missing[len(missing) - few :] if few <= LATE * len(sample.nodes) else missing[:0]


def _that_fit(G: Grounding, pool: Ints, late: Ints) -> Ints:
    """Those of the late ones that are solved for together with the pool: all, unless the last would begin a block."""
    together = np.count_nonzero(~G.cache.has(pool)) + len(late)
    over = together % WIDE
    return late[: len(late) - over] if together > over <= len(late) else late


def _beside(field: SparseField, best: Ints, pool: Ints, allowed: Flags, gain: Floats) -> Ints:
    """Neighbours of the best questions that are not in the pool, those with the largest estimated gain."""
    rows = field.precision.links[best]
    beside = np.setdiff1d(rows.indices[allowed[rows.indices]], pool)
    return beside[np.argsort(-gain[beside], kind="stable")[: int(CLIMB * field.budget.pool)]]


def _scored(G: Grounding, state: NodeState, questions: Ints) -> Floats:
    """n R+q of these questions, from columns that stay in the cache."""
    slots = G.slots(questions)
    give_way()
    return whole_costs(state._replace(diagonal=G.diagonal), G.cache.X, slots, questions)


def _scored_apart(G: Grounding, state: NodeState, questions: Ints) -> Floats:
    """n R+q of these questions, from columns used once."""
    return whole_costs(state, G.columns(questions), np.arange(len(questions)), questions)
