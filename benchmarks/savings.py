"""What each saving of the dense TSA look-ahead brings: CPU seconds of 200 look-aheads, with and without it.

    NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/savings.py

Questions are asked by TSA, in the paper's field; every fifth look-ahead is timed, the quicker of two, and counts five
times. The graphs are those of the paper and scikit-learn's digits.
"""

import time
from unittest import mock

import numpy as np

from fewlabels.experiments.datasets import DATASETS
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.kernels.cpu import layout, lookahead
from fewlabels.strategies import lowest

GRAPHS, QUESTIONS, EVERY = ("dblp", "cora", "citeseer", "digits"), 200, 5
WAYS = {  # float32 first, pieces, shared columns
    "float64, all pairs": (False, False, False),
    "+ float32 first": (True, False, False),
    "+ pieces only": (False, True, False),
    "+ shared columns only": (False, False, True),
    "all three": (True, True, True),
}


def each_column(h):
    return list(range(h.shape[1])), np.ones(h.shape[1])


def seconds(field, single, pieces, shared):
    piece, G = field.pieces() if pieces else None, field.G
    distinct = layout.distinct_columns if shared else each_column
    best = np.inf
    screen_from = lookahead.SCREEN_FROM if single else np.inf
    with (
        mock.patch.object(layout, "distinct_columns", distinct),
        mock.patch.object(lookahead, "SCREEN_FROM", screen_from),
    ):
        for _ in range(2):
            begun = time.process_time()
            lookahead.two_step_cost(G, field.h, field.island, field.n_nodes, piece=piece)
            best = min(best, time.process_time() - begun)
    return best


def main():
    found = {}
    for name in GRAPHS:
        data, rng = DATASETS[name](), np.random.default_rng(0)
        covariance = FieldSpec(1.0, 0, 0, "dense").resolved(data.graph).build()
        field = Conditioned(covariance, Answers(len(data.classes)))
        spent = dict.fromkeys([*WAYS, "the 200 updates of G"], 0.0)
        for asked in range(QUESTIONS):
            if asked and asked % EVERY == 0:
                for way, switches in WAYS.items():
                    spent[way] += EVERY * seconds(field, *switches)
            node = lowest(field.two_step_costs().values, field.unlabelled, rng)
            begun = time.process_time()
            field = field.with_answer(node, int(data.labels[node]))
            with field.workspace.at(field):  # G, brought from the one before
                pass
            spent["the 200 updates of G"] += time.process_time() - begun
        found[name] = spent
        print(name, {way: round(total, 2) for way, total in spent.items()}, flush=True)
    print("\n| |", " | ".join(GRAPHS), "|\n|---" * 1 + "|---" * len(GRAPHS) + "|")
    for way in found[GRAPHS[0]]:
        print(f"| {way} |", " | ".join(f"{found[name][way]:.1f}" for name in GRAPHS), "|")


if __name__ == "__main__":
    main()
