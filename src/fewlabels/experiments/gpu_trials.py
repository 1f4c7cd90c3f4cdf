"""Many trials of one graph at once on the card: the protocol of `trials.run_trial`, one kernel over all of them."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from fewlabels.arrays import TIE, Floats, Ints
from fewlabels.errors import SettingError
from fewlabels.experiments.datasets import Dataset
from fewlabels.experiments.trials import Draw, Row
from fewlabels.field.gpu import GpuField, free_memory
from fewlabels.kernels.gpu import launch as kernels
from fewlabels.learner.settings import resolve_beta
from fewlabels.strategies import lowest


class Batch:
    """G (T, n, n) and h (T, n, C) of T trials, each with its own labels; rows stay where they are when answered."""

    def __init__(self, base: GpuField, first: Ints, labels: Ints) -> None:
        P, (T, n) = base.state[0], labels.shape
        self.truth = torch.as_tensor(labels, device=P.device)  # (T, n), -1 where not known
        self.alive = torch.ones((T, n), dtype=torch.bool, device=P.device)
        self.each = torch.arange(T, device=P.device)
        self.G = kernels.buffer(n, P.dtype, P.device, T)[:, :, :n]
        self.G.copy_(P.expand(T, n, n))
        signs = 2 * torch.eye(base.n_classes, dtype=torch.float64, device=P.device) - 1  # (C, C)
        self.answers = signs[self.truth.clamp(min=0)]  # (T, n, C) what hearing a node's label says to each column
        q = torch.as_tensor(first, device=P.device)
        row, pivot = P[q], P[q, q]  # the first answer grounds the graph: G_kl = P_kl - P_kq - P_lq + P_qq
        kernels.ground_batch(self.G, row, self.alive, pivot)
        self.h = self.answers[self.each, q][:, None, :].repeat(1, n, 1)
        self._answered(q)

    def observe(self, nodes: Ints) -> None:
        """Trial t hears the label of its node nodes[t]."""
        q = torch.as_tensor(nodes, device=self.G.device)
        row = self.G[self.each, q]  # (T, n)
        pivot = row[self.each, q]  # (T,)
        kernels.rank_one_batch(self.G, row, -1 / pivot)
        surprise = self.answers[self.each, q] - self.h[self.each, q]  # (T, C)
        self.h += (row / pivot[:, None]).double()[:, :, None] * surprise[:, None, :]
        self._answered(q)

    def _answered(self, q: Tensor) -> None:
        self.h[self.each, q] = self.answers[self.each, q]
        self.alive[self.each, q] = False
        self.G[self.each, q, :] = 0
        self.G[self.each, :, q] = 0

    def accuracy(self) -> Tensor:
        """(T,) of label propagation over the nodes whose label is known; on a tie the class listed first."""
        near = self.h >= self.h.amax(dim=2, keepdim=True) - TIE
        right = (near.to(torch.int8).argmax(dim=2) == self.truth) | ~self.alive
        known = self.truth >= 0
        return (right & known).sum(dim=1) / known.sum(dim=1).double()

    def expected_error(self) -> Tensor:
        """(T,) risk of the two-step marginals."""
        f = 2 * self.h / self.diagonal.double()[:, :, None]
        p = torch.softmax(torch.nn.functional.logsigmoid(f), dim=2)
        return torch.where(self.alive, 1 - p.amax(dim=2), 0.0).mean(dim=1)

    @property
    def diagonal(self) -> Tensor:
        return self.G.diagonal(dim1=1, dim2=2)  # (T, n)


def _tsa(batch: Batch) -> Tensor:
    return kernels.two_step_batch(batch.G, batch.h, alive=batch.alive) / batch.G.shape[1]


def _zlg(batch: Batch) -> Tensor:
    return kernels.harmonic_batch(batch.G, batch.h, alive=batch.alive) / batch.G.shape[1]


def _vopt(batch: Batch) -> Tensor:
    _, squares = kernels.row_sums_batch(batch.G)
    diagonal = batch.diagonal.double()
    return diagonal.sum(dim=1, keepdim=True) - squares / diagonal


def _sopt(batch: Batch) -> Tensor:
    sums, _ = kernels.row_sums_batch(batch.G)
    return sums.sum(dim=1, keepdim=True) - sums**2 / batch.diagonal.double()


def _random(batch: Batch) -> Tensor:
    return torch.zeros_like(batch.alive, dtype=torch.float64)


COSTS: dict[str, Callable[[Batch], Tensor]] = {
    "tsa": _tsa,
    "zlg": _zlg,
    "vopt": _vopt,
    "sopt": _sopt,
    "random": _random,
}  # (T, n); entries at labelled nodes mean nothing


def run_trials(
    draw: Draw,
    strategy: str,
    n_labels: int,
    trials: range,
    seed: int,
    beta: float | str,
    dtype: torch.dtype = torch.float64,
    device: str = "cuda",
) -> list[list[Row]]:
    """The rows of these trials; `seconds` is the time all trials take for a question, divided among them.

    Labels, first nodes and draws among ties are those of `trials.run_trial`, so in float64 the questions are the same
    except where rounding decides. The graph must be in one piece and the same for every trial.
    """
    if strategy not in COSTS:
        raise SettingError(
            f"strategy {strategy!r} does not run in a batch on the card: choose one of {', '.join(COSTS)}."
        )
    starts = [_start(draw, trial, seed) for trial in trials]
    graph, classes = starts[0][0].graph, starts[0][0].classes
    if graph.components().max() > 0:
        raise SettingError(f"{graph} is not in one piece: a batch on the card needs that. Use engine 'dense'.")
    base = GpuField(graph, len(classes), resolve_beta(graph, beta), dtype, device)
    matrix = dtype.itemsize * graph.n_nodes * kernels.padded(graph.n_nodes)
    together = int(max(1, free_memory(base.device) // (2 * matrix)))
    rows = []
    for at in range(0, len(starts), together):
        rows += _run(base, COSTS[strategy], n_labels, starts[at : at + together])
    return rows


def _start(draw: Draw, trial: int, seed: int) -> tuple[Dataset, int, int]:
    """The trial's dataset, first node and seed for ties."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial,)))
    dataset = draw(rng)
    return dataset, int(rng.choice(np.flatnonzero(dataset.labels >= 0))), int(rng.integers(2**63))


def _run(
    base: GpuField, cost: Callable[[Batch], Tensor], n_labels: int, starts: list[tuple[Dataset, int, int]]
) -> list[list[Row]]:
    labels = np.array([dataset.labels for dataset, _, _ in starts])  # (T, n)
    askable = labels >= 0
    skipped = (~askable).sum(axis=1)
    nodes = np.array([first for _, first, _ in starts])
    clock = time.perf_counter()
    batch = Batch(base, nodes, labels)
    asked, found, seconds = [nodes], [torch.stack([batch.accuracy(), batch.expected_error()])], [0.0]
    each = np.arange(len(starts))
    askable[each, nodes] = False
    seconds[0] = time.perf_counter() - clock
    for count in range(1, min(n_labels, int((labels >= 0).sum(axis=1).min()))):
        clock = time.perf_counter()
        costs = cost(batch).cpu().numpy()
        nodes = np.array([_drawn(costs[t], askable[t], [starts[t][2], int(skipped[t]) + count]) for t in each])
        batch.observe(nodes)
        askable[each, nodes] = False
        seconds.append(time.perf_counter() - clock)
        asked.append(nodes)
        found.append(torch.stack([batch.accuracy(), batch.expected_error()]))
    table = torch.stack(found).cpu().numpy()  # (labels, 2, T)
    return [
        [
            Row(k + 1, int(asked[k][t]), float(table[k, 0, t]), float(table[k, 1, t]), seconds[k] / len(starts))
            for k in range(len(asked))
        ]
        for t in each
    ]


def _drawn(cost: Floats, askable: Floats, seed: list[int]) -> int:
    """The lowest of the nodes that may be asked, ties drawn as the learner draws them."""
    nodes = np.flatnonzero(askable)
    return lowest(cost[nodes], nodes, np.random.default_rng(seed))
