"""What a batch of 10 costs in accuracy on the paper's graphs, against one question at a time."""

import numpy as np
from rich.console import Console
from rich.table import Table

import fewlabels as fl
from fewlabels.errors import FileError
from fewlabels.experiments.datasets import citeseer, cora, dblp

BATCH, ROUNDS, TRIALS = 10, 7, 10


def one_at_a_time(learner):
    for _ in range(BATCH):
        node = learner.query()
        yield node


def lowest_costs(learner):
    yield from np.argsort(np.nan_to_num(learner.costs(), nan=np.inf), kind="stable")[:BATCH].tolist()


def batch(learner):
    yield from learner.query(BATCH)


def curve(data, choose, seed):
    """Accuracy after each round of BATCH answers, from one random label."""
    rng = np.random.default_rng(seed)
    learner = fl.ActiveLearner(data.graph, data.classes, beta=1.0, random_state=seed)
    first = int(rng.integers(data.graph.n_nodes))
    learner.teach(first, int(data.labels[first]))
    accuracy = []
    for _ in range(ROUNDS):
        for node in choose(learner):
            learner.teach(node, int(data.labels[node]))
        accuracy.append(np.mean(learner.predict() == data.labels))
    return accuracy


def main():
    table = Table(
        "graph", "one at a time", "query(10)", "10 lowest costs",
        title=f"mean accuracy over {BATCH} to {BATCH * ROUNDS} answers, {TRIALS} trials",
    )  # fmt: skip
    for load in (dblp, cora, citeseer):
        try:
            data = load()
        except FileError as error:
            print(error)
            continue
        means = [
            np.mean([curve(data, choose, s) for s in range(TRIALS)]) for choose in (one_at_a_time, batch, lowest_costs)
        ]
        table.add_row(data.name.upper(), *(f"{m:.3f}" for m in means))
    Console().print(table)


if __name__ == "__main__":
    main()
