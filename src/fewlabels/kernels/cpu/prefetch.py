"""Ask the memory for a row before it is needed: rows read in random order are then waited for together, not in turn."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

AHEAD = 8  # rows between asking for one and reading it
LINE = 64  # bytes that the memory gives at once
BYTE, FLAG = ir.IntType(8).as_pointer(), ir.IntType(32)
READ, KEEP, DATA = ir.Constant(FLAG, 0), ir.Constant(FLAG, 3), ir.Constant(FLAG, 1)


def _prefetch(typing: Any, array: Any, i: Any, lines: Any) -> Any:
    """Fetch the first lines of array[i], for Numba's kernels: LLVM's hint, which changes no result."""

    def generated(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        rows = context.make_array(signature.args[0])(context, builder, given[0])
        stride = builder.extract_value(rows.strides, 0)
        start = builder.gep(builder.bitcast(rows.data, BYTE), [builder.mul(given[1], stride)])
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", (BYTE,), ir.FunctionType(ir.VoidType(), [BYTE, FLAG, FLAG, FLAG])
        )
        with cgutils.for_range(builder, given[2]) as loop:
            offset = builder.mul(loop.index, ir.Constant(loop.index.type, LINE))
            builder.call(fetch, [builder.gep(start, [offset]), READ, KEEP, DATA])
        return context.get_dummy_value()

    return types.void(array, i, lines), generated


prefetch: Any = intrinsic(_prefetch)
