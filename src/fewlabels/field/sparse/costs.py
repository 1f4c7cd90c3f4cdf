"""The kernels of the sparse engine: the names of `kernels.reference`, with the field itself in the place of G.

A cost is exact, to the solver's tolerance, for the questions in the pool; the others get an estimate that is never
below the lowest exact cost, so what is asked has been scored in full.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from fewlabels.field.question import Question
from fewlabels.field.sparse import marginals, racing
from fewlabels.field.sparse.lookahead import Present, whole_costs
from fewlabels.field.sparse.sizes import CLIMB
from fewlabels.kernels.reference import Floats, Ints, first_by_rank, island_size

if TYPE_CHECKING:
    from fewlabels.field.sparse.field import SparseField

SINGLE_FROM = 50_000  # nodes from which float32 sorts out the pool: it is right to 1e-6 of a cost
AGAIN = 4  # of the pool, the best, in float64
BATCH = 128  # columns solved for together where all questions are scored
ABOVE = 4e-9  # an estimate stays this share above the lowest exact cost: no tie with it


def two_step_cost(G: SparseField, h: Floats, island: Ints, n: int) -> Floats:
    """(u,) look-ahead risk R+q of the two-step marginals."""
    return _remembered(G, "two_step", lambda: _lookahead(G, harmonic=False))


def harmonic_cost(G: SparseField, h: Floats, island: Ints, n: int) -> Floats:
    """(u,) look-ahead risk R+q of the harmonic marginals (ZLG)."""
    return _remembered(G, "harmonic", lambda: _lookahead(G, harmonic=True))


def vopt_cost(G: SparseField, island: Ints) -> Floats:
    """(u,) variance left: tr G - |G_q|^2 / G_qq, the squares estimated by probes outside the pool."""
    return _remembered(G, "vopt", lambda: _variance(G, total=False))


def sopt_cost(G: SparseField, island: Ints) -> Floats:
    """(u,) variance left in the sum of labels: 1'G1 - (1'G_q)^2 / G_qq, with exact sums for every node."""
    return _remembered(G, "sopt", lambda: _variance(G, total=True))


def _remembered(G: SparseField, name: str, compute: Any) -> Floats:
    """The costs of one state are worked out once: the same question however often it is asked for."""
    state = (name, G.version, G.skipped.tobytes())
    if G.remembered is None or G.remembered[0] != state:
        G.remembered = (state, compute())
    cost: Floats = G.remembered[1]
    return cost.copy()


def present(G: SparseField, harmonic: bool) -> Present:
    """What is known of every node, classes that h does not tell apart put together."""
    h, many = G.distinct()
    chance, wrong = np.empty_like(h), np.empty(G.n_nodes)
    if harmonic:
        marginals.harmonic(h, many, G.label, chance, wrong)
    else:
        marginals.two_step(h, many, G.diagonal, G.label, G.islands, chance, wrong)
    return Present(h, chance, many, G.diagonal, G.least, G.islands, wrong, harmonic)


def _single(view: Present) -> Present:
    """In float32."""
    h, chance, many = (array.astype(np.float32) for array in (view.h, view.chance, view.many))
    return view._replace(h=h, chance=chance, many=many)


def _lookahead(G: SparseField, harmonic: bool) -> Floats:
    started = time.perf_counter()
    u, n = G.unlabelled, G.n_nodes
    view = present(G, harmonic)
    asked = u[~G.skipped[u]]
    if len(asked) <= G.sizes.pool:
        parts = [_scored_apart(G, view, u[i : i + BATCH]) for i in range(0, len(u), BATCH)]
        found = np.concatenate([*parts, np.empty(0)])
        G.question = None
        return found / n
    risk = float(view.wrong.sum())
    sample = racing.draw(view.wrong, G.uniform, G.sizes.sample)
    late = sample.nodes[~G.panel.has(sample.nodes)]
    if G.sizes.once and len(late) <= LATE * len(sample.nodes):
        sample = sample.without(late)
    else:
        late = late[:0]
    slots = G.slots(sample.nodes)
    view = view._replace(diagonal=G.diagonal)  # exact at the nodes whose columns have been solved for
    single = _single(view)
    gain, deviation = racing.race(single, G.panel.X, slots, sample, asked, G.edges)
    allowed = np.zeros(n, dtype=bool)
    allowed[asked] = True
    near = G.weights @ view.wrong + G.degree * view.wrong
    pool = racing.finalists(gain, near, allowed, G.sizes.pool, n - len(u), G.uniform)
    cheap = single if n >= SINGLE_FROM else view
    if G.sizes.once:
        pool = np.concatenate([pool, _beside(G, pool[:CLIMB_FROM], pool, allowed, gain)])
        G.slots(np.union1d(pool, late))
        exact = _scored(G, cheap, pool)
    else:
        exact = _scored(G, cheap, pool)
        climbed = _beside(G, pool[np.argsort(exact)[:CLIMB_FROM]], pool, allowed, gain)
        if len(climbed):
            pool, exact = np.concatenate([pool, climbed]), np.concatenate([exact, _scored(G, cheap, climbed)])
    if cheap is single:
        again = np.argsort(exact, kind="stable")[:AGAIN]
        exact[again] = _scored(G, view, pool[again])
    lowest = float(exact.min())
    cost = np.maximum(risk - np.where(np.isfinite(gain), gain, 0.0), lowest + ABOVE * max(n, lowest))
    cost[pool] = exact
    allowed[pool] = False
    low, high = racing.missed(gain, deviation, np.flatnonzero(allowed), risk - lowest)
    best = int(pool[np.argmin(exact)])
    G.question = Question(
        best, lowest / n, (risk - lowest) / n, len(pool), len(sample.nodes), (low / n, high / n),
        time.perf_counter() - started,
    )  # fmt: skip
    return cost[u] / n


CLIMB_FROM = 8  # of the finalists, the best: some of their neighbours are scored, too
LATE = 0.125  # share of the sample whose columns may wait for the finalists', and for the next question


def _beside(G: SparseField, best: Ints, pool: Ints, allowed: Any, gain: Floats) -> Ints:
    """Neighbours of the best questions that are not in the pool, those of the largest estimated gain."""
    rows = G.weights[best]
    beside = np.setdiff1d(rows.indices[allowed[rows.indices]], pool)
    return beside[np.argsort(-gain[beside], kind="stable")[: int(CLIMB * G.sizes.pool)]]


def _scored(G: SparseField, view: Present, questions: Ints) -> Floats:
    """n R+q of these questions, from columns that stay in the panel."""
    slots = G.slots(questions)
    return whole_costs(view._replace(diagonal=G.diagonal), G.panel.X, slots, questions)


def _scored_apart(G: SparseField, view: Present, questions: Ints) -> Floats:
    """n R+q of these questions, from columns used once."""
    X = G.columns(questions)
    return whole_costs(view, X, np.arange(len(questions)), questions)


def _variance(G: SparseField, total: bool) -> Floats:
    """VOpt's costs, or SOpt's (`total`), as in `kernels.reference`."""
    started = time.perf_counter()
    u, island = G.unlabelled, G.island
    probes = G.probes()
    size = island_size(island)
    loose = size > 0
    diagonal = G.diagonal[u].copy()
    # a component without a label: G is held at its anchor, the pseudo-inverse is G about its means
    mean = np.divide(probes.sums[u], size, out=np.zeros(len(u)), where=loose)
    which = np.where(loose, island, 0)
    overall = np.bincount(which, np.where(loose, mean, 0.0))[which] if len(u) else mean
    diagonal[loose] += (np.divide(overall, size, out=np.zeros(len(u)), where=loose) - 2 * mean)[loose]
    amount = probes.sums[u] ** 2 if total else probes.squares[u]
    before = probes.sums[u][~loose].sum() if total else diagonal.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(loose, size ** (2 if total else 1) * diagonal, -amount / diagonal)
    askable = np.flatnonzero(~G.skipped[u] & ~loose)
    G.question = None
    if not (total and G.exact_diagonal) and len(askable):
        pool = askable[np.argsort(change[askable], kind="stable")[: G.sizes.pool]]
        X = G.columns(u[pool])
        exact = -(X.sum(axis=0) ** 2 if total else (X**2).sum(axis=0)) / X[u[pool], np.arange(len(pool))]
        lowest = float(exact.min())
        change[~loose] = np.maximum(change[~loose], lowest + ABOVE * max(1.0, abs(before + lowest)))
        change[pool] = exact
        if len(pool) < len(askable):
            seconds = time.perf_counter() - started
            node, sample = int(u[pool[np.argmin(exact)]]), probes.X.shape[1]
            G.question = Question(node, before + lowest, -lowest, len(pool), sample, (0.0, np.inf), seconds)
    rank = size.max(initial=0) - size if total else (size == 0).astype(np.int64)
    return first_by_rank(rank, before + change)
