"""The inverse of a symmetric matrix on the card, in place: one matrix is all the memory it takes."""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 2048  # nodes swept together: small beside n, large enough for the card's matrix units


def cuts(m: int, block: int = BLOCK) -> list[slice]:
    """m rows, some at a time."""
    return [slice(start, min(start + block, m)) for start in range(0, m, block)]


def inverse(A: Tensor, block: int = BLOCK) -> bool:
    """Replace a symmetric positive definite A by its inverse, one block of rows and columns after another; False, and A
    spoilt, when rounding leaves it indefinite.

    A sweep over the block K, with P = inv(A_KK), turns A_KK into -P, A_IK into A_IK P and A_IJ into A_IJ - A_IK P A_KJ;
    once every block is swept, A is minus its inverse. It is symmetric throughout, so only the upper triangle is kept.
    Half the work of solving for the identity, and no second matrix.
    """
    parts = cuts(len(A), block)
    for K in parts:
        corner = A[K, K].triu() + A[K, K].triu(1).mT
        factor, failed = torch.linalg.cholesky_ex(corner)
        if failed:
            return False
        P = torch.cholesky_inverse(factor)
        column = torch.cat([A[: K.start, K], corner, A[K, K.stop :].mT])  # (m, b)
        scaled = column @ P  # (m, b)
        for rows in parts:
            A[rows, rows.start :].addmm_(scaled[rows], column[rows.start :].mT, alpha=-1)
        A[: K.start, K] = scaled[: K.start]
        A[K, K.stop :] = scaled[K.stop :].mT
        A[K, K] = -P
    for rows in parts:
        A[rows, rows.start :].neg_().add_(0)  # no -0: the look-ahead goes by the sign bits of a tile
        mirror(A, rows)
    return True


def mirror(A: Tensor, rows: slice) -> None:
    """What these rows have right of the diagonal is put below it, too."""
    A[rows, rows] = A[rows, rows].triu() + A[rows, rows].triu(1).mT
    A[rows.stop :, rows] = A[rows, rows.stop :].mT
