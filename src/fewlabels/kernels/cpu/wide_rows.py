"""A sparse matrix times a block, row by row and 32 columns at a time, which stay in the processor's registers.

Numba's cache of a kernel notices changes to the kernel's own file only: after a change here, remove `__pycache__`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fewlabels.kernels.cpu.prefetch import BYTE, DATA, FLAG, KEEP, LINE, READ

WIDE = 32  # columns: with 16 a column takes twice as long
AHEAD = 96  # rows between asking for one and reading it: `indices` must go on for as many beyond the last
NUMBER, PLACE = ir.FloatType(), ir.IntType(64)
NUMBERS = ir.VectorType(NUMBER, WIDE)
NOTHING = ir.Constant(NUMBERS, [0.0] * WIDE)
FIRST = ir.Constant(ir.VectorType(FLAG, WIDE), [0] * WIDE)
FUSED = ("contract",)


def _step_row(
    typing: Any, indices: Any, weights: Any, start: Any, stop: Any, X: Any, Y: Any, B: Any, i: Any, left: Any,
    width: Any, a: Any, b: Any, c: Any,
) -> Any:  # fmt: skip
    """Y_i = a X_i + b Y_i + c (B_i + sum over e from start to stop of weights[e] X[indices[e]]) in the columns from
    `left` on, for Numba's kernels.

    X, Y and B are (n, width), where B may be empty; all arrays are C-contiguous and in float32, but `indices` in
    uint32; whole numbers are in uint64. Where b is 0, Y is not read.
    """

    def generated(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, given[k])

        def numbers_at(data: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(data, [place]), NUMBERS.as_pointer())

        def everywhere(number: Any) -> Any:
            first = builder.insert_element(NOTHING, number, ir.Constant(FLAG, 0))
            return builder.shuffle_vector(first, NOTHING, FIRST)

        def plus(total: Any, number: Any, numbers: Any) -> Any:
            product = builder.fmul(everywhere(number), numbers, flags=FUSED)
            return builder.fadd(total, product, flags=FUSED)

        at_index, at_weight, at_x, at_y, at_given = (array(k).data for k in (0, 1, 4, 5, 6))
        rows_given = array(6).nitems
        i, left, width, a, b, c = given[7:]
        total = cgutils.alloca_once_value(builder, NOTHING)  # type: ignore[no-untyped-call]
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", (BYTE,), ir.FunctionType(ir.VoidType(), [BYTE, FLAG, FLAG, FLAG])
        )

        def spot_of(row: Any) -> Any:
            return builder.add(builder.mul(row, width), left)

        def other(e: Any) -> Any:
            return spot_of(builder.zext(builder.load(builder.gep(at_index, [e])), PLACE))

        with cgutils.for_range_slice(builder, given[2], given[3], ir.Constant(PLACE, 1), inc=True) as (e, _):
            later = builder.bitcast(numbers_at(at_x, other(builder.add(e, ir.Constant(PLACE, AHEAD)))), BYTE)
            for line in range(0, 4 * WIDE, LINE):
                builder.call(fetch, [builder.gep(later, [ir.Constant(PLACE, line)]), READ, KEEP, DATA])
            values = builder.load(numbers_at(at_x, other(e)), align=4)
            weight = builder.load(builder.gep(at_weight, [e]))
            builder.store(plus(builder.load(total), weight, values), total)
        spot = spot_of(i)
        with builder.if_then(builder.icmp_unsigned("!=", rows_given, ir.Constant(rows_given.type, 0))):
            more = builder.load(numbers_at(at_given, spot), align=4)
            builder.store(builder.fadd(builder.load(total), more), total)
        scaled = builder.fmul(everywhere(c), builder.load(total), flags=FUSED)
        builder.store(plus(scaled, a, builder.load(numbers_at(at_x, spot), align=4)), total)
        with builder.if_then(builder.fcmp_unordered("!=", b, ir.Constant(NUMBER, 0.0))):
            builder.store(plus(builder.load(total), b, builder.load(numbers_at(at_y, spot), align=4)), total)
        builder.store(builder.load(total), numbers_at(at_y, spot), align=4)
        return context.get_dummy_value()

    return types.void(indices, weights, start, stop, X, Y, B, i, left, width, a, b, c), generated


step_row: Any = intrinsic(_step_row)
