"""Inverses of the Laplacian of one component, in place, with the rounding error to expect in them."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from fewlabels.kernels.reference import EPS, Floats

SWEEP_FROM = 4000  # nodes; LAPACK is quicker below, and done in a second or two
BLOCK = 1024  # nodes swept together
PATIENCE = 2.0  # seconds between lines of progress
TOLERANCE = 1e-9  # expected relative error of a Cholesky inverse above which bordering takes its place


def green(out: Floats, W: sparse.csr_array, ground: Floats, kernels: Any) -> Floats:
    """Fill out (m, m) with inv(degrees + ground - W) and return the expected error of each diagonal entry.

    ground (m,) is each node's pull from labelled nodes. By Cholesky, unless the weights span so far that it would lose
    more than `TOLERANCE`.
    """
    degree = np.asarray(W.sum(axis=1)).ravel() + ground
    _fill(out, W, degree)
    if cholesky_inverse(out):
        error: Floats = kernels.inverse_error(out, degree)
        if (error <= TOLERANCE * np.diag(out)).all():
            return error
    out[:] = 0
    kernels.inverse_by_bordering(out, W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, ground)
    return EPS * len(ground) * np.diag(out)


def pseudo_inverse(out: Floats, W: sparse.csr_array, kernels: Any) -> Floats:
    """Fill out (m, m) with the pseudo-inverse of the Laplacian of a connected W; return the expected errors."""
    m = len(out)
    degree = np.asarray(W.sum(axis=1)).ravel()
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
    done = _inverse_by_sweeps(A) if len(A) >= SWEEP_FROM else _inverse_by_lapack(A)
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


def _inverse_by_sweeps(A: Floats, block: int = BLOCK) -> bool:
    """The lower triangle of the inverse, a block of rows and columns after the other, with a line of progress.

    A sweep over the block K, with P = inv(A_KK) by Cholesky, turns A_KK into -P, A_IK into A_IK P and A_IJ into
    A_IJ - A_IK P A_KJ; once every block is swept, A is minus its inverse. The same n^3 operations as LAPACK's way, all
    of them matrix products, and none of its calls on a large matrix: OpenBLAS 0.3.30 crashes in dpotrf at 20,000.
    """
    m = len(A)
    cuts = [slice(start, min(start + block, m)) for start in range(0, m, block)]
    started = told = time.perf_counter()
    for done, K in enumerate(cuts):
        P = np.tril(A[K, K])
        P += np.tril(P, -1).T
        column = np.concatenate([A[K, : K.start].T, P, A[K.stop :, K]])  # (m, b)
        P = np.ascontiguousarray(P)
        if not _inverse_by_lapack(P):
            return False
        P = np.tril(P) + np.tril(P, -1).T
        scaled = column @ P  # (m, b)
        for rows in cuts:
            A[rows, : rows.stop] -= scaled[rows] @ column[: rows.stop].T
        A[K, : K.start] = scaled[: K.start].T
        A[K.stop :, K] = scaled[K.stop :]
        A[K, K] = -P
        if time.perf_counter() - told > PATIENCE and done + 1 < len(cuts):
            told = time.perf_counter()
            left = (told - started) * (len(cuts) / (done + 1) - 1)
            print(f"fewlabels: setting up {m:,} nodes, about {left:.0f} s left", file=sys.stderr, flush=True)
    for rows in cuts:
        np.negative(A[rows, : rows.stop], out=A[rows, : rows.stop])
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
