"""The covariance of each piece of a graph, wherever its array lies: K, and the waves that are kept apart from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import GraphError
from fewlabels.field.precision import Precision

FLAT = 1e-4  # of the mean pivot: the eigenvalue of Q below which K would lose more than four digits to a wave
SLOW = 0.05  # of it as well: the waves that are kept apart then
MOST_WAVES = 32
ROUNDS = 3  # of the search for them
TOLERANCE = 1e-6  # expected relative error of a variance above which a graph is refused, in float64
SEED = 0


class Block(Protocol):
    """An array (m, m) that K of a piece is computed in."""

    number: str  # what it is made of: float64 or float32
    tolerance: float  # expected relative error of a variance above which the graph is refused

    def invert(self, W: sparse.csr_array, degree: Floats, V: Floats, lift: float) -> bool:
        """Becomes inv(diag(degree) - W + lift V V'); False where rounding leaves nothing of it."""

    def times(self, X: Floats) -> Floats:
        """(m, p) its product with X (m, p)."""

    def lower(self, by: float) -> None:
        """Every entry becomes so much less."""

    def lost(self, degree: Floats) -> float:
        """The largest relative error to expect of a variance: rounding times the length of (K_kj^2 degree_j)_j."""


class Waves(NamedTuple):
    """Slow waves of a piece: with K apart from them the covariance is K + F inv(S) F'."""

    F: Floats  # (m, p), each of mean zero
    S: Floats  # (p, p)


def pieces(precision: Precision, piece: Ints) -> Iterator[tuple[Ints, sparse.csr_array, Floats]]:
    """The nodes of every piece that has more than one, in rising order, and their W and degree."""
    nodes, weights = np.argsort(piece, kind="stable"), precision.weights
    edges = np.concatenate([[0], np.flatnonzero(np.diff(piece[nodes])) + 1, [len(piece)]])
    for start, stop in pairwise(edges):
        here = nodes[start:stop]
        if len(here) > 1:
            W = weights if len(here) == len(piece) else sparse.csr_array(weights[here][:, here])
            yield here, W, precision.diagonal[here]


def fill(K: Block, W: sparse.csr_array, degree: Floats) -> Waves | None:
    """Fill K with the covariance of a connected piece up to a constant, without its waves where they are very slow:
    clusters that hardly touch differ by a number that nearly anything is possible for, and beside which all else
    would be lost to rounding.
    """
    m, tau = len(degree), float(degree.mean())
    constant = np.full((m, 1), m**-0.5)
    if K.invert(W, degree, constant, tau):
        X, values = _slowest(K, W, degree)
        if values[0] >= FLAT * tau:
            K.lower(1 / (tau * m))
            _require(K, degree)
            return None
    else:  # even Cholesky's factor is lost in rounding: look for the waves with a little added to the diagonal
        _require_done(K, K.invert(W, degree * (1 + 1e-9), constant, tau))
        X, values = _slowest(K, W, degree)
    V = np.linalg.qr(np.hstack([constant, X[:, values < SLOW * tau]]))[0]
    _require_done(K, K.invert(W, degree, V, tau))
    _require(K, degree)
    F = tau * K.times(V[:, 1:])
    F -= F.mean(axis=0)
    K.lower(1 / (tau * m))
    upper = sparse.coo_array(sparse.triu(W, 1))
    across = F[upper.row] - F[upper.col]
    energy = (across.T * upper.data) @ across  # F'QF, as a sum over the edges: nothing cancels
    S = np.linalg.solve(V[:, 1:].T @ F, energy)
    return Waves(F, (S + S.T) / 2)


def _slowest(K: Block, W: sparse.csr_array, degree: Floats) -> tuple[Floats, Floats]:
    """(m, p) the slowest waves of a piece, roughly, and their eigenvalues in rising order; K is roughly its inverse."""
    m = len(degree)
    X = np.random.default_rng(SEED).normal(size=(m, min(MOST_WAVES, m - 1)))
    for _ in range(ROUNDS):
        X -= X.mean(axis=0)
        X = np.linalg.qr(K.times(X))[0]
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    values, turned = np.linalg.eigh(X.T @ (degree[:, None] * X - W @ X))
    return X @ turned, values


def _require_done(K: Block, inverted: bool) -> None:
    if not inverted:
        raise GraphError(f"{K.number} cannot hold the weights of this graph together. Drop the weakest edges.")


def _require(K: Block, degree: Floats) -> None:
    """Refuse what rounding has cost too much of."""
    lost = K.lost(degree)
    if not lost <= K.tolerance:
        raise GraphError(
            f"the weights span so far that the field would lose {lost:.1g} of a variance to rounding. "
            "Use smoothness=0, which copes, or drop the weakest edges."
        )
