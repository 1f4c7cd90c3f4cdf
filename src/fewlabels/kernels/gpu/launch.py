"""Triton twins of `reference` on the card. G and h are torch tensors and stay there; costs come back as NumPy.

The arithmetic follows the type of G: float64 gives the CPU engine's numbers to rounding, float32 is several times
faster. `island` is a NumPy array, since the host must know whether there is one.

The functions named `*_batch` do the same for many matrices at once, (T, u, u), and leave their results on the card.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
from torch import Tensor

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.gpu import triton as kernels
from fewlabels.kernels.gpu.rows import buffer, in_rows, padded
from fewlabels.kernels.gpu.two_step import TURN, two_step
from fewlabels.kernels.gpu.updates import (
    Change,
    border,
    center,
    changed_diagonal,
    downdate,
    ground,
    ground_batch,
    make,
    observed,
    rank_one_batch,
    shift,
)
from fewlabels.kernels.reference import sopt_from_sums, vopt_from_sums

__all__ = [
    "Change",
    "border",
    "buffer",
    "center",
    "changed_diagonal",
    "downdate",
    "ground",
    "ground_batch",
    "harmonic_batch",
    "harmonic_cost",
    "make",
    "observed",
    "padded",
    "rank_one_batch",
    "row_sums_batch",
    "shift",
    "sopt_cost",
    "two_step_batch",
    "two_step_cost",
    "vopt_cost",
]

TILES = {  # rows of q, columns of k, warps: the fastest measured by benchmarks/gpu.py
    ("two_step", torch.float32): (1, 128, 1),
    ("two_step", torch.float64): (1, 32, 1),
    ("harmonic", torch.float32): (8, 128, 4),
    ("harmonic", torch.float64): (4, 128, 4),
}
SUMS = (4, 256)
REGISTERS = {8: 64, 16: 96}  # classes up to which a thread of the two-step look-ahead in float32 makes do with these
GROUP = {torch.float32: 2, torch.float64: 4}  # numbers that share a reciprocal
BIAS = {torch.float32: 58.0, torch.float64: 200.0}  # they are held within 2^-BIAS and 2^BIAS: their product is finite
LIMIT = {torch.float32: 60.0, torch.float64: 500.0}  # the same where one reciprocal serves one denominator
MANY = 16  # classes up to which a product of sums over all of them stays finite, too


def two_step_cost(
    G: Tensor, h: Tensor, island: Ints, n: int, *, signed: bool = False, change: Change | None = None
) -> Floats:
    """With a change G takes it in, in place, and the costs are those after it; h and island are of after it already."""
    if len(h) == 0:
        return np.zeros(0)
    rows = in_rows(G)
    pending = None if change is None else Change(change.z[None], change.factor[None])
    cost = two_step_batch(rows[None], h[None], _islands(island, G), signed=signed, change=pending)
    if change is not None and rows is not G:
        G.copy_(rows)
    return _per_node(cost, n)


def harmonic_cost(G: Tensor, h: Tensor, island: Ints, n: int, *, signed: bool = False) -> Floats:
    if len(h) == 0:
        return np.zeros(0)
    return _per_node(harmonic_batch(in_rows(G)[None], h[None], _islands(island, G), signed=signed), n)


def _islands(island: Ints, G: Tensor) -> Tensor | None:
    return torch.as_tensor(island, device=G.device)[None] if (island >= 0).any() else None


def _per_node(cost: Tensor, n: int) -> Floats:
    found: Floats = (cost / n)[0].cpu().numpy()
    return found


def two_step_batch(
    G: Tensor,
    h: Tensor,
    island: Tensor | None = None,
    alive: Tensor | None = None,
    signed: bool = False,
    change: Change | None = None,
) -> Tensor:
    """(T, u) n R+q by two-step marginals; nodes that are not alive do not count. signed: some G may be below zero.

    With a change, z (T, u) and factor (T,), G takes it in, in place, and the costs are those after it.
    """
    diagonal = G.diagonal(dim1=1, dim2=2)
    if change is not None:
        diagonal = changed_diagonal(diagonal, change)
    variance = _variance(diagonal, island, alive)
    f = 2 * h / variance[:, :, None]  # (T, u, C)
    chance = torch.softmax(torch.nn.functional.logsigmoid(f), dim=2)
    C, kind = h.shape[2], G.dtype
    fast = G.is_cuda and kind == torch.float32
    BQ, BK, warps = TILES["two_step", kind]
    z = None if change is None else change.z
    table = _table(G, BK, variance / TURN.value, diagonal, z, island, h, chance)
    factor = table if change is None else change.factor.contiguous()
    span = h.abs().amax(dim=(1, 2)).to(kind) if signed else table
    T, u = h.shape[:2]
    out = torch.empty((T, u), dtype=torch.float64, device=G.device)
    two_step[(triton.cdiv(u, BQ), T)](
        G, table, factor, span, out, u, G.stride(1), G.stride(0),
        C=C, BQ=BQ, BK=BK, GROUP=GROUP[kind] if C <= MANY else 2, BIAS=BIAS[kind] if C <= MANY else BIAS[kind] / 2,
        LIMIT=LIMIT[kind], EPS=torch.finfo(kind).eps, ISLANDS=island is not None, GAPS=alive is not None,
        PENDING=change is not None, FAST=fast, SIGNED=signed, num_warps=warps, maxnreg=_registers(C) if fast else None,
    )  # fmt: skip
    return out


def _registers(C: int) -> int | None:
    """Fewer registers leave room for more warps at once, until too much has to be kept elsewhere."""
    return next((registers for most, registers in REGISTERS.items() if most >= C), None)


def harmonic_batch(
    G: Tensor, h: Tensor, island: Tensor | None = None, alive: Tensor | None = None, signed: bool = False
) -> Tensor:
    """(T, u) n R+q by harmonic marginals."""
    chance = ((h + 1) / 2).clamp(0, 1)  # (T, u, C)
    chance = chance / chance.sum(dim=2, keepdim=True)
    BQ, BK, warps = TILES["harmonic", G.dtype]
    diagonal = G.diagonal(dim1=1, dim2=2)
    variance = _variance(diagonal, island, alive)
    table = _table(G, BK, variance, diagonal, None, island, h, chance)
    T, u, C = h.shape
    out = torch.empty((T, u), dtype=torch.float64, device=G.device)
    kernels.harmonic[(triton.cdiv(u, BQ), T)](
        G, table, out, u, G.stride(1), G.stride(0),
        C=C, BQ=BQ, BK=BK, ISLANDS=island is not None, SIGNED=signed, num_warps=warps,
    )  # fmt: skip
    return out


def _table(
    G: Tensor,
    BK: int,
    doubt: Tensor,
    diagonal: Tensor,
    z: Tensor | None,
    island: Tensor | None,
    h: Tensor,
    chance: Tensor,
) -> Tensor:
    """(T, ld / BK, LABELS + 2 C, BK) what a look-ahead reads of every node, in the order that `triton` names."""
    unused = diagonal
    rows = [doubt, diagonal, unused if z is None else z, unused if island is None else island]
    known = torch.cat([torch.stack([row.double() for row in rows], dim=1), h.mT, chance.mT], dim=1)  # (T, .., u)
    table = torch.zeros((*known.shape[:2], G.stride(1)), dtype=G.dtype, device=G.device)
    table[:, :, : h.shape[1]] = known
    return table.view(*known.shape[:2], -1, BK).transpose(1, 2).contiguous()


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
    sums, squares = row_sums_batch(in_rows(G)[None])
    found = torch.stack([torch.diagonal(G).double(), sums[0], squares[0]]).cpu().numpy()
    return found[0], found[1], found[2]


def row_sums_batch(G: Tensor) -> tuple[Tensor, Tensor]:
    """(T, u) sum and sum of squares of every row."""
    T, u = G.shape[:2]
    sums, squares = torch.empty((2, T, u), dtype=torch.float64, device=G.device)
    BQ, BK = SUMS
    kernels.row_sums[(triton.cdiv(u, BQ), T)](G, sums, squares, u, G.stride(1), G.stride(0), BQ=BQ, BK=BK)
    return sums, squares


def _variance(diagonal: Tensor, island: Tensor | None, alive: Tensor | None) -> Tensor:
    """(T, u) variance left at each node, infinite where the component has no label, 0 where the node is not alive."""
    variance = diagonal.double()
    if island is not None:
        variance = torch.where(island < 0, variance, torch.inf)
    return variance if alive is None else torch.where(alive, variance, 0.0)
