"""One round of TSA (take in an answer, choose the next question) at CORA's size: ours against blocked NumPy.

In one run, equality first, then time. With --sizes, the time of a question on random graphs of 500 to 20,000 nodes.
"""

import os
import platform
import sys
import time

import blocked_numpy
import numpy as np
from rich.console import Console
from rich.table import Table

import fewlabels as fl
from fewlabels.errors import FileError
from fewlabels.experiments.datasets import cora
from fewlabels.field.dense import DenseField
from fewlabels.kernels.reference import answer
from fewlabels.risk import two_step_lookahead
from fewlabels.strategies import lowest, tied

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


def numpy_round(G, h, q, c, n, block):
    """The rival's round where every component has a label: a rank-one update, then the look-ahead."""
    row, at_q = G[q].copy(), h[q].copy()
    G -= np.outer(row, row / row[q])
    h += np.outer(row / row[q], answer(c, h.shape[1]) - at_q)
    kept = np.arange(len(h)) != q
    return blocked_numpy.two_step_cost(G[np.ix_(kept, kept)], h[kept], n, block)


def our_round(field, node, c, rng):
    field.observe(node, c)
    return lowest(two_step_lookahead(field), field.unlabelled, rng)


def main():
    name, graph, labels = cora_or_alike()
    field = DenseField(graph, 7, beta=1.0)
    nodes = [int(node) for node in np.random.default_rng(0).permutation(graph.n_nodes)]
    for node in nodes[: LABELS - 1]:
        field.observe(node, int(labels[node]))
    last, c = nodes[LABELS - 1], int(labels[nodes[LABELS - 1]])
    place, n = int(np.flatnonzero(field.unlabelled == last)[0]), graph.n_nodes
    blocks = {}
    for block in (8, 32, 128):
        copies = [(field.G.copy(), field.h.copy()) for _ in range(2)]
        blocks[block] = best_of(2, lambda block=block, copies=copies: numpy_round(*copies.pop(), place, c, n, block))
    fastest = min(blocks, key=blocks.__getitem__)
    theirs = numpy_round(field.G.copy(), field.h.copy(), place, c, n, fastest)
    others = np.delete(field.unlabelled, place)
    rng = np.random.default_rng(0)
    fields = [field.copy() for _ in range(10)]
    asked = our_round(fields[-1], last, c, rng)
    ours = two_step_lookahead(fields[-1])[np.argsort(fields[-1].unlabelled)]
    theirs = theirs[np.argsort(others)]
    others = np.sort(others)
    assert abs(ours - theirs).max() < 1e-6, "the two look-aheads disagree"
    assert asked in tied(theirs, others), "the two would ask different questions"
    np.testing.assert_array_equal(tied(ours, others), tied(theirs, others))
    fused = best_of(9, lambda: our_round(fields.pop(0), last, c, rng))

    table = Table("one round", "ms", "ratio", title=f"{name}: {n} nodes, 7 classes, {LABELS} labels")
    table.add_row(
        f"blocked NumPy (blocks of {fastest}, the fastest of {list(blocks)})", f"{blocks[fastest] * 1e3:.0f}", "1"
    )
    table.add_row("fewlabels: observe, look ahead, choose", f"{fused * 1e3:.1f}", f"{blocks[fastest] / fused:.1f}")
    Console().print(table)
    print(f"same question, costs within {abs(ours - theirs).max():.1e}; {os.cpu_count()} cores, {platform.machine()}")


def sizes(C=7, labels=50):
    """How a question's time grows: random sparse graphs of mean degree 4, 50 labels."""
    rng = np.random.default_rng(0)
    table = Table(
        "nodes", "set-up (s)", "question (ms)", "ns per pair and class", title=f"{C} classes, {labels} labels"
    )
    for n in (500, 1000, 2500, 5000, 10_000, 20_000):
        path = np.stack([np.arange(n - 1), np.arange(1, n)])
        edges = np.unique(np.sort(np.hstack([path, rng.integers(0, n, (2, n))]), axis=0), axis=1)
        start = time.perf_counter()
        field = DenseField(fl.Graph.from_edges(*edges[:, edges[0] != edges[1]]), C)
        setup = time.perf_counter() - start
        for node in rng.permutation(n)[:labels]:
            field.observe(int(node), int(rng.integers(C)))
        seconds = best_of(3, lambda field=field: two_step_lookahead(field))
        table.add_row(f"{n:,}", f"{setup:.1f}", f"{seconds * 1e3:.1f}", f"{seconds / n**2 / C * 1e9:.3f}")
    Console().print(table)


if __name__ == "__main__":
    sizes() if "--sizes" in sys.argv else main()
