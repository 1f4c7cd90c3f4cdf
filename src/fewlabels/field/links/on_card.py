"""The covariance on a graphics card, and beside it G of the field conditioned on the answers."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.errors import MemoryNeededError, SettingError
from fewlabels.field.answers import Answers
from fewlabels.field.costs import Costs
from fewlabels.field.covariance import Levels
from fewlabels.field.links.growing import Growing
from fewlabels.field.links.inverse_on_card import BLOCK, cuts, inverse, mirror
from fewlabels.field.links.pieces import TOLERANCE, fill, pieces
from fewlabels.field.links.workspace import Workspace
from fewlabels.field.opinion import asking_h
from fewlabels.field.precision import Precision
from fewlabels.kernels.gpu import launch as kernels
from fewlabels.kernels.gpu.launch import Change
from fewlabels.machine.memory import GIB

if TYPE_CHECKING:
    from fewlabels.field.conditioned import Conditioned, Step
    from fewlabels.field.spec import Recipe

SPARE = 2**30  # bytes left to the kernels and to torch itself
COMFORT = 3  # float64 is taken where this many such matrices would fit
LOSES = {torch.float64: TOLERANCE, torch.float32: 1e-3}  # largest expected relative error allowed in a variance
MOST_ASKED = 0.6  # share of the nodes up to which it is quicker to change G first, then look ahead from these alone


class OnCard:
    """K, all of it, on the card: (n, n) without the constants of the pieces and without their slowest waves.

    It is float64, which gives the questions of the dense engine, if three such matrices would fit on the card; else
    float32, computed in float64 where there is room for it and rounded. Nothing of its size ever leaves the card, but
    by `Conditioned.G`.
    """

    exact = True
    base = None

    def __init__(self, recipe: Recipe, dtype: torch.dtype | None = None, device: str = "cuda") -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise SettingError(
                f"engine 'gpu': torch {torch.__version__} sees no GPU. Use engine='dense', or install torch for CUDA "
                "on a machine with an NVIDIA card."
            )
        self.recipe, self.n_nodes = recipe, recipe.links.n_nodes
        self.device = torch.device(device)
        free = free_memory(self.device)
        self.dtype = dtype or (torch.float64 if COMFORT * 8 * self.n_nodes**2 <= free else torch.float32)
        require(self.n_nodes, self.dtype, free)
        self.precision = Precision(recipe.links, recipe.beta, recipe.smoothness.value)
        self.piece = recipe.links.components()
        largest = int(np.bincount(self.piece).max())
        exactly = memory_needed(self.n_nodes, self.dtype, matrices=1) + 8 * largest**2 <= free
        self.computed_in = torch.float64 if exactly else self.dtype
        self.K = kernels.buffer(self.n_nodes, self.dtype, self.device).zero_()
        self.levels = self._fill()
        self.diagonal: Floats = self.K.diagonal().double().cpu().numpy()

    def for_answers(self, answers: Answers) -> OnCard:
        return self

    def mean(self, n_classes: int) -> Floats:
        return np.zeros((self.n_nodes, n_classes))

    def solve(self, B: Floats, tolerance: float | None = None) -> Floats:
        sent = torch.as_tensor(B, dtype=self.dtype, device=self.device)
        found: Floats = (self.K @ sent).double().cpu().numpy()
        return found

    def known(self, nodes: Ints, before: Held | None, workspace: Any) -> Held:
        """Only those that the field before has not are fetched."""
        store = Growing(self.n_nodes, np.float64) if before is None else before.store.copy()
        store.keep(np.isin(store.nodes, nodes))
        new = nodes[len(store.nodes) :]
        if len(new):
            store.add(new, self.columns)
        return Held(nodes, np.asarray(store.X, dtype=float), store)

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        return _on_host(self.K, nodes)

    def sums(self) -> Floats:
        found: Floats = self.K.sum(dim=1, dtype=torch.float64).cpu().numpy()
        return found

    def workspace(self) -> Whole:
        return Whole(self)

    def whole(self, field: Conditioned) -> Floats:
        u = field.unlabelled
        G = np.empty((len(u), len(u)))
        with field.workspace.at(field) as rows:
            for part in cuts(len(u)):
                G[part] = _on_host(rows, u[part]).T[:, u]
        return G

    def conditioned_columns(self, field: Conditioned, nodes: Ints, rough: bool) -> Floats:
        with field.workspace.at(field) as G:
            return _on_host(G, nodes)

    def two_step_costs(self, field: Conditioned, asked: Flags) -> Costs:
        waiting = asked.mean() > MOST_ASKED if len(asked) else False
        with field.workspace.at_last(field, waiting) as (G, change):
            known = {**_known(field), "asked": asked, "change": change}
            return Costs(kernels.two_step_cost(G, self._h(field), field.island, self.n_nodes, **known))

    def harmonic_costs(self, field: Conditioned, asked: Flags) -> Costs:
        with field.workspace.at(field) as G:
            known = {**_known(field), "asked": asked}
            return Costs(kernels.harmonic_cost(G, field.h, field.island, self.n_nodes, **known))

    def vopt_costs(self, field: Conditioned, asked: Flags, rough: bool) -> Costs:
        with field.workspace.at(field) as G:
            return Costs(kernels.vopt_cost(G, field.island, nodes=field.unlabelled))

    def sopt_costs(self, field: Conditioned, asked: Flags) -> Costs:
        with field.workspace.at(field) as G:
            return Costs(kernels.sopt_cost(G, field.island, nodes=field.unlabelled))

    def _h(self, field: Conditioned) -> Tensor:
        """(u, C) h as questions are chosen by it; picked out on the card, which is quicker."""
        if field.opinion is not None:
            return torch.as_tensor(asking_h(field), device=self.device)
        return torch.as_tensor(field.all_h, device=self.device)[torch.as_tensor(field.unlabelled, device=self.device)]

    def _fill(self) -> Levels:
        """K, piece by piece; that of a connected graph in the array itself, where that is what it is computed in."""
        found = []
        for here, W, degree in pieces(self.precision, self.piece):
            m = len(here)
            same = m == self.n_nodes and self.computed_in == self.dtype
            block = self.K if same else torch.empty((m, m), dtype=self.computed_in, device=self.device)
            waves = fill(Block(block), W, degree)
            if not same:
                at = torch.as_tensor(here, device=self.device)
                for rows in cuts(m):
                    self.K[at[rows, None], at] = block[rows].to(self.dtype)
            if waves is not None:
                found.append((here, waves))
        return Levels.of(self.n_nodes, found)


class Whole(Workspace):
    """G on the card, and at most one change that waits for it.

    An answer changes all of G, which takes a third of a question's time, all of it spent on memory. The look-ahead for
    the next question reads all of G and is busy with arithmetic, so it makes the change in passing.
    """

    def __init__(self, covariance: OnCard) -> None:
        super().__init__()
        self._covariance = covariance
        self._G: Tensor | None = None
        self._change: Change | None = None

    @contextmanager
    def at_last(self, field: Conditioned, waiting: bool) -> Iterator[tuple[Tensor, Change | None]]:
        """G of this field once the change is made: by the caller, if it may be waiting."""
        with self._lock:
            self._bring(field)
            if not waiting:
                yield self._array(), None
                return
            change, self._change = self._change, None
            of, self._of = self._of, None  # in case the caller is interrupted
            yield self._room(), change
            self._of = of

    def _array(self) -> Tensor:
        self._make()
        return self._room()

    def _room(self) -> Tensor:
        """(n, n) not filled at first."""
        if self._G is None:
            of = self._covariance
            require(of.n_nodes, of.dtype, free_memory(of.device), matrices=1)
            self._G = kernels.buffer(of.n_nodes, of.dtype, of.device)
        return self._G

    def _make(self) -> None:
        if self._change is not None:
            change, self._change = self._change, None
            kernels.make(change, self._room())

    def _forward(self, step: Step) -> None:
        self._make()
        z = self._sent(step)
        if step.sure:
            G = self._room()
            G[step.node] = G[:, step.node] = z[step.node] = 0
        self._change = Change(z, -1 / step.pivot)

    def _back(self, step: Step) -> None:
        self._make()
        z, G = self._sent(step), self._room()
        G[step.node] = G[:, step.node] = z
        z[step.node] = 0
        self._change = Change(z, 1 / step.pivot)

    def _sent(self, step: Step) -> Tensor:
        return torch.tensor(step.column, dtype=self._covariance.dtype, device=self._covariance.device)

    def _fill(self, field: Conditioned) -> None:
        """G = K - [F  K_o] A [F  K_o]', computed in float64 and symmetric to the last bit."""
        self._change, K, G = None, self._covariance.K, self._room()
        A = torch.as_tensor(field.core.A, device=G.device)
        beside = torch.empty((len(G), len(A)), dtype=torch.float64, device=G.device)
        for rows in cuts(len(G)):
            beside[rows] = torch.as_tensor(field.at(rows), device=G.device)
        weights = A @ beside.mT  # (p + l, n)
        for rows in cuts(len(G)):
            G[rows, rows.start :] = K[rows, rows.start :] - beside[rows] @ weights[:, rows.start :]
            mirror(G, rows)
        sure = torch.as_tensor(np.flatnonzero(field.label >= 0), device=G.device)
        G[sure] = 0
        G[:, sure] = 0


class Held(NamedTuple):
    """The columns of the answered nodes, as `Known`, and where they are kept on the host."""

    nodes: Ints
    X: Floats  # (n, l)
    store: Growing


class Block:
    """A piece's K on the card, as `pieces.fill` works on it."""

    def __init__(self, K: Tensor) -> None:
        self.K = K
        self.number, self.tolerance = str(K.dtype).removeprefix("torch."), LOSES[K.dtype]

    def invert(self, W: sparse.csr_array, degree: Floats, V: Floats, lift: float) -> bool:
        lifted, V_t = self._sent(lift * V), self._sent(V.T)
        for part in cuts(len(degree)):
            torch.mm(lifted[part], V_t, out=self.K[part])
        rows = np.repeat(np.arange(len(degree)), np.diff(W.indptr))
        place = torch.as_tensor(rows, device=self.K.device), torch.as_tensor(W.indices, device=self.K.device).long()
        self.K[place] -= self._sent(W.data)
        self.K.diagonal().add_(self._sent(degree))
        return inverse(self.K)

    def times(self, X: Floats) -> Floats:
        return np.asarray((self.K @ self._sent(X)).double().cpu().numpy())

    def lower(self, by: float) -> None:
        self.K -= by

    def lost(self, degree: Floats) -> float:
        d, worst = self._sent(degree), 0.0
        for rows in cuts(len(self.K)):
            K = self.K[rows]
            size = torch.linalg.vector_norm(K * K * d, dim=1)
            worst = max(worst, float((size / torch.maximum(K.diagonal(rows.start), 1 / d[rows])).max()))
        return torch.finfo(self.K.dtype).eps * worst

    def _sent(self, array: Floats) -> Tensor:
        return torch.as_tensor(array, dtype=self.K.dtype, device=self.K.device)


def free_memory(device: torch.device) -> int:
    """Bytes still free on the card, including what torch has set aside but does not use."""
    if device.type != "cuda":
        return 2**62
    gc.collect()  # fields refer to each other: one that is no longer used may still hold its arrays
    set_aside = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + set_aside


def memory_needed(n: int, dtype: torch.dtype, matrices: int = 2) -> int:
    """Bytes for K and G, the panels they are computed in, and a little to spare."""
    return int(matrices * dtype.itemsize * n * kernels.padded(n) + 4 * 8 * n * min(n, BLOCK) + SPARE)


def require(n: int, dtype: torch.dtype, free: int, matrices: int = 2) -> None:
    """Refuse, with the numbers, a graph that would not fit."""
    need = memory_needed(n, dtype, matrices)
    if need <= free:
        return
    largest = math.isqrt(max(0, free - SPARE) // (matrices * torch.float32.itemsize))
    while largest > 0 and memory_needed(largest, torch.float32, matrices) > free:
        largest -= max(1, largest // 1000)
    raise MemoryNeededError(
        f"the gpu engine on {n:,} nodes needs {need / GIB:.1f} GiB on the card and {free / GIB:.1f} GiB are free: the "
        f"largest graph that fits has about {largest:,} nodes, in float32. Take a smaller graph, or free the card."
    )


def _known(field: Conditioned) -> dict[str, Any]:
    return {"nodes": field.unlabelled, "signed": field.smoothness > 0 or field.opinion is not None}


def _on_host(rows: Tensor, nodes: Ints) -> Floats:
    """(n, m) these columns of a symmetric matrix on the card."""
    found: Floats = rows[torch.as_tensor(nodes, device=rows.device)].double().cpu().numpy()
    return found.T
