"""The inverse of a component's Laplacian on the card, in place: one matrix is all the memory it takes."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fewlabels.arrays import Floats

BLOCK = 2048  # nodes swept together: small beside n, large enough for the card's matrix units


def green(A: Tensor, W: sparse.csr_array, ground: Floats | None) -> bool:
    """Fill A (m, m) with inv(degrees + ground - W), or, without ground, with the pseudo-inverse of degrees - W.

    False, and A spoilt, when rounding leaves it indefinite.

    The Laplacian of a connected component takes the constant vector to zero; a constant added to every entry lifts
    that, and its share is taken off the inverse again.
    """
    m = len(A)
    degree = np.asarray(W.sum(axis=1)).ravel() + (0 if ground is None else ground)
    lift = degree.mean() / m if ground is None else 0.0
    rows = np.repeat(np.arange(m), np.diff(W.indptr))
    A.fill_(lift)
    place = (torch.as_tensor(rows, device=A.device), torch.as_tensor(W.indices.astype(np.int64), device=A.device))
    A[place] = torch.as_tensor(lift - W.data, dtype=A.dtype, device=A.device)
    A.diagonal().copy_(torch.as_tensor(degree + lift, dtype=A.dtype))
    if not inverse(A):
        return False
    if ground is None:
        A -= 1 / (lift * m * m)
    return True


def inverse(A: Tensor, block: int = BLOCK) -> bool:
    """Replace a symmetric positive definite A by its inverse, one block of rows and columns after another.

    A sweep over the block K, with P = inv(A_KK), turns A_KK into -P, A_IK into A_IK P and A_IJ into A_IJ - A_IK P A_KJ;
    once every block is swept, A is minus its inverse. It is symmetric throughout, so only the upper triangle is kept.
    Half the work of solving for the identity, and no second matrix.
    """
    m = len(A)
    cuts = [slice(start, min(start + block, m)) for start in range(0, m, block)]
    for K in cuts:
        corner = A[K, K].triu() + A[K, K].triu(1).mT
        factor, failed = torch.linalg.cholesky_ex(corner)
        if failed:
            return False
        P = torch.cholesky_inverse(factor)
        column = torch.cat([A[: K.start, K], corner, A[K, K.stop :].mT])  # (m, b)
        scaled = column @ P  # (m, b)
        for rows in cuts:
            A[rows, rows.start :].addmm_(scaled[rows], column[rows.start :].mT, alpha=-1)
        A[: K.start, K] = scaled[: K.start]
        A[K, K.stop :] = scaled[K.stop :].mT
        A[K, K] = -P
    for rows in cuts:
        A[rows, rows.start :].neg_().add_(0)  # no -0: the look-ahead goes by the sign bits of a tile
        A[rows, rows] = A[rows, rows].triu() + A[rows, rows].triu(1).mT
        A[rows.stop :, rows] = A[rows, rows.stop :].mT
    return True


def expected_error(G: Tensor, degree: Floats, eps: float, block: int = BLOCK) -> float:
    """The largest relative error to expect in a G_kk: `reference.inverse_error` over the diagonal."""
    d = torch.as_tensor(degree, dtype=G.dtype, device=G.device)
    worst = torch.zeros((), dtype=G.dtype, device=G.device)
    for start in range(0, len(G), block):
        rows = G[start : start + block]
        size = torch.linalg.vector_norm(rows * rows * d, dim=1)
        worst = torch.maximum(worst, (size / rows.diagonal(start)).max())
    return eps * float(worst)
