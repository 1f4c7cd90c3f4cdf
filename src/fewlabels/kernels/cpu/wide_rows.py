"""Sums of rows of a block, 32 columns at a time, which stay in the registers of the processor meanwhile."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fewlabels.kernels.cpu.prefetch import BYTE, DATA, FLAG, KEEP, LINE, READ

WIDE = 32  # columns: with 16 a column takes twice as long
AHEAD = 16  # rows between asking for one and reading it: `indices` must go on for as many beyond the last
NUMBER, PLACE = ir.FloatType(), ir.IntType(64)
NUMBERS = ir.VectorType(NUMBER, WIDE)
NOTHING = ir.Constant(NUMBERS, [0.0] * WIDE)
FIRST = ir.Constant(ir.VectorType(FLAG, WIDE), [0] * WIDE)
FUSED = ("contract",)


def _add_rows(
    typing: Any, out: Any, weights: Any, indices: Any, start: Any, stop: Any, X: Any, width: Any, left: Any
) -> Any:
    """out = sum over e from start to stop of weights[e] X[indices[e], left : left + WIDE], for Numba's kernels: X is
    (n, width), all arrays are C-contiguous and in float32, but `indices` in uint32; all numbers are in uint64.
    """

    def generated(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, given[k])

        at_weight, at_index = array(1).data, array(2).data
        at_row = array(5).data
        total = cgutils.alloca_once_value(builder, NOTHING)  # type: ignore[no-untyped-call]
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", (BYTE,), ir.FunctionType(ir.VoidType(), [BYTE, FLAG, FLAG, FLAG])
        )

        def row(e: Any) -> Any:
            i = builder.zext(builder.load(builder.gep(at_index, [e])), PLACE)
            return builder.gep(at_row, [builder.add(builder.mul(i, given[6]), given[7])])

        with cgutils.for_range_slice(builder, given[3], given[4], ir.Constant(PLACE, 1), inc=True) as (e, _):
            later = builder.bitcast(row(builder.add(e, ir.Constant(PLACE, AHEAD))), BYTE)
            for line in range(0, 4 * WIDE, LINE):
                builder.call(fetch, [builder.gep(later, [ir.Constant(PLACE, line)]), READ, KEEP, DATA])
            values = builder.load(builder.bitcast(row(e), NUMBERS.as_pointer()), align=4)
            weight = builder.insert_element(NOTHING, builder.load(builder.gep(at_weight, [e])), ir.Constant(FLAG, 0))
            product = builder.fmul(builder.shuffle_vector(weight, NOTHING, FIRST), values, flags=FUSED)
            builder.store(builder.fadd(builder.load(total), product, flags=FUSED), total)
        builder.store(builder.load(total), builder.bitcast(array(0).data, NUMBERS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(out, weights, indices, start, stop, X, width, left), generated


add_rows: Any = intrinsic(_add_rows)
