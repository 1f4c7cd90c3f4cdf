"""The slow waves of a graph: where its Laplacian is smallest, and what any iteration finds last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from fewlabels.arrays import Floats, Numbers
from fewlabels.field.sparse.solve.polynomial import Polynomial, Scaled, blocks_of, widened
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


def slow_waves(
    matrix: Scaled, constants: sparse.csr_array, least: float = 0.0, count: int = COUNT, seed: int = 0
) -> Waves | None:
    """By Chebyshev's filter: random columns lose what is above a cut that comes down from round to round, and the best
    waves in what is left are picked. `constants` (n, parts) are the orthonormal vectors that are not looked for. None
    as soon as the edge is known to be below `least`, or where they are not found in time, unless that is zero.
    """
    n, rng = len(matrix), np.random.default_rng(seed)
    count = min(count, n - constants.shape[1] - 1)
    X = rng.standard_normal((n, count), dtype=np.float32)
    values: Floats = np.full(count, FIRST_CUT)
    kept, progress = max(1, int(KEPT * count)), Progress(f"finding the slow waves of {n:,} nodes", ROUNDS)
    for turn in range(ROUNDS):
        X -= constants @ (constants.T @ X)
        for part in blocks_of(count):
            steps = STEPS if turn else FIRST_STEPS
            X[:, part] = _filtered(matrix, np.ascontiguousarray(X[:, part]), float(values[-1]), steps)
        X -= constants @ (constants.T @ X)
        try:
            values, X, off = _picked(matrix, X)
        except np.linalg.LinAlgError:  # rounding has left too few directions: not a graph of slow waves
            if least > 0:
                return None
            raise
        known = constants @ (constants.T @ X)  # rounding brings the constants back: the filter spares them most of all
        mine = np.linalg.norm(known, axis=0) < OWN
        values, off, X = values[mine], off[mine], X[:, mine]
        progress.step()
        if len(values) > kept and values[kept] < least:  # what a value is found to be is never below what it is
            return None
        if len(values) > kept and _near(values, off, kept):
            break
        X = np.hstack([X, rng.standard_normal((n, count - X.shape[1]), dtype=np.float32)])
    else:
        if least > 0:
            return None
        kept = min(kept, len(values) - 1)
    found = _settled(matrix, X[:, :kept], float(values[kept]))
    if least > 0 and not (found.off <= FAIR * np.sqrt(np.maximum(found.values, 0) * values[kept])).all():
        return None
    dtype = np.float64 if found.values[0] < SLOWEST * values[kept] else np.float32
    return Waves(found.values, found.vectors.astype(dtype), float(values[kept]))


def _near(values: Floats, off: Floats, kept: int) -> bool:
    """Whether the first waves are as near as they have to be; the value after them is the edge."""
    edge, above = values[kept], np.maximum(values[:kept], 0)
    slow = above < edge / 2  # those nearer to the edge the polynomial knows as well
    allowed = np.where(slow, np.maximum(GOOD * np.sqrt(above * edge), ROUNDING), FAIR * edge)
    return bool((off[:kept] < allowed).all())


def _filtered(matrix: Scaled, X: Numbers, cut: float, steps: int) -> Numbers:
    """Chebyshev's polynomial of this degree, small from the cut to the end of the spectrum and one at zero."""
    middle, half = (matrix.high + cut) / 2, (matrix.high - cut) / 2
    first = sigma = -half / middle
    X, m = widened(X), X.shape[1]
    Y = np.zeros_like(X)
    matrix.step(X, Y, -middle * sigma / half, 0.0, -sigma / half)
    for _ in range(steps - 1):
        after = 1 / (2 / first - sigma)
        rate = 2 * after / half
        matrix.step(Y, X, -middle * rate, -sigma * after, -rate)
        X, Y, sigma = Y, X, after
    return Y[:, :m]


class _Ritz(NamedTuple):
    """What a matrix is within a span: its values, vectors, and how far off each is."""

    values: Floats
    vectors: Floats
    off: Floats


def _settled(matrix: Scaled, X: Numbers, edge: float) -> _Ritz:
    """The same waves in float64: where clusters hardly touch, values are below what float32 can tell, and what else
    has got into a wave weighs more than they do. It is taken out by what the residual says.
    """
    found, left = _within(matrix, X.astype(float))
    if found.values[0] > SLOWEST * edge:
        return found
    size = np.maximum(np.abs(left).max(axis=0), np.finfo(float).tiny)
    inverse = Polynomial(matrix, edge, CLEANED)
    V = found.vectors - inverse((left / size).astype(np.float32)) * size
    return _within(matrix, V)[0]


def _within(matrix: Scaled, V: Floats) -> tuple[_Ritz, Floats]:
    """The best eigenvectors in the span of V, and their residuals."""
    AV = matrix.times_exactly(V)
    values, turn = linalg.eigh((V.T @ AV + AV.T @ V) / 2, V.T @ V)
    V, left = V @ turn, AV @ turn
    left -= V * values
    return _Ritz(values, V, np.linalg.norm(left, axis=0)), left


def _picked(matrix: Scaled, X: Numbers) -> tuple[Floats, Numbers, Floats]:
    """The eigenvectors of the matrix within the span of X, their values, and how far off each is."""
    sizes, turned = np.linalg.eigh((X.T @ X).astype(float))
    X = X @ (turned / np.sqrt(np.maximum(sizes, 1e-6 * sizes[-1]))).astype(np.float32)
    AX = np.hstack([matrix.times(np.ascontiguousarray(X[:, part])) for part in blocks_of(X.shape[1])])
    inside, overlap = (X.T @ AX).astype(float), (X.T @ X).astype(float)
    values, vectors = linalg.eigh((inside + inside.T) / 2, (overlap + overlap.T) / 2)
    turn = vectors.astype(np.float32)
    found = X @ turn
    return values, found, np.linalg.norm(AX @ turn - found * values.astype(np.float32), axis=0)
