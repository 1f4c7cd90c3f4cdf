"""Seconds per question and per answer with G on 1 and 2 workers, against the dense engine in the same run.

The workers are processes of this machine, one thread each; the dense engine runs on one thread and on two. That all
ask the same is checked first, so what is timed is right.
"""

import sys
import time

import numba
import numpy as np
from distributed import LocalCluster
from threadpoolctl import threadpool_limits

import fewlabels as fl
from fewlabels.field.cluster import Cluster
from fewlabels.field.dense import DenseField
from fewlabels.risk import two_step_lookahead
from fewlabels.strategies import tied

CLASSES, LABELS, ANSWERS, QUESTIONS = 5, 20, 10, 3


def main(n=3000):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 2))
    graph = fl.Graph.from_features(points, n_neighbors=10)
    kinds = (np.arctan2(points[:, 1], points[:, 0]) // (2 * np.pi / CLASSES)).astype(int) % CLASSES
    start, more = np.split(rng.permutation(n)[: LABELS + ANSWERS], [LABELS])
    beta = 5 / float(graph.degrees().mean())
    rows, ties = [], []

    def measure(name, make, moved=lambda: 0):
        DenseField(fl.Graph.from_edges([0], [1]), 2)  # kernels loaded
        field, setup = timed(lambda: make(graph, CLASSES, beta))
        for node in start:
            field.observe(int(node), int(kinds[node]))
        cost, _ = timed(lambda: two_step_lookahead(field))
        before = moved()
        question = np.median([timed(lambda: two_step_lookahead(field))[1] for _ in range(QUESTIONS)])
        asked = (moved() - before) / QUESTIONS
        ties.append(tied(cost, field.unlabelled))
        before = moved()
        answer = np.median([timed(lambda node=node: field.observe(int(node), int(kinds[node])))[1] for node in more])
        rows.append((name, setup, question, answer, asked, (moved() - before) / ANSWERS))

    for threads in (1, 2):
        numba.set_num_threads(threads)
        with threadpool_limits(threads):
            measure(f"dense, {threads} thread(s)", DenseField)
    for workers in (1, 2):
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
            ) as local,
            Cluster(local.scheduler_address) as cluster,
        ):
            measure(f"cluster, {workers} worker(s)", cluster, lambda cluster=cluster: cluster.moved)
    assert all(np.array_equal(ties[0], other) for other in ties), "the engines would ask different nodes"
    print(f"n = {n:,}, {CLASSES} classes, {LABELS} labels; same questions")
    print("| engine | set-up s | question s | answer ms | moved by a question | by an answer |")
    print("|---|---|---|---|---|---|")
    for name, setup, question, answer, asked, told in rows:
        moved = f"{asked / 2**20:.1f} MiB | {told / 2**10:.0f} KiB"
        print(f"| {name} | {setup:.1f} | {question:.2f} | {answer * 1e3:.0f} | {moved} |")


def timed(do):
    start = time.perf_counter()
    result = do()
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
