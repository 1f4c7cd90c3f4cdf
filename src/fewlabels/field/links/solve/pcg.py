"""Q with some rows and columns held, as an operator; and conjugate gradients on many columns at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.field.precision import Precision
from fewlabels.kernels.cpu import blocks

MOST_STEPS = 2000


class System(NamedTuple):
    """A = diag(diagonal) - weights, written out; rows and columns held are decoupled."""

    indptr: Ints
    indices: Ints
    weights: Floats
    diagonal: Floats  # (n,)
    held: Flags  # (n,)


class Operator(NamedTuple):
    """A = L + share L^2 + diag(ties), zero in the rows and columns held, without a matrix of its own."""

    indptr: Ints
    indices: Ints
    weights: Floats  # of the edges
    degree: Floats  # (n,) of the edges
    share: float
    diagonal: Floats  # (n,) A_kk
    held: Flags  # (n,)
    tied: Ints  # the free nodes with unsure answers
    ties: Floats  # and their weights

    @classmethod
    def of(cls, precision: Precision, held: Flags, unsure: Floats) -> Operator:
        """Q with these nodes held and (n,) these weights of unsure answers."""
        links, free = precision.links, ~held
        tied = np.flatnonzero(free & (unsure > 0))
        diagonal = precision.diagonal + unsure
        return cls(
            links.indptr.astype(np.int64), links.indices.astype(np.int64), links.data, precision.degree,
            precision.share, np.where(diagonal > 0, diagonal, 1.0), held, tied, unsure[tied],
        )  # fmt: skip

    def single(self) -> Operator:
        """In float32."""
        single: list[Any] = [
            array.astype(np.float32) for array in (self.weights, self.degree, self.diagonal, self.ties)
        ]
        weights, degree, diagonal, ties = single
        return self._replace(weights=weights, degree=degree, diagonal=diagonal, ties=ties)

    def apply(self, X: Any, Y: Any) -> Floats:
        """Y = A X, zero in the rows held, where X is zero, too; returns (m,) the products X'Y of the columns."""
        if not self.share:
            blocks.apply(self.indptr, self.indices, self.weights, self.degree, self.held, X, Y)
        else:
            nowhere, LX = np.zeros_like(self.held), np.empty_like(X)
            blocks.apply(self.indptr, self.indices, self.weights, self.degree, nowhere, X, LX)
            share = self.weights.dtype.type(self.share)
            blocks.apply(
                self.indptr, self.indices, share * self.weights, 1 + share * self.degree, self.held, LX, Y
            )  # fmt: skip
        Y[self.tied] += self.ties[:, None] * X[self.tied]
        return blocks.dots(X, Y)

    def times(self, X: Any) -> Any:
        """(n, m) Q X, in all rows, by differences along the edges: where X is smooth they are small and exact."""
        QX = LX = blocks.laplacian(self.indptr, self.indices, self.weights, X)
        if self.share:
            LLX = blocks.laplacian(self.indptr, self.indices, self.weights, LX)
            QX = LX + self.weights.dtype.type(self.share) * LLX
        return QX

    def residual(self, B: Any, X: Any) -> Any:
        """(n, m) B - A X, zero in the rows held."""
        R = B - self.times(X)
        R[self.tied] -= self.ties[:, None] * X[self.tied]
        R[self.held] = 0
        return R

    def pull(self) -> float:
        """1'A1 over the free nodes: their pull towards those held and unsure answers."""
        QX = self.times(self.held[:, None].astype(self.weights.dtype))
        return float(self.ties.sum() - QX[~self.held].sum(dtype=float))


def solve(system: Operator, B: Any, tolerance: float) -> tuple[Any, int]:
    """(n, m) inv(A) B, zero in the rows held, and the number of steps.

    Preconditioned by inv(D) + 1 1' / (1'A1): the diagonal, and the constant solved for by itself, which with few labels
    is what converges last. A column is done when r'inv(M)r, about the square of its error in the norm of A, is below
    tolerance^2 times that of its solution: an entry of a column G_q is then off by about tolerance sqrt(G_kk G_qq).
    """
    number, scale, pull = B.dtype.type, (1 / system.diagonal).astype(B.dtype), system.pull()

    def preconditioned(R: Any) -> Any:
        Z = blocks.scaled(R, scale)
        if pull > 0:
            Z += (R.sum(axis=0, dtype=float) / pull).astype(number)
            Z[system.held] = 0
        return Z

    B = np.where(system.held[:, None], number(0), B)
    X, R = np.zeros_like(B), B.copy()
    Z = preconditioned(R)
    P, Q = Z.copy(), np.empty_like(B)
    rz, size, steps = blocks.dots(R, Z), np.zeros(B.shape[1]), 0
    while steps < MOST_STEPS:
        going = (rz > tolerance**2 * size) & (rz > 0)
        if not going.any():
            break
        curvature = system.apply(P, Q)
        alpha = np.divide(rz, curvature, out=np.zeros_like(rz), where=going & (curvature > 0))
        blocks.step(X, R, P, Q, alpha.astype(number))
        size += alpha * rz  # x'A x, which is b'x
        Z = preconditioned(R)
        before, rz = rz, blocks.dots(R, Z)
        turn = np.divide(rz, before, out=np.zeros_like(rz), where=going)
        blocks.turn(P, Z, turn.astype(number))
        steps += 1
    return X, steps


def unit_columns(n: int, nodes: Ints, dtype: type = np.float64) -> Floats:
    """(n, m) columns of the identity."""
    B: Floats = np.zeros((n, len(nodes)), dtype)
    B[nodes, np.arange(len(nodes))] = 1
    return B


def matrix_of(system: System) -> sparse.csr_matrix:
    """A as a matrix of all n rows: those held have a one on the diagonal and nothing else."""
    indptr, indices, weights, diagonal, held = system
    n = len(diagonal)
    rows = np.repeat(np.arange(n), np.diff(indptr))
    free = ~(held[rows] | held[indices])
    entries = np.concatenate([-weights[free], np.where(held, 1.0, diagonal)])
    places = (np.concatenate([rows[free], np.arange(n)]), np.concatenate([indices[free], np.arange(n)]))
    A = sparse.csr_matrix((entries, places), shape=(n, n))
    A.sort_indices()
    return A
