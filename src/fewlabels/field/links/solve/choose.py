"""Which solver fits the graph: one flat choice, which says what it chose and why."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import SettingError, nearest
from fewlabels.field.links.solve.chebyshev import TOLERANCE, ByWaves, Deflation, Smoother
from fewlabels.field.links.solve.factor import Cholespy, Factor, SuperLU, has_cholespy
from fewlabels.field.links.solve.pcg import Operator, System, matrix_of
from fewlabels.field.links.solve.pinned import ByFactor, ByGradients, ByRemainder, Open, Pinned, Smoothed, Solver
from fewlabels.field.links.solve.polynomial import Ordered
from fewlabels.field.precision import Precision
from fewlabels.machine import memory

SOLVERS = ("auto", "superlu", "cholespy", "chebyshev", "gradients")
TRIAL = 3_000  # nodes of a piece of the graph on which fill is tried; twice as many where that went well
MOST_FILL = 220  # entries of the factor per node: beyond it polynomials are quicker
MOST_PAIRS = 120  # nodes up to two edges away, on average, up to which a smooth Q is written out
FEW_LEFT = 10**7  # pairs between the nodes left, on a guess, up to which they are written out where many are held
OPEN_WORK = 8e9  # fill^2 n up to which the open factor is taken, for an exact diag(G): two minutes; beyond, hours
FEW_NODES = 4_000  # up to which anything is quick, and waves are not worth their search
MIXED = 0.004  # where the spectrum begins behind the slow waves: 50 steps, and too well mixed for a thin factor
SLUGGISH = 0.0005  # the same where there is no factor: 140 steps


class Choice(NamedTuple):
    """A solver for each set of nodes held besides the anchors; and why it is this one."""

    holding: Callable[[Ints], Solver]
    why: str
    open: Open | None = None  # what it is made from, if that knows of no node held


def choose(precision: Precision, piece: Ints, anchor: Ints, kind: str = "auto") -> Choice:
    """The solver of this name, or the one that fits: by a factor where it stays thin, else by a polynomial, with the
    slowest waves of the graph solved for by themselves.
    """
    if kind not in SOLVERS:
        raise SettingError(f"there is no solver {kind!r}: choose one of {', '.join(SOLVERS)}.{nearest(kind, SOLVERS)}")
    if kind == "cholespy" and not has_cholespy():
        raise SettingError("solver 'cholespy' is not installed: pip install 'fewlabels[cholesky]', or use 'superlu'.")
    n, auto = len(piece), kind == "auto"
    links = precision.links
    pivots = np.where(precision.degree > 0, precision.degree, 1.0)
    flags = np.zeros(n, dtype=bool)
    flags[anchor] = True
    L = System(links.indptr.astype(np.int64), links.indices.astype(np.int64), links.data, pivots, flags)
    ordered = cache(lambda: Ordered(L))
    deflation = cache(lambda: Deflation(L, ordered(), piece))

    def smoother(tolerance: float = TOLERANCE) -> Smoother:
        return Smoother(ordered(), pivots, precision.share, tolerance)

    def pinned(inverse: Open, why: str) -> Choice:
        return Choice(lambda others: Pinned(inverse, piece, anchor, others), why, inverse)

    def by_waves(least: float) -> ByWaves | None:
        return deflation().solver(smoother if precision.share else None, least)

    few_pairs, many = not precision.share or mean_pairs(precision) <= MOST_PAIRS, n > FEW_NODES
    if kind == "gradients" or (auto and links.nnz == 0):
        return Choice(lambda others: ByGradients(_operator(precision, anchor, others)), "as asked")
    if kind == "chebyshev" or (auto and many and precision.share):
        found = by_waves(MIXED if auto else 0.0)
        if found is not None:
            return pinned(found, "few slow waves" if auto else "as asked")
    if few_pairs or not auto:
        first = _factor(written_out(precision, anchor), kind)
        if first is not None:

            def by_factor(others: Ints) -> ByFactor:
                held = written_out(precision, np.concatenate([anchor, others]))
                return ByFactor(Factor(held, type(first.base)) if len(others) else first)

            return Choice(by_factor, "a factor stays thin" if auto else "as asked")
    if precision.share:
        factor = _factor(L, "auto")
        if factor is not None:
            at_hubs = TOLERANCE / max(1.0, precision.share * float(pivots.max()))  # it is taken off from nearly as much
            waves = deflation().waves if many else lambda: None
            return pinned(Smoothed(factor, smoother(at_hubs), waves), "a factor of L stays thin")
    if many:
        found = by_waves(MIXED) or by_waves(SLUGGISH) or by_waves(0.0)
        if found is not None:
            return pinned(found, "a factor would fill in")
    return Choice(
        lambda others: ByGradients(_operator(precision, anchor, others)), "few nodes, and a factor would fill in"
    )


def for_held(precision: Precision, held: Ints, unsure: Floats) -> Solver:
    """For Q with many nodes held and (n,) these weights of unsure answers: by a factor of the nodes left if it stays
    thin, else by gradients, which many labels make quick.
    """
    n = len(precision.degree)
    flags = np.zeros(n, dtype=bool)
    flags[held] = True
    left = np.flatnonzero(~flags)
    some = left[np.unique(np.linspace(0, len(left) - 1, 200).astype(np.int64))] if len(left) else left
    if len(left) and precision.rows(some).nnz / len(some) * len(left) ** 2 <= FEW_LEFT * n:
        W = precision.rows(left)[:, left]
        W.sort_indices()
        diagonal = (precision.diagonal + unsure)[left]
        system = System(
            W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, diagonal, np.zeros(len(left), dtype=bool)
        )
        if (factor := _factor(system, "auto")) is not None:
            return ByRemainder(factor, left, n)
    return ByGradients(Operator.of(precision, flags, unsure))


def written_out(precision: Precision, held: Ints) -> System:
    """Q with these nodes held."""
    W, flags = precision.weights, np.zeros(len(precision.degree), dtype=bool)
    flags[held] = True
    pivots = np.where(precision.diagonal > 0, precision.diagonal, 1.0)
    return System(W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, pivots, flags)


def mean_pairs(precision: Precision) -> float:
    """How many nodes are up to two edges away from a node, at most, on average."""
    degrees = np.diff(precision.links.indptr).astype(float)
    return float((degrees**2).mean())


def _operator(precision: Precision, anchor: Ints, others: Ints) -> Operator:
    held = np.zeros(len(precision.degree), dtype=bool)
    held[anchor] = held[others] = True
    return Operator.of(precision, held, np.zeros(len(held)))


def _factor(system: System, kind: str) -> Factor | None:
    """A Cholesky factor; None if that is left open ("auto") and it would fill in too much."""
    n, fill = len(system.diagonal), expected_fill(system)
    closed = kind == "cholespy" or (kind == "auto" and fill**2 * n > OPEN_WORK and has_cholespy())
    make = Cholespy if closed else SuperLU
    need = make.memory * fill * n
    if kind == "auto" and (fill > MOST_FILL or need > memory.available()):
        return None
    memory.require(int(need), f"a Cholesky factor with about {fill:.0f} entries per node", "Use solver='auto'.")
    try:
        return Factor(system, make)
    except MemoryError:
        if kind != "auto":
            raise
        return None


def expected_fill(system: System) -> float:
    """Entries of a Cholesky factor, per node, extrapolated from two pieces of the graph around its best connected node.

    On a surface the entries per node grow like the logarithm of the size, elsewhere like a power of it; a power fitted
    to two sizes covers both, and errs on the safe side.
    """
    n = len(system.diagonal)
    reach = breadth_first(system, 2 * TRIAL)
    small = _fill_of(system, reach[:TRIAL])
    if small > MOST_FILL or n <= TRIAL:
        return small
    large = _fill_of(system, reach)
    growth = max(0.0, np.log2(large / small))
    return float(large * (n / len(reach)) ** growth)


def _fill_of(system: System, nodes: Ints) -> float:
    """Entries of the factor per node when only these nodes are free."""
    return SuperLU(matrix_of(_piece(system, nodes))).fill / len(nodes)


def _piece(system: System, nodes: Ints) -> System:
    """These nodes alone, the others held."""
    indptr, indices, weights, diagonal, held = system
    W = sparse.csr_matrix((weights, indices, indptr), shape=(len(held), len(held)))[nodes][:, nodes]
    return System(W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, diagonal[nodes], held[nodes])


def breadth_first(system: System, most: int) -> Ints:
    """Up to `most` nodes around the best connected one, the near ones first; other components follow."""
    starts = iter(np.argsort(-np.diff(system.indptr), kind="stable"))
    seen = np.zeros(len(system.held), dtype=bool)
    found: list[int] = []
    queue: deque[int] = deque()
    while len(found) < min(most, len(seen)):
        if not queue:
            start = next(int(k) for k in starts if not seen[k])
            seen[start] = True
            queue.append(start)
        k = queue.popleft()
        found.append(k)
        for j in system.indices[system.indptr[k] : system.indptr[k + 1]]:
            if not seen[j]:
                seen[j] = True
                queue.append(int(j))
    return np.array(found)
