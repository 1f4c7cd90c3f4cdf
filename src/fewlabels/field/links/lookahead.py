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
from fewlabels.field.links import racing
from fewlabels.field.links.budget import CLIMB
from fewlabels.field.links.racing import ABOVE, Sample
from fewlabels.field.opinion import asking_h
from fewlabels.kernels.cpu import sparse_marginals
from fewlabels.kernels.cpu.layout import distinct_columns, size_of
from fewlabels.kernels.cpu.sparse_lookahead import whole_costs
from fewlabels.kernels.cpu.wide_rows import WIDE
from fewlabels.kernels.sparse_reference import NodeState
from fewlabels.machine.giving_way import give_way

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned
    from fewlabels.field.links.on_demand import OnDemand

AGAIN = 4  # best of the pool, scored again in float64
BATCH = 128  # columns solved for together where all questions are scored
CLIMB_FROM = 8  # best finalists, some of whose neighbours are scored as well
LATE = 0.125  # share of the sample whose columns may wait for the finalists', and for the next question


def costs(covariance: OnDemand, field: Conditioned, among: Flags, harmonic: bool) -> Costs:
    """(u,) look-ahead risk R+q of the harmonic marginals (ZLG) or of the two-step ones (TSA), among these questions."""
    return _Lookahead(covariance, field, harmonic).costs(among)


class _Lookahead:
    """One question."""

    def __init__(self, covariance: OnDemand, field: Conditioned, harmonic: bool) -> None:
        self.field, self.covariance, self.work = field, covariance, field.workspace
        self.work.bring(field)
        all_h = field.all_h
        if not harmonic and field.opinion is not None:
            all_h = all_h.copy()
            all_h[field.unlabelled] = asking_h(field)
        kept, multiplicity = distinct_columns(all_h)
        h, island = np.ascontiguousarray(all_h[:, kept]), np.where(field.reached, -1, field.component)
        self.diagonal = field.core.variance.copy()
        chance, error_now = np.empty_like(h), np.empty(field.n_nodes)
        if harmonic:
            sparse_marginals.harmonic(h, multiplicity, field.label, island, chance, error_now)
        else:
            sparse_marginals.two_step(h, multiplicity, self.diagonal, field.label, island, chance, error_now)
        size = size_of(h) if field.smoothness or field.opinion is not None else np.empty(0)
        self.state = NodeState(h, chance, multiplicity, self.diagonal, field.least, island, error_now, harmonic, size)

    def costs(self, among: Flags) -> Costs:
        started = time.perf_counter()
        field, work, budget, state = self.field, self.work, self.covariance.budget, self.state
        u, n, uniform = field.unlabelled, field.n_nodes, self.covariance.uniform
        asked = u[among]
        if len(asked) <= budget.pool:
            parts = [self._scored_apart(asked[i : i + BATCH]) for i in range(0, len(asked), BATCH)]
            found = np.concatenate([*parts, np.empty(0)]) / n
            cost = np.full(len(u), found.max(initial=0))  # those not asked come last
            cost[among] = found
            return Costs(cost)
        risk = float(state.error_now.sum())
        work.drawn_by = racing.sizes(state.error_now, work.drawn_by)
        sample = racing.draw(work.drawn_by, uniform, budget.sample)
        late = self._may_wait(sample) if budget.once else sample.nodes[:0]
        sample = sample.without(late)
        slots = self._slots(sample.nodes)
        single = _single(state)
        gain, deviation = racing.race(single, work.X, slots, sample, asked, work.edges)
        allowed = np.zeros(n, dtype=bool)
        allowed[asked] = True
        precision = field.precision
        risk_around = precision.links @ state.error_now + precision.degree * state.error_now
        pool = racing.finalists(gain, risk_around, allowed, budget.pool, n - len(u), uniform)
        cheap = single if budget.dtype is np.float32 else state  # it ranks the pool, right to 1e-6 of a cost
        if budget.once:
            pool = np.concatenate([pool, self._beside(pool[:CLIMB_FROM], pool, allowed, gain)])
            self._slots(np.concatenate([pool, self._that_fit(pool, late[~np.isin(late, pool)])]))
            exact = self._scored(cheap, pool)
        else:
            exact = self._scored(cheap, pool)
            climbed = self._beside(pool[np.argsort(exact)[:CLIMB_FROM]], pool, allowed, gain)
            if len(climbed):
                pool, exact = np.concatenate([pool, climbed]), np.concatenate([exact, self._scored(cheap, climbed)])
        if cheap is single:
            again = np.argsort(exact, kind="stable")[:AGAIN]
            exact[again] = self._scored(state, pool[again])
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

    def _slots(self, nodes: Ints) -> Ints:
        """Where the columns of these nodes are; a sketched variance is corrected by its column."""
        slots = self.work.slots(nodes)
        if not self.covariance.exact:
            self.diagonal[nodes] = np.maximum(self.work.X[nodes, slots], self.state.least[nodes])
        return slots

    def _may_wait(self, sample: Sample) -> Ints:
        """Those of the sample whose columns are missing, if few; else those that would begin another block."""
        missing = sample.nodes[~self.work.has(sample.nodes)]
        few = len(missing) if len(missing) <= LATE * len(sample.nodes) else len(missing) % WIDE
        return missing[len(missing) - few :] if few <= LATE * len(sample.nodes) else missing[:0]

    def _that_fit(self, pool: Ints, late: Ints) -> Ints:
        """Those of the late ones that are solved for together with the pool: all, unless the last begins a block."""
        together = np.count_nonzero(~self.work.has(pool)) + len(late)
        over = together % WIDE
        return late[: len(late) - over] if together > over <= len(late) else late

    def _beside(self, best: Ints, pool: Ints, allowed: Flags, gain: Floats) -> Ints:
        """Neighbours of the best questions that are not in the pool, those with the largest estimated gain."""
        rows = self.field.precision.links[best]
        beside = np.setdiff1d(rows.indices[allowed[rows.indices]], pool)
        return beside[np.argsort(-gain[beside], kind="stable")[: int(CLIMB * self.covariance.budget.pool)]]

    def _scored(self, state: NodeState, questions: Ints) -> Floats:
        """n R+q of these questions, from columns that stay in the cache."""
        slots = self._slots(questions)
        give_way()
        return whole_costs(state._replace(diagonal=self.diagonal), self.work.X, slots, questions)

    def _scored_apart(self, questions: Ints) -> Floats:
        """n R+q of these questions, from columns used once."""
        X = self.covariance.conditioned_columns(self.field, questions, rough=True, centred=False)
        return whole_costs(self.state, X, np.arange(len(questions)), questions)


def _single(state: NodeState) -> NodeState:
    """In float32."""
    h, chance, multiplicity = (array.astype(np.float32) for array in (state.h, state.chance, state.multiplicity))
    return state._replace(h=h, chance=chance, multiplicity=multiplicity)
