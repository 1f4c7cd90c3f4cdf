"""The covariance in one array on this machine, and beside it the array of the field conditioned on the answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from fewlabels.arrays import EPS, Flags, Floats, Ints
from fewlabels.errors import GraphError
from fewlabels.field.answers import Answers
from fewlabels.field.costs import Costs
from fewlabels.field.covariance import Known, Levels
from fewlabels.field.links.inverse import cholesky_inverse
from fewlabels.field.opinion import asking_h
from fewlabels.field.precision import Precision
from fewlabels.machine import memory

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned, Core
    from fewlabels.field.spec import Recipe

FLAT = 1e-4  # of the mean pivot: the eigenvalue of Q below which K would lose more than four digits to a wave
SLOW = 0.05  # of it as well: the waves that are kept apart then
MOST_WAVES = 32
ROUNDS = 3  # of the search for them
TOLERANCE = 1e-6  # expected relative error of a variance above which the graph is refused
SEED = 0


class InMemory:
    """K, all of it: (n, n) the covariance without the constants of the pieces and without their slowest waves."""

    exact = True
    base = None

    def __init__(self, recipe: Recipe) -> None:
        n = recipe.links.n_nodes
        memory.require(
            16 * n * n,
            f"the dense engine on {n:,} nodes",
            "Take engine='sparse', a smaller graph, or a machine with more memory.",
        )
        self.recipe, self.n_nodes = recipe, n
        self.precision = Precision(recipe.links, recipe.beta, recipe.smoothness.value)
        self.piece = recipe.links.components()
        self.K = np.zeros((n, n))
        self.levels = self._fill()
        self.diagonal: Floats = np.diag(self.K).copy()

    def for_answers(self, answers: Answers) -> InMemory:
        return self

    def mean(self, n_classes: int) -> Floats:
        return np.zeros((self.n_nodes, n_classes))

    def solve(self, B: Floats, tolerance: float | None = None) -> Floats:
        return self.K @ B

    def known(self, nodes: Ints, before: Known | None) -> Known:
        return Known(nodes, self.K[nodes].T)

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        return self.K[nodes].T

    def sums(self) -> Floats:
        return self.K.sum(axis=1)

    def workspace(self) -> Whole:
        return Whole(self)

    def whole(self, field: Conditioned) -> Floats:
        u = field.unlabelled
        with field.workspace.at(field) as G:
            return G[np.ix_(u, u)]

    def conditioned_columns(self, field: Conditioned, nodes: Ints, rough: bool) -> Floats:
        with field.workspace.at(field) as G:
            return G[nodes].T

    def two_step_costs(self, field: Conditioned, asked: Flags) -> Costs:
        from fewlabels.kernels import cpu

        with field.workspace.at(field) as G:
            return Costs(cpu.two_step_cost(G, asking_h(field), field.island, self.n_nodes, **_shortcuts(field, asked)))

    def harmonic_costs(self, field: Conditioned, asked: Flags) -> Costs:
        from fewlabels.kernels import cpu

        with field.workspace.at(field) as G:
            return Costs(cpu.harmonic_cost(G, field.h, field.island, self.n_nodes, **_shortcuts(field, asked)))

    def vopt_costs(self, field: Conditioned, asked: Flags, rough: bool) -> Costs:
        from fewlabels.kernels import cpu

        with field.workspace.at(field) as G:
            return Costs(cpu.vopt_cost(G, field.island, nodes=field.unlabelled))

    def sopt_costs(self, field: Conditioned, asked: Flags) -> Costs:
        from fewlabels.kernels import cpu

        with field.workspace.at(field) as G:
            return Costs(cpu.sopt_cost(G, field.island, nodes=field.unlabelled))

    def _fill(self) -> Levels:
        """K, piece by piece; that of a connected graph in the array itself, without a copy."""
        nodes = np.argsort(self.piece, kind="stable")
        edges = np.concatenate([[0], np.flatnonzero(np.diff(self.piece[nodes])) + 1, [self.n_nodes]])
        weights, found = self.precision.weights, []
        for start, stop in pairwise(edges):
            here, m = nodes[start:stop], int(stop - start)
            if m == 1:
                continue
            W = weights if m == self.n_nodes else sparse.csr_array(weights[here][:, here])
            block = self.K if m == self.n_nodes else np.empty((m, m))
            waves = _covariance(block, W, self.precision.diagonal[here])
            if block is not self.K:
                self.K[np.ix_(here, here)] = block
            if waves is not None:
                found.append((here, waves))
        return Levels.of(self.n_nodes, found)


class Whole:
    """One array (n, n) that is brought to whichever field it is asked for, by one change of rank one from the answer
    before or the next; else it is filled afresh from K. Rows and columns of nodes with a sure answer are zero.
    """

    def __init__(self, covariance: InMemory) -> None:
        self._covariance, self._lock = covariance, Lock()
        self._G: Floats = np.empty((0, 0))
        self._of: Core | None = None

    @contextmanager
    def at(self, field: Conditioned) -> Iterator[Floats]:
        """G of this field, for as long as nobody else needs it."""
        with self._lock:
            self._bring(field)
            yield self._G

    def _bring(self, field: Conditioned) -> None:
        from fewlabels.kernels.cpu import blocks

        core, step = field.core, field.core.step
        if self._of is core:
            return
        back = None if self._of is None else self._of.step
        if step is not None and self._of is not None and step.before is self._of.which:
            blocks.rank_one(self._G, step.column, step.column * (-1 / step.pivot))
            if step.sure:
                self._G[step.node] = self._G[:, step.node] = 0
        elif back is not None and back.before is core.which:
            blocks.rank_one(self._G, back.column, back.column * (1 / back.pivot))
            self._G[back.node] = self._G[:, back.node] = back.column
        else:
            self._of = None  # in case this is interrupted
            self._G = field.filled(self._covariance.K, self._G)
        self._of = core


class Waves(NamedTuple):
    """Slow waves of a piece: with K apart from them the covariance is K + F inv(S) F'."""

    F: Floats  # (m, p), each of mean zero
    S: Floats  # (p, p)


def _covariance(K: Floats, W: sparse.csr_array, degree: Floats) -> Waves | None:
    """Fill K (m, m) with the covariance of a connected piece up to a constant, without its waves where they are very
    slow: clusters that hardly touch differ by a number that nearly anything is possible for, and beside which all else
    would be lost to rounding.
    """
    m, tau = len(K), float(degree.mean())
    constant = np.full((m, 1), m**-0.5)
    if _inverted(K, W, degree, tau, constant):
        X, values = _slowest(K, W, degree)
        if values[0] >= FLAT * tau:
            K -= 1 / (tau * m)
            _require(K, degree)
            return None
    else:  # even Cholesky's factor is lost in rounding: look for the waves with a little added to the diagonal
        if not _inverted(K, W, degree * (1 + 1e-9), tau, constant):
            raise GraphError("float64 cannot hold the weights of this graph together. Drop the weakest edges.")
        X, values = _slowest(K, W, degree)
    V = np.linalg.qr(np.hstack([constant, X[:, values < SLOW * tau]]))[0]
    if not _inverted(K, W, degree, tau, V):
        raise GraphError("float64 cannot hold the weights of this graph together. Drop the weakest edges.")
    _require(K, degree)
    F = tau * K @ V[:, 1:]
    F -= F.mean(axis=0)
    K -= 1 / (tau * m)
    upper = sparse.coo_array(sparse.triu(W, 1))
    across = F[upper.row] - F[upper.col]
    energy = (across.T * upper.data) @ across  # F'QF, as a sum over the edges: nothing cancels
    S = np.linalg.solve(V[:, 1:].T @ F, energy)
    return Waves(F, (S + S.T) / 2)


def _inverted(K: Floats, W: sparse.csr_array, degree: Floats, tau: float, V: Floats) -> bool:
    """K = inv(diag(degree) - W + tau V V'), in place; False where rounding leaves nothing of it."""
    np.matmul(tau * V, V.T, out=K)
    rows = np.repeat(np.arange(len(K)), np.diff(W.indptr))
    K[rows, W.indices] -= W.data
    K[np.diag_indices(len(K))] += degree
    return cholesky_inverse(K)


def _slowest(K: Floats, W: sparse.csr_array, degree: Floats) -> tuple[Floats, Floats]:
    """(m, p) the slowest waves of a piece, roughly, and their eigenvalues in rising order; K is roughly its inverse."""
    m = len(K)
    X = np.random.default_rng(SEED).normal(size=(m, min(MOST_WAVES, m - 1)))
    for _ in range(ROUNDS):
        X -= X.mean(axis=0)
        X = np.linalg.qr(K @ X)[0]
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    values, turned = np.linalg.eigh(X.T @ (degree[:, None] * X - W @ X))
    return X @ turned, values


def _require(K: Floats, degree: Floats) -> None:
    """Refuse what rounding has cost too much of."""
    error = EPS * np.array([np.linalg.norm(row**2 * degree) for row in K])
    lost = error / np.maximum(np.diag(K), 1 / degree)
    if not lost.max() <= TOLERANCE:
        raise GraphError(
            f"the weights span so far that the field would lose {lost.max():.1g} of a variance to rounding. "
            "Use smoothness=0, which copes, or drop the weakest edges."
        )


def _shortcuts(field: Conditioned, asked: Flags) -> dict[str, Any]:
    """What saves time: the nodes' pieces, and which questions are looked at; and whether the field is smooth."""
    return {
        "nodes": field.unlabelled,
        "piece": field.pieces(),
        "asked": asked,
        "signed": field.smoothness > 0 or field.opinion is not None,
    }
