"""Inverses of the Laplacian of one component, in place, with the rounding error to expect in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from fewlabels.arrays import EPS, Floats
from fewlabels.errors import GraphError
from fewlabels.field.dense.sparse_factor import from_sparse_factor
from fewlabels.machine.progress import Progress

BLOCKS_FROM = 6000  # nodes; below, one LAPACK call is quicker, and takes two or three seconds
BLOCK = 1024
TOLERANCE = 1e-9  # expected relative error of a Cholesky inverse above which bordering takes its place
SIGNED_TOLERANCE = 1e-6  # the same where bordering would cancel: the graph is refused


def green(out: Floats, W: sparse.csr_array, ground: Floats, kernels: Any) -> Floats:
    """Fill out (m, m) with inv(degrees + ground - W) and return the expected error of each diagonal entry.

    ground (m,) is each node's pull from labelled nodes. By Cholesky, unless the graph is so sparse that a sparse factor
    is quicker, or the weights span so far that it would lose more than `TOLERANCE`. A smooth field, some of whose
    weights are negative, cannot be bordered.
    """
    degree = np.asarray(W.sum(axis=1)).ravel() + ground
    if len(out) >= BLOCKS_FROM and (lost := from_sparse_factor(out, W, degree)) is not None:
        return np.full(len(out), lost)
    _fill(out, W, degree)
    if cholesky_inverse(out):
        error: Floats = kernels.inverse_error(out, degree)
        signed = W.nnz > 0 and float(W.data.min()) < 0
        if (error <= (SIGNED_TOLERANCE if signed else TOLERANCE) * np.diag(out)).all():
            return error
        if signed:
            lost = float((error / np.diag(out)).max())
            raise GraphError(
                f"the weights span so far that a smooth field would lose {lost:.1g} of a variance to rounding. "
                "Use smoothness=0, which copes."
            )
    out[:] = 0
    kernels.inverse_by_bordering(out, W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, ground)
    return EPS * len(ground) * np.diag(out)


def pseudo_inverse(out: Floats, W: sparse.csr_array, kernels: Any) -> Floats:
    """Fill out (m, m) with the pseudo-inverse of the Laplacian of a connected W; return the expected errors."""
    m = len(out)
    degree = np.asarray(W.sum(axis=1)).ravel()
    if m >= BLOCKS_FROM:
        hub = int(np.argmax(degree))  # held: its column is the flattest
        if (lost := from_sparse_factor(out, W, degree, held=hub)) is not None:
            kernels.center(out, np.arange(m))
            return np.full(m, lost)
    _fill(out, W, degree)
    lift = degree.mean() / m  # makes the constant vector an eigenvector like the others
    out += lift
    if cholesky_inverse(out):
        out -= 1 / (lift * m * m)
        error: Floats = kernels.inverse_error(out, degree)
        return error
    ground = W[[0], 1:].toarray().ravel()  # node 0 held: the others' pull towards it
    out[0, :] = out[:, 0] = 0
    rest = np.zeros((m - 1, m - 1))
    error = green(rest, sparse.csr_array(W[1:, 1:]), ground, kernels)
    out[1:, 1:] = rest
    kernels.center(out, np.arange(m))
    return np.concatenate([[error.max()], error])


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


def _fill(out: Floats, W: sparse.csr_array, degree: Floats) -> None:
    """out = diag(degree) - W, dense."""
    out[:] = 0
    rows = np.repeat(np.arange(len(out)), np.diff(W.indptr))
    out[rows, W.indices] = -W.data
    np.fill_diagonal(out, degree)


def _mirror_lower(A: Floats, block: int = 256) -> None:
    """Copy the lower triangle onto the upper, in blocks that fit the cache."""
    m = len(A)
    for i in range(0, m, block):
        corner = A[i : i + block, i : i + block]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        A[i : i + block, i + block :] = A[i + block :, i : i + block].T
