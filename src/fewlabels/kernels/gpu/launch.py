"""Triton twins of `reference` on the card. G and h are torch tensors and stay there; costs come back as NumPy.

The arithmetic follows the type of G: float64 gives the CPU engine's numbers to rounding, float32 is several times
faster. `island` is a NumPy array, since the host must know whether there is one.

The functions named `*_batch` do the same for many matrices at once, (T, u, u), and leave their results on the card.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
from torch import Tensor

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.gpu import triton as kernels
from fewlabels.kernels.reference import sopt_from_sums, vopt_from_sums

PAD = 256  # rows of G are a multiple of this long: every block length divides it
TILES = {  # rows of q, columns of k, warps: the fastest measured by benchmarks/gpu.py
    ("two_step", torch.float32): (1, 128, 1),
    ("two_step", torch.float64): (1, 64, 1),
    ("harmonic", torch.float32): (8, 128, 4),
    ("harmonic", torch.float64): (4, 128, 4),
}
UPDATE = (8, 256)  # tile of the in-place updates
SUMS = (4, 256)
BIAS = {torch.float32: 27.0, torch.float64: 200.0}  # sigmoids are held within 2^-BIAS and 2^BIAS of each other
LIMIT = {torch.float32: 60.0, torch.float64: 500.0}  # the same where one reciprocal serves one denominator
MANY = 16  # classes up to which a product of four masses stays finite


def padded(u: int) -> int:
    """Length of a row in memory."""
    return -(-u // PAD) * PAD


def buffer(n: int, dtype: torch.dtype, device: torch.device | str, trials: int | None = None) -> Tensor:
    """(n, padded n) or (T, n, padded n) room for G, not filled."""
    shape = (n, padded(n)) if trials is None else (trials, n, padded(n))
    return torch.empty(shape, dtype=dtype, device=device)


def two_step_cost(G: Tensor, h: Tensor, island: Ints, n: int, *, signed: bool = False) -> Floats:
    return _cost(two_step_batch, G, h, island, n, signed)


def harmonic_cost(G: Tensor, h: Tensor, island: Ints, n: int, *, signed: bool = False) -> Floats:
    return _cost(harmonic_batch, G, h, island, n, signed)


def _cost(batch: Any, G: Tensor, h: Tensor, island: Ints, n: int, signed: bool) -> Floats:
    if len(h) == 0:
        return np.zeros(0)
    G = _in_rows(G)
    where = torch.as_tensor(island, device=G.device)[None] if (island >= 0).any() else None
    cost: Floats = (batch(G[None], h[None], where, signed=signed) / n)[0].cpu().numpy()
    return cost


def two_step_batch(
    G: Tensor, h: Tensor, island: Tensor | None = None, alive: Tensor | None = None, signed: bool = False
) -> Tensor:
    """(T, u) n R+q by two-step marginals; nodes that are not alive do not count. signed: some G may be below zero."""
    variance = _variance(G, island)
    f = 2 * h / variance[:, :, None]  # (T, u, C)
    chance = torch.softmax(torch.nn.functional.logsigmoid(f), dim=2)
    C, kind = h.shape[2], G.dtype
    settings = {"BIAS": BIAS[kind], "LIMIT": LIMIT[kind], "EPS": torch.finfo(kind).eps}
    settings |= {"GROUP": 4 if C <= MANY else 2, "FAST": G.is_cuda and kind == torch.float32, "SIGNED": signed}
    return _look_ahead(kernels.two_step, "two_step", G, h, chance, variance, island, alive, settings)


def harmonic_batch(
    G: Tensor, h: Tensor, island: Tensor | None = None, alive: Tensor | None = None, signed: bool = False
) -> Tensor:
    """(T, u) n R+q by harmonic marginals."""
    chance = ((h + 1) / 2).clamp(0, 1)  # (T, u, C)
    chance = chance / chance.sum(dim=2, keepdim=True)
    settings = {"SIGNED": signed}
    return _look_ahead(kernels.harmonic, "harmonic", G, h, chance, _variance(G, island), island, alive, settings)


def _look_ahead(
    kernel: Any,
    name: str,
    G: Tensor,
    h: Tensor,
    chance: Tensor,
    variance: Tensor,
    island: Tensor | None,
    alive: Tensor | None,
    settings: dict[str, Any],
) -> Tensor:
    T, u, C = h.shape
    ld, kind = G.stride(1), G.dtype
    if alive is not None:
        variance = torch.where(alive, variance, -1.0)
    columns = torch.zeros((2, T, C, ld), dtype=kind, device=G.device)  # h and chance, one class after another
    columns[0, :, :, :u] = h.transpose(1, 2)
    columns[1, :, :, :u] = chance.transpose(1, 2)
    lines = torch.full((2, T, ld), -1.0, dtype=kind, device=G.device)  # diagonal and variance
    lines[0, :, :u] = _diagonal(G)
    lines[1, :, :u] = variance
    number = torch.full((T, ld), -1, dtype=torch.int64, device=G.device) if island is not None else lines[0]
    if island is not None:
        number[:, :u] = island
    out = torch.empty((T, u), dtype=torch.float64, device=G.device)
    BQ, BK, warps = TILES[name, kind]
    kernel[(triton.cdiv(u, BQ), T)](
        G, columns[0], columns[1], lines[0], lines[1], number, out, u, ld, G.stride(0),
        C=C, BQ=BQ, BK=BK, ISLANDS=island is not None, num_warps=warps, **settings,
    )  # fmt: skip
    return out


def vopt_cost(G: Tensor, island: Ints) -> Floats:
    diagonal, _, squares = _facts(G)
    return vopt_from_sums(squares, diagonal, island)


def sopt_cost(G: Tensor, island: Ints) -> Floats:
    diagonal, sums, _ = _facts(G)
    return sopt_from_sums(sums, diagonal, island)


def _facts(G: Tensor) -> tuple[Floats, Floats, Floats]:
    """(u,) diagonal, sum and sum of squares of every row, in one trip to the host."""
    if len(G) == 0:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    sums, squares = row_sums_batch(_in_rows(G)[None])
    found = torch.stack([torch.diagonal(G).double(), sums[0], squares[0]]).cpu().numpy()
    return found[0], found[1], found[2]


def row_sums_batch(G: Tensor) -> tuple[Tensor, Tensor]:
    """(T, u) sum and sum of squares of every row."""
    T, u = G.shape[:2]
    sums, squares = torch.empty((2, T, u), dtype=torch.float64, device=G.device)
    BQ, BK = SUMS
    kernels.row_sums[(triton.cdiv(u, BQ), T)](G, sums, squares, u, G.stride(1), G.stride(0), BQ=BQ, BK=BK)
    return sums, squares


def downdate(G: Tensor, h: Tensor, island: Ints, q: int, c: int) -> None:
    here, row = island[q], G[q].clone()  # (u,)
    at_q, pivot = h[q].clone(), row[q]
    if here < 0:
        share = row / pivot  # (u,)
        _update(G, lambda rows: rank_one_batch(rows, row[None], -1 / pivot[None]))
    else:
        same = island == here
        member = torch.as_tensor(same, device=G.device)
        share = member.to(G.dtype)
        _update(G, lambda rows: ground_batch(rows, row[None], member[None], pivot[None]))
        island[same] = -1
    h += share.double()[:, None] * (_answer(c, h) - at_q)


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
    rows = _in_rows(G)
    change(rows[None])
    if rows is not G:
        G.copy_(rows)


def _in_rows(G: Tensor) -> Tensor:
    """G, its rows a multiple of `PAD` apart and each a whole multiple long in memory."""
    u = len(G)
    room = G.untyped_storage().nbytes() // G.element_size() - G.storage_offset()
    if G.stride(1) == 1 and G.stride(0) % PAD == 0 and room >= (u - 1) * G.stride(0) + padded(u):
        return G
    rows = buffer(u, G.dtype, G.device)
    rows[:, :u] = G
    return rows[:, :u]


def _long(z: Tensor, G: Tensor) -> Tensor:
    """z (T, u) padded with zeros to the length of a row of G."""
    long = torch.zeros((len(z), G.stride(1)), dtype=z.dtype, device=z.device)
    long[:, : z.shape[1]] = z
    return long


def _diagonal(G: Tensor) -> Tensor:
    return torch.diagonal(G, dim1=1, dim2=2)  # (T, u)


def _variance(G: Tensor, island: Tensor | None) -> Tensor:
    """(T, u) variance left at each node, infinite where the component has no label."""
    diagonal = _diagonal(G).double()
    return diagonal if island is None else torch.where(island < 0, diagonal, torch.inf)


def _answer(c: int, h: Tensor) -> Tensor:
    """(C,) what an answer c says to each column."""
    y = torch.full_like(h[0], -1.0)
    y[c] = 1.0
    return y
