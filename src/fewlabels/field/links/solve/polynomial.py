"""inv(A) B by a polynomial in A: Chebyshev's, which needs only where A's spectrum begins and ends.

Conjugate gradients would take about as many steps; but a step here is one pass over the edges, with no dot products,
and the nodes are in an order in which neighbours are near each other in memory: together four times as quick.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.links.solve.pcg import System
from fewlabels.kernels.cpu import blocks, chebyshev
from fewlabels.kernels.cpu.prefetch import aligned
from fewlabels.kernels.cpu.wide_rows import AHEAD, WIDE

STRETCH = 256  # rows, which stay in the cache
LANCZOS = 24  # steps that the ends of a spectrum are estimated with
NOTHING = np.empty((0, 1), np.float32)


class Ordered:
    """A graph with neighbours near each other: `order` are its nodes, `place` is where each of them is."""

    def __init__(self, system: System) -> None:
        n = len(system.held)
        W = sparse.csr_matrix((system.weights, system.indices, system.indptr), shape=(n, n))
        self.order: Ints = reverse_cuthill_mckee(W, symmetric_mode=True).astype(np.int64)
        self.place: Ints = np.empty(n, dtype=np.int64)
        self.place[self.order] = np.arange(n)
        self.weights = sparse.csr_array(W[self.order][:, self.order])
        self.weights.sort_indices()


class Scaled:
    """A = D - W as S A S = I - S W S with S = 1 / sqrt(D), in float32 and in the order of the nodes in memory."""

    def __init__(self, ordered: Ordered, diagonal: Floats) -> None:
        W = ordered.weights
        self._laplacian, self.exact_scale = W, 1 / np.sqrt(diagonal[ordered.order])
        self.scale: Numbers = self.exact_scale.astype(np.float32)  # (n,) S
        rows = np.repeat(self.scale, np.diff(W.indptr))
        weights = (rows * W.data * self.scale[W.indices]).astype(np.float32)
        indices = np.zeros(len(W.indices) + AHEAD, np.uint32)
        indices[: len(W.indices)] = W.indices
        self._matrix = W.indptr.astype(np.uint64), indices, weights
        self.low, self.high = self._ends()

    def __len__(self) -> int:
        return len(self.scale)

    def step(self, X: Numbers, Y: Numbers, a: float, b: float, c: float, B: Numbers = NOTHING) -> None:
        """Y = a X + b Y + c (B - S A S X), in one column or in blocks of WIDE."""
        if X.shape[1] == 1:
            chebyshev.step_one(*self._by_length, X[:, 0], Y[:, 0], B[:, 0], a - c, b, c)
        else:
            chebyshev.step(*self._matrix, X, Y, B, a - c, b, c)

    @cached_property
    def _by_length(self) -> tuple[Any, Any, Any, Numbers]:
        """For single columns: among some rows those with as many entries follow each other, so that the processor
        foresees where one ends, which takes a third off a step.
        """
        indptr, indices, weights = self._matrix
        lengths = np.diff(indptr.astype(np.int64))
        order = np.lexsort((lengths, np.arange(len(self)) // STRETCH))
        W = sparse.csr_matrix((weights, indices[: len(weights)], indptr.astype(np.int64)), shape=(len(self),) * 2)[
            order
        ]
        return order.astype(np.uint32), W.indptr.astype(np.uint64), W.indices.astype(np.uint32), W.data

    def times(self, X: Numbers, spare: Numbers | None = None) -> Numbers:
        """(n, m) S A S X, in the spare block if there is one."""
        X, m = widened(X), X.shape[1]
        Y = aligned(*X.shape) if spare is None else widened(spare)
        self.step(X, Y, 0.0, 0.0, -1.0)
        return Y[:, :m]

    def times_exactly(self, X: Numbers) -> Numbers:
        """(n, m) the same of a Laplacian, by differences along the edges."""
        W, scale = self._laplacian, self.exact_scale[:, None].astype(X.dtype)
        LX: Numbers = blocks.laplacian(W.indptr, W.indices, W.data.astype(X.dtype), scale * X)
        LX *= scale
        return LX

    def _ends(self) -> tuple[float, float]:
        """Where the spectrum begins and ends, from Lanczos's method: its values, widened by what they may be off."""
        n = len(self)
        q: Numbers = np.random.default_rng(0).standard_normal((n, 1)).astype(np.float32)
        q /= np.linalg.norm(q)
        before, beta = np.zeros_like(q), 0.0
        alphas, betas = [], []
        for _ in range(min(LANCZOS, n - 1)):
            r = self.times(q) - np.float32(beta) * before
            alpha = float(np.vdot(q, r))
            r -= np.float32(alpha) * q
            beta = float(np.linalg.norm(r))
            alphas.append(alpha)
            betas.append(beta)
            if beta < 1e-6:
                break
            before, q = q, r / np.float32(beta)
        values, vectors = np.linalg.eigh(np.diag(alphas) + np.diag(betas[:-1], 1) + np.diag(betas[:-1], -1))
        off = betas[-1] * np.abs(vectors[-1])
        return max(0.0, float(values[0] - off[0])), min(2.0, 1.01 * float(values[-1] + off[-1]))


class Spots(NamedTuple):
    """The few entries of a block that are not zero."""

    rows: Ints
    columns: Ints
    values: Numbers


class Polynomial:
    """p(x), near 1 / x from `low` to the end of the spectrum of a scaled matrix."""

    def __init__(self, matrix: Scaled, low: float, tolerance: float) -> None:
        """Off by at most the tolerance, in the norm of the matrix and as a share of the solution."""
        self._matrix = matrix
        self._middle, self._half = (matrix.high + low) / 2, (matrix.high - low) / 2
        ratio = np.sqrt(matrix.high / low)
        self.steps = int(np.ceil(np.log(2 / tolerance) / np.log((ratio + 1) / (ratio - 1))))

    def __call__(self, B: Numbers) -> Numbers:
        """(n, m) p(S A S) B."""
        if B.shape[1] > WIDE:
            return np.hstack([self(B[:, part]) for part in blocks_of(B.shape[1])])
        B, m = widened(B), B.shape[1]
        now, before = aligned(*B.shape), aligned(*B.shape)
        np.multiply(B, np.float32(1 / self._middle), out=now)
        for i, (turn, rate) in enumerate(self._coefficients()):
            self._matrix.step(now, before, 1 + turn, -turn if i else 0.0, rate, B)
            before, now = now, before
        return now[:, :m]

    def at_spots(self, spots: Spots, m: int) -> Numbers:
        """(n, m) the same of a block, 1 or WIDE columns, that is zero elsewhere: it need not be read at every step."""
        now, before = aligned(len(self._matrix), m), aligned(len(self._matrix), m)
        now[:] = 0
        place = spots.rows, spots.columns
        np.add.at(now, place, spots.values / np.float32(self._middle))
        for i, (turn, rate) in enumerate(self._coefficients()):
            self._matrix.step(now, before, 1 + turn, -turn if i else 0.0, rate)
            np.add.at(before, place, spots.values * np.float32(rate))
            before, now = now, before
        return now

    def at(self, x: Floats) -> Floats:
        """p(x)."""
        before, now = np.zeros_like(x), np.full_like(x, 1 / self._middle)
        for turn, rate in self._coefficients():
            before, now = now, (1 + turn) * now - turn * before + rate * (1 - x * now)
        return now

    def _coefficients(self) -> list[tuple[float, float]]:
        sigma = self._middle / self._half
        rho, found = 1 / sigma, []
        for _ in range(self.steps - 1):
            after = 1 / (2 * sigma - rho)
            found.append((after * rho, 2 * after / self._half))
            rho = after
        return found


def blocks_of(m: int) -> list[slice]:
    """The columns that are worked on together."""
    return [slice(left, min(left + WIDE, m)) for left in range(0, m, WIDE)]


def width_of(part: slice) -> int:
    """The columns of the block that these are worked on in."""
    return 1 if part.stop - part.start == 1 else WIDE


def widened(X: Numbers) -> Numbers:
    """X with columns of zeros, whole blocks; one column stays alone."""
    m = X.shape[1]
    return np.ascontiguousarray(X) if m == 1 or m % WIDE == 0 else np.pad(X, ((0, 0), (0, -m % WIDE)))
