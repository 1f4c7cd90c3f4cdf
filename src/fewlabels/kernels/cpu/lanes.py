"""Arithmetic on all lanes of a vector register at once, written like arithmetic on numbers, for Numba's intrinsics.

Numba's own loops vectorise too, but hand their results on through memory, array by array. What is written with `Lanes`
stays in registers for as long as there are enough of them.

Numba's cache of a kernel notices changes to the kernel's own file only: after a change here, remove `__pycache__`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

BYTES = 64  # of the numbers worked on together: two registers of AVX2, one of AVX-512
FUSED = ("contract", "nsz")  # a product and a sum may be rounded once; no infinity or NaN changes its meaning
PLACE, FLAG, WHOLE = ir.IntType(64), ir.IntType(1), ir.IntType(32)


@dataclass(frozen=True)
class Lanes:
    """One number in each lane."""

    kind: Kind
    value: Any  # of LLVM

    def __add__(self, other: Lanes | float) -> Lanes:
        return self._then(self.kind.builder.fadd(self.value, self._like(other), flags=FUSED))

    def __sub__(self, other: Lanes | float) -> Lanes:
        return self._then(self.kind.builder.fsub(self.value, self._like(other), flags=FUSED))

    def __mul__(self, other: Lanes | float) -> Lanes:
        return self._then(self.kind.builder.fmul(self.value, self._like(other), flags=FUSED))

    def __truediv__(self, other: Lanes | float) -> Lanes:
        return self._then(self.kind.builder.fdiv(self.value, self._like(other), flags=FUSED))

    def __neg__(self) -> Lanes:
        return self._then(self.kind.builder.fneg(self.value))

    __radd__, __rmul__ = __add__, __mul__

    def max(self, other: Lanes) -> Lanes:
        return self._where(">", other, self, other)

    def min(self, other: Lanes) -> Lanes:
        return self._where("<", other, self, other)

    def if_equal(self, other: Lanes, then: Lanes, otherwise: Lanes) -> Lanes:
        return self._where("==", other, then, otherwise)

    def _where(self, comparison: str, other: Lanes, then: Lanes, otherwise: Lanes) -> Lanes:
        builder = self.kind.builder
        return self._then(
            builder.select(builder.fcmp_ordered(comparison, self.value, other.value), then.value, otherwise.value)
        )

    def _like(self, other: Lanes | float) -> Any:
        return other.value if isinstance(other, Lanes) else self.kind.constant(other).value

    def _then(self, value: Any) -> Lanes:
        return Lanes(self.kind, value)


class Kind:
    """Lanes of float32 or of float64: how many there are, and how they come from memory and go back."""

    def __init__(self, builder: Any, number: Any) -> None:
        self.builder = builder
        self.single = number == types.float32
        self.count = BYTES * 8 // number.bitwidth
        self.vector = ir.VectorType(ir.FloatType() if self.single else ir.DoubleType(), self.count)
        self._bits = ir.VectorType(ir.IntType(number.bitwidth), self.count)

    def constant(self, x: float) -> Lanes:
        """x in every lane."""
        return Lanes(self, ir.Constant(self.vector, [float(x)] * self.count))

    def spread(self, pointer: Any) -> Lanes:
        """The number at the pointer, in every lane."""
        empty = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(empty, self.builder.load(pointer), ir.Constant(WHOLE, 0))
        first = ir.Constant(ir.VectorType(WHOLE, self.count), [0] * self.count)
        return Lanes(self, self.builder.shuffle_vector(one, empty, first))

    def load(self, pointer: Any, mask: Any = None) -> Lanes:
        """The numbers from the pointer on; 0, and nothing read, in lanes outside the mask."""
        at = self._at(pointer)
        if mask is None:
            return Lanes(self, self.builder.load(at, align=self._size))
        size, nothing = ir.Constant(WHOLE, self._size), self.constant(0.0).value
        return Lanes(self, self._masked("load", self.vector, at, size, mask, nothing))

    def store(self, x: Lanes, pointer: Any, mask: Any = None) -> None:
        """The lanes, or those inside the mask, from the pointer on."""
        at = self._at(pointer)
        if mask is None:
            self.builder.store(x.value, at, align=self._size)
            return
        self._masked("store", ir.VoidType(), x.value, at, ir.Constant(WHOLE, self._size), mask)

    def below(self, count: Any) -> Any:
        """The mask of the first `count` lanes, or of all."""
        places = ir.VectorType(WHOLE, self.count)
        number = self.builder.trunc(count, WHOLE)
        empty = ir.Constant(places, ir.Undefined)
        first = ir.Constant(places, [0] * self.count)
        spread = self.builder.shuffle_vector(
            self.builder.insert_element(empty, number, ir.Constant(WHOLE, 0)), empty, first
        )
        return self.builder.icmp_signed("<", ir.Constant(places, list(range(self.count))), spread)

    def variable(self) -> Variable:
        """Lanes that change in a loop."""
        return Variable(self, cgutils.alloca_once_value(self.builder, self.constant(0.0).value))  # type: ignore[no-untyped-call]

    def exp2(self, x: Lanes) -> Lanes:
        """2^x for |x| < 120 (float32) or 1000 (float64) to a rounding or two.

        x = k + f with k whole and |f| <= 1/2; a polynomial gives 2^f, and k is added to its exponent bits. k stands in
        the low bits of x + 1.5 * 2^23 (or 2^52), a sum that leaves no room for the fraction.
        """
        digits = 23 if self.single else 52
        shift = self.constant(1.5 * 2**digits).value
        shifted = self.builder.fadd(x.value, shift)  # two roundings that must stay: no flags
        f = x - Lanes(self, self.builder.fsub(shifted, shift))
        highest, *others = POWER_32 if self.single else POWER_64
        p = self.constant(highest)
        for a in others:
            p = p * f + a
        k = self.builder.shl(self.builder.bitcast(shifted, self._bits), ir.Constant(self._bits, [digits] * self.count))
        return Lanes(
            self, self.builder.bitcast(self.builder.add(self.builder.bitcast(p.value, self._bits), k), self.vector)
        )

    @property
    def _size(self) -> int:
        return 4 if self.single else 8

    def _masked(self, what: str, result: Any, *arguments: Any) -> Any:
        numbers = f"v{self.count}f{8 * self._size}"
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        name = f"llvm.masked.{what}.{numbers}.p0{numbers}"  # LLVM itself mends the name where pointers have no type
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), arguments)  # type: ignore[no-untyped-call]

    def _at(self, pointer: Any) -> Any:
        return self.builder.bitcast(pointer, self.vector.as_pointer())


@dataclass(frozen=True)
class Variable:
    kind: Kind
    place: Any

    @property
    def now(self) -> Lanes:
        return Lanes(self.kind, self.kind.builder.load(self.place))

    def becomes(self, x: Lanes | float) -> None:
        self.kind.builder.store(x.value if isinstance(x, Lanes) else self.kind.constant(x).value, self.place)


# Of 2^f on [-1/2, 1/2], the highest power first. In float32 fitted: the largest relative error is 9e-8.
POWER_32 = [float(np.float32(a)) for a in (0.0013264727, 0.009671513, 0.055507336, 0.24022242, 0.693147, 1.0)]
POWER_64 = [float(np.prod([np.log(2.0) / j for j in range(1, k + 1)])) for k in range(13, -1, -1)]
