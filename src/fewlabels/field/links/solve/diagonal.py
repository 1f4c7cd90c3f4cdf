"""diag(G): exact from an open Cholesky factor or from all columns, else a sketch with the near part exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.links.solve.factor import SuperLU
from fewlabels.field.links.solve.pcg import Operator
from fewlabels.field.links.solve.pinned import ByFactor, ByRemainder, Solver
from fewlabels.field.links.solve.sketch import sketched
from fewlabels.field.precision import Precision

if TYPE_CHECKING:
    from fewlabels.field.links.on_demand import OnDemand

COLUMNS_UP_TO = 4_000  # nodes up to which every column is solved for: a few seconds with any solver
WIDTH = 32
OPEN_WORK = 6e10  # multiplications in Takahashi's recurrence up to which it is taken: about a minute


class Variances(NamedTuple):
    """G along the graph itself."""

    diagonal: Floats  # (n,) G_kk, zero where held
    ties: Floats  # (entries of W,) G_ii + G_jj - 2 G_ij of every edge, in both directions
    exact: bool


def variances(
    system: Operator, solver: Solver, precision: Precision, piece: Ints, covariance: OnDemand, rng: np.random.Generator
) -> Variances:
    """diag(inv(A)) and the resistances along the edges."""
    n = len(system.held)
    if (base := _open_factor(solver)) is not None:
        nodes = solver.nodes if isinstance(solver, ByRemainder) else slice(None)
        return Variances(*takahashi(base, system, nodes), True)
    if n <= COLUMNS_UP_TO:
        return Variances(*by_columns(system, covariance), True)
    return Variances(*sketched(system, solver, precision, piece, covariance, rng), False)


def exact_diagonal(solver: Solver) -> Floats | None:
    """(n,) diag(inv(A)), where a factor tells it."""
    base = _open_factor(solver)
    if base is None or isinstance(solver, ByRemainder):
        return None
    diagonal, _ = _takahashi(base.indptr, base.indices, base.L, base.pivots)
    found = np.empty(len(diagonal))
    found[base.order] = diagonal
    return found


def _open_factor(solver: Solver) -> SuperLU | None:
    """The factor, if it can be read and the recurrence on it does not take long."""
    base = solver.factor.base if isinstance(solver, ByFactor) else None
    return base if isinstance(base, SuperLU) and _work(base) <= OPEN_WORK else None


def by_columns(system: Operator, covariance: OnDemand) -> tuple[Floats, Floats]:
    """Diagonal and ties from every column."""
    free = np.flatnonzero(~system.held)
    n = len(system.held)
    found, rows = np.zeros(n), np.repeat(np.arange(n), np.diff(system.indptr))
    between = np.zeros(len(system.indices))
    for left in range(0, len(free), WIDTH):
        nodes = free[left : left + WIDTH]
        X = covariance.columns(nodes)
        found[nodes] = X[nodes, np.arange(len(nodes))]
        for j, k in enumerate(nodes):
            row = slice(system.indptr[k], system.indptr[k + 1])
            between[row] = X[system.indices[row], j]
    return found, found[rows] + found[system.indices] - 2 * between


def _work(base: SuperLU) -> float:
    return float((np.diff(base.indptr).astype(float) ** 2).sum())


def takahashi(base: SuperLU, system: Operator, nodes: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
    """Diagonal and ties from A = L D L', by Takahashi's recurrence on the pattern of L and of the edges between the
    nodes that the factor is of; all others are held.
    """
    order = np.arange(len(system.held))[nodes][base.order]
    place = np.full(len(system.held), -1)
    place[order] = np.where(system.held[order], -1, np.arange(len(order)))
    indptr, indices, L = _filled(base.indptr, base.indices, base.L, order, place, system.indptr, system.indices)
    diagonal, Z = _takahashi(indptr, indices, L, base.pivots)
    found = np.zeros(len(system.held))
    found[order] = diagonal
    found[system.held] = 0
    return found, _ties(system.indptr, system.indices, system.held, found, place, indptr, indices, Z)


@njit(cache=True, nogil=True)
def _filled(
    indptr: Ints, indices: Ints, L: Floats, order: Ints, place: Ints, links: Ints, others: Ints
) -> tuple[Ints, Ints, Floats]:
    """L with all places that elimination fills, those where it leaves a zero, too, which SuperLU drops; and the edges.

    The rows of a column are those of its own entries and of every column whose first row it is (elimination tree).
    """
    n = len(order)
    starts, rows, values = np.zeros(n + 1, np.int64), np.empty(len(L) + n, np.int64), np.zeros(len(L) + n)
    seen, child, sibling = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    for j in range(n):
        start = at = starts[j]
        if at + n - j > len(rows):
            rows, values = np.append(rows, np.empty_like(rows)), np.append(values, np.zeros_like(values))
        seen[j] = j
        for f in range(indptr[j], indptr[j + 1]):
            seen[indices[f]], rows[at], at = j, indices[f], at + 1
        node = order[j]
        for e in range(links[node], links[node + 1]):
            i = place[others[e]]
            if i > j and place[node] == j and seen[i] < j:
                seen[i], rows[at], at = j, i, at + 1
        k = child[j]
        while k >= 0:
            for f in range(starts[k], starts[k + 1]):
                i = rows[f]
                if seen[i] < j:
                    seen[i], rows[at], at = j, i, at + 1
            k = sibling[k]
        starts[j + 1] = at
        if at - start > indptr[j + 1] - indptr[j]:
            rows[start:at].sort()
        for f in range(indptr[j], indptr[j + 1]):
            values[start + np.searchsorted(rows[start:at], indices[f])] = L[f]
        if at > start:
            parent = rows[start]
            sibling[j], child[parent] = child[parent], j
    return starts, rows[: starts[n]], values[: starts[n]]


@njit(cache=True, nogil=True, parallel=True)
def _ties(
    indptr: Ints, indices: Ints, held: Flags, diagonal: Floats, place: Ints, columns: Ints, rows: Ints, Z: Floats
) -> Floats:
    """G_ii + G_jj - 2 G_ij of every edge, G_ij looked up in its column of Z."""
    ties = np.empty(len(indices))
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            between = 0.0
            if not (held[i] or held[j]):
                a, b = min(place[i], place[j]), max(place[i], place[j])
                start, stop = columns[a], columns[a + 1]
                at = start + np.searchsorted(rows[start:stop], b)
                if at < stop and rows[at] == b:
                    between = Z[at]
            ties[e] = diagonal[i] + diagonal[j] - 2 * between
    return ties


@njit(cache=True, nogil=True)
def _takahashi(indptr: Ints, indices: Ints, L: Floats, pivots: Floats) -> tuple[Floats, Floats]:
    """Z_ij = [i = j] / D_j - sum_{k > j} Z_ik L_kj, from the last column to the first; only Z on L's pattern is needed.

    For column j with rows K: Z_Kj = -Z_KK L_Kj. Most columns have the rows of the next one and that one itself: Z_KK is
    gathered for the last of a run of them, its rows from the last to the first, and grows by a row with each.
    """
    n = len(pivots)
    Z = np.zeros(len(L))  # below the diagonal, on the pattern of L
    diagonal = np.empty(n)
    most = np.diff(indptr).max() + 1
    slot, Z_KK, z = np.full(n, -1), np.empty((most, most)), np.empty(most)
    for j in range(n - 1, -1, -1):
        start, stop = indptr[j], indptr[j + 1]
        m = stop - start
        if j == n - 1 or not _continues(indptr, indices, j):
            _gather(indptr, indices, Z, diagonal, indices[start:stop][::-1], slot, Z_KK)
        z[:m] = 0
        for a in range(m):
            by = L[stop - 1 - a]
            for b in range(m):
                z[b] -= Z_KK[a, b] * by
        value = 1 / pivots[j]
        for a in range(m):
            Z[stop - 1 - a] = z[a]
            value -= z[a] * L[stop - 1 - a]
            Z_KK[a, m] = Z_KK[m, a] = z[a]
        Z_KK[m, m] = diagonal[j] = value
    return diagonal, Z


@njit(cache=True, nogil=True)
def _continues(indptr: Ints, indices: Ints, j: int) -> bool:
    """Whether the rows of column j are the next column and its rows."""
    start, stop, end = indptr[j], indptr[j + 1], indptr[j + 2]
    return stop > start and indices[start] == j + 1 and np.array_equal(indices[start + 1 : stop], indices[stop:end])


@njit(cache=True, nogil=True)
def _gather(indptr: Ints, indices: Ints, Z: Floats, diagonal: Floats, rows: Ints, slot: Ints, Z_KK: Floats) -> None:
    """Z between these rows; `slot` is all -1, and is left so."""
    for a in range(len(rows)):
        slot[rows[a]] = a
        Z_KK[a, : len(rows)] = 0
    for a in range(len(rows)):
        k = rows[a]
        Z_KK[a, a] = diagonal[k]
        for f in range(indptr[k], indptr[k + 1]):
            b = slot[indices[f]]
            if b >= 0:
                Z_KK[a, b] = Z_KK[b, a] = Z[f]
    slot[rows] = -1
