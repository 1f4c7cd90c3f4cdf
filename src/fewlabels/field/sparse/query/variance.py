"""VOpt and SOpt on the sparse engine: row sums of G from a few solves, the best questions from their own columns.

And VOpt as roughly as TSA needs it to leave out nodes that tell little: from one solve, which answers keep up to date.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.field.costs import Costs, Screening
from fewlabels.field.sparse.query.lookahead import ABOVE
from fewlabels.kernels.reference import first_by_rank, island_size

if TYPE_CHECKING:
    from fewlabels.field.sparse.field import SparseField


def variance_costs(field: SparseField, total: bool) -> Costs:
    """(u,) variance left in the sum of labels, 1'G1 - (1'G_q)^2 / G_qq (SOpt, `total`), or in all of them, tr G -
    |G_q|^2 / G_qq (VOpt), as in `kernels.reference`. The sums are exact, the squares estimated outside the pool.
    """
    started = time.perf_counter()
    u, island, G = field.unlabelled, field.island, field.grounding
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
    askable = np.flatnonzero(~field.skipped[u] & ~loose)
    screening = None
    if not (total and G.exact_diagonal) and len(askable):
        pool = askable[np.argsort(change[askable], kind="stable")[: field.budget.pool]]
        X = G.columns(u[pool])
        exact = -(X.sum(axis=0) ** 2 if total else (X**2).sum(axis=0)) / X[u[pool], np.arange(len(pool))]
        lowest = float(exact.min())
        change[~loose] = np.maximum(change[~loose], lowest + ABOVE * max(1.0, abs(before + lowest)))
        change[pool] = exact
        if len(pool) < len(askable):
            screening = Screening(
                node=int(u[pool[np.argmin(exact)]]),
                cost=before + lowest,
                gain=-lowest,
                pool=len(pool),
                sample=probes.X.shape[1],
                missed=(0.0, np.inf),
                seconds=time.perf_counter() - started,
            )
    rank = size.max(initial=0) - size if total else (size == 0).astype(np.int64)
    return Costs(first_by_rank(rank, before + change), screening)


def rough_vopt_costs(field: SparseField) -> Costs:
    """(u,) VOpt's cost if every answer told all other nodes of its component alike: |G_q|^2 is then G_qq^2 and, of the
    others, the square of their sum over their number. It is never less, so no cost is below the true one.
    """
    u, reached = field.unlabelled, field.island < 0
    own, group = field.grounding.diagonal[u], field.component[u]
    others = np.maximum(1, np.bincount(group)[group] - 1) if len(u) else own
    told = np.divide((field.sums() - own) ** 2, others * own, out=np.zeros(len(u)), where=reached)
    return Costs(own[reached].sum() - own - told)
