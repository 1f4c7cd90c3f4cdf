"""Which solver fits the graph: sparse Cholesky where fill-in is low, else conjugate gradients; found by a trial."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.errors import SettingError, nearest
from fewlabels.field.precision import Precision
from fewlabels.field.sparse.solve import jacobi
from fewlabels.field.sparse.solve.chebyshev import TOLERANCE, ByWaves, Deflation, Smoother
from fewlabels.field.sparse.solve.factor import Cholespy, Factor, SuperLU, has_cholespy
from fewlabels.field.sparse.solve.iterative import JacobiSolver, MultigridSolver
from fewlabels.field.sparse.solve.kriging import Anchored, Covariance, Kriging
from fewlabels.field.sparse.solve.pcg import HEAVY, Aggregates, System, matrix_of, solve, unit_columns
from fewlabels.field.sparse.solve.polynomial import Ordered
from fewlabels.field.sparse.solve.remainder import ManyHeld
from fewlabels.field.sparse.solve.smooth import MOST_PAIRS, SmoothJacobi, WrittenOut, mean_pairs, pairs_of
from fewlabels.machine import memory

SOLVERS = ("auto", "superlu", "cholespy", "amg", "plain", "jacobi", "chebyshev")
TRIAL = 3_000  # nodes of a piece of the graph on which fill is tried; twice as many where that went well
MOST_FILL = 220  # entries of the factor per node: beyond it conjugate gradients are quicker
OPEN_WORK = 8e9  # fill^2 n up to which the open factor is taken, for an exact diag(G): two minutes; beyond, hours
LOOSE = 1e-5
SLUGGISH = 0.0005  # the same where there is no factor: 140 steps, which a hierarchy needs as well
FEW_NODES = 4_000  # up to which anything is quick, and waves are not worth their search
MIXED = 0.004  # where the spectrum begins behind the slow waves: 50 steps, and too well mixed for a thin factor
FEW_STEPS = 50  # with the diagonal: a step with a hierarchy is at least ten times the work, and five or more are needed


class Solver(Protocol):
    """inv(A) of the current labels, applied to blocks."""

    @property
    def exact(self) -> bool: ...

    @property
    def name(self) -> str: ...

    def refresh(self, system: System) -> None:
        """Start again from these labels."""

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        """(n, m) inv(A) B, zero in the rows held."""

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        """(n, m) columns of inv(A); the guess may be of use."""

    def hold(self, system: System, node: int, column: Floats) -> None:
        """The node is held from now on; column is its column of inv(A) until now."""

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        """The node is held no longer: inv(A) grows by reach reach' / s."""

    def narrow(self, dtype: type) -> None:
        """Columns in this precision are good enough from now on, except for tight tolerances."""

    def waves(self, system: System) -> Numbers | None:
        """(n, k) the slowest waves of the graph, where they are known, zero in the rows held."""

    def copy(self) -> Solver: ...


def make_solver(
    system: System, kind: str = "auto", precision: Precision | None = None, component: Ints | None = None
) -> Solver:
    """The solver of this name, or the one that fits; for a smooth field, with its precision and the components."""
    if kind not in SOLVERS:
        raise SettingError(f"there is no solver {kind!r}: choose one of {', '.join(SOLVERS)}.{nearest(kind, SOLVERS)}")
    if kind == "cholespy" and not has_cholespy():
        raise SettingError("solver 'cholespy' is not installed: pip install 'fewlabels[cholesky]', or use 'superlu'.")
    if precision is not None and component is not None and precision.share:
        return _smooth(system, kind, precision, component)
    return _laplacian(system, kind)


def _smooth(system: System, kind: str, precision: Precision, component: Ints) -> Solver:
    """By a polynomial where the graph has no more than some slow waves; else Q written out and factored where that is
    possible; else from L, factored or not. What only few labels need is made when first wanted.
    """
    if kind == "jacobi":
        return SmoothJacobi(precision)
    pivots = np.where(precision.degree > 0, precision.degree, 1.0)
    anchored = system._replace(diagonal=pivots, held=system.held.copy())
    many, few_pairs = len(pivots) > FEW_NODES, mean_pairs(precision) <= MOST_PAIRS
    ordered = cache(lambda: Ordered(anchored))

    def conditioned(covariance: Callable[[], Covariance]) -> Kriging:
        rest = ManyHeld(precision, lambda few: _factor(few, "auto"))
        return Kriging(precision, anchored.held, component, cache(covariance), rest)

    def smoother(tolerance: float = TOLERANCE) -> Smoother:
        return Smoother(ordered(), pivots, precision.share, tolerance)

    def by_waves(least: float) -> ByWaves | None:
        return deflation().solver(smoother, least)

    def anchored_by(solver: Solver, waves: Callable[[], Numbers | None]) -> Anchored:
        at_hubs = TOLERANCE / max(1.0, precision.share * float(pivots.max()))  # it is taken off from nearly as much
        return Anchored(solver, anchored, smoother(at_hubs), waves)

    def by_any() -> Covariance:
        """Of a graph with more than some slow waves: by a factor, or by those waves, or by what is quickest."""
        thin = _factor(anchored, "auto")
        found = by_waves(SLUGGISH) if thin is None and many else None
        waves = deflation().waves if many else lambda: None
        return found or anchored_by(thin or _quickest(anchored), waves)

    deflation = cache(lambda: Deflation(anchored, ordered(), component))
    if kind == "auto" and many and not few_pairs:
        return conditioned(lambda: by_waves(MIXED) or by_any())
    if kind == "chebyshev" or (kind == "auto" and many):
        found = by_waves(MIXED if kind == "auto" else 0.0)
        if found is not None:
            return conditioned(lambda: found)
    if kind in ("superlu", "cholespy") or (kind == "auto" and few_pairs):
        factor = _factor(pairs_of(precision, system), kind)
        if factor is not None:
            return WrittenOut(precision, factor)
    if kind == "auto":
        return conditioned(by_any)
    return conditioned(lambda: anchored_by(_laplacian(anchored, kind), lambda: None))


def _laplacian(system: System, kind: str) -> Solver:
    if kind not in ("auto", "superlu", "cholespy"):
        return _iterative(system, kind)
    return _factor(system, kind) or _quickest(system)


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


def _iterative(system: System, kind: str) -> JacobiSolver | MultigridSolver:
    return JacobiSolver(system) if kind == "jacobi" else MultigridSolver(system, smoothed=kind == "amg")


def _quickest(system: System) -> Solver:
    """The preconditioner with which four columns of the graph itself take the least work: steps times passes over it.

    Work is counted, not timed, so that the choice does not depend on what else the machine does.
    """
    free = np.flatnonzero(~system.held)
    B = unit_columns(len(system.held), free[np.linspace(0, len(free) - 1, 4).astype(int)])
    _, steps = jacobi.solve(jacobi.scaled(system, np.float64), B, LOOSE)
    best: tuple[float, Solver] = (float(steps), JacobiSolver(system))
    if steps <= FEW_STEPS:
        return best[1]
    piece = _piece(system, breadth_first(system, TRIAL))
    for smoothed in (False, True):
        if Aggregates(piece, smoothed).complexity > HEAVY:  # on a whole graph with hubs it can fill the memory
            continue
        solver = MultigridSolver(system, smoothed)
        if solver.inverse.complexity > HEAVY:
            continue
        passes = 2 * (3 + 2 * solver.inverse.complexity)  # float64, and the way down and up
        work = solve(system, B, solver.inverse, LOOSE)[1] * passes
        if work < best[0]:
            best = (work, solver)
    return best[1]
