"""The covariance in one array on this machine, and beside it the array of the field conditioned on the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import EPS, Flags, Floats, Ints
from fewlabels.field.answers import Answers
from fewlabels.field.costs import Costs
from fewlabels.field.covariance import Known, Levels
from fewlabels.field.links.inverse import cholesky_inverse
from fewlabels.field.links.pieces import TOLERANCE, fill, pieces
from fewlabels.field.links.workspace import Workspace
from fewlabels.field.opinion import asking_h
from fewlabels.field.precision import Precision
from fewlabels.machine import memory

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned, Step
    from fewlabels.field.spec import Recipe

ROWS = 64  # rows worked on at a time where all of them would be another array


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

    def known(self, nodes: Ints, before: Known | None, workspace: Any) -> Known:
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
        found = []
        for here, W, degree in pieces(self.precision, self.piece):
            block = self.K if len(here) == self.n_nodes else np.empty((len(here), len(here)))
            waves = fill(Block(block), W, degree)
            if block is not self.K:
                self.K[np.ix_(here, here)] = block
            if waves is not None:
                found.append((here, waves))
        return Levels.of(self.n_nodes, found)


class Whole(Workspace):
    def __init__(self, covariance: InMemory) -> None:
        super().__init__()
        self._covariance, self._G = covariance, np.empty((0, 0))

    def _array(self) -> Floats:
        return self._G

    def _forward(self, step: Step) -> None:
        from fewlabels.kernels.cpu import blocks

        blocks.rank_one(self._G, step.column, step.column * (-1 / step.pivot))
        if step.sure:
            self._G[step.node] = self._G[:, step.node] = 0

    def _back(self, step: Step) -> None:
        from fewlabels.kernels.cpu import blocks

        blocks.rank_one(self._G, step.column, step.column * (1 / step.pivot))
        self._G[step.node] = self._G[:, step.node] = step.column

    def _fill(self, field: Conditioned) -> None:
        self._G = field.filled(self._covariance.K, self._G)


class Block:
    """A piece's K, as `pieces.fill` works on it."""

    number, tolerance = "float64", TOLERANCE

    def __init__(self, K: Floats) -> None:
        self.K = K

    def invert(self, W: sparse.csr_array, degree: Floats, V: Floats, lift: float) -> bool:
        np.matmul(lift * V, V.T, out=self.K)
        self.K[np.repeat(np.arange(len(degree)), np.diff(W.indptr)), W.indices] -= W.data
        self.K[np.diag_indices(len(degree))] += degree
        return cholesky_inverse(self.K)

    def times(self, X: Floats) -> Floats:
        return np.asarray(self.K @ X)

    def lower(self, by: float) -> None:
        self.K -= by

    def lost(self, degree: Floats) -> float:
        parts = [slice(left, left + ROWS) for left in range(0, len(degree), ROWS)]
        size = np.concatenate([np.sqrt(((self.K[part] ** 2 * degree) ** 2).sum(axis=1)) for part in parts])
        return EPS * float((size / np.maximum(np.diag(self.K), 1 / degree)).max())


def _shortcuts(field: Conditioned, asked: Flags) -> dict[str, Any]:
    """What saves time: the nodes' pieces, and which questions are looked at; and whether the field is smooth."""
    return {
        "nodes": field.unlabelled,
        "piece": field.pieces(),
        "asked": asked,
        "signed": field.smoothness > 0 or field.opinion is not None,
    }
