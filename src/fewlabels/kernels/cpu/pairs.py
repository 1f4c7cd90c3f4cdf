"""What a question q does to one node k: the arithmetic that the look-aheads, dense and sparse, have in common.

Everything here is about single numbers, in the precision it is given, and is inlined into the loops of the kernels.
Numba's cache of a kernel notices changes to the kernel's own file only: after a change here, remove `__pycache__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fewlabels.arrays import Numbers

LOG2_E = 1.4426950408889634
STEEP_32, STEEP_64 = 80.0, 300.0  # 2 / v up to which the shared exponentials fit into float32, float64
OPPOSED = 0.25  # 2 |r| / v of a pair with r < 0, which only a smooth field has, up to which no sum of chances cancels

# Sums may be reordered and products fused so that loops vectorise; infinities and NaN keep their meaning.
ORDER_FREE = {"reassoc", "contract"}


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def variance_left(kk: float, share: float, near: float, floor: float) -> float:
    """G'_kk once q, which a label reached before, is answered: share is r_k = G_kq / G_qq, near is G_kq."""
    return max(kk - share * near, floor)


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def variance_of_first(kk: float, qq: float, near: float, floor: float) -> float:
    """G'_kk once q is the first answer of their component: the resistance between the two."""
    return max(kk + qq - 2 * near, floor)


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def two_largest(first: Any, second: Any, value: Any) -> Any:
    """The two largest numbers so far, with one more."""
    return max(first, value), max(second, min(first, value))


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def largest_of_others(value: Any, first: Any, second: Any) -> Any:
    """The largest number except this one."""
    return second if value == first else first


@njit(cache=True, fastmath=ORDER_FREE, error_model="numpy")
def largest_exponent(t: Any, r: Any, size_k: Any, size_q: Any) -> Any:
    """The largest exponent that a pair meets in a smooth field, given 2 / v as exponent and the largest |h| of k and q;
    infinite where a negative r would make sums of chances cancel: such pairs are done in logarithms, too.
    """
    if t * r < -OPPOSED:
        return t * np.inf
    return t * (size_k + abs(r) * (1 + size_q))


@njit(cache=True)
def log_sigmoid(f: float) -> float:
    return -np.log1p(np.exp(-f)) if f > 0 else f - np.log1p(np.exp(f))


@njit(cache=True)
def steep_error(h: Numbers, at_q: Numbers, r: float, t: float, chance: Numbers, multiplicity: Numbers) -> float:
    """The error to expect at one node where t = 2 / v is so large that exp(t) overflows: in logarithms."""
    D = len(h)
    if_other, if_own = np.empty(D), np.empty(D)
    for c in range(D):
        base = h[c] - r * at_q[c]
        if_other[c], if_own[c] = log_sigmoid(t * (base - r)), log_sigmoid(t * (base + r))
    first, second = -np.inf, -np.inf
    for c in range(D):
        first, second = two_largest(first, second, if_other[c])
        if multiplicity[c] > 1:
            second = max(second, if_other[c])
    wrong = 0.0
    for c in range(D):
        best = max(if_own[c], largest_of_others(if_other[c], first, second))
        mass = np.exp(if_own[c] - best)
        for d in range(D):
            others = multiplicity[d] - (1 if d == c else 0)
            if others > 0:
                mass += others * np.exp(if_other[d] - best)
        wrong += chance[c] * (1 - 1 / mass)
    return wrong
