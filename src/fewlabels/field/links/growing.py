"""Columns of nodes to which more are added one after the other, and copies that share what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints

SPARE = 2  # times the room that is needed, when more is taken


class _Room:
    """Rows of numbers, one for each of these nodes, and room for more."""

    def __init__(self, rows: Floats, nodes: Ints) -> None:
        self.rows, self._nodes, self._lock = rows, nodes.tolist(), Lock()

    def has(self, first: int, nodes: Ints) -> bool:
        """Whether the rows from `first` on are those of these nodes."""
        return self._nodes[first : first + len(nodes)] == nodes.tolist()

    def put(self, first: int, nodes: Ints, rows: Floats) -> bool:
        """Whether there is room for these rows behind the first ones; they are there now."""
        last = first + len(nodes)
        with self._lock:
            if len(self._nodes) != first or last > len(self.rows):
                return self.has(first, nodes)
            self.rows[first:last] = rows
            self._nodes += nodes.tolist()
            return True


class Growing:
    """(n, m) the columns of some nodes. A copy costs nothing; of several copies, those that add other nodes than the
    first one to grow move elsewhere.
    """

    def __init__(self, n: int, dtype: type = np.float32) -> None:
        """At least of this precision."""
        self.nodes: Ints = np.empty(0, dtype=np.int64)
        self._room = _Room(np.empty((0, n), dtype), self.nodes)

    @property
    def X(self) -> Floats:
        """(n, m), column by column in memory."""
        return self._room.rows[: len(self.nodes)].T

    def add(self, nodes: Ints, solve: Callable[[Ints], Floats]) -> None:
        """More nodes, whose columns are solved for unless a copy has; all are as precise as the most precise ones."""
        count, both = len(self.nodes), np.concatenate([self.nodes, nodes])
        if not self._room.has(count, nodes):
            columns, mine = solve(nodes), self.X
            dtype = np.result_type(mine, columns)
            if mine.dtype != dtype or not self._room.put(count, nodes, columns.T):
                rows = np.empty((SPARE * len(both), len(mine)), dtype)
                rows[:count], rows[count : len(both)] = mine.T, columns.T
                self._room = _Room(rows, both)
        self.nodes = both

    def keep(self, kept: Flags) -> None:
        """Only some of the nodes."""
        if not kept.all():
            self.nodes, rows = self.nodes[kept], self.X.T[kept]
            self._room = _Room(rows, self.nodes)

    def copy(self) -> Growing:
        twin = object.__new__(Growing)
        twin.nodes, twin._room = self.nodes, self._room
        return twin
