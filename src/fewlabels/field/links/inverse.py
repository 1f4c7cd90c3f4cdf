"""The inverse of a symmetric matrix, in place."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, solve_triangular

from fewlabels.arrays import Floats
from fewlabels.machine.progress import Progress

BLOCKS_FROM = 6000  # nodes; below, one LAPACK call is quicker, and takes two or three seconds
BLOCK = 1024


def cholesky_inverse(A: Floats) -> bool:
    """Replace a symmetric C-ordered A by its inverse; False, and A spoilt, when rounding leaves A indefinite."""
    done = _inverse_by_blocks(A) if len(A) >= BLOCKS_FROM else _inverse_by_lapack(A)
    if done:
        _mirror_lower(A)
    return done and bool(np.isfinite(np.diag(A)).all())  # no other entry is larger


def _inverse_by_lapack(A: Floats) -> bool:
    """The lower triangle of the inverse."""
    factor, failed = lapack.dpotrf(A.T, lower=0, overwrite_a=1, clean=0)  # A.T is Fortran-ordered: no copy
    if failed:
        return False
    inverse, failed = lapack.dpotri(factor, lower=0, overwrite_c=1)
    if not failed and not np.shares_memory(inverse, A):
        A[:] = inverse.T
    return not failed


def _inverse_by_blocks(A: Floats, block: int = BLOCK) -> bool:
    """The lower triangle of the inverse: A = L L', M = inv(L), M'M, block by block, with a line of progress.

    The same three steps and operations as LAPACK's, nearly all matrix products; but this can report progress, and
    makes no call on a large matrix: OpenBLAS 0.3.30 crashes in dpotrf from 16,000 on.
    """
    m = len(A)
    cuts = [slice(start, min(start + block, m)) for start in range(0, m, block)]
    progress = Progress(f"setting up {m:,} nodes", 3 * len(cuts))
    for K in cuts:
        A[K.start :, K] -= A[K.start :, : K.start] @ A[K, : K.start].T
        factor, failed = lapack.dpotrf(A[K, K], lower=1, clean=1)
        if failed:
            return False
        A[K, K] = factor
        if K.stop < m:
            A[K.stop :, K] = solve_triangular(factor, A[K.stop :, K].T, lower=True, check_finite=False).T
        progress.step()
    for K in reversed(cuts):
        corner = solve_triangular(A[K, K], np.eye(K.stop - K.start), lower=True, check_finite=False)
        panel = A[K.stop :, K] @ corner  # (m - stop, b)
        for rows in reversed(cuts[cuts.index(K) + 1 :]):
            A[rows, K] = -A[rows, K.stop : rows.stop] @ panel[: rows.stop - K.stop]
        A[K, K] = corner
        progress.step()
    for K in cuts:
        A[K, : K.stop] = A[K.start :, K].T @ A[K.start :, : K.stop]
        progress.step()
    return True


def _mirror_lower(A: Floats, block: int = 256) -> None:
    """Copy the lower triangle onto the upper, in blocks that fit the cache."""
    m = len(A)
    for i in range(0, m, block):
        corner = A[i : i + block, i : i + block]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        A[i : i + block, i + block :] = A[i + block :, i : i + block].T
