"""The TSA look-ahead at CORA's size: the fused kernel against blocked NumPy, in one run. Equality first, then time."""

import os
import platform
import time

import blocked_numpy
import numpy as np
from rich.console import Console
from rich.table import Table

import fewlabels as fl
from fewlabels.errors import FileError
from fewlabels.experiments.datasets import cora
from fewlabels.field.dense import DenseField

LABELS = 50


def cora_or_alike():
    """CORA, or a random graph of its size where it cannot be had."""
    try:
        data = cora()
        return "CORA", data.graph, data.labels
    except FileError as error:
        print(f"{error} A random graph of CORA's size takes its place.")
        rng = np.random.default_rng(0)
        path = np.stack([np.arange(2484), np.arange(1, 2485)])
        edges = np.unique(np.sort(np.hstack([path, rng.integers(0, 2485, (2, 2600))]), axis=0), axis=1)
        return "random", fl.Graph.from_edges(*edges[:, edges[0] != edges[1]]), rng.integers(0, 7, 2485)


def best_of(repeats, call):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main():
    name, graph, labels = cora_or_alike()
    field = DenseField(graph, 7, beta=1.0)
    for node in np.random.default_rng(0).permutation(graph.n_nodes)[:LABELS]:
        field.observe(int(node), int(labels[node]))
    ours = field.kernels.two_step_cost(field.G, field.h, field.island, graph.n_nodes)
    theirs = blocked_numpy.two_step_cost(field.G, field.h, graph.n_nodes)
    assert abs(ours - theirs).max() < 1e-9, "the two look-aheads disagree"
    assert ours.argmin() == theirs.argmin(), "the two would ask different questions"

    fused = best_of(5, lambda: field.kernels.two_step_cost(field.G, field.h, field.island, graph.n_nodes))
    blocks = {
        b: best_of(2, lambda b=b: blocked_numpy.two_step_cost(field.G, field.h, graph.n_nodes, b)) for b in (8, 32, 128)
    }
    fastest = min(blocks, key=blocks.__getitem__)
    table = Table("look-ahead", "ms", "ratio", title=f"{name}: {graph.n_nodes} nodes, 7 classes, {LABELS} labels")
    table.add_row(
        f"blocked NumPy (blocks of {fastest}, the fastest of {list(blocks)})", f"{blocks[fastest] * 1e3:.0f}", "1"
    )
    table.add_row("fused kernel", f"{fused * 1e3:.0f}", f"{blocks[fastest] / fused:.1f}")
    Console().print(table)
    print(f"same question, costs within {abs(ours - theirs).max():.1e}; {os.cpu_count()} cores, {platform.machine()}")


if __name__ == "__main__":
    main()
