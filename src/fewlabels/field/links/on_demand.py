"""The covariance of a large graph: its diagonal, and columns as they are asked for; never all of it.

One node of each piece is held, its anchor, and others where it would be very large otherwise: K is the inverse of Q
without them, and the levels are their values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.errors import FewlabelsError
from fewlabels.field.answers import Answers
from fewlabels.field.costs import Costs
from fewlabels.field.covariance import Levels
from fewlabels.field.links import lookahead, variance
from fewlabels.field.links.budget import Budget, budget_for
from fewlabels.field.links.columns import AT_ONCE, Columns
from fewlabels.field.links.growing import Growing
from fewlabels.field.links.solve import pcg
from fewlabels.field.links.solve.chebyshev import LARGE, ByWaves
from fewlabels.field.links.solve.choose import Choice, choose, for_held
from fewlabels.field.links.solve.diagonal import Variances, exact_diagonal, variances
from fewlabels.field.links.solve.pcg import Operator, unit_columns
from fewlabels.field.links.solve.pinned import ByFactor, Solver
from fewlabels.field.links.solve.polynomial import blocks_of
from fewlabels.field.links.solve.refinement import refine
from fewlabels.field.links.solve.waves import COUNT
from fewlabels.field.precision import Precision
from fewlabels.kernels.cpu import blocks
from fewlabels.machine import memory
from fewlabels.machine.threads import one_blas_thread

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned
    from fewlabels.field.spec import Recipe

FAR = 1e3  # times the inverse of a typical pivot: beyond it a variance would cost others three digits of a factor's
TIGHT, EXACT = 1e-9, 1e-12  # tolerance of columns that answers are conditioned on, without a factor and with one
SLOWEST = 0.5  # factor by which a correction must shrink the error at least; 0.005 is usual
MANY = 500  # answers from which the covariance begins anew, at those that there are
MOST_BYTES = 8e8  # of the columns kept for the answers, likewise
MOST_HELD = 32  # nodes besides the anchors
PROBES = 64  # for VOpt's sums of squares: 18% noise, before the pool is scored in full
SEED = 20160219


class KnownTwice(NamedTuple):
    """The columns of the answered nodes, refined; and as rough as those that score questions, which they are taken off:
    what is nearly right in every direction stays so when it is conditioned, but not what is right in some.
    """

    nodes: Ints
    X: Floats  # (n, l)
    rough: Any  # (n, l)
    stores: tuple[Growing, Growing]


class OnDemand:
    """The sparse engine."""

    def __init__(
        self,
        recipe: Recipe,
        solver: str = "auto",
        pool: int | None = None,
        sample: int | None = None,
        *,
        base: Answers | None = None,
        root: OnDemand | None = None,
    ) -> None:
        """`base` are answers that it begins at; `root` is the covariance without them."""
        graph, n = recipe.links, recipe.links.n_nodes
        smooth = recipe.smoothness.value > 0
        self._budget_for = partial(budget_for, n, pool=pool, sample=sample, smooth=smooth)
        most = self._budget_for(True)
        columns = np.dtype(most.dtype).itemsize * n * (most.columns + 4 * AT_ONCE)  # kept, and at work
        memory.require(
            columns + (8 * n * COUNT if smooth else 0) + 40 * graph.weights.nnz,
            f"the sparse engine on {n:,} nodes",
            "Take a smaller graph, or a machine with more memory.",
        )
        self.recipe, self.n_nodes, self.base = recipe, n, base
        self._root, self._settings = root or self, (solver, pool, sample)
        if root is None:
            self.precision, self.piece = Precision(graph, recipe.beta, recipe.smoothness.value), graph.components()
        else:
            self.precision, self.piece = root.precision, root.piece
        self.uniform = 1 - np.random.default_rng(SEED).random(n)  # (n,) in (0, 1]: every node's place in the samples

    def __repr__(self) -> str:
        return f"OnDemand({self.n_nodes:,} nodes, {self.solver.name}: {self._chosen[0]})"

    def for_answers(self, answers: Answers) -> OnDemand:
        """This one, or one that begins at the answers where they are many; the one before any where they are not."""
        if self.base is not None and _holds(answers, self.base):
            if self._few(len(answers.nodes) - len(self.base.nodes)):
                return self
        elif self._few(len(answers.nodes)):
            return self._root
        return OnDemand(self.recipe, *self._settings, base=answers, root=self._root)

    def _few(self, answers: int) -> bool:
        return answers <= MANY and 8 * answers * self.n_nodes <= MOST_BYTES

    # What is held, and how the rest is solved for

    @cached_property
    def _anchor(self) -> Ints:
        """(pieces,) the best connected node of each: its column is the flattest, which suits solvers."""
        order = np.lexsort((np.arange(self.n_nodes), self.precision.diagonal))
        anchor = np.empty(int(self.piece.max()) + 1, dtype=np.int64)
        anchor[self.piece[order]] = order
        return anchor

    @cached_property
    @one_blas_thread
    def _chosen(self) -> tuple[str, Solver, Ints]:
        """Why this solver, itself, and the nodes held besides the anchors."""
        if self.base is not None:
            unsure = self._unsure
            loose = ~np.isin(np.arange(len(self._anchor)), self.piece[self.base.nodes])
            held = np.concatenate([list(self.base.sure), self._anchor[loose]]).astype(np.int64)
            solver = for_held(self.precision, held, unsure)
            return "many answers", solver, held
        choice = choose(self.precision, self.piece, self._anchor, self._settings[0])
        solver = choice.holding(np.empty(0, dtype=np.int64))
        others = self._far(solver, choice)
        return choice.why, choice.holding(others) if len(others) else solver, others

    @property
    def solver(self) -> Solver:
        return self._chosen[1]

    def _far(self, solver: Solver, choice: Choice) -> Ints:
        """Nodes whose variance would be so large that others beside it would lose digits, were they not held."""
        typical = 1 / max(float(self.precision.diagonal.mean()), 1e-300)
        if isinstance(choice.open, ByWaves):
            U = choice.open.slow_part()
            if U is None:
                return np.empty(0, dtype=np.int64)
            U = U - U[self._anchor[self.piece]]
            diagonal = np.einsum("ij,ij->i", U, U)
            return _pivots(diagonal, lambda q: U @ U[q], LARGE * typical)
        diagonal = exact_diagonal(solver)
        if diagonal is None:
            return np.empty(0, dtype=np.int64)
        diagonal[self._anchor] = 0  # they are held already
        return _pivots(diagonal, lambda q: solver.columns(np.array([q]))[:, 0], FAR * typical)

    @cached_property
    def _held(self) -> Flags:
        flags = np.zeros(self.n_nodes, dtype=bool)
        flags[self._chosen[2]] = True
        if self.base is None:
            flags[self._anchor] = True
        return flags

    @cached_property
    def system(self) -> Operator:
        return Operator.of(self.precision, self._held, self._unsure)

    @cached_property
    def _unsure(self) -> Floats:
        """(n,) the weights of the unsure answers that it begins at."""
        unsure = np.zeros(self.n_nodes)
        if self.base is not None:
            nodes, weights = self.base.in_doubt
            unsure[nodes] = weights.sum(axis=1)
        return unsure

    @cached_property
    def budget(self) -> Budget:
        """What a question may spend."""
        return self._budget_for(self.solver.exact)

    # Covariance

    @property
    def exact(self) -> bool:
        return self.variances.exact

    @one_blas_thread
    def solve(self, B: Floats, tolerance: float | None = None) -> Floats:
        """(n, m) K B; without a tolerance, good enough to score questions."""
        X = self.solver.solve(B)
        return X if tolerance is None or tolerance >= self.solver.tolerance else self._refined(B, X, tolerance)

    @one_blas_thread
    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        X = self.solver.columns(nodes)
        tolerance = self.budget.tolerance if rough else self._tight
        if tolerance >= self.solver.tolerance:
            return X
        return self._refined(unit_columns(self.n_nodes, nodes), X, tolerance)

    @property
    def _roughly(self) -> bool:
        """Whether questions are scored by rough columns: on graphs large enough for it to pay off."""
        return self.budget.dtype is np.float32

    @property
    def _tight(self) -> float:
        return EXACT if isinstance(self.solver, ByFactor) else TIGHT

    def _refined(self, B: Floats, X: Floats, tolerance: float) -> Floats:
        """X, corrected by what its residual says until it is as near as that; else solved for again."""
        found: Floats = np.empty(X.shape)
        B = np.where(self._held[:, None], 0.0, B)
        for part in blocks_of(X.shape[1]):
            mine, of = np.array(X[:, part], dtype=float), np.ascontiguousarray(B[:, part])
            if not refine(mine, partial(self.system.residual, of), self.solver.solve, tolerance, SLOWEST):
                mine, _ = pcg.solve(self.system, of, tolerance)
            found[:, part] = mine
        return found

    def known(self, nodes: Ints, before: KnownTwice | None, workspace: Columns) -> KnownTwice:
        exact, rough = (Growing(self.n_nodes, np.float64), Growing(self.n_nodes)) if before is None else before.stores
        exact, rough = exact.copy(), rough.copy()
        for store in (exact, rough):
            store.keep(np.isin(store.nodes, nodes))
        new = nodes[len(exact.nodes) :]
        if len(new):
            first: dict[str, Any] = {}  # the columns as they come from the solver serve both

            def solved(nodes: Ints) -> Floats:
                found = workspace.of_covariance(nodes)  # a question's column is here when its answer comes
                first["found"] = found = one_blas_thread(self.solver.columns)(nodes) if found is None else found
                return one_blas_thread(self._refined)(unit_columns(self.n_nodes, nodes), found, self._tight)

            def as_they_come(nodes: Ints) -> Floats:
                found = first["found"] if first else one_blas_thread(self.solver.columns)(nodes)
                return np.asarray(found, np.float32)

            exact.add(new, solved)
            if self._roughly:
                rough.add(new, as_they_come)
        return KnownTwice(exact.nodes, exact.X, rough.X if self._roughly else exact.X, (exact, rough))

    @cached_property
    def levels(self) -> Levels:
        """The values of the nodes held besides the anchors: how much each counts everywhere, and F'QF."""
        others = self._chosen[2]
        if self.base is not None or not len(others):
            return Levels(np.zeros((self.n_nodes, 0)), np.zeros((0, 0)))
        B = np.where(self._held[:, None], 0.0, self.precision.rows(others).toarray().T)
        F = self.solve(B, self._tight)
        for _ in range(2):  # to rounding: answers that contradict each other weigh it against what a bridge carries
            F += self.solver.solve(self.system.residual(B, F))
        F[others, np.arange(len(others))] = 1
        upper = sparse.coo_array(sparse.triu(self.precision.links, 1))
        S = np.zeros((len(others), len(others)))
        for left in range(0, upper.nnz, 2**18):  # as a sum over the edges nothing cancels
            part = slice(left, left + 2**18)
            across = F[upper.row[part]] - F[upper.col[part]]
            S += (across.T * upper.data[part]) @ across
        if self.precision.share:
            links = self.system.indptr, self.system.indices, self.system.weights
            LF = blocks.laplacian(*links, F)
            S += self.precision.share * LF.T @ LF
        return Levels(F, (S + S.T) / 2)

    @cached_property
    @one_blas_thread
    def variances(self) -> Variances:
        """K along the graph itself. From then on float32 may do for rough columns."""
        found = variances(self.system, self.solver, self.precision, self.piece, self, np.random.default_rng(SEED))
        if self.budget.dtype is np.float32:
            self.solver.narrow()
        return found

    @property
    def diagonal(self) -> Floats:
        return self.variances.diagonal

    @cached_property
    def _sums(self) -> Floats:
        return self.solve(np.ones((self.n_nodes, 1)), self._tight)[:, 0]

    def sums(self) -> Floats:
        return self._sums

    @cached_property
    def probes(self) -> tuple[Any, Any]:
        """(n, m) random signs Z, and K Z."""
        Z: Any = 1 - 2 * np.random.default_rng(SEED).integers(2, size=(self.n_nodes, PROBES)).astype(np.float32)
        return Z, self.solve(Z, 1e-6)

    def mean(self, n_classes: int) -> Floats:
        """(n, C) h by the answers that it begins at."""
        base = self.base
        if base is None:
            return np.zeros((self.n_nodes, n_classes))
        if n_classes not in self._means:
            values = np.zeros((self.n_nodes, base.n_classes))
            values[list(base.sure)] = base.values[: len(base.sure)]
            pull = self.precision.towards(values)
            nodes, weights = base.in_doubt
            pull[nodes] += 2 * weights - weights.sum(axis=1, keepdims=True)
            mean = self.solve(pull, TIGHT)
            mean[list(base.sure)] = base.values[: len(base.sure)]
            reached = np.isin(self.piece, self.piece[base.nodes])[:, None]
            later = np.where(reached, -1.0, 0.0).repeat(n_classes - base.n_classes, axis=1)
            self._means[n_classes] = np.hstack([np.where(reached, mean, 0.0), later])
        return self._means[n_classes]

    @cached_property
    def _means(self) -> dict[int, Floats]:
        return {}

    def workspace(self) -> Columns:
        return Columns(self)

    def whole(self, field: Conditioned) -> Floats:
        raise FewlabelsError(
            f"the sparse engine never forms G, {self.n_nodes:,} x {self.n_nodes:,}: use field.columns(nodes), "
            "field.variance and field.h, or engine='dense'."
        )

    def conditioned_columns(self, field: Conditioned, nodes: Ints, rough: bool, centred: bool = True) -> Floats:
        if rough:
            X = self.columns(nodes, rough=True)
            X -= self.reduction(field, nodes).astype(X.dtype, copy=False)
        else:
            X = self.columns(nodes)
            X -= field.reduction(nodes)
        X[field.label >= 0] = 0
        if centred:
            self._centre(field, nodes, X)
        return X

    def reduction(self, field: Conditioned, nodes: Ints) -> Any:
        """(n, m) what the answers take off rough columns of K."""
        return field.reduction(nodes, field.core.A if self.solver.exact else field.rough_A, field.known.rough)

    def _centre(self, field: Conditioned, nodes: Ints, X: Floats) -> None:
        """In a piece without an answer: the pseudo-inverse, which is about the means."""
        loose = np.flatnonzero(~field.reached[nodes])
        for piece in np.unique(self.piece[nodes[loose]]):
            members, own = self.piece == piece, loose[self.piece[nodes[loose]] == piece]
            mean = field.all_sums[members] / members.sum()
            part = X[np.ix_(members, own)]
            X[np.ix_(members, own)] = part - part.mean(axis=0) - mean[:, None] + mean.mean()

    def two_step_costs(self, field: Conditioned, asked: Flags) -> Costs:
        return self._once("two_step", lookahead.costs, field, asked, False)

    def harmonic_costs(self, field: Conditioned, asked: Flags) -> Costs:
        return self._once("harmonic", lookahead.costs, field, asked, True)

    def vopt_costs(self, field: Conditioned, asked: Flags, rough: bool) -> Costs:
        if rough:
            return variance.rough_vopt_costs(field)
        return self._once("vopt", variance.costs, field, asked, False)

    def sopt_costs(self, field: Conditioned, asked: Flags) -> Costs:
        return self._once("sopt", variance.costs, field, asked, True)

    def _once(
        self, name: str, compute: Callable[[OnDemand, Conditioned, Flags, bool], Costs], field: Conditioned,
        asked: Flags, which: bool,
    ) -> Costs:  # fmt: skip
        """The costs of one field are worked out once: the same question however often it is asked for."""
        name += f" {hash(asked.tobytes())}"
        if name not in field.kept_costs:
            with field.workspace.lock:
                field.kept_costs[name] = compute(self, field, asked, which)
        values, screening = field.kept_costs[name]
        if np.isnan(values).any():
            low, high = self.precision.links.data.min(), self.precision.links.data.max()
            raise FewlabelsError(
                f"float64 cannot hold this field of {self.n_nodes:,} nodes with weights from {low:g} to {high:g}: "
                "drop the weakest edges, or contract the longest chains."
            )
        return Costs(values.copy(), screening)


def _holds(answers: Answers, base: Answers) -> bool:
    """Whether all of the base are among the answers."""
    return all(answers.sure.get(node) == label for node, label in base.sure.items()) and all(
        node not in answers.sure and np.array_equal(answers.unsure.get(node, np.empty(0))[: base.n_classes], weights)
        for node, weights in zip(base.in_doubt[0].tolist(), base.in_doubt[1], strict=True)
    )


def _pivots(diagonal: Floats, column: Callable[[int], Floats], bound: float) -> Ints:
    """The nodes of a pivoted Cholesky factor, as long as a variance is above the bound."""
    found: list[int] = []
    factor: Floats = np.zeros((len(diagonal), MOST_HELD))
    left = diagonal.astype(float)
    while len(found) < MOST_HELD and left.max() > bound:
        q, k = int(np.argmax(left)), len(found)
        factor[:, k] = (column(q) - factor[:, :k] @ factor[q, :k]) / np.sqrt(left[q])
        left = np.maximum(left - factor[:, k] ** 2, 0)
        left[q] = 0
        found.append(q)
    return np.array(found, dtype=np.int64)
