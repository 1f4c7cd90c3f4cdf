"""VOpt and SOpt on the sparse engine: row sums of G from a few solves, the best questions from their own columns.

And VOpt as roughly as TSA needs it to leave out nodes that tell little: from one solve, which answers keep up to date.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Flags, Floats
from fewlabels.field.costs import Costs, Screening
from fewlabels.field.links.racing import ABOVE
from fewlabels.kernels.reference import first_by_rank, island_size

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned
    from fewlabels.field.links.on_demand import OnDemand


def costs(covariance: OnDemand, field: Conditioned, among: Flags, total: bool) -> Costs:
    """(u,) variance left in the sum of labels, 1'G1 - (1'G_q)^2 / G_qq (SOpt, `total`), or in all of them, tr G -
    |G_q|^2 / G_qq (VOpt), as in `kernels.reference`. The sums are exact, the squares estimated outside the pool.
    """
    started = time.perf_counter()
    u, island = field.unlabelled, field.island
    size, sums = island_size(island), field.all_sums[field.unlabelled]
    loose = size > 0
    diagonal = field.core.variance[u].copy()
    # a piece without an answer: the pseudo-inverse is G about its means
    mean = np.divide(sums, size, out=np.zeros(len(u)), where=loose)
    which = np.where(loose, island, 0)
    overall = np.bincount(which, np.where(loose, mean, 0.0))[which] if len(u) else mean
    diagonal[loose] += (np.divide(overall, size, out=np.zeros(len(u)), where=loose) - 2 * mean)[loose]
    amount = sums**2 if total else _squares(covariance, field)[u]
    before = sums[~loose].sum() if total else diagonal.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(loose, size ** (2 if total else 1) * diagonal, -amount / diagonal)
    askable = np.flatnonzero(among & ~loose)
    screening = None
    if not (total and covariance.exact) and len(askable):
        pool = askable[np.argsort(change[askable], kind="stable")[: covariance.budget.pool]]
        X = covariance.conditioned_columns(field, u[pool], rough=True)
        exact = -(X.sum(axis=0, dtype=float) ** 2 if total else (X.astype(float) ** 2).sum(axis=0))
        exact /= X[u[pool], np.arange(len(pool))]
        lowest = float(exact.min())
        change[~loose] = np.maximum(change[~loose], lowest + ABOVE * max(1.0, abs(before + lowest)))
        change[pool] = exact
        if len(pool) < len(askable):
            screening = Screening(
                node=int(u[pool[np.argmin(exact)]]),
                cost=before + lowest,
                gain=-lowest,
                pool=len(pool),
                sample=covariance.probes[0].shape[1],
                missed=(0.0, np.inf),
                seconds=time.perf_counter() - started,
            )
    rank = size.max(initial=0) - size if total else (size == 0).astype(np.int64)
    return Costs(first_by_rank(rank, before + change), screening)


def _squares(covariance: OnDemand, field: Conditioned) -> Floats:
    """(n,) about |G_q|^2, from the products of G with random signs; those at sure answers count for nothing."""
    Z, KZ = covariance.probes
    X = KZ - field.spread(field.core.A @ field.against(Z))
    return np.asarray((X**2).mean(axis=1), dtype=float)


def rough_vopt_costs(field: Conditioned) -> Costs:
    """(u,) VOpt's cost if every answer told all other nodes of its component alike: |G_q|^2 is then G_qq^2 and, of the
    others, the square of their sum over their number. It is never less, so no cost is below the true one.
    """
    u, reached = field.unlabelled, field.island < 0
    own, group = field.core.variance[u], field.component[u]
    others = np.maximum(1, np.bincount(group)[group] - 1) if len(u) else own
    told = np.divide((field.sums() - own) ** 2, others * own, out=np.zeros(len(u)), where=reached)
    return Costs(own[reached].sum() - own - told)
