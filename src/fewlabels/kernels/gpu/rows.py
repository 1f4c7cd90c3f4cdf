"""Where G lies on the card: rows that every kernel reads without a mask."""

from __future__ import annotations

import torch
from torch import Tensor

PAD = 256  # rows of G are a multiple of this long: every block length divides it


def padded(u: int) -> int:
    """Length of a row in memory."""
    return -(-u // PAD) * PAD


def buffer(n: int, dtype: torch.dtype, device: torch.device | str, trials: int | None = None) -> Tensor:
    """(n, padded n) or (T, n, padded n) room for G, not filled."""
    shape = (n, padded(n)) if trials is None else (trials, n, padded(n))
    return torch.empty(shape, dtype=dtype, device=device)


def in_rows(G: Tensor) -> Tensor:
    """G, its rows a multiple of `PAD` apart and each a whole multiple long in memory."""
    u = len(G)
    room = G.untyped_storage().nbytes() // G.element_size() - G.storage_offset()
    if G.stride(1) == 1 and G.stride(0) % PAD == 0 and room >= (u - 1) * G.stride(0) + padded(u):
        return G
    rows = buffer(u, G.dtype, G.device)
    rows[:, :u] = G
    return rows[:, :u]
