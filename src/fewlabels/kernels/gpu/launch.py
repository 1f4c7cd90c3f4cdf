"""Triton twins of `reference` on the card. G is a torch tensor and stays there; h, which may be there, too, and island
come from NumPy, and costs go back to it.

The arithmetic follows the type of G: float64 gives the CPU engine's numbers to rounding, float32 is several times
faster. G has rows as `buffer` makes them, and rows and columns of zeros at nodes that are not among `nodes`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
import triton
from torch import Tensor

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.gpu import triton as kernels
from fewlabels.kernels.gpu.two_step import TURN, two_step
from fewlabels.kernels.reference import sopt_from_sums, vopt_from_sums

PAD = 256  # rows of G are a multiple of this long: every block length divides it
TILES = {  # rows of q, columns of k, warps: the fastest measured by benchmarks/gpu.py
    ("two_step", torch.float32): (1, 128, 1),
    ("two_step", torch.float64): (1, 32, 1),
    ("harmonic", torch.float32): (8, 128, 4),
    ("harmonic", torch.float64): (4, 128, 4),
}
SUMS = (4, 256)
UPDATE = (8, 256)  # tile of a change in place
REGISTERS = {8: 64, 16: 96}  # classes up to which a thread of the two-step look-ahead in float32 makes do with these
GROUP = {torch.float32: 2, torch.float64: 4}  # numbers that share a reciprocal
BIAS = {torch.float32: 58.0, torch.float64: 200.0}  # they are held within 2^-BIAS and 2^BIAS: their product is finite
LIMIT = {torch.float32: 60.0, torch.float64: 500.0}  # the same where one reciprocal serves one denominator
MANY = 16  # classes up to which a product of sums over all of them stays finite, too


class Change(NamedTuple):
    """G += factor z z', yet to be made."""

    z: Tensor  # (n,) zero where G's rows are
    factor: float


class Nodes(NamedTuple):
    """What is known of the nodes, by their rows in G."""

    asked: Tensor  # (m,) the rows of G that questions are about
    diagonal: Tensor  # (n,) of G, once a change that waits is made
    variance: Tensor  # (n,) infinite where no label reaches
    known: Tensor | None  # (n,) whether there is nothing to ask and to count, if there are such nodes
    island: Tensor | None  # (n,) -1 where a label reaches or there is nothing to count, if there is an island
    h: Tensor  # (n, C) zero where there is nothing to count

    @classmethod
    def of(
        cls, G: Tensor, h: Floats | Tensor, island: Ints, nodes: Ints | None, asked: Ints, change: Change | None
    ) -> Nodes:
        place = np.arange(len(G)) if nodes is None else nodes
        at = torch.as_tensor(place, device=G.device)
        known = islands = None
        if len(place) < len(G):
            known = torch.ones(len(G), dtype=torch.bool, device=G.device).index_fill_(0, at, False)
        if (island >= 0).any():
            islands = torch.full((len(G),), -1, device=G.device).index_copy_(0, at, torch.as_tensor(island).to(at))
        everywhere = torch.zeros((len(G), h.shape[1]), dtype=torch.float64, device=G.device)
        everywhere[at] = torch.as_tensor(h, device=G.device)
        diagonal = G.diagonal() if change is None else G.diagonal() + change.factor * (change.z * change.z)
        variance = diagonal.double()
        if islands is not None:
            variance = torch.where(islands < 0, variance, torch.inf)
        rows = torch.as_tensor(place[asked].astype(np.int32), device=G.device)
        return cls(rows, diagonal, variance, known, islands, everywhere)

    def table(self, G: Tensor, BK: int, doubt: Tensor, chance: Tensor, z: Tensor | None = None) -> Tensor:
        """(ld / BK, LABELS + 2 C, BK) what a look-ahead reads of every node, in the order that `triton` names."""
        unused = self.diagonal
        parts = [doubt, self.diagonal, unused if z is None else z, unused if self.island is None else self.island]
        known = torch.cat([torch.stack([part.double() for part in parts]), self.h.mT, chance.mT])  # (.., n)
        table = torch.zeros((len(known), G.stride(0)), dtype=G.dtype, device=G.device)
        table[:, : len(G)] = known
        return table.view(len(known), -1, BK).transpose(0, 1).contiguous()


def padded(n: int) -> int:
    """Length of a row in memory."""
    return -(-n // PAD) * PAD


def buffer(n: int, dtype: torch.dtype, device: torch.device | str) -> Tensor:
    """(n, n) room for G, not filled, in rows that the kernels read without a mask."""
    return torch.empty((n, padded(n)), dtype=dtype, device=device)[:, :n]


def two_step_cost(
    G: Tensor, h: Floats | Tensor, island: Ints, n: int,
    *, nodes: Ints | None = None, piece: Ints | None = None, asked: Flags | None = None, signed: bool = False,
    change: Change | None = None,
) -> Floats:  # fmt: skip
    """With a change G takes it in, in place, and the costs are those after it; h and island are of after it already."""
    u, C = h.shape
    if u == 0:
        return np.zeros(0)
    rows = np.arange(u) if asked is None or change is not None else np.flatnonzero(asked)
    known = Nodes.of(G, h, island, nodes, rows, change)
    kind = G.dtype
    fast = G.is_cuda and kind == torch.float32
    BQ, BK, warps = TILES["two_step", kind]
    doubt, count = known.variance, len(G) - u
    if known.known is not None:  # as if nothing were known of it, and it were linked to nobody
        doubt = torch.where(known.known, torch.inf, doubt)
    chance = torch.softmax(torch.nn.functional.logsigmoid(2 * known.h / doubt[:, None]), dim=1)
    table = known.table(G, BK, doubt / TURN.value, chance, None if change is None else change.z)
    span = known.h.abs().amax().to(kind) if signed else table
    out = torch.empty(len(rows), dtype=torch.float64, device=G.device)
    two_step[(triton.cdiv(len(rows), BQ),)](
        G, table, known.asked, _number(change, table), span, out, len(rows), len(G), G.stride(0),
        C=C, BQ=BQ, BK=BK, GROUP=GROUP[kind] if C <= MANY else 2, BIAS=BIAS[kind] if C <= MANY else BIAS[kind] / 2,
        LIMIT=LIMIT[kind], EPS=torch.finfo(kind).eps, ISLANDS=known.island is not None, PENDING=change is not None,
        FAST=fast, SIGNED=signed, num_warps=warps, maxnreg=_registers(C) if fast else None,
    )  # fmt: skip
    return _per_node(out - count * (1 - 1 / C), rows, u, n)


def harmonic_cost(
    G: Tensor, h: Floats | Tensor, island: Ints, n: int,
    *, nodes: Ints | None = None, piece: Ints | None = None, asked: Flags | None = None, signed: bool = False,
) -> Floats:  # fmt: skip
    u, C = h.shape
    if u == 0:
        return np.zeros(0)
    rows = np.arange(u) if asked is None else np.flatnonzero(asked)
    known = Nodes.of(G, h, island, nodes, rows, None)
    chance = ((known.h + 1) / 2).clamp(0, 1)  # (n, C)
    chance = chance / chance.sum(dim=1, keepdim=True)
    BQ, BK, warps = TILES["harmonic", G.dtype]
    doubt = known.variance if known.known is None else torch.where(known.known, 0.0, known.variance)
    out = torch.empty(len(rows), dtype=torch.float64, device=G.device)
    kernels.harmonic[(triton.cdiv(len(rows), BQ),)](
        G, known.table(G, BK, doubt, chance), known.asked, out, len(rows), len(G), G.stride(0),
        C=C, BQ=BQ, BK=BK, ISLANDS=known.island is not None, SIGNED=signed, num_warps=warps,
    )  # fmt: skip
    return _per_node(out, rows, u, n)


def vopt_cost(G: Tensor, island: Ints, *, nodes: Ints | None = None) -> Floats:
    diagonal, _, squares = _facts(G, nodes)
    return vopt_from_sums(squares, diagonal, island)


def sopt_cost(G: Tensor, island: Ints, *, nodes: Ints | None = None) -> Floats:
    diagonal, sums, _ = _facts(G, nodes)
    return sopt_from_sums(sums, diagonal, island)


def make(change: Change, G: Tensor) -> None:
    """G takes in the change, in place."""
    n, ld = len(G), G.stride(0)
    z = torch.zeros(ld, dtype=G.dtype, device=G.device)
    z[:n] = change.z
    BQ, BK = UPDATE
    grid = (triton.cdiv(n, BQ), triton.cdiv(n, BK))
    kernels.rank_one[grid](G, z, _number(change, G), n, -(-n // 16) * 16, ld, BQ=BQ, BK=BK)


def _number(change: Change | None, like: Tensor) -> Tensor:
    """The change's factor on the card; anything where there is none."""
    return like if change is None else torch.full((1,), change.factor, dtype=like.dtype, device=like.device)


def _registers(C: int) -> int | None:
    """Fewer registers leave room for more warps at once, until too much has to be kept elsewhere."""
    return next((registers for most, registers in REGISTERS.items() if most >= C), None)


def _per_node(found: Tensor, rows: Ints, u: int, n: int) -> Floats:
    """(u,) the costs; those not asked come last."""
    values: Any = (found / n).cpu().numpy()
    cost = np.full(u, values.max(initial=0.0))
    cost[rows] = values
    return cost


def _facts(G: Tensor, nodes: Ints | None) -> Floats:
    """(3, u) diagonal, sum and sum of squares of every row, in one trip to the host."""
    n = len(G)
    if n == 0:
        return np.zeros((3, 0))
    facts = torch.empty((3, n), dtype=torch.float64, device=G.device)
    facts[0] = G.diagonal()
    BQ, BK = SUMS
    kernels.row_sums[(triton.cdiv(n, BQ),)](G, facts[1], facts[2], n, G.stride(0), BQ=BQ, BK=BK)
    found: Floats = facts.cpu().numpy()
    return found if nodes is None else found[:, nodes]
