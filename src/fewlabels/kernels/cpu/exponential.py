"""2^x without a function call, in float32 and in float64, so that the loops it is in vectorise.

Numba's cache of a kernel notices changes to the kernel's own file only: after a change here, touch its importers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload


@intrinsic
def _bits(typingctx: Any, x: Any) -> Any:
    """The bits of a float as an integer of its size."""
    size = x.bitwidth
    whole = types.int32 if size == 32 else types.int64
    return whole(x), lambda ctx, builder, sig, args: builder.bitcast(args[0], ir.IntType(size))


@intrinsic
def _float(typingctx: Any, bits: Any) -> Any:
    """The float with these bits."""
    number, kind = (types.float32, ir.FloatType()) if bits.bitwidth == 32 else (types.float64, ir.DoubleType())
    return number(bits), lambda ctx, builder, sig, args: builder.bitcast(args[0], kind)


def exp2(x: Any) -> Any:
    """2^x for |x| < 120 (float32) or 1000 (float64) to a rounding or two, without a call, so that loops vectorise.

    x = k + f with k whole and |f| <= 1/2; a polynomial gives 2^f, and k is added to its exponent bits. k stands in the
    low bits of x + 1.5 * 2^23 (or 2^52), a sum that leaves no room for the fraction.
    """
    return _exp2_32(x) if isinstance(x, np.float32) else _exp2_64(x)


@overload(exp2)
def _exp2_in_a_kernel(x: Any) -> Any:
    def single(x: Any) -> Any:
        return _exp2_32(x)

    def double(x: Any) -> Any:
        return _exp2_64(x)

    return single if x == types.float32 else double


ONE_32, SHIFT_32, LOW_BITS_32 = np.float32(1), np.float32(1.5 * 2**23), np.int32(23)
# Fitted to 2^f on [-1/2, 1/2]: the largest relative error is 9e-8.
A1, A2, A3, A4, A5 = (np.float32(a) for a in (0.693147, 0.24022242, 0.055507336, 0.009671513, 0.0013264727))


@njit(cache=True)  # not order-free: (x + SHIFT) - SHIFT rounds x to a whole number
def _exp2_32(x: Any) -> Any:
    shifted = x + SHIFT_32
    f = x - (shifted - SHIFT_32)
    p = A5
    p = p * f + A4
    p = p * f + A3
    p = p * f + A2
    p = p * f + A1
    p = p * f + ONE_32
    return _float(np.int32(_bits(p) + np.int32(_bits(shifted) << LOW_BITS_32)))  # type: ignore[call-arg]


@njit(cache=True)
def _exp2_64(x: float) -> float:
    shifted = x + 6755399441055744.0  # 1.5 * 2^52
    f = (x - (shifted - 6755399441055744.0)) * 0.6931471805599453
    p = 1.0 / 6227020800.0
    p = p * f + 1.0 / 479001600.0
    p = p * f + 1.0 / 39916800.0
    p = p * f + 1.0 / 3628800.0
    p = p * f + 1.0 / 362880.0
    p = p * f + 1.0 / 40320.0
    p = p * f + 1.0 / 5040.0
    p = p * f + 1.0 / 720.0
    p = p * f + 1.0 / 120.0
    p = p * f + 1.0 / 24.0
    p = p * f + 1.0 / 6.0
    p = p * f + 0.5
    p = p * f + 1.0
    p = p * f + 1.0
    return _float(_bits(p) + (_bits(shifted) << 52))  # type: ignore[call-arg]
