"""The gpu engine: G stays on the card, changed in place by every answer."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import GraphError, MemoryNeededError, SettingError
from fewlabels.field.batch_updates import BatchUpdates
from fewlabels.field.costs import Costs
from fewlabels.field.gpu.inverse import BLOCK, expected_error, green
from fewlabels.field.gpu.matrix import Matrix
from fewlabels.field.opinion import asking_h
from fewlabels.field.placement import Part, Placement
from fewlabels.graph import Graph
from fewlabels.kernels.gpu import launch as kernels
from fewlabels.kernels.reference import answer
from fewlabels.machine.memory import GIB

SPARE = 2**30  # bytes left to the kernels and to torch itself
COMFORT = 3  # float64 is taken where this many such matrices would fit
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-3}  # largest expected relative error allowed in a variance


class GpuField(BatchUpdates, Placement):
    """G and h of a graph on the card: the dense engine's places and updates, Triton's arithmetic.

    G is float64, which gives the questions of the dense engine, if three such matrices would fit on the card; else
    float32, computed in float64 where there is room for it and rounded. Nothing the size of G ever leaves the card
    except through the property `G`, which copies it. Unlike the dense engine, this one does not watch its rounding
    errors as answers come in; it refuses graphs whose weights would make them large from the start.
    """

    def __init__(
        self,
        graph: Graph,
        n_classes: int,
        beta: float = 1.0,
        dtype: torch.dtype | None = None,
        device: str = "cuda",
        *,
        smoothness: float = 0.0,
    ) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise SettingError(
                f"engine 'gpu': torch {torch.__version__} sees no GPU. Use engine='dense', or install torch for CUDA "
                "on a machine with an NVIDIA card."
            )
        super().__init__(graph, n_classes, beta, smoothness)
        self.device = torch.device(device)
        free = free_memory(self.device)
        size = int(np.bincount(self.component).max())
        self.dtype = dtype or (torch.float64 if COMFORT * 8 * self.n_nodes**2 <= free else torch.float32)
        require(self.n_nodes, self.dtype, free)
        matrix = memory_needed(self.n_nodes, self.dtype)
        self._work = torch.float64 if matrix + 8 * size**2 <= free else self.dtype  # the inverse is computed in this
        self._matrix = Matrix(self.n_nodes, self.dtype, self.device)
        self._h = self._empty_h()
        self.refresh()

    @property
    def state(self) -> tuple[torch.Tensor, torch.Tensor, Ints]:
        """G and h where they are, on the card, and island."""
        u = self._u
        return self._matrix.block(u), self._h[:u], self.island

    @property
    def G(self) -> Floats:
        """A copy on the host, as large as the matrix on the card."""
        return self.state[0].double().cpu().numpy()

    @property
    def h(self) -> Floats:
        return self._h[: self._u].cpu().numpy()

    @property
    def variance(self) -> Floats:
        return np.where(self.island < 0, self._matrix.diagonal(self._u).double().cpu().numpy(), np.inf)

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        places = self._on_card(self._place[nodes])
        return self.state[0][:, places].double().cpu().numpy()

    def sums(self) -> Floats:
        return self.state[0].sum(dim=1, dtype=torch.float64).cpu().numpy()

    def two_step_costs(self) -> Costs:
        h = self._h[: self._u] if self.opinion is None else self._on_card(asking_h(self))
        signed = self.smoothness > 0 or self.opinion is not None
        return Costs(self._matrix.two_step_cost(h, self.island, self.n_nodes, signed))

    def harmonic_costs(self) -> Costs:
        return Costs(kernels.harmonic_cost(*self.state, self.n_nodes, signed=self.smoothness > 0))

    def vopt_costs(self, rough: bool = False) -> Costs:
        return Costs(kernels.vopt_cost(self.state[0], self.island))

    def sopt_costs(self) -> Costs:
        return Costs(kernels.sopt_cost(self.state[0], self.island))

    def observe(self, node: int, label: int) -> None:
        q = int(self._place[node])
        change = kernels.observed(*self.state, q, label)
        last = self._leaves(q)
        self._matrix.remove(q, last, change)
        self._h[q] = self._h[last]
        self.label[node] = label

    def forget(self, node: int) -> None:
        label = int(self.label[node])
        u = self._joins(node)
        self.label[node] = -1
        G = self._matrix.block(u + 1)
        G[u] = 0
        G[:, u] = 0
        self._h[u] = 0
        if self._has_no_label(node):
            self._unground(node)
            return
        reach = self._reach(node, u)
        pull, signed = (self._on_card(array[self._order[: u + 1]]) for array in self._attachments())
        s = pull[u] + reach @ pull[:u]
        h_new = (signed[u] + reach @ signed[:u]) / s
        self._island[u] = -1
        kernels.border(G, self._h[: u + 1], reach, s, h_new, label)

    def attach(self, node: int, weights: Floats) -> None:
        self.attached[node] = weights
        if self.label[node] >= 0:
            return
        q, (G, h, island) = int(self._place[node]), self.state
        if island[q] >= 0:
            if (total := float(weights.sum())) > 0:
                kernels.ground(G, h, island, q, 1 / total, self._on_card(2 * weights / total - 1))
            return
        if self._has_no_label(node):
            self._unground(node)
            return
        row = G[q].double()
        pull, signed = (self._on_card(array[self.unlabelled]) for array in self._attachments())
        held = row @ pull  # 1 + G_qq times the change of weight, as a sum that does not cancel
        kernels.shift(G, h, q, row[q] / held, row @ signed / held)

    def reach(self, nodes: Ints, rough: bool = False) -> Floats:
        ties = self._on_card(self.weights[nodes][:, self.unlabelled].toarray()).to(self.dtype)
        return self._matrix.times(ties).double().cpu().numpy()

    def one_by_one(self, count: int) -> bool:
        return True

    def relabel(self, node: int, label: int) -> None:
        signs = answer(label, self.n_classes) - answer(int(self.label[node]), self.n_classes)  # (C,)
        self._h[: self._u] += torch.outer(self._reach(node, self._u), self._on_card(signs))
        self.label[node] = label

    def add_class(self) -> None:
        unheard = torch.zeros((self.n_nodes, 1), dtype=torch.float64, device=self.device)
        unheard[: self._u, 0] = self._on_card(np.where(self.island < 0, -1.0, 0.0))
        self._h = torch.hstack([self._h, unheard])
        self._one_more_class()

    def _empty_h(self) -> torch.Tensor:
        return torch.zeros((self.n_nodes, self.n_classes), dtype=torch.float64, device=self.device)

    def refresh(self) -> None:
        """Compute G and h afresh from the graph and the labels, component by component."""
        parts, signed = self._arrange()
        room = self._matrix.clear()
        for part in parts:
            self._invert(part, room)
        G, h, island = self.state
        h[:] = (G @ self._on_card(signed).to(self.dtype)).double()
        h[self._on_card(island) >= 0] = 0

    def can_copy(self) -> bool:
        return free_memory(self.device) > memory_needed(self.n_nodes, self.dtype)

    def copy(self) -> GpuField:
        twin = object.__new__(GpuField)
        for name, value in self.__dict__.items():
            if isinstance(value, np.ndarray):
                value = value.copy()
            elif isinstance(value, torch.Tensor):
                value = value.clone()
            elif isinstance(value, Matrix):
                value = value.copy()
            setattr(twin, name, value)
        return twin

    def _invert(self, part: Part, room: torch.Tensor) -> None:
        """Fill one component's block of G."""
        places, W, ground = part
        m = places.stop - places.start
        if m == 1 and ground is None:
            return
        block = room[places, places]
        work = block if self._work == self.dtype else torch.empty((m, m), dtype=self._work, device=self.device)
        error = math.inf
        if green(work, W, ground):
            error = expected_error(work, _degree(W, ground), torch.finfo(self._work).eps)
        if not error <= TOLERANCE[self._work]:
            raise GraphError(
                f"the weights span so far that the gpu engine would lose a variance to rounding (expected relative "
                f"error {error:.1g}, bound {TOLERANCE[self._work]:g}). Use engine='dense', which is slower but copes."
            )
        if work is not block:
            for start in range(0, m, BLOCK):
                block[start : start + BLOCK] = work[start : start + BLOCK].to(self.dtype)

    def _unground(self, node: int) -> None:
        """The last label of a component is gone: its block becomes the pseudo-inverse again, its h zero."""
        members = self._make_island(node)
        kernels.center(self.state[0], members)
        self._h[torch.as_tensor(members, device=self.device)] = 0

    def _reach(self, node: int, u: int) -> torch.Tensor:
        """(u,) how much a label at this node counts at each of the others: G times its ties to them."""
        ties = self._on_card(self._ties(node)[:u]).to(self.dtype)
        return self._matrix.times(ties[None])[0].double()

    def _on_card(self, array: Floats | Ints) -> torch.Tensor:
        return torch.as_tensor(array, device=self.device)


def free_memory(device: torch.device) -> int:
    """Bytes still free on the card, including what torch has set aside but does not use."""
    if device.type != "cuda":
        return 2**62
    set_aside = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + set_aside


def memory_needed(n: int, dtype: torch.dtype) -> int:
    """Bytes for G, the panels of the set-up, and a little to spare."""
    return int(dtype.itemsize * n * kernels.padded(n) + 4 * 8 * n * min(n, BLOCK) + SPARE)


def require(n: int, dtype: torch.dtype, free: int) -> None:
    """Refuse, with the numbers, a graph that would not fit."""
    need = memory_needed(n, dtype)
    if need <= free:
        return
    largest = math.isqrt(max(0, free - SPARE) // torch.float32.itemsize)
    while largest > 0 and memory_needed(largest, torch.float32) > free:
        largest -= max(1, largest // 1000)
    raise MemoryNeededError(
        f"the gpu engine on {n:,} nodes needs {need / GIB:.1f} GiB on the card and {free / GIB:.1f} GiB are free: the "
        f"largest graph that fits has about {largest:,} nodes, in float32. Take a smaller graph, or free the card."
    )


def _degree(W: sparse.csr_array, ground: Floats | None) -> Floats:
    degree: Floats = np.asarray(W.sum(axis=1)).ravel() + (0 if ground is None else ground)
    return degree
