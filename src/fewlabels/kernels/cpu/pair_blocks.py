"""The chance to be right at k once q is answered, for a block of pairs (q, k): the innermost loop of every look-ahead.

`two_step_block` and `harmonic_block` are called from Numba's kernels with the same arguments:

    block(right, t, r, h_k, h_q, chance, multiplicity, work, left, width)

and set right[j], for j < width, to the chance to be right at k over what q may turn out to be. t is 2 log2(e) / v and r
is G_kq / G_qq of each pair. h_k, h_q and the chances of q are (D, ...), those of pair j at left + j, or (D,) where all
pairs have the same. `multiplicity` says how many classes share each of the D columns; `work` holds ROOM D numbers.

Numba's cache of a kernel notices changes to the kernel's own file only: after a change here, remove `__pycache__`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fewlabels.kernels.cpu.lanes import BYTES, PLACE, Kind, Lanes, Variable

SCALE = 2.0**-56  # all sigmoids of a node are taken 2^56 times too large: float32 then holds twice the exponents
ROOM = 2 * BYTES // 4  # numbers of `work` for each class: two blocks of lanes
RIGHT, T, R, H_K, H_Q, CHANCE, MULTIPLICITY, WORK, LEFT, WIDTH = range(10)  # the arguments
NONE, ONE = ir.Constant(PLACE, 0), ir.Constant(PLACE, 1)


class Block:
    """The arguments of a call, as lanes."""

    def __init__(self, context: Any, builder: Any, kinds: Any, given: Any) -> None:
        self.lanes = Kind(builder, kinds[T].dtype)
        self._context, self._builder, self._kinds, self._left = context, builder, kinds, given[LEFT]
        self._arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(kinds[:LEFT], given[:LEFT], strict=True)
        ]
        self._classes = builder.extract_value(self._arrays[MULTIPLICITY].shape, 0)
        self.first, self.second, self.total, self.right = (self.lanes.variable() for _ in range(4))

    def at(self, argument: int, *place: Any) -> Any:
        """The pointer to a number of an array."""
        array, kind = self._arrays[argument], self._kinds[argument]
        return cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            self._context, self._builder, kind, array, place, wraparound=False
        )

    def classes(self) -> Any:
        """A loop over the D columns: `with block.classes() as (c, _)`."""
        return cgutils.for_range_slice(self._builder, NONE, self._classes, ONE, inc=True)

    def of_class(self, argument: int, c: Any, j: Any, mask: Any) -> Lanes:
        """What h_k, h_q or chance says of a class to the pairs from j on."""
        if self._kinds[argument].ndim == 1:
            return self.lanes.spread(self.at(argument, c))
        return self.lanes.load(self.at(argument, c, self._builder.add(self._left, j)), mask)

    def kept(self, c: Any, i: int) -> Any:
        """The pointer to room for one of two blocks of lanes that are kept for each class."""
        block = self._builder.add(self._builder.mul(c, ir.Constant(PLACE, 2)), ir.Constant(PLACE, i))
        return self.at(WORK, self._builder.mul(block, ir.Constant(PLACE, self.lanes.count)))

    def ranked(self, value: Lanes, times: Lanes) -> None:
        """`first` and `second` are the largest two values so far; one that several classes share counts twice."""
        below = times.if_equal(self.lanes.constant(1.0), self.first.now, value)
        self.second.becomes(self.second.now.max(below.min(value)))
        self.first.becomes(self.first.now.max(value))

    def rival(self, value: Lanes) -> Lanes:
        """The largest of the other classes."""
        return value.if_equal(self.first.now, self.second.now, self.first.now)


def _two_step(block: Block, j: Any, mask: Any) -> Lanes:
    """TSA's marginals. Exponents beyond the range of the numbers make nonsense of a pair: see `pairs.steep_error`.

    exp(-f) of a class at k is e up if q is of another class and e down if it is of this one, where e is exp(-2 (h_k - r
    h_q) / v), and up and down, exp(+-2 r / v), are the same for all classes.
    """
    lanes, total, right = block.lanes, block.total, block.right
    t, r = lanes.load(block.at(T, j), mask), lanes.load(block.at(R, j), mask)
    up, down = SCALE * lanes.exp2(t * r), SCALE * lanes.exp2(-(t * r))
    started(0.0, block.first, block.second, total, right)
    with block.classes() as (c, _):
        e = lanes.exp2(t * (r * block.of_class(H_Q, c, j, mask) - block.of_class(H_K, c, j, mask)))
        a, b = e * up + SCALE, e * down + SCALE
        both = lanes.constant(1.0) / (a * b)  # one division for two sigmoids
        if_other, if_own = b * both, a * both
        lanes.store(if_other, block.kept(c, 0))
        lanes.store(if_own, block.kept(c, 1))
        times = lanes.spread(block.at(MULTIPLICITY, c))
        total.becomes(total.now + times * if_other)
        block.ranked(if_other, times)
    with block.classes() as (c, _):
        if_other, if_own = lanes.load(block.kept(c, 0)), lanes.load(block.kept(c, 1))
        largest = if_own.max(block.rival(if_other)) / (total.now - if_other + if_own)
        right.becomes(right.now + block.of_class(CHANCE, c, j, mask) * largest)
    return right.now


def _harmonic(block: Block, j: Any, mask: Any) -> Lanes:
    """ZLG's marginals: (h + 1) / 2 sums to one over the classes wherever a label reaches."""
    lanes, right = block.lanes, block.right
    r = lanes.load(block.at(R, j), mask)
    started(float("-inf"), block.first, block.second)
    started(0.0, right)
    with block.classes() as (c, _):
        if_other = block.of_class(H_K, c, j, mask) - r * (block.of_class(H_Q, c, j, mask) + 1.0)
        lanes.store(if_other, block.kept(c, 0))
        block.ranked(if_other, lanes.spread(block.at(MULTIPLICITY, c)))
    with block.classes() as (c, _):
        if_other = lanes.load(block.kept(c, 0))
        largest = (if_other + 2.0 * r).max(block.rival(if_other)).min(lanes.constant(1.0))
        right.becomes(right.now + block.of_class(CHANCE, c, j, mask) * largest)
    return 0.5 + 0.5 * right.now


def started(at: float, *variables: Variable) -> None:
    for variable in variables:
        variable.becomes(at)


def _compiled(marginals: Callable[[Block, Any, Any], Lanes]) -> Any:
    """The function of the module's docstring, for Numba's kernels, by one kind of marginals."""

    def of_kinds(  # Numba counts the arguments
        typing: Any, right: Any, t: Any, r: Any, h_k: Any, h_q: Any, chance: Any, multiplicity: Any, work: Any,
        left: Any, width: Any,
    ) -> Any:  # fmt: skip
        def generated(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            block = Block(context, builder, signature.args, given)
            step = ir.Constant(PLACE, block.lanes.count)
            left_over = builder.urem(given[WIDTH], step)
            whole = builder.sub(given[WIDTH], left_over)

            def pairs(j: Any, mask: Any = None) -> None:
                block.lanes.store(marginals(block, j, mask), block.at(RIGHT, j), mask)

            with cgutils.for_range_slice(builder, NONE, whole, step, inc=True) as (j, _):
                pairs(j)
            with builder.if_then(builder.icmp_unsigned("!=", left_over, NONE)):
                pairs(whole, block.lanes.below(left_over))
            return context.get_dummy_value()

        return types.void(right, t, r, h_k, h_q, chance, multiplicity, work, left, width), generated

    return intrinsic(of_kinds)


two_step_block = _compiled(_two_step)
harmonic_block = _compiled(_harmonic)
