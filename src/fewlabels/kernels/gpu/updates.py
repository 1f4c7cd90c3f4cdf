"""What answers do to G and h on the card, in place: Triton twins of the updates in `reference`."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
from torch import Tensor

from fewlabels.arrays import Ints
from fewlabels.kernels.gpu import triton as kernels
from fewlabels.kernels.gpu.rows import in_rows

UPDATE = (8, 256)  # tile of the in-place updates


class Change(NamedTuple):
    """G += factor z z', yet to be made: z (u,), factor ()."""

    z: Tensor
    factor: Tensor


def downdate(G: Tensor, h: Tensor, island: Ints, q: int, c: int) -> None:
    change = observed(G, h, island, q, c)
    if change is not None:
        make(change, G)


def observed(G: Tensor, h: Tensor, island: Ints, q: int, c: int) -> Change | None:
    """As `downdate`, but the change of G that would take longest, where a label reaches q, is left to be made."""
    here, row = island[q], G[q].clone()  # (u,)
    at_q, pivot = h[q].clone(), row[q].clone()
    change = None
    if here < 0:
        share, change = row / pivot, Change(row, -1 / pivot)
    else:
        same = island == here
        member = torch.as_tensor(same, device=G.device)
        share = member.to(G.dtype)
        _update(G, lambda rows: ground_batch(rows, row[None], member[None], pivot[None]))
        island[same] = -1
    h += share.double()[:, None] * (_answer(c, h) - at_q)
    return change


def changed_diagonal(diagonal: Tensor, change: Change) -> Tensor:
    """(u,), or (T, u), G's diagonal once the change is made."""
    return diagonal + change.factor[..., None] * (change.z * change.z)


def make(change: Change, G: Tensor) -> None:
    """G takes in the change, in place."""
    _update(G, lambda rows: rank_one_batch(rows, change.z[None], change.factor[None]))


def shift(G: Tensor, h: Tensor, q: int, v: Tensor | float, h_q: Tensor) -> None:
    row, at_q = G[q].clone(), h[q].clone()  # (u,), (C,)
    pivot = row[q].double()
    kept = v / pivot
    _update(G, lambda rows: rank_one_batch(rows, row[None], ((kept - 1) / pivot).to(G.dtype)[None]))
    G[q] = G[:, q] = row * kept.to(G.dtype)
    h += (row.double() / pivot)[:, None] * (h_q - at_q)
    h[q] = h_q


def ground(G: Tensor, h: Tensor, island: Ints, q: int, v: Tensor | float, h_q: Tensor) -> None:
    same, row = island == island[q], G[q].clone()
    member = torch.as_tensor(same, device=G.device)
    offset = (row[q].double() + v).to(G.dtype)
    _update(G, lambda rows: ground_batch(rows, row[None], member[None], offset[None]))
    h[member] = h_q
    island[same] = -1


def border(G: Tensor, h: Tensor, reach: Tensor, s: Tensor | float, h_new: Tensor, c: int) -> None:
    u = len(reach)
    s = torch.as_tensor(s, dtype=torch.float64, device=G.device)
    h[:u] += reach.double()[:, None] * (h_new - _answer(c, h))
    h[u] = h_new
    z = reach.to(G.dtype)
    if u:
        _update(G[:u, :u], lambda rows: rank_one_batch(rows, z[None], (1 / s).to(G.dtype)[None]))
    G[u, :u] = G[:u, u] = (reach / s).to(G.dtype)
    G[u, u] = (1 / s).to(G.dtype)


def center(G: Tensor, members: Ints) -> None:
    """G is a leading block, as in every other function; only the rows and columns of members change."""
    member = torch.zeros(len(G), dtype=torch.bool, device=G.device)
    member[torch.as_tensor(members, device=G.device)] = True
    mean = G @ member.to(G.dtype) / len(members)  # (u,)
    overall = mean[member].mean()
    _update(G, lambda rows: ground_batch(rows, mean[None], member[None], overall[None]))


def rank_one_batch(G: Tensor, z: Tensor, scale: Tensor) -> None:
    """G += scale z z' of every trial, in place: z (T, u), scale (T,)."""
    _launch_update(kernels.rank_one, G, [_long(z, G)], scale)


def ground_batch(G: Tensor, z: Tensor, member: Tensor, offset: Tensor) -> None:
    """G_qk += offset - (z_q + z_k) between members, in place: z and member (T, u), offset (T,)."""
    _launch_update(kernels.ground, G, [_long(z, G), _long(member.to(torch.int32), G)], offset)


def _launch_update(kernel: Any, G: Tensor, vectors: list[Tensor], scalar: Tensor) -> None:
    T, u = G.shape[:2]
    BQ, BK = UPDATE
    edge = -(-u // 16) * 16
    grid = (triton.cdiv(u, BQ), triton.cdiv(u, BK), T)
    kernel[grid](G, *vectors, scalar.contiguous(), u, edge, G.stride(1), G.stride(0), BQ=BQ, BK=BK)


def _update(G: Tensor, change: Any) -> None:
    """Apply an in-place change to a leading block; one whose rows are not padded goes through a padded copy."""
    rows = in_rows(G)
    change(rows[None])
    if rows is not G:
        G.copy_(rows)


def _long(z: Tensor, G: Tensor) -> Tensor:
    """z (T, u) padded with zeros to the length of a row of G."""
    long = torch.zeros((len(z), G.stride(1)), dtype=z.dtype, device=z.device)
    long[:, : z.shape[1]] = z
    return long


def _answer(c: int, h: Tensor) -> Tensor:
    """(C,) what an answer c says to each column."""
    y = torch.full_like(h[0], -1.0)
    y[c] = 1.0
    return y
