"""The field: a covariance conditioned on the answers. From h and G follows everything that is predicted and asked.

    A     = inv [[-S, F_o'], [F_o, K_oo + N]]     o the answered nodes, N the variances of their noise (0 where sure)
    reach = [F  K_o] A                            how much each level and each answer counts at each node
    h     = reach y                               what to expect of each node
    G     = K - reach [F  K_o]'                   what is still open

(docs/maths.md, "One form"; `field.front_page` is the same in 72 lines.) Nothing of a field changes: an answer makes
another one, from the one before it if that is quicker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fewlabels.arrays import EPS, Flags, Floats, Ints
from fewlabels.field.answers import Answers
from fewlabels.field.costs import Costs
from fewlabels.field.covariance import Covariance, Known, Levels
from fewlabels.field.opinion import Opinion
from fewlabels.field.precision import Precision
from fewlabels.field.spec import Centring

LOOSE = 1e3  # of the mean variance: a wave that adds more would cost this many times rounding where answers pin it
LOST = 1e-12  # relative error of a variance up to which a field is made from the one before it: 5,000 roundings
ROUGH = 1e-4  # tolerance of what only tells classes and chances
NONE: Ints = np.empty(0, dtype=np.int64)
STRETCH = 2**22  # numbers worked on at a time where all of them would be another large array


class Step(NamedTuple):
    """How a core follows from another by one answer: G' = G - column column' / pivot."""

    before: object  # which core it was
    node: int
    column: Floats  # (n,) G of before, at the node
    pivot: float  # G_qq and the noise of the answer
    sure: bool


class Core(NamedTuple):
    """All that does not depend on what was answered, only on where. Two fields with the same core have the same G."""

    levels: Levels  # as they are told apart by the answers
    A: Floats  # (p + l, p + l) levels first, then answers
    variance: Floats  # (n,) G_kk, zero where sure; in a piece without an answer what is finite of it
    lost: float  # relative error to expect of a variance, from the steps since A was inverted
    step: Step | None  # where it was made by one
    which: object  # tells it apart, without keeping those before it


class LeftOut(NamedTuple):
    """What the other answers say of each answered node, a row for each."""

    nodes: Ints  # (l,)
    h: Floats  # (l, C); 0 where no other answer reaches
    variance: Floats  # (l,) infinite there
    values: Floats  # (l, C) what was answered
    total: Floats  # (l,) how much the answer counts at all nodes without one together
    there: Floats  # (l, s) the same at each node of a sample, its own included


class Conditioned:
    """h and G given the answers, by node; the arrays named (u, ...) have a row for each node without a sure answer."""

    def __init__(
        self,
        covariance: Covariance,
        answers: Answers,
        centring: Centring | None = None,
        opinion: Opinion | None = None,
        closed: frozenset[int] = frozenset(),
        before: Conditioned | None = None,
    ) -> None:
        """`centring`: how predictions are set about the shares of the classes, None: as h is; `opinion`: what a model
        thinks of every node; `closed`: the nodes that no question will be about. `before` is a field with some of these
        answers, whose work is made use of.
        """
        self.covariance, self.answers = covariance, answers
        self.centring, self.opinion, self.closed = centring, opinion, closed
        self._before: Conditioned | None = before
        self._next: Conditioned | None = None  # the last one made of this
        self.kept_costs: dict[str, Costs] = {}  # of this field, where an engine works them out once
        if before is None or before.covariance is not covariance:
            self._before, workspace = None, covariance.workspace()
        else:
            workspace = before.workspace
        self.workspace: Any = workspace

    # What was answered

    def with_answer(self, node: int, label: int) -> Conditioned:
        """This node (a number) is of this class (a number); a label it had is replaced."""
        return self.with_answers({node: label})

    def with_answers(self, labels: Mapping[int, int]) -> Conditioned:
        """{node: class}: the same for many."""
        return self._after(self.answers.with_sure(labels))

    def with_unsure(self, weights: Mapping[int, Floats]) -> Conditioned:
        """{node: (C,) the weights of its unsure answers, by the class they name}, in the place of those before."""
        return self._after(self.answers.with_unsure(weights))

    def without(self, nodes: Iterable[int]) -> Conditioned:
        """The labels of these nodes are taken back."""
        return self._after(self.answers.without(nodes))

    def with_class(self) -> Conditioned:
        """One more class, which no answer has named: every answer so far speaks against it."""
        centring, opinion = self.centring, self.opinion
        if centring is not None and centring.shares is not None:
            centring = Centring(np.append(centring.shares, 0.0))
        return self._with(self.answers.with_class(), centring, opinion and opinion.with_class(), self.closed)

    def with_model(self, centring: Centring | None, opinion: Opinion | None) -> Conditioned:
        """Centred like this, and with this model's opinion."""
        return self._with(self.answers, centring, opinion, self.closed)

    def without_questions(self, closed: Iterable[int]) -> Conditioned:
        """No question will be about these nodes, and none but these is closed."""
        return self._with(self.answers, self.centring, self.opinion, frozenset(closed))

    def without_answers(self, n_classes: int) -> Conditioned:
        """As before the first answer, with so many classes, equal shares, and no model."""
        centring = None if self.centring is None else Centring()
        return self._with(Answers(n_classes), centring, None, frozenset())

    def with_all(self, answers: Answers, centring: Centring | None, opinion: Opinion | None) -> Conditioned:
        """With these answers, and no others."""
        return self._with(answers, centring, opinion, self.closed)

    def _after(self, answers: Answers) -> Conditioned:
        return self._with(answers, self.centring, self.opinion, self.closed)

    def _with(
        self, answers: Answers, centring: Centring | None, opinion: Opinion | None, closed: frozenset[int]
    ) -> Conditioned:
        """From this field, or from one beside it whose answers are at the same nodes, or from the last one of which
        anything was worked out: those before that are let go of.
        """
        near = [each for each in (self._next, self._before) if each is not None and "core" in each.__dict__]
        same = [each for each in near if _same_places(each.answers, answers)]
        if "core" in self.__dict__:
            self._before = None
        known = self if "core" in self.__dict__ else self._before
        covariance = self.covariance.for_answers(answers)
        found = type(self)(covariance, answers, centring, opinion, closed, same[0] if same else known or self)
        self._next = found
        return found

    # What is known of every node

    @cached_property
    def _later(self) -> Answers:
        """The answers that the covariance does not begin at."""
        base = self.covariance.base
        if base is None:
            return self.answers
        sure = {node: label for node, label in self.answers.sure.items() if node not in base.sure}
        held = set(base.nodes.tolist())
        unsure = {node: weights for node, weights in self.answers.unsure.items() if node not in held}
        return Answers(self.n_classes, sure, unsure)

    @property
    def smoothness(self) -> float:
        return self.covariance.recipe.smoothness.value

    @property
    def beta(self) -> float:
        return self.covariance.recipe.beta

    @property
    def precision(self) -> Precision:
        return self.covariance.precision

    @property
    def component(self) -> Ints:
        """(n,) the number of each node's piece of the graph."""
        return self.covariance.piece

    @property
    def n_nodes(self) -> int:
        return self.covariance.n_nodes

    @property
    def n_classes(self) -> int:
        return self.answers.n_classes

    @cached_property
    def label(self) -> Ints:
        """(n,) class number of every node with a sure answer, -1 elsewhere."""
        label = np.full(self.n_nodes, -1)
        label[list(self.answers.sure)] = list(self.answers.sure.values())
        return label

    @cached_property
    def answered(self) -> Flags:
        """(n,) whether the node has an answer, sure or not."""
        found = np.zeros(self.n_nodes, dtype=bool)
        found[self.answers.nodes] = True
        return found

    @cached_property
    def unlabelled(self) -> Ints:
        """(u,) the numbers of the nodes without a sure answer, in rising order."""
        return np.flatnonzero(self.label < 0)

    @cached_property
    def askable(self) -> Flags:
        """(u,) whether a question may be about the node."""
        found = np.ones(self.n_nodes, dtype=bool)
        found[list(self.closed)] = False
        return found[self.unlabelled]

    @cached_property
    def reached(self) -> Flags:
        """(n,) whether an answer reaches the node: there is one in its piece of the graph."""
        heard = np.zeros(int(self.component.max()) + 1, dtype=bool)
        heard[self.component[self.answers.nodes]] = True
        return heard[self.component]

    @cached_property
    def island(self) -> Ints:
        """(u,) -1 where an answer reaches the node, else the number of its piece."""
        return np.where(self.reached, -1, self.component)[self.unlabelled]

    @cached_property
    def all_h(self) -> Floats:
        """(n, C) what the answers say of each node, a column for each class; 0 where none reaches."""
        before, step = self._before, self.core.step
        if step is not None and before is not None and self._follows(before, step):
            y = self._values[-1]
            h: Floats = np.outer(step.column / step.pivot, y - before.all_h[step.node])
            h += before.all_h
            if step.sure:
                h[step.node] = y
            return h
        nodes, y, mean = self.known.nodes, self._values, self.covariance.mean(self.n_classes)
        h = mean + self.spread(self.core.A[:, len(self.core.A) - len(y) :] @ (y - mean[nodes]))
        sure = self._noise == 0
        h[nodes[sure]] = y[sure]
        return h

    @property
    def h(self) -> Floats:
        """(u, C) label propagation, one one-vs-rest column per class, in [-1, 1], which a smooth field leaves a little;
        0 where no answer reaches.
        """
        return self.all_h[self.unlabelled]

    @property
    def variance(self) -> Floats:
        """(u,) G_kk, infinite where no answer reaches."""
        return np.where(self.reached, self.core.variance, np.inf)[self.unlabelled]

    @property
    def G(self) -> Floats:
        """(u, u) what is still open; in a piece without an answer its finite part, the pseudo-inverse of Q. Large
        engines refuse to form it: `columns` works on all.
        """
        return self.covariance.whole(self)

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        """(u, m) the columns of G that belong to these nodes; `rough`: good enough to score questions."""
        return self.covariance.conditioned_columns(self, nodes, rough)[self.unlabelled]

    def sums(self) -> Floats:
        """(u,) the sums of the rows of G, where an answer reaches the node."""
        return self.all_sums[self.unlabelled]

    @cached_property
    def all_sums(self) -> Floats:
        """(n,) the same by node; in a piece without an answer, of what the covariance has there."""
        return np.asarray(self.covariance.sums() - self.spread((self.core.A @ self._across_sums)[:, None])[:, 0])

    def pieces(self) -> Ints:
        """(u,) which piece each node is in once the labelled ones are taken out; G is zero between pieces."""
        Q = self.precision.weights
        _, piece = connected_components(Q[self.unlabelled][:, self.unlabelled], directed=False)
        return np.asarray(piece, dtype=np.int64)

    @property
    def weights(self) -> sparse.csr_array:
        """(n, n) whose Laplacian is Q, the matrix of the field: beta W where it is not smooth."""
        return self.precision.weights

    def left_out(self, sample: Ints, wanted: Ints = NONE) -> LeftOut:
        """What the other answers say of each node with an answer, all at once: h_i = y_i - (A y)_i / A_ii, and
        1 / A_ii - N_ii is the variance. Where the covariance begins at some answers, of those `wanted` only.
        """
        A, y, nodes = self.core.A, self._values, self.known.nodes
        p = len(A) - len(nodes)
        piece = self.component[nodes]
        alone = np.bincount(self.component[self.answers.nodes], minlength=len(self.component))[piece] == 1
        own = np.where(alone, 1.0, np.diag(A)[p:])
        h = y - (A[p:, p:] @ (y - self.covariance.mean(self.n_classes)[nodes])) / own[:, None]
        variance = np.maximum(1 / own - self._noise, self.least[nodes])
        total = A[p:] @ (self._across_sums - self.at(self.answers.nodes).sum(axis=0))
        there = A[p:] @ self.at(sample).T
        h[alone], variance[alone] = 0, np.inf
        found = LeftOut(nodes, h, variance, y, total, there)
        base = wanted[np.isin(wanted, nodes, invert=True)]
        return found if not len(base) else LeftOut(*map(_joined, found, self._left_out_of_base(base, sample)))

    @property
    def precision_of_answers(self) -> Floats:
        """(l, l) the block of A that belongs to the answers, in the order of `left_out`."""
        p = len(self.core.A) - len(self.known.nodes)
        return self.core.A[p:, p:]

    def _left_out_of_base(self, nodes: Ints, sample: Ints) -> LeftOut:
        """The same for answers that the covariance begins at; a solve each."""
        by_node = np.argsort(self.answers.nodes)
        row = by_node[np.searchsorted(self.answers.nodes, nodes, sorter=by_node)]
        y, noise, all_h = self.answers.values[row], self.answers.noise[row], self.all_h
        sure, m = noise == 0, np.arange(len(nodes))
        ties = self.precision.rows(nodes).toarray().T  # (n, m)
        B = np.where(sure, ties, 0.0)
        B[nodes[~sure], m[~sure]] = 1
        B[self.label >= 0] = 0
        reach = self.covariance.solve(B, ROUGH) - self.spread(self.core.A @ self.against(B))
        reach[self.label >= 0] = 0
        pivot, weight = np.where(sure, 1.0, reach[nodes, m]), np.where(sure, 0.0, 1 / np.where(sure, 1.0, noise))
        most = np.where(sure, self.precision.diagonal[nodes], 1 / pivot)
        own = most - np.where(sure, np.einsum("ij,ij->j", B, reach), weight)  # 1 / variance
        own = np.maximum(own, ROUGH * most)
        said = self.precision.diagonal[nodes, None] * y - ties.T @ all_h
        doubted = all_h[nodes] / pivot[:, None] - weight[:, None] * y
        h = np.where(sure[:, None], y - said / own[:, None], doubted / own[:, None])
        alone = np.bincount(self.component[self.answers.nodes])[self.component[nodes]] == 1
        h[alone], own[alone] = 0, 1.0
        variance = np.where(alone, np.inf, 1 / own)
        reach = np.where(sure, reach, reach * weight)
        reach[nodes[sure], m[sure]] = 1
        return LeftOut(nodes, h, variance, y, reach[~self.answered].sum(axis=0), reach[sample].T)

    # What to ask about: exactly of the nodes `asked` (u,), if not given those askable; the costs of others need not be

    def two_step_costs(self, asked: Flags | None = None) -> Costs:
        """R+q of every question q by TSA marginals: the expected error once it is answered."""
        return self.covariance.two_step_costs(self, self._asked(asked))

    def harmonic_costs(self, asked: Flags | None = None) -> Costs:
        """R+q by ZLG marginals."""
        return self.covariance.harmonic_costs(self, self._asked(asked))

    def vopt_costs(self, asked: Flags | None = None, rough: bool = False) -> Costs:
        """The variance left after each question, tr G'; rough: estimates will do, where they are cheaper."""
        return self.covariance.vopt_costs(self, self._asked(asked), rough)

    def sopt_costs(self, asked: Flags | None = None) -> Costs:
        """The variance left in the sum of labels after each question, 1'G'1."""
        return self.covariance.sopt_costs(self, self._asked(asked))

    def _asked(self, asked: Flags | None) -> Flags:
        return self.askable if asked is None else asked & self.askable

    # The algebra

    @cached_property
    def core(self) -> Core:
        before = self._before
        if before is not None and "core" in before.__dict__:
            if _same_places(before.answers, self.answers):
                return before.core
            if (step := self._step(before)) is not None:
                return step
        return self._inverted()

    def _follows(self, before: Conditioned, step: Step) -> bool:
        """Whether the answers are those of the field before, and the one of this step."""
        if "all_h" not in before.__dict__ or before.core.which is not step.before:
            return False
        return np.array_equal(self._values[:-1], before._values)

    def _step(self, before: Conditioned) -> Core | None:
        """From the field before, if this has one answer more, in a piece that had some, and it costs few digits."""
        nodes, noise = self.known.nodes, self._noise
        if len(nodes) != len(before.known.nodes) + 1 or not np.array_equal(nodes[:-1], before.known.nodes):
            return None
        q = int(nodes[-1])
        if not before.reached[q] or not np.array_equal(noise[:-1], before._noise):
            return None
        A, was = before.core.A, before.core.variance
        weights = A @ before.at(np.array([q]))[0]  # (p + l,)
        column = self.known.X[:, -1] - before.spread(weights[:, None])[:, 0]
        column[before.label >= 0] = 0
        pivot = float(column[q] + noise[-1])
        sure = bool(noise[-1] == 0)
        variance = self._mended(was - column**2 / pivot)
        there = (variance > 0) & before.reached
        lost = before.core.lost + EPS * float((was[there] / variance[there]).max(initial=1.0))
        if lost > LOST:
            return None
        A = np.block([[A + np.outer(weights, weights) / pivot, -weights[:, None] / pivot],
                      [-weights[None] / pivot, np.array([[1 / pivot]])]])  # fmt: skip
        return Core(before.core.levels, A, variance, lost, Step(before.core.which, q, column, pivot, sure), object())

    def _inverted(self) -> Core:
        levels = self._levels()
        A, variance = self._inverse(self.known.X, levels), self.covariance.diagonal.copy()
        for part in self._stretches(len(A)):
            F = self.at(part, levels)
            variance[part] -= np.einsum("ij,ij->i", F @ A, F)
        return Core(levels, A, self._mended(variance), EPS, None, object())

    def _levels(self) -> Levels:
        """The levels of the covariance; those that nearly anything is possible for as the answers see them, so that
        nodes whose level is known are not the differences of large numbers.
        """
        levels, known = self.covariance.levels, self.known.nodes
        loose = np.flatnonzero(levels.reach > LOOSE * self.covariance.diagonal.mean())
        return levels.seen_from(known, self.component, loose) if len(loose) and len(known) else levels

    def _mended(self, variance: Floats) -> Floats:
        """No variance is below 1 / Q_kk where an answer reaches, whatever rounding says; at sure answers it is 0."""
        found = np.where(self.reached, np.maximum(variance, self.least), variance)
        found[self.label >= 0] = 0
        return found

    def _inverse(self, K: Floats, levels: Levels) -> Floats:
        """A, by these columns (n, l) of K."""
        nodes, S = self.known.nodes, levels.S
        F = self._levels_at(nodes, levels)
        p = F.shape[1]
        M = np.zeros((p + len(nodes), p + len(nodes)))
        M[: len(S), : len(S)] = -S
        M[p:, :p], M[:p, p:] = F, F.T
        inside = K[nodes].astype(float)
        M[p:, p:] = (inside + inside.T) / 2 + np.diag(self._noise)
        return _inverse(M)

    @cached_property
    def rough_A(self) -> Floats:
        """A by columns as rough as those it is taken off: what is nearly right in every direction stays so."""
        return self._inverse(self.known.rough, self.core.levels)

    def reduction(self, nodes: Ints, A: Floats | None = None, K: Any = None) -> Any:
        """(n, m) what the answers take off these columns of K; by other A and K_o where those are as rough."""
        A, K = (self.core.A, self.known.X) if A is None else (A, K)
        at = np.hstack([self._levels_at(nodes, self.core.levels), K[nodes]], dtype=float)
        return self.spread(A @ at.T, K)

    def filled(self, K: Floats, G: Floats) -> Floats:
        """(n, n) G, in the place of this array if it is as large, of K (n, n)."""
        if G.shape == K.shape:
            G[:] = K
        else:
            G = K.copy()
        everyone = np.arange(self.n_nodes)
        weights = self.core.A @ self.at(everyone).T  # (p + l, n)
        for part in self._stretches(self.n_nodes):
            G[part] -= self.at(part) @ weights
        labelled = np.flatnonzero(self.label >= 0)
        G[labelled] = G[:, labelled] = 0
        return G

    @cached_property
    def known(self) -> Known:
        before = self._before
        had = before.__dict__.get("known") if before is not None else None
        return self.covariance.known(self._in_order(had), had, self.workspace)

    def _in_order(self, had: Known | None) -> Ints:
        """The answered nodes, those that the field before had first and in its order."""
        nodes = self._later.nodes
        if had is None:
            return nodes
        kept = had.nodes[np.isin(had.nodes, nodes)]
        return np.concatenate([kept, nodes[~np.isin(nodes, kept)]])

    @cached_property
    def _order(self) -> Ints:
        """Where each known node is among the later answers."""
        by_node = np.argsort(self._later.nodes)
        return by_node[np.searchsorted(self._later.nodes, self.known.nodes, sorter=by_node)]

    @cached_property
    def _values(self) -> Floats:
        """(l, C) y."""
        return self._later.values[self._order]

    @cached_property
    def _noise(self) -> Floats:
        """(l,) N."""
        return self._later.noise[self._order]

    @cached_property
    def _heard(self) -> Ints:
        """The pieces with an answer, of which the covariance does not know the level: a constant each."""
        base = self.covariance.base
        found = np.unique(self.component[self._later.nodes])
        return found if base is None else np.setdiff1d(found, self.component[base.nodes])

    @cached_property
    def least(self) -> Floats:
        """(n,) 1 / Q_kk, with the weights of unsure answers: no variance is below it."""
        nodes, weights = self.answers.in_doubt
        pivot = self.precision.diagonal.copy()
        pivot[nodes] += weights.sum(axis=1)
        return np.divide(1.0, pivot, out=np.full(len(pivot), np.finfo(float).tiny), where=pivot > 0)

    @cached_property
    def _across_sums(self) -> Floats:
        """(p + l,) the sums of the columns of [F  K_o]."""
        size = np.bincount(self.component)[self._heard]
        return np.concatenate(
            [self.core.levels.F.sum(axis=0, dtype=float), size, self.known.X.sum(axis=0, dtype=float)]
        )

    def against(self, B: Floats) -> Floats:
        """(p + l, m) [F  K_o]'B."""
        constants = [B[self.component == piece].sum(axis=0) for piece in self._heard]
        return np.vstack([self.core.levels.F.T @ B, *constants, self.known.X.T @ B])

    def _levels_at(self, nodes: Ints | slice, levels: Levels) -> Floats:
        """(m, p) F at these nodes."""
        constants = self.component[nodes][:, None] == self._heard
        return np.hstack([levels.F[nodes], constants], dtype=float)

    def at(self, nodes: Ints | slice, levels: Levels | None = None) -> Floats:
        """(m, p + l) [F  K_o] at these nodes."""
        return np.hstack([self._levels_at(nodes, levels or self.core.levels), self.known.X[nodes]], dtype=float)

    def spread(self, weights: Floats, K: Any = None) -> Any:
        """(n, m) [F  K_o] times weights (p + l, m), in the precision of K_o; answers beyond those are not looked at."""
        F, p = self.core.levels.F, len(self._heard)
        w = F.shape[1]
        K = (self.known.X if K is None else K)[:, : len(weights) - w - p]
        weights = weights.astype(K.dtype, copy=False)
        found = K @ weights[w + p :]
        if w:
            found += (F @ weights[:w]).astype(K.dtype, copy=False)
        if p == 1 and self.component.max() == 0:
            found += weights[w]
        elif p:
            place = np.searchsorted(self._heard, self.component).clip(max=p - 1)
            known = self._heard[place] == self.component
            found += np.where(known[:, None], weights[w : w + p][place], 0)
        return found

    def _stretches(self, width: int) -> list[slice]:
        """All nodes, some at a time."""
        rows = max(1, STRETCH // max(1, width))
        return [slice(left, left + rows) for left in range(0, self.n_nodes, rows)]


def _joined(some: Any, others: Any) -> Any:
    return np.concatenate([some, others])


def _same_places(some: Answers, others: Answers) -> bool:
    """Whether answers were given at the same nodes, and count as much."""
    return np.array_equal(some.nodes, others.nodes) and np.array_equal(some.noise, others.noise)


def _inverse(M: Floats) -> Floats:
    """Its inverse; rows and columns are scaled, since levels and answers have different units."""
    if len(M) == 0:
        return M
    largest = np.abs(M).max(axis=1)
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(M)), 1e-3 * largest))
    inverse = np.linalg.inv(scale[:, None] * M * scale)
    return np.asarray(scale[:, None] * ((inverse + inverse.T) / 2) * scale)
