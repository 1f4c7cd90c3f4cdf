"""G on the card, and the change that it has yet to take in."""

from __future__ import annotations

import torch
from torch import Tensor

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.gpu import launch as kernels
from fewlabels.kernels.gpu.launch import Change


class Matrix:
    """G in the leading block (u, u) of a buffer (n, n), and at most one rank-one change that waits for it.

    An answer changes all of G, which takes a third of a question's time, all of it spent on memory. The look-ahead for
    the next question reads all of G and is busy with arithmetic, so it makes the change in passing. Only this class
    knows that one waits: what it hands out is as if it had been made.
    """

    def __init__(self, n: int, dtype: torch.dtype, device: torch.device) -> None:
        self._buffer = kernels.buffer(n, dtype, device)
        self._pending: Change | None = None

    def block(self, u: int) -> Tensor:
        """(u, u) G itself, to be read and changed in place."""
        if self._pending is not None:
            m = len(self._pending.z)
            kernels.make(self._pending, self._buffer[:m, :m])
            self._pending = None
        return self._buffer[:u, :u]

    def diagonal(self, u: int) -> Tensor:
        """(u,) the diagonal of G, in a time that grows with u alone."""
        diagonal = self._buffer.diagonal()[:u]
        return diagonal if self._pending is None else kernels.changed_diagonal(diagonal, self._pending)

    def times(self, X: Tensor) -> Tensor:
        """(m, u) X G."""
        u = X.shape[1]
        product = X @ self._buffer[:u, :u]
        if self._pending is not None:
            z, factor = self._pending
            product += factor * torch.outer(X @ z, z)
        return product

    def two_step_cost(self, h: Tensor, island: Ints, n: int, signed: bool) -> Floats:
        """The look-ahead, which makes the change that waits."""
        u = len(h)
        cost = kernels.two_step_cost(self._buffer[:u, :u], h, island, n, signed=signed, change=self._pending)
        self._pending = None
        return cost

    def remove(self, q: int, last: int, change: Change | None) -> None:
        """Place q is taken by the last place, which is left; then G changes by this, sooner or later."""
        G = self.block(last + 1)
        if q != last:
            row = G[last].clone()
            row[q] = row[last]
            G[q] = row
            G[:, q] = row
        if change is not None:
            z = change.z.clone()
            z[q] = z[last]
            self._pending = Change(z[:last], change.factor)

    def clear(self) -> Tensor:
        """(n, n) all of the buffer, zero; nothing waits any more."""
        self._pending = None
        return self._buffer.zero_()

    def copy(self) -> Matrix:
        twin = object.__new__(Matrix)
        twin._buffer, twin._pending = self._buffer.clone(), self._pending
        return twin
