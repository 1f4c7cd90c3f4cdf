"""Products with tall matrices, some thousand rows at a time, on all threads: what is in the cache is used again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numpy as np
from numba import get_num_threads

from fewlabels.arrays import Floats, Numbers

T = TypeVar("T")
ROWS = 4096


def gram(X: Numbers, Y: Numbers) -> Floats:
    """X'Y, summed in float64."""

    def part(rows: slice) -> Floats:
        return (X[rows].T @ Y[rows]).astype(float)

    return np.sum(_in_stretches(len(X), part, Y.shape[1]), axis=0)


def turn(X: Numbers, by: Floats) -> None:
    """X = X by, in place."""
    by = by.astype(X.dtype)

    def part(rows: slice) -> None:
        X[rows] = X[rows] @ by

    _in_stretches(len(X), part, X.shape[1])


def squares(X: Numbers) -> Floats:
    """(m,) the sum of squares of every column."""

    def part(rows: slice) -> Floats:
        return np.einsum("ij,ij->j", X[rows], X[rows]).astype(float)

    return np.sum(_in_stretches(len(X), part, X.shape[1]), axis=0)


def subtract(X: Numbers, Y: Numbers, factors: Floats) -> None:
    """X -= Y factors, a factor for every column, in place."""
    factors = factors.astype(X.dtype)

    def part(rows: slice) -> None:
        X[rows] -= Y[rows] * factors

    _in_stretches(len(X), part, X.shape[1])


def scaled_sum(X: Numbers, scale: Numbers, V: Numbers, by: Numbers, weight: Floats | None = None) -> Numbers:
    """scale X + weight V by, a scale and a weight for every row; in X's place where that is of V's precision."""
    out = X if X.dtype == V.dtype else np.empty(X.shape, V.dtype)

    def part(rows: slice) -> None:
        told = V[rows] @ by
        if weight is not None:
            told *= weight[rows, None].astype(told.dtype)
        out[rows] = X[rows] * scale[rows, None] + told

    _in_stretches(len(X), part, X.shape[1])
    return out


def _in_stretches(n: int, work: Callable[[slice], T], columns: int) -> list[T]:
    stretches = [slice(left, min(left + ROWS, n)) for left in range(0, n, ROWS)]
    if len(stretches) <= 1 or columns == 1:  # quicker done than dealt out
        return [work(rows) for rows in stretches]
    return list(_threads(get_num_threads()).map(work, stretches))


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count)
