"""The smooth field from a covariance that no answer changes, conditioned on the labels by small algebra.

Q = L + share L^2 has the covariance inv(L) inv(I + share L), up to a constant in each component. Given the labels it is
conditioned as in kriging with an unknown mean (docs/maths.md, "Few labels"), which holds for any such constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from fewlabels.arrays import Flags, Floats, Ints, Numbers
from fewlabels.field.known import LabelTerms
from fewlabels.field.precision import Precision
from fewlabels.field.sparse.solve.chebyshev import Smoother
from fewlabels.field.sparse.solve.growing import Growing
from fewlabels.field.sparse.solve.pcg import System, unit_columns, unsure_ties
from fewlabels.field.sparse.solve.polynomial import blocks_of
from fewlabels.field.sparse.solve.refinement import refine
from fewlabels.field.sparse.solve.remainder import ManyHeld, Remainder
from fewlabels.kernels.cpu.wide_rows import WIDE

if TYPE_CHECKING:
    from fewlabels.field.sparse.solve.choose import Solver

MANY = 500  # answers from which Q is solved for directly where the nodes left can be factored
MOST_ENTRIES = 10**8  # of the columns kept for the answers: beyond it Q is solved for directly, which many answers ease
ROUGH = 1e-3  # tolerance that needs no refinement
STRICTER = 0.1  # a column of the covariance is larger than what is left of it once labels are known
SLOWEST = 0.5  # factor by which a correction must shrink the error at least; 0.005 is usual
KEEP = 4 * 10**7  # entries of columns that are kept for the case that they are wanted again


class Covariance(Protocol):
    """Roughly inv(Q), up to a constant in each component: symmetric, and nearly right in every direction."""

    @property
    def exact(self) -> bool: ...

    @property
    def name(self) -> str: ...

    def solve(self, B: Floats) -> Floats:
        """(n, m) inv(Q) B, where B sums to zero over each component."""

    def between(self, nodes: Ints, others: Ints) -> Floats:
        """(n, m) columns of these nodes less those of the others."""

    def waves(self) -> Numbers | None:
        """(n, k) the slow waves, where something is known of them."""


class Anchored:
    """From a solver for L held at one node of each component, its anchor: inv(Q) = inv(L) - share T, with T as in
    `Smoother`.
    """

    def __init__(
        self, solver: Solver, system: System, smoother: Smoother, waves: Callable[[], Numbers | None] = lambda: None
    ) -> None:
        """`waves` tells of the slow ones, where something is known of them."""
        self._solver, self._system, self._smoother, self.waves = solver, system, smoother, waves

    @property
    def exact(self) -> bool:
        return self._solver.exact

    @property
    def name(self) -> str:
        return self._solver.name

    def solve(self, B: Floats) -> Floats:
        return self._less(self._solver.solve(self._system, B, STRICTER * ROUGH), B)

    def between(self, nodes: Ints, others: Ints) -> Floats:
        n = len(self._system.held)
        X = self._solver.columns(self._system, nodes, STRICTER * ROUGH)  # those of the others, the anchors, are zero
        return self._less(X, unit_columns(n, nodes, np.float32) - unit_columns(n, others, np.float32))

    def _less(self, X: Floats, B: Floats) -> Floats:
        """inv(Q) B from inv(L) B."""
        X -= self._smoother.share * self._smoother.solve(B)
        return X


class Kriging:
    """inv(A) B = K B - [K_o F] inv(M) [K_o F]'B with M = [[K_oo + N, F_o], [F_o', 0]], zero in the rows held.

    K is zero in the rows and columns of one node of each component, its anchor: where that alone is held, inv(A) is K.
    o are the nodes held and those with unsure answers in all other components, N the variance of the latter, F says
    which of these components a node is in.

    All of K is from the same rough solvers. What is nearly right in every direction stays so when it is conditioned,
    however much of it cancels: clusters that hardly touch have a large K and a small inv(A). What must be precise is
    refined by its residual, and where that fails Q is solved for directly.
    """

    def __init__(
        self,
        precision: Precision,
        held: Flags,
        component: Ints,
        covariance: Callable[[], Covariance],
        rest: ManyHeld,
    ) -> None:
        """`held` are the anchors; `covariance` is called when first wanted, and returns the same ever after; `rest` is
        for what cannot be conditioned.
        """
        self._precision, self._covariance, self._component = precision, covariance, component
        n, parts = len(component), int(component.max()) + 1
        self._of_part = sparse.csr_array((np.ones(n), (component, np.arange(n))), shape=(parts, n))
        self._anchor = np.empty(parts, dtype=np.int64)
        self._anchor[component[held]] = np.flatnonzero(held)
        self._direct = rest
        self._failed = False  # to be refined
        self._last: list[tuple[Ints, Floats]] = []  # nodes and their columns of K, last solved for
        self._known = Growing(n)  # o, and their columns
        self._parts: Ints = np.empty(0, dtype=np.int64)  # the components of F
        self._of: tuple[bytes, bytes] | None = None  # the labels and answers that M is for
        self._M: Floats = np.empty((0, 0))  # its inverse

    @property
    def exact(self) -> bool:
        return self._direct.factored or self._covariance().exact

    @property
    def name(self) -> str:
        return f"{self._covariance().name}, conditioned"

    def refresh(self, system: System) -> None:
        """Nothing to do: what is kept does not depend on the labels."""
        self._direct.refresh(system)

    def solve(self, system: System, B: Floats, tolerance: float, guess: Floats | None = None) -> Floats:
        if not self._conditioned(system):
            return self._direct.solve(system, B, tolerance, guess)
        B = np.where(system.held[:, None], 0.0, B)
        X = self._roughly(system, B)
        return X if tolerance >= ROUGH else self._refined(system, B, X, tolerance)

    def columns(self, system: System, nodes: Ints, tolerance: float, guess: Floats | None = None) -> Floats:
        if not self._conditioned(system):
            return self._direct.columns(system, nodes, tolerance, guess)
        sums = (self._component[nodes] == self._parts[:, None]).astype(float)
        across = np.vstack([self._K[nodes].T, sums])
        X = self._corrected(system, self._columns(nodes), across)
        if tolerance >= ROUGH:
            return X
        return self._refined(system, unit_columns(len(system.held), nodes), X, tolerance)

    def hold(self, system: System, node: int, column: Floats) -> None:
        """Nothing to do until something is solved for."""
        self._direct.hold(system, node, column)

    def release(self, system: System, node: int, reach: Floats, s: float) -> None:
        self._direct.release(system, node, reach, s)

    def narrow(self, dtype: type) -> None:
        self._direct.narrow(dtype)

    def waves(self, system: System) -> Numbers | None:
        """Less what kriging makes of their values at the labels."""
        X: Any = self._covariance().waves() if self._conditioned(system) else None
        if X is not None:
            known = np.vstack([self._without_anchors(X)[self._nodes], np.zeros((len(self._parts), X.shape[1]))])
            X = self._corrected(system, X, known)
        return X

    def remainder(self, system: System) -> Remainder | None:
        """The nodes left, where so many are held that these are factored."""
        return None if self._conditioned(system) else self._direct.remainder(system)

    def precision_of(self, system: System, nodes: Ints, sample: Ints) -> LabelTerms | None:
        """Of these labels, all of them sure: inv(M) holds their precision, and K times it what they count elsewhere."""
        if not self._conditioned(system):
            return None
        order = np.argsort(self._nodes)
        there = np.isin(nodes, self._nodes)  # any other is an anchor, alone in its component
        place = order[np.searchsorted(self._nodes[order], nodes[there])]
        rows, of = self._M[place], self._component
        size = np.bincount(of)
        S = np.zeros((len(nodes), len(nodes)))
        total, sampled = size[of[nodes]].astype(float), np.equal.outer(of[nodes], of[sample]).astype(float)
        S[np.ix_(there, there)] = rows[:, place]
        total[there] = rows @ np.concatenate([self._K.sum(axis=0, dtype=float), size[self._parts]])
        sampled[there] = rows @ np.vstack([self._K[sample].T, np.equal.outer(self._parts, of[sample])])
        return LabelTerms(S, total, sampled)

    def copy(self) -> Kriging:
        twin = object.__new__(Kriging)
        twin.__dict__.update(self.__dict__)
        twin._direct, twin._last, twin._known = self._direct.copy(), list(self._last), self._known.copy()
        return twin

    @property
    def _nodes(self) -> Ints:
        """o."""
        return self._known.nodes

    @property
    def _K(self) -> Floats:
        """(n, o) the columns of K known."""
        return self._known.X

    def _refined(self, system: System, B: Floats, X: Floats, tolerance: float) -> Floats:
        """X to this tolerance; where that fails Q is solved for directly, now and from now on."""
        m = X.shape[1]
        if m > WIDE:  # the blocks at work take six times the memory of the columns
            return np.hstack([self._refined(system, B[:, part], X[:, part], tolerance) for part in blocks_of(m)])
        A, X, B = self._direct.iterative.of(system, np.float64), X.astype(float), np.where(system.held[:, None], 0.0, B)
        if refine(X, lambda X: A.residual(B, X), lambda R: self._roughly(system, R), tolerance, SLOWEST):
            return X
        self._failed = True
        return self._direct.solve(system, B, tolerance)

    def _roughly(self, system: System, B: Floats) -> Floats:
        """(n, m) inv(A) B, where B is zero in the rows held."""
        sums = self._of_part @ B  # (parts, m)
        balanced = B.copy()
        balanced[self._anchor] -= sums
        X = self._without_anchors(self._covariance().solve(balanced))
        return self._corrected(system, X, np.vstack([self._K.T @ B.astype(self._K.dtype), sums[self._parts]]))

    def _columns(self, nodes: Ints) -> Floats:
        """(n, m) columns of K. They do not change, and the last ones are often wanted again: by an answer after its
        question, or by the next of the first questions.
        """
        X: Floats | None = None
        for known, kept in self._last:
            order = np.argsort(known)
            places = order[np.minimum(np.searchsorted(known, nodes, sorter=order), len(known) - 1)]
            here = known[places] == nodes
            if 2 * here.sum() < len(nodes):
                continue
            X = np.take(kept, places, axis=1)
            if here.all():
                return X
            X[:, ~here] = self._solved_for(nodes[~here])
            break
        if X is None:
            X = self._solved_for(nodes)
        if X.size <= KEEP:
            one = len(nodes) == 1  # one block of an answer, and one of questions
            self._last = [last for last in self._last if (len(last[0]) == 1) != one]
            self._last.append((nodes.copy(), X.copy()))
        return X

    def _solved_for(self, nodes: Ints) -> Floats:
        return self._without_anchors(self._covariance().between(nodes, self._anchor[self._component[nodes]]))

    def _without_anchors(self, X: Floats) -> Floats:
        """X less what it is at the anchor of each component."""
        at = X[self._anchor]
        X -= at if len(at) == 1 else at[self._component]
        return X

    def _corrected(self, system: System, X: Floats, across: Floats) -> Floats:
        if len(self._nodes):
            weights = (self._M @ across).astype(X.dtype)
            X -= self._K.astype(X.dtype, copy=False) @ weights[: len(self._nodes)]
            for part, row in zip(self._parts, weights[len(self._nodes) :], strict=True):
                X -= np.multiply.outer((self._component == part).astype(X.dtype), row) if len(self._anchor) > 1 else row
        X[system.held] = 0
        return X

    def _conditioned(self, system: System) -> bool:
        """Have M for these labels; False where there are too many, or where that has failed."""
        if self._failed:
            return False
        unsure = unsure_ties(system, self._precision.diagonal)
        now = np.flatnonzero(system.held | (unsure > 0))
        state = now.tobytes(), unsure[now].tobytes()
        if self._of == state:
            return True
        alone = np.ones(len(self._anchor), dtype=bool)  # components of which the anchor is held, and nothing else known
        alone[self._component[now[(now != self._anchor[self._component[now]]) | (unsure[now] > 0)]]] = False
        alone[self._component[self._anchor[~system.held[self._anchor]]]] = False
        now = now[~alone[self._component[now]]]
        if len(now) * len(system.held) > MOST_ENTRIES or (len(now) > MANY and self._direct.remainder(system)):
            return False
        self._known.keep(np.isin(self._nodes, now))
        new = now[~np.isin(now, self._nodes)]
        if len(new):
            self._known.add(new, self._columns)
        here, self._parts = self._nodes, np.flatnonzero(~alone)
        noise = np.divide(1.0, unsure[here], out=np.zeros(len(here)), where=unsure[here] > 0)
        inside = self._K[here].astype(float)
        F = (self._component[here][:, None] == self._parts).astype(float)
        M = np.block([[(inside + inside.T) / 2 + np.diag(noise), F], [F.T, np.zeros((len(self._parts),) * 2)]])
        self._M = np.asarray(np.linalg.inv(M), dtype=np.float64)
        self._of = state
        return True
