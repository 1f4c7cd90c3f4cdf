"""What a worker does: it keeps some rows of G, changes them when told, and answers from them. Runs as a Dask actor."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu import rows as row_kernels
from fewlabels.kernels.cpu import updates
from fewlabels.kernels.cpu.rows import Surroundings
from fewlabels.machine import memory

MOST_THREADS = numba.get_num_threads()  # that Numba was started with
LIMIT = 0.8  # of a worker's memory limit: above it Dask gives it no more work, and soon kills it
CHUNK = 256  # rows changed together: the product of a chunk is all that is held besides G


class Holder:
    """The actor: one per worker, keeping the rows of one field or of several, each under its number.

    Everything asked of a field's rows comes in through `do`, which works on as many threads as the worker has.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.blas = ThreadpoolController()
        self.rows: dict[int, Rows] = {}
        self.peers: list[Any] = []

    def meet(self, peers: list[Any]) -> None:
        """The holders of all workers, this one among them."""
        self.peers = peers

    def free(self) -> tuple[int, int]:
        """Bytes that this process may still take by Dask's limit, and bytes free on the machine."""
        from distributed import get_worker

        worker = get_worker()
        limit, machine = worker.memory_manager.memory_limit, memory.available()
        return (int(LIMIT * limit - worker.monitor.get_process_memory()) if limit else machine), machine

    def take_up(self, field: int, first: int, shape: tuple[int, int]) -> None:
        self.rows[field] = Rows(first, np.zeros(shape))

    def copy(self, field: int, twin: int) -> None:
        mine = self.rows[field]
        self.rows[twin] = Rows(mine.first, mine.G.copy())

    def drop(self, field: int) -> None:
        self.rows.pop(field, None)

    def do(self, field: int, verb: str, *arguments: Any) -> Any:
        """One of the verbs of `Rows`."""
        numba.set_num_threads(min(self.threads, MOST_THREADS))  # applies to this Python thread
        with self.blas.limit(limits=self.threads):  # Dask starts its workers with one thread for BLAS
            return getattr(self.rows[field], verb)(*arguments)

    def sweep(self, field: int, start: int, stop: int, owner: int) -> None:
        """One step of the inversion; the pivot's rows come from their owner."""
        mine = self.rows[field]
        pivot = mine.pivot if mine.holds(start) else self.peers[owner].do(field, "pivot_rows").result()
        self.do(field, "sweep", start, stop, pivot)


class Rows:
    """The rows of G of nodes first, first + 1, ..., with a column for every node; those of labelled nodes are zero."""

    def __init__(self, first: int, G: Floats) -> None:
        self.first, self.G = first, G
        self.pivot: Floats | None = None

    def holds(self, node: int) -> bool:
        return self.first <= node < self.first + len(self.G)

    def fill(self, W: sparse.csr_array, diagonal: Floats, island: Ints, lift: Floats) -> None:
        """The rows of the matrix to be inverted: (m, n) weights, (n,) diagonal, and in each island its lift."""
        m = len(self.G)
        self.G[:] = 0
        self.G[np.repeat(np.arange(m), np.diff(W.indptr)), W.indices] = -W.data
        self.G[np.arange(m), self.first + np.arange(m)] = diagonal[self.first : self.first + m]
        self._raise(island, lift)

    def clear(self) -> None:
        self.pivot = None
        self.G[:] = 0

    def invert_pivot(self, start: int, stop: int) -> bool:
        """Nodes start to stop, held here, are eliminated next: their rows, times the inverse of their block."""
        own = slice(start - self.first, stop - self.first)
        factor, failed = lapack.dpotrf(self.G[own, start:stop], lower=1)
        if failed:
            return False
        panel = self.G[own].copy()  # (b, n)
        panel[:, start:stop] = np.eye(stop - start)
        self.pivot, failed = lapack.dpotrs(factor, panel, lower=1)
        self.pivot = np.ascontiguousarray(self.pivot)
        return not failed

    def pivot_rows(self) -> Floats:
        assert self.pivot is not None
        return self.pivot

    def sweep(self, start: int, stop: int, pivot: Floats) -> None:
        """A Gauss-Jordan step in place: once all nodes have had theirs, the rows are those of the inverse."""
        for left in range(0, len(self.G), CHUNK):
            chunk = self.G[left : left + CHUNK]
            factor = chunk[:, start:stop].copy()
            chunk[:, start:stop] = 0
            if factor.any():
                chunk -= factor @ pivot
        if self.holds(start):
            self.G[start - self.first : stop - self.first] = pivot

    def settle(self, empty: Flags, island: Ints, lift: Floats, degree: Floats, signed: Floats) -> tuple[Floats, ...]:
        """Finish after the sweeps; returns (m,) the diagonal, (m,) the error to expect in it, (m, C) h.

        empty (n,) are the nodes whose rows and columns are zero: labelled, or without a neighbour.
        """
        self.pivot = None
        m = len(self.G)
        self.G[:, empty] = 0
        self.G[empty[self.first : self.first + m]] = 0
        self._raise(island, lift)
        diagonal = self.G[np.arange(m), self.first + np.arange(m)]
        return diagonal, updates.inverse_error(self.G, np.array(degree)), self.G @ signed

    def row(self, node: int) -> Floats:
        """(n,)"""
        return self.G[node - self.first].copy()

    def reach(self, beside: Ints, weight: Floats) -> Floats:
        """(m,) these rows of G times a vector that is zero except at the nodes `beside`."""
        return self.G[:, beside] @ weight

    def sums(self) -> tuple[Floats, Floats]:
        """(m,) sum and sum of squares of every row."""
        both: tuple[Floats, Floats] = updates.row_sums(self.G, self.G.shape[1])
        return both

    def sums_over(self, members: Flags) -> Floats:
        """(m,) sum of every row over these nodes."""
        return self.G @ members.astype(float)

    def downdate(self, row: Floats, q: int) -> None:
        row_kernels.downdate(self.G, self.first, np.array(row), q)

    def shift(self, row: Floats, q: int, kept: float) -> None:
        row_kernels.shift(self.G, self.first, np.array(row), q, kept)

    def ground(self, row: Floats, q: int, members: Flags, v: float) -> None:
        row_kernels.ground(self.G, self.first, np.array(row), q, np.array(members), v)

    def border(self, reach: Floats, s: float, q: int) -> None:
        row_kernels.border(self.G, self.first, np.array(reach), s, q)

    def center(self, members: Flags, mean: Floats, overall: float) -> None:
        row_kernels.center(self.G, self.first, np.array(members), np.array(mean), overall)

    def two_step(self, around: Surroundings, asked: Ints, single: bool) -> tuple[Floats, Floats]:
        return row_kernels.two_step_errors(self.G, self.first, around, self._here(around, asked), single)

    def harmonic(self, around: Surroundings, asked: Ints) -> Floats:
        return row_kernels.harmonic_errors(self.G, self.first, around, self._here(around, asked))

    def block(self, columns: Ints) -> Floats:
        """The rows and columns of these nodes, as far as they are here."""
        inside = columns[(columns >= self.first) & (columns < self.first + len(self.G))]
        return self.G[np.ix_(inside - self.first, columns)]

    def _here(self, around: Surroundings, asked: Ints) -> Ints:
        """The places asked whose rows are here."""
        node = around.unlabelled[asked]
        return asked[(node >= self.first) & (node < self.first + len(self.G))]

    def _raise(self, island: Ints, lift: Floats) -> None:
        """Add to every entry between two nodes of an island its lift (n,); island is -1 where there is none."""
        own = island[self.first : self.first + len(self.G)]
        order = np.argsort(island, kind="stable")
        numbers, starts = np.unique(island[order], return_index=True)
        for number, members in zip(numbers, np.split(order, starts[1:]), strict=True):
            if number >= 0 and (rows := np.flatnonzero(own == number)).size:
                for left in range(0, len(rows), CHUNK):
                    self.G[np.ix_(rows[left : left + CHUNK], members)] += lift[members[0]]
