"""Conjugate gradients preconditioned by the diagonal and the constant: what `pcg.solve` does with `pcg.Diagonal`, in a
third of the time. On power-law graphs no solver is quicker, and its columns are what a question waits for.

Scaled from both sides the diagonal is one, so all passes but that over the edges run along flat memory. The constant,
s = sqrt(d), is never added to a block: A s is zero except at neighbours of nodes held and where there are unsure
answers, so a direction p + c s is kept as p and its number c, and x gets its share of s at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.sparse.solve.pcg import MOST_STEPS, System, unsure_ties
from fewlabels.kernels.cpu import blocks
from fewlabels.kernels.cpu.pairs import ORDER_FREE
from fewlabels.kernels.cpu.prefetch import AHEAD, LINE, aligned, prefetch

FEW = 0.3  # share of the rows alive up to which checking each pays off


class Scaled(NamedTuple):
    """S A S with S = 1 / sqrt(diagonal), zero where held."""

    indptr: Ints
    indices: Ints
    weights: Floats  # of the precision to work in
    scale: Floats  # (n,) S
    beside: Ints  # the free nodes that are neighbours of nodes held, or have unsure answers
    pull: Floats  # A s there


def scaled(system: System, dtype: type) -> Scaled:
    """The system in this precision; some node must be held or have an unsure answer."""
    indptr, indices, weights, diagonal, held = system
    scale = np.where(held, 0.0, 1 / np.sqrt(diagonal))
    between = _scaled_weights(indptr, indices, weights, scale, dtype(0))
    nodes = np.flatnonzero(held)
    ends = [slice(0, 0), *(slice(indptr[k], indptr[k + 1]) for k in nodes)]
    beyond, tie = (np.concatenate([array[part] for part in ends]) for array in (indices, weights))
    pull: Floats = np.bincount(beyond, tie, len(held)) + unsure_ties(system)  # (n,) towards the nodes held, and answers
    beside = np.flatnonzero((pull > 0) & ~held)
    return Scaled(indptr, indices, between, scale, beside, (pull * scale)[beside])


@njit(cache=True, nogil=True, parallel=True)
def _scaled_weights(indptr: Ints, indices: Ints, weights: Floats, scale: Floats, zero: float) -> Floats:
    out = np.empty(len(weights), type(zero))
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = scale[i] * weights[e] * scale[indices[e]]
    return out


class Work:
    """The four blocks of a solve, kept for the next one: fresh memory is slow to get, above all on virtual machines."""

    def __init__(self) -> None:
        self._kept = np.empty(0, np.float32)

    def blocks(self, n: int, m: int, dtype: type) -> Any:
        """(4, n, m) for X, R, P and Q, contents arbitrary; those in float64 are not kept."""
        if dtype is not np.float32:
            return np.empty((4, n, m), dtype)
        if len(self._kept) < 4 * n * m:
            self._kept = aligned(4 * n * m, 1)[:, 0]  # from NumPy, which uses huge pages
        return self._kept[: 4 * n * m].reshape(4, n, m)


def solve(system: Scaled, B: Floats, tolerance: float, X: Floats | None = None) -> tuple[Floats, int]:
    """(n, m) inv(A) B, zero in the rows held, and the number of steps; X is where to start."""
    found, R, P, Q = Work().blocks(len(B), B.shape[1], system.weights.dtype.type)
    _times(B, system.scale, 1, R)
    found[:] = P[:] = 0
    if X is not None:
        _times(X, system.scale, -1, found)
    return found, _solve(system, found, R, P, Q, tolerance, from_zero=X is None)


def columns(system: Scaled, nodes: Ints, tolerance: float, work: Work) -> Floats:
    """(n, m) columns of inv(A), in float32; they belong to `work`, and last until it is used again."""
    found: Floats
    found, R, P, Q = work.blocks(len(system.scale), len(nodes), np.float32)
    found[:] = R[:] = P[:] = 0
    R[nodes, np.arange(len(nodes))] = system.scale[nodes]
    _solve(system, found, R, P, Q, tolerance, from_zero=True)
    return found


def _solve(system: Scaled, X: Floats, R: Floats, P: Floats, Q: Floats, tolerance: float, *, from_zero: bool) -> int:
    """In the scaled system: X starts as the guess and ends as the solution; R is the right-hand side, P zero."""
    indptr, indices, weights, scale, beside, pulls = system
    n, m = X.shape
    links, threads, number = (indptr, indices, weights), get_num_threads(), X.dtype.type
    size = np.zeros(m)
    if not from_zero:
        size += blocks.dots(R, X)
        _apply(*links, X, Q, threads)
        blocks.step(P, R, Q, Q, np.ones(m, number))  # R -= Q; P is not in use yet
    total = _sums(R, scale, threads)  # (m,) s'r
    pull = float((pulls / scale[beside]).sum())  # s'A s
    rate = 1 / pull if pull > 0 else 0.0
    rz = blocks.dots(R, R) + rate * total * total
    c, turn, share = rate * total, np.zeros(m), np.zeros(m)
    alive = _rows(R)  # those of R and P that may be nonzero: in the first steps from a unit vector they are few
    steps = 0
    while steps < MOST_STEPS and ((rz > tolerance**2 * np.abs(size)) & (rz > 0)).any():
        blocks.turn(P, R, turn.astype(number))
        if np.count_nonzero(alive) < FEW * n:
            alive = _apply_few(*links, P, Q, alive)
            curvature = blocks.dots(P, Q)
        else:
            curvature = _apply(*links, P, Q, threads)
        alive[beside] = True
        across = pulls @ P[beside].astype(float)  # (m,) s'A p
        Q[beside] += np.outer(pulls, c).astype(number)
        curvature += 2 * c * across + c * c * pull
        going = (rz > tolerance**2 * np.abs(size)) & (curvature > 0)
        alpha = np.divide(rz, curvature, out=np.zeros(m), where=going)
        size += alpha * rz
        share += alpha * c
        total -= alpha * (across + c * pull)
        blocks.step(X, R, P, Q, alpha.astype(number))
        after = blocks.dots(R, R) + rate * total * total
        turn = np.divide(after, rz, out=np.zeros(m), where=rz > 0)
        c = rate * total + turn * c
        rz = after
        steps += 1
    _finish(X, scale, share.astype(number))
    return steps


@njit(cache=True, nogil=True, parallel=True)
def _times(B: Floats, scale: Floats, power: int, out: Floats) -> None:
    """Rows times their scale, or divided by it (power -1)."""
    n, m = B.shape
    for i in prange(n):
        factor = 0.0 if scale[i] == 0 else scale[i] ** power
        for j in range(m):
            out[i, j] = factor * B[i, j]


@njit(cache=True, nogil=True, parallel=True)
def _sums(R: Floats, scale: Floats, threads: int) -> Floats:
    """(m,) s'R."""
    n, m = R.shape
    partial = np.zeros((threads, m))
    for t in prange(threads):
        mine = np.zeros(m)
        for i in range(t * n // threads, (t + 1) * n // threads):
            if scale[i] > 0:
                for j in range(m):
                    mine[j] += R[i, j] / scale[i]
        for j in range(m):
            partial[t, j] = mine[j]
    return blocks.totals(partial)


@njit(cache=True, nogil=True, parallel=True)
def _finish(X: Floats, scale: Floats, share: Floats) -> None:
    """Back to the unscaled solution: S (x + share s)."""
    n, m = X.shape
    for i in prange(n):
        for j in range(m):
            X[i, j] = scale[i] * X[i, j] + (share[j] if scale[i] > 0 else 0)


@njit(cache=True, nogil=True, parallel=True)
def _rows(R: Floats) -> Flags:
    """(n,) which rows are not zero."""
    n, m = R.shape
    found = np.zeros(n, np.bool_)
    for i in prange(n):
        for j in range(m):
            found[i] |= R[i, j] != 0
    return found


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def _apply(indptr: Ints, indices: Ints, weights: Floats, P: Floats, Q: Floats, threads: int) -> Floats:
    """Q = P - weights P; returns (m,) the products P'Q of the columns."""
    n, m = P.shape
    last, lines = len(indices) - 1, (m * P.itemsize - 1) // LINE + 1
    partial = np.zeros((threads, m))
    for t in prange(threads):
        products = np.zeros(m)
        for i in range(t * n // threads, (t + 1) * n // threads):
            row, mine = Q[i], P[i]
            for j in range(m):
                row[j] = mine[j]
            for e in range(indptr[i], indptr[i + 1]):
                prefetch(P, indices[min(e + AHEAD, last)], lines)
                w, other = weights[e], P[indices[e]]
                for j in range(m):
                    row[j] -= w * other[j]
            for j in range(m):
                products[j] += mine[j] * row[j]
        for j in range(m):
            partial[t, j] = products[j]
    return blocks.totals(partial)


@njit(cache=True, nogil=True, parallel=True, fastmath=ORDER_FREE)
def _apply_few(indptr: Ints, indices: Ints, weights: Floats, P: Floats, Q: Floats, alive: Flags) -> Flags:
    """The same where only rows of P that are alive may be nonzero; returns which rows of Q may be."""
    n, m = P.shape
    near = np.empty(n, np.bool_)
    for i in prange(n):
        row, mine, reached = Q[i], P[i], alive[i]
        for j in range(m):
            row[j] = mine[j]
        for e in range(indptr[i], indptr[i + 1]):
            if alive[indices[e]]:
                reached = True
                w, other = weights[e], P[indices[e]]
                for j in range(m):
                    row[j] -= w * other[j]
        near[i] = reached
    return near
