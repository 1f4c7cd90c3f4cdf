"""Does the fast TSA look-ahead ask what float64 asks? 200 questions x 5 trials on each of the paper's graphs.

At every question the ties of the fast kernel (float32 first, pieces, shared columns) are compared with those of the
float64 kernel over all pairs, and the costs of all nodes with a tolerance of 1e-6.
"""

import sys
from contextlib import contextmanager

import numpy as np

from fewlabels.experiments.datasets import DATASETS
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.kernels import cpu
from fewlabels.kernels.cpu import lookahead
from fewlabels.risk import two_step_lookahead
from fewlabels.strategies import lowest, tied

TRIALS, QUESTIONS = 5, 200


@contextmanager
def float64_only():
    screen_from = lookahead.SCREEN_FROM
    lookahead.SCREEN_FROM = np.inf
    try:
        yield
    finally:
        lookahead.SCREEN_FROM = screen_from


def main(trials=TRIALS, questions=QUESTIONS):
    for name in ("dblp", "cora", "citeseer"):
        data = DATASETS[name]()
        covariance = FieldSpec(1.0, 0, 0, "dense").resolved(data.graph).build()
        differ, furthest, most_ties = 0, 0.0, 0
        for trial in range(trials):
            rng = np.random.default_rng([0, trial])
            field = Conditioned(covariance, Answers(len(data.classes)))
            node = int(rng.integers(data.graph.n_nodes))
            for _ in range(questions):
                field = field.with_answer(node, int(data.labels[node]))
                cost = two_step_lookahead(field)
                with float64_only():
                    exact = cpu.two_step_cost(field.G, field.h, field.island, field.n_nodes)
                ties = tied(exact, field.unlabelled)
                differ += not np.array_equal(tied(cost, field.unlabelled), ties)
                furthest = max(furthest, abs(cost - exact).max())
                most_ties = max(most_ties, len(ties))
                node = lowest(exact, field.unlabelled, rng)
        print(
            f"{name}: {trials} x {questions} questions, {differ} with other ties; "
            f"costs within {furthest:.1e}; at most {most_ties} tied"
        )
        assert differ == 0, "the fast kernel would ask something else"
        assert furthest < 1e-6, "a cost is off"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
