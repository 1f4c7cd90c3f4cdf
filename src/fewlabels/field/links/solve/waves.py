"""The slow waves of a graph: where its Laplacian is smallest, and what any iteration finds last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.links.solve import tall
from fewlabels.field.links.solve.polynomial import Polynomial, Scaled, widened
from fewlabels.kernels.cpu import blocks
from fewlabels.kernels.cpu.prefetch import aligned
from fewlabels.machine.progress import Progress

COUNT = 64  # waves looked for
KEPT = 0.8  # share of them that is kept: the last ones are found last
FIRST_CUT, FIRST_STEPS, STEPS = 0.3, 15, 25  # of the filters
ROUNDS = 8
ROUNDING = 1e-6  # what a wave is off by in float32 anyway
SLOWEST = 1e-4  # share of the edge: below it, that is too much
CLEANED = 0.01  # what is left of it
OWN = 0.1  # share of a constant in a wave up to which it is one of its own
GOOD, FAIR = 0.01, 0.1  # what a wave may be off by: a slow one (of the mean of its value and the edge), one near that


class Waves(NamedTuple):
    """Eigenvectors of a scaled Laplacian, the slowest first, without those of its components."""

    values: Floats  # (k,)
    vectors: Numbers  # (n, k) in float64 where clusters hardly touch: conditioned on labels, most of them cancels
    edge: float  # all others are about this or above


class SlowWaves:
    """Looks for them by Chebyshev's filter: random columns lose what is above a cut that comes down from round to
    round, and the best waves in what is left are picked.
    """

    def __init__(self, matrix: Scaled, part: Ints, count: int = COUNT, seed: int = 0) -> None:
        """`part` (n,) are the components, in which nodes follow each other: their constants are not looked for."""
        n, size = len(matrix), 1 / matrix.scale
        total = np.sqrt(np.bincount(part, size.astype(float) ** 2))
        self._constant = (size / total[part]).astype(np.float32), part  # in each, what the matrix takes to zero
        count = max(0, min(count, n - len(total) - 1))
        self._matrix, self._rng = matrix, np.random.default_rng(seed)
        self._kept = max(1, int(KEPT * count))
        self._X, self._spare = aligned(n, count), aligned(n, count)  # the latter to work in
        self._values: Floats = np.empty(0)  # of the first columns of X, the waves so far
        self._off: Floats = np.empty(0)
        self._cut, self._steps = FIRST_CUT, FIRST_STEPS

    def find(self, least: float = 0.0) -> Waves | None:
        """None as soon as the edge is known to be below `least`, or where the waves are not found in time, unless that
        is zero; and where there are none to tell apart, as in a handful of nodes. Asked again with less, it goes on
        where it was.
        """
        if not self._X.shape[1]:
            return None
        kept, progress = self._kept, Progress(f"finding the slow waves of {len(self._X):,} nodes", ROUNDS)
        for _ in range(ROUNDS):
            try:
                self._turn()
            except np.linalg.LinAlgError:  # rounding has left too few directions: not a graph of slow waves
                return None
            progress.step()
            if len(self._values) > kept and self._values[kept] < least:  # a value is never found to be below what it is
                return None
            if len(self._values) > kept and _near(self._values, self._off, kept):
                break
        else:
            if least > 0:
                return None
            kept = min(kept, len(self._values) - 1)
        edge = float(self._values[kept])
        found = _settled(self._matrix, self._X[:, :kept], edge)
        if least > 0 and not (found.off <= FAIR * np.sqrt(np.maximum(found.values, 0) * edge)).all():
            return None
        dtype = np.float64 if found.values[0] < SLOWEST * edge else np.float32
        return Waves(found.values, found.vectors.astype(dtype), edge)

    def so_far(self) -> Numbers:
        """(n, k) the columns that are nearest to waves."""
        return self._X[:, : min(self._kept, len(self._values))]

    def _turn(self) -> None:
        X, known = self._X, len(self._values)
        X[:, known:] = self._rng.standard_normal((len(X), X.shape[1] - known), dtype=np.float32)
        blocks.take_off(X, *self._constant)
        self._X, self._spare = X, spare = _filtered(self._matrix, X, self._spare, self._cut, self._steps)
        blocks.take_off(X, *self._constant)  # rounding brings them back, and the filter spares them most of all
        values, off = _picked(self._matrix, X, spare)
        self._cut, self._steps = float(values[-1]), STEPS
        mine = blocks.take_off(X, *self._constant) < OWN
        self._values, self._off = values[mine], off[mine]
        if not mine.all():
            X[:, : len(self._values)] = X[:, mine]


def _near(values: Floats, off: Floats, kept: int) -> bool:
    """Whether the first waves are as near as they have to be; the value after them is the edge."""
    edge, above = values[kept], np.maximum(values[:kept], 0)
    slow = above < edge / 2  # those nearer to the edge the polynomial knows as well
    allowed = np.where(slow, np.maximum(GOOD * np.sqrt(above * edge), ROUNDING), FAIR * edge)
    return bool((off[:kept] < allowed).all())


def _filtered(matrix: Scaled, X: Numbers, spare: Numbers, cut: float, steps: int) -> tuple[Numbers, Numbers]:
    """Chebyshev's polynomial of this degree, small from the cut to the end of the spectrum and one at zero; and a block
    to work in, since both are spoilt.
    """
    middle, half = (matrix.high + cut) / 2, (matrix.high - cut) / 2
    first = sigma = -half / middle
    X, Y, m = widened(X), widened(spare), X.shape[1]
    matrix.step(X, Y, -middle * sigma / half, 0.0, -sigma / half)
    for _ in range(steps - 1):
        after = 1 / (2 / first - sigma)
        rate = 2 * after / half
        matrix.step(Y, X, -middle * rate, -sigma * after, -rate)
        X, Y, sigma = Y, X, after
    return np.ascontiguousarray(Y[:, :m]), np.ascontiguousarray(X[:, :m])


class _Ritz(NamedTuple):
    """What a matrix is within a span: its values, vectors, and how far off each is."""

    values: Floats
    vectors: Numbers
    off: Floats


def _settled(matrix: Scaled, X: Numbers, edge: float) -> _Ritz:
    """The same waves, their values right to rounding. Where clusters hardly touch, values are below what float32 can
    tell, and what else has got into a wave weighs more than they do: it is taken out by what the residual says.
    """
    found, left = _within(matrix, np.ascontiguousarray(X))
    if found.values[0] > SLOWEST * edge:
        return found
    found, left = _within(matrix, X.astype(float))
    size = np.maximum(np.abs(left).max(axis=0), np.finfo(float).tiny)
    inverse = Polynomial(matrix, edge, CLEANED)
    V = found.vectors - inverse((left / size).astype(np.float32)) * size
    return _within(matrix, V)[0]


def _within(matrix: Scaled, V: Numbers) -> tuple[_Ritz, Numbers]:
    """The best eigenvectors in the span of V, which they replace, and their residuals; in the precision of V."""
    left = matrix.times_exactly(V)
    inside = tall.gram(V, left)
    values, turned = linalg.eigh((inside + inside.T) / 2, tall.gram(V, V))
    tall.turn(V, turned)
    tall.turn(left, turned)
    tall.subtract(left, V, values)
    return _Ritz(values, V, np.sqrt(tall.squares(left))), left


def _picked(matrix: Scaled, X: Numbers, spare: Numbers) -> tuple[Floats, Floats]:
    """Turn the columns of X into the eigenvectors of the matrix within their span: their values, and how far off each
    is.
    """
    sizes, turned = np.linalg.eigh(tall.gram(X, X))
    tall.turn(X, turned / np.sqrt(np.maximum(sizes, 1e-6 * sizes[-1])))
    left = matrix.times(X, spare)
    inside, within = tall.gram(X, left), tall.gram(X, X)
    values, turned = linalg.eigh((inside + inside.T) / 2, within)
    tall.turn(X, turned)
    off = np.einsum("ij,ij->j", turned, tall.gram(left, left) @ turned) - values**2  # |A v - lambda v|^2
    return values, np.sqrt(np.maximum(off, 0))
