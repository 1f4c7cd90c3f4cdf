"""diag(G): exact from an open Cholesky factor or from all columns, else a sketch with the near part exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from scipy import linalg

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.precision import Precision
from fewlabels.field.sparse.solve.choose import Solver
from fewlabels.field.sparse.solve.factor import Factor, SuperLU
from fewlabels.field.sparse.solve.kriging import Kriging
from fewlabels.field.sparse.solve.pcg import System, unsure_ties
from fewlabels.field.sparse.solve.smooth import WrittenOut
from fewlabels.kernels.cpu import blocks
from fewlabels.machine.progress import Progress

COLUMNS_UP_TO = 4_000  # nodes up to which every column is solved for: a few seconds with any solver
PROBES = 384  # of a sketch: a G_kk is then off by about sqrt(2 / 384) = 7% of its far part
FEWER = 96  # where the slow waves, most of the far part, are known
WIDTH = 32
TOLERANCE = 1e-3  # of a probe: far below the sketch's noise
EXACT = 1e-9
FAR = 1e3  # times what is usual: waves between clusters that hardly touch, which the first label there takes off again
OPEN_WORK = 6e10  # multiplications in Takahashi's recurrence up to which it is taken: about a minute


class Variances(NamedTuple):
    """G along the graph itself."""

    diagonal: Floats  # (n,) G_kk, zero where held
    ties: Floats  # (entries of W,) G_ii + G_jj - 2 G_ij of every edge, in both directions
    exact: bool

    def copy(self) -> Variances:
        return Variances(self.diagonal.copy(), self.ties.copy(), self.exact)


def variances(
    system: System, solver: Solver, precision: Precision, component: Ints, rng: np.random.Generator
) -> Variances:
    """diag(inv(A)) and the resistances along the edges."""
    n = len(system.held)
    factor, nodes = _factor_of(solver, system)
    if factor and isinstance(factor.base, SuperLU) and _work(factor.base) <= OPEN_WORK:
        return Variances(*takahashi(factor.base, system, nodes), True)
    if n <= COLUMNS_UP_TO:
        return Variances(*by_columns(system, solver), True)
    return Variances(*sketched(system, solver, precision, component, rng), False)


def _factor_of(solver: Solver, system: System) -> tuple[Factor | None, Ints | slice]:
    """The factor of all nodes, or of those left; and which ones they are."""
    if isinstance(solver, Kriging):
        left = solver.remainder(system)
        return (left.factor, left.nodes) if left else (None, slice(None))
    factor = solver.solver if isinstance(solver, WrittenOut) else solver
    return factor if isinstance(factor, Factor) else None, slice(None)


def by_columns(system: System, solver: Solver) -> tuple[Floats, Floats]:
    """Diagonal and ties from every column."""
    free = np.flatnonzero(~system.held)
    n = len(system.held)
    found, rows = np.zeros(n), np.repeat(np.arange(n), np.diff(system.indptr))
    between = np.zeros(len(system.indices))
    for left in range(0, len(free), WIDTH):
        nodes = free[left : left + WIDTH]
        X = solver.columns(system, nodes, EXACT)
        found[nodes] = X[nodes, np.arange(len(nodes))]
        for j, k in enumerate(nodes):
            row = slice(system.indptr[k], system.indptr[k + 1])
            between[row] = X[system.indices[row], j]
    return found, found[rows] + found[system.indices] - 2 * between


def sketched(
    system: System, solver: Solver, precision: Precision, component: Ints, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Diagonal and ties from random potentials.

    With random signs x on the edges, z = G B' sqrt(W) x has the covariance G, and G_kk = 1 / d_k + var(sum_j w_kj z_j
    / d_k): only walks that leave k and come back are left to chance. A smooth field adds sqrt(share) L y with random
    signs y at the nodes, whose covariance is share L^2. Where one node alone is held, the potentials are
    taken about their mean over the component, which takes the common part, known exactly, out of the noise. So is what
    the slow waves tell of z, where the solver knows them: F'z has the covariance F'GF, and GF with z. A tie is the mean
    square of the difference of its ends.
    """
    n, held = len(system.held), system.held
    noise = _Noise(system, precision, rng)
    size, waves = np.bincount(component), solver.waves()
    alone = held.sum() == len(size) and not noise.tied  # each component is held at one node only
    probes = PROBES if waves is None else FEWER
    average = 1 / system.diagonal
    found = _Sums(system, precision)
    progress = Progress(f"setting up {n:,} nodes", -(-probes // WIDTH))

    def potentials(B: Floats, tolerance: float = TOLERANCE) -> Floats:
        Z = solver.solve(system, B, tolerance)
        if alone:
            Z -= (np.stack([np.bincount(component, z) for z in Z.T], axis=1) / size[:, None])[component]
        return Z

    known: list[_Told] = []
    if waves is not None:
        covariance = potentials(waves)
        size_of = np.einsum("ij,ij->j", waves, covariance)
        slowest = size_of > FAR * np.median(size_of)
        known += [_Told(waves[:, slowest], potentials(waves[:, slowest], EXACT))] if slowest.any() else []
        known += [_Told(waves[:, ~slowest], _rest(covariance[:, ~slowest], known))]
    for told in known:
        found.add(told.columns, 1)
    for left in range(0, probes, WIDTH):
        Z = potentials(noise.draw(min(WIDTH, probes - left)))
        found.add(_rest(Z, known), 1 / probes)
        progress.step()
    if not alone:
        return np.where(held, 0.0, average + found.squares), found.ties
    one = solver.solve(system, np.ones((n, 1)), EXACT)[:, 0]
    mean = one / size[component]  # (n,) the mean of each column of G
    overall = np.bincount(component, mean) / size
    centred = average * (1 - 2 / size[component]) + found.squares  # (n,) the diagonal of the pseudo-inverse
    return np.where(held, 0.0, np.maximum(centred + 2 * mean - overall[component], average)), found.ties


class _Told:
    """What F'z tells of potentials z with the covariance G: z = columns xi + rest, xi being noise of variance one."""

    def __init__(self, F: Floats, covariance: Floats) -> None:
        """(n, k) F and GF."""
        inside = F.T @ covariance
        root = np.linalg.cholesky((inside + inside.T) / 2)
        self.columns: Floats = linalg.solve_triangular(root, covariance.T, lower=True).T  # (n, k)
        self.reading: Floats = linalg.solve_triangular(root, F.T, lower=True)  # (k, n) xi from z


def _rest(Z: Floats, known: list[_Told]) -> Floats:
    """Z without what is told."""
    for told in known:
        Z = Z - (told.columns @ (told.reading @ Z)).astype(Z.dtype)
    return Z


class _Noise:
    """Right-hand sides whose covariance is A."""

    def __init__(self, system: System, precision: Precision, rng: np.random.Generator) -> None:
        unsure = unsure_ties(system, precision.diagonal)
        self._system, self._precision, self._rng = system, precision, rng
        self._tied = np.flatnonzero(unsure)
        self._hung = np.sqrt(unsure[self._tied])  # an unsure answer is an edge like the others, to a node that is held
        self._root = np.sqrt(system.weights)

    @property
    def tied(self) -> bool:
        """Whether there are unsure answers."""
        return len(self._tied) > 0

    def draw(self, m: int) -> Floats:
        """(n, m)"""
        indptr, indices, weights, _, held = self._system
        B = _edge_noise(indptr, indices, self._root, m, int(self._rng.integers(2**62)))
        B[self._tied] += self._hung[:, None] * self._signs(len(self._tied), m)
        if self._precision.share:
            signs = self._signs(len(held), m)
            B -= np.sqrt(self._precision.share) * blocks.residual(
                indptr, indices, weights, self._precision.degree, np.zeros_like(held), np.zeros_like(signs), signs
            )
        return B

    def _signs(self, n: int, m: int) -> Floats:
        return (1 - 2 * self._rng.integers(2, size=(n, m))).astype(np.float64)


class _Sums:
    """What potentials add to the far part of every G_kk, and to every tie."""

    def __init__(self, system: System, precision: Precision) -> None:
        self._system, self._precision = system, precision
        self._nowhere = np.zeros_like(system.held)
        self.squares: Floats = np.zeros(len(system.held))
        self.ties: Floats = np.zeros(len(system.indices))

    def add(self, Z: Floats, weight: float) -> None:
        """The potentials count `weight` times."""
        _add_differences(self._system.indptr, self._system.indices, Z, self.ties, weight)
        towards = blocks.scaled(Z, self._precision.diagonal.astype(Z.dtype)) - self._times(Z)
        far = blocks.scaled(towards, (1 / self._system.diagonal).astype(Z.dtype))
        self.squares += weight * np.einsum("ij,ij->i", far, far)

    def _times(self, Z: Floats) -> Floats:
        """(n, m) Q Z."""
        indptr, indices, weights = self._system[:3]
        once, twice = np.empty_like(Z), np.empty_like(Z)
        edges, degree = weights.astype(Z.dtype), self._precision.degree.astype(Z.dtype)
        blocks.apply(indptr, indices, edges, degree, self._nowhere, Z, once)
        if self._precision.share:
            blocks.apply(indptr, indices, edges, degree, self._nowhere, once, twice)
            once += Z.dtype.type(self._precision.share) * twice
        return once


@njit(cache=True, nogil=True, parallel=True)
def _add_differences(indptr: Ints, indices: Ints, Z: Floats, ties: Floats, weight: float) -> None:
    """Add the squared differences of the potentials to every edge, times a weight."""
    for i in prange(len(indptr) - 1):
        mine = Z[i]
        for e in range(indptr[i], indptr[i + 1]):
            other = Z[indices[e]]
            total = 0.0
            for c in range(len(mine)):
                total += (mine[c] - other[c]) ** 2
            ties[e] += weight * total


@njit(cache=True, nogil=True)
def _edge_noise(indptr: Ints, indices: Ints, root: Floats, m: int, seed: int) -> Floats:
    """(n, m) B' sqrt(W) x: every edge adds its root, with a random sign, to one end and takes it off the other.

    The signs of an edge, at most 64, are the bits of its number hashed by splitmix64.
    """
    n = len(indptr) - 1
    out = np.zeros((n, m))
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j > i:
                bits = np.uint64(seed) + np.uint64(e + 1) * np.uint64(0x9E3779B97F4A7C15)
                bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                bits ^= bits >> np.uint64(31)
                for c in range(m):
                    x = root[e] if (bits >> np.uint64(c)) & np.uint64(1) else -root[e]
                    out[i, c] += x
                    out[j, c] -= x
    return out


def _work(base: SuperLU) -> float:
    return float((np.diff(base.indptr).astype(float) ** 2).sum())


def takahashi(base: SuperLU, system: System, nodes: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
    """Diagonal and ties from A = L D L', by Takahashi's recurrence on the pattern of L, which holds every edge between
    the nodes that the factor is of; all others are held.
    """
    diagonal, Z = _takahashi(base.indptr, base.indices, base.L, base.pivots)
    order = np.arange(len(system.held))[nodes][base.order]
    found, place = np.zeros(len(system.held)), np.full(len(system.held), -1)
    found[order], place[order] = diagonal, np.arange(len(order))
    found[system.held] = 0
    return found, _ties(system.indptr, system.indices, system.held, found, place, base.indptr, base.indices, Z)


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

    For column j with rows K: Z_Kj = -Z_KK L_Kj. Z_KK is read column by column, each spread over a work vector.
    """
    n = len(pivots)
    Z = np.zeros(len(L))  # below the diagonal, on the pattern of L
    diagonal = np.empty(n)
    slot = np.full(n, -1)  # where a row stands in column j
    for j in range(n - 1, -1, -1):
        start, stop = indptr[j], indptr[j + 1]
        for e in range(start, stop):
            slot[indices[e]] = e
        for e in range(start, stop):  # column k of Z_KK: its diagonal, and its rows below that are in K
            k, mine = indices[e], L[e]
            total = diagonal[k] * mine
            for f in range(indptr[k], indptr[k + 1]):
                other = slot[indices[f]]
                if other >= 0:
                    total += Z[f] * L[other]
                    Z[other] -= Z[f] * mine
            Z[e] -= total
        value = 1 / pivots[j]
        for e in range(start, stop):
            value -= Z[e] * L[e]
            slot[indices[e]] = -1
        diagonal[j] = value
    return diagonal, Z
