"""Columns of G kept at hand, and downdated with every answer instead of solved for again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu import blocks
from fewlabels.machine.giving_way import give_way
from fewlabels.machine.progress import Progress

AT_ONCE = 64  # columns solved for together: from 48 on a wider block is no quicker


class Block:
    """X = G Z for some (n, m) Z: an answer changes X as it changes G, at O(n) per column.

    A subclass says what Z'v is for a vector v.
    """

    X: Floats  # (n, m) row-major

    def against(self, v: Floats) -> Floats:
        """(m,) Z'v."""
        raise NotImplementedError

    def hold(self, q: int, column: Floats) -> None:
        """q is labelled: G' = G - G_q G_q' / G_qq."""
        blocks.rank_one(self.X, column, -self.X[q] / column[q])
        self.X[q] = 0

    def shift(self, q: int, share: Floats, kept: float) -> None:
        """The answers at q change: G' = G + share share' G_qq (kept - 1), share (n,) being G_q / G_qq."""
        at_q = self.X[q].copy()
        blocks.rank_one(self.X, share, at_q * (kept - 1))
        self.X[q] = at_q * kept

    def move(self, q: int, column: Floats, members: Flags) -> None:
        """The first label of a component, at q: G' = G - G_q 1' - 1 G_q' + G_qq 11' over its members."""
        one = members.astype(float)
        share = self.against(one)
        at_q = self.X[q].copy()
        blocks.rank_one(self.X, column, -share)
        blocks.rank_one(self.X, one, column[q] * share - at_q)
        self.X[q] = 0

    def release(self, reach: Floats, s: float) -> None:
        """A label is taken back: G' = G + reach reach' / s."""
        blocks.rank_one(self.X, reach, self.against(reach) / s)


class ColumnCache(Block):
    """Columns G_k of chosen nodes; the least recently used make room for others."""

    def __init__(self, n: int, size: int, dtype: type = np.float64) -> None:
        self.X = np.zeros((n, size), dtype)
        self.nodes: Ints = np.full(size, -1)  # whose column is in each slot
        self._slot: Ints = np.full(n, -1)
        self._used: Ints = np.zeros(size, dtype=np.int64)
        self._clock = 0
        self.solved = 0  # columns solved for so far

    def against(self, v: Floats) -> Floats:
        return np.where(self.nodes >= 0, v[self.nodes], 0.0)

    def has(self, nodes: Ints) -> Flags:
        """(m,) whether their columns are here."""
        return self._slot[nodes] >= 0

    def slots(self, nodes: Ints, solve: Callable[[Ints], Floats]) -> Ints:
        """Where the columns of these nodes are; those missing are solved for."""
        self._clock += 1
        here = self._slot[nodes]
        self._used[here[here >= 0]] = self._clock
        missing = nodes[here < 0]
        if len(missing):
            free = np.argsort(np.where(self.nodes < 0, -1, self._used), kind="stable")[: len(missing)]
            self.drop(self.nodes[free])
            progress = Progress(f"scoring questions on {len(self.X):,} nodes", -(-len(missing) // AT_ONCE))
            for left in range(0, len(missing), AT_ONCE):
                give_way()
                part = slice(left, left + AT_ONCE)
                blocks.place(self.X, free[part], solve(missing[part]))
                progress.step()
            self.nodes[free], self._slot[missing], self._used[free] = missing, free, self._clock
            self.solved += len(missing)
        return self._slot[nodes]

    def column(self, node: int) -> Floats | None:
        """(n,) the node's column, if it is here."""
        return self.X[:, self._slot[node]].copy() if self._slot[node] >= 0 else None

    def drop(self, nodes: Ints) -> None:
        """Forget these columns."""
        nodes = nodes[nodes >= 0]
        slots = self._slot[nodes]
        self.nodes[slots[slots >= 0]] = -1
        self._slot[nodes] = -1

    def clear(self) -> None:
        self.nodes[:] = self._slot[:] = -1

    def copy(self) -> ColumnCache:
        twin = object.__new__(ColumnCache)
        for name, value in self.__dict__.items():
            setattr(twin, name, value.copy() if isinstance(value, np.ndarray) else value)
        return twin


class Probes(Block):
    """G 1, and G z for random signs z: row sums of G, and an estimate of the sums of their squares."""

    def __init__(self, Z: Floats, X: Floats) -> None:
        self._Z, self.X = Z, X

    def against(self, v: Floats) -> Floats:
        return v @ self._Z

    @property
    def sums(self) -> Floats:
        """(n,) 1'G_q."""
        return self.X[:, 0]

    @property
    def squares(self) -> Floats:
        """(n,) about |G_q|^2."""
        return (self.X[:, 1:] ** 2).mean(axis=1)

    def copy(self) -> Probes:
        return Probes(self._Z, self.X.copy())
