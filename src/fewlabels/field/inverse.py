"""Inverses of the Laplacian of one component, in place, with the rounding error to expect in them."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from fewlabels.kernels.reference import EPS, Floats

ANNOUNCE_FROM = 3000  # no machine needs two seconds for less
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


def announce(m: int, file: TextIO | None = None) -> None:
    """A line on standard error before an inverse of m x m that takes more than two seconds, with the time to expect."""
    if m < ANNOUNCE_FROM:
        return
    probe = np.ones((1000, 1000))
    start = time.perf_counter()
    probe @ probe
    seconds = m**3 / (2e9 / (time.perf_counter() - start))  # an inverse takes m^3 operations, the probe 2e9
    if seconds > 2:
        print(f"fewlabels: setting up {m:,} nodes, about {seconds:.0f} s", file=file or sys.stderr, flush=True)


def cholesky_inverse(A: Floats) -> bool:
    """Replace a symmetric C-ordered A by its inverse; False, and A spoilt, when rounding leaves A indefinite."""
    announce(len(A))
    factor, failed = lapack.dpotrf(A.T, lower=0, overwrite_a=1, clean=0)  # A.T is Fortran-ordered: no copy
    if failed:
        return False
    inverse, failed = lapack.dpotri(factor, lower=0, overwrite_c=1)
    if failed:
        return False
    if not np.shares_memory(inverse, A):
        A[:] = inverse.T
    _mirror_lower(A)
    return bool(np.isfinite(np.diag(A)).all())  # no other entry is larger


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
