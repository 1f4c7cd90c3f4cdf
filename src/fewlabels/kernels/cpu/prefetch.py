"""Ask the memory for a row before it is needed: rows read in random order are then waited for together, not in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fewlabels.arrays import Numbers

AHEAD = 48  # rows between asking for one and reading it
LINE = 64  # bytes that the memory gives at once
BYTE, FLAG = ir.IntType(8).as_pointer(), ir.IntType(32)
READ, KEEP, DATA = ir.Constant(FLAG, 0), ir.Constant(FLAG, 3), ir.Constant(FLAG, 1)


def aligned(n: int, m: int, dtype: Any = np.float32) -> Numbers:
    """(n, m) not filled, beginning where a line of the memory does. Elsewhere a row reaches into one line more, which
    nobody has asked for: reading rows in random order takes twice as long.
    """
    size = n * m * np.dtype(dtype).itemsize
    room = np.empty(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(dtype).reshape(n, m)


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
