"""Which nodes to ask about beyond 15,000 nodes, and when the first questions should end there. Paired trials.

python benchmarks/large_few_labels.py [blocks knn2 road ...] [--nodes 3e4] [--trials 3]

Every trial has a graph and a first label of its own, the same for all. Percent right after 5, 10, 15 and 20 answers as
it is, and what is gained if all nodes may be asked about, not only the most telling ones, or if the first questions
end after one or two answers that name no new class; in brackets the standard error.
"""

import argparse

import numpy as np
from families import FAMILIES
from few_labels_graphs import blobs
from scipy import sparse

import fewlabels as fl
from fewlabels.strategies import first_questions, telling

COUNTS = 5, 10, 15, 20
VARIANTS = {"as it is": (3, np.inf), "all nodes": (3, 0), "end after one": (1, np.inf), "end after two": (2, np.inf)}
GRAPHS = {name: make for name, make in FAMILIES.items() if name != "sheets"} | {  # those are one piece a class
    "skewed": lambda n, rng: blobs(rng, [0.85, 0.1, 0.03, 0.02], 8, 6.5, n),
    "clouds16": lambda n, rng: blobs(rng, [1 / 8] * 8, 16, 6, n),
    "clouds12": lambda n, rng: blobs(rng, [1 / 12] * 12, 12, 7, n),
    "clouds5": lambda n, rng: blobs(rng, [0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05], 5, 6, n),
}


def made(name, n, trial):
    """The graph's largest component and its labels, classes numbered from 0."""
    W, labels = GRAPHS[name](n, np.random.default_rng([11, trial]))
    component = sparse.csgraph.connected_components(W, directed=False)[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return fl.Graph(W[kept][:, kept]), np.unique(labels[kept], return_inverse=True)[1]


def accuracies(graph, labels, trial, variant):
    first_questions.WASTED, telling.MOST = VARIANTS[variant]
    learner = fl.ActiveLearner(graph, range(labels.max() + 1), engine="sparse", random_state=trial)
    node, found = int(np.random.default_rng([1, trial]).integers(len(labels))), []
    for k in range(1, COUNTS[-1] + 1):
        learner.teach(node, int(labels[node]))
        if k in COUNTS:
            found.append(100 * np.mean(np.asarray(learner.predict()) == labels))
        node = learner.query()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--nodes", type=float, default=3e4)
    parser.add_argument("--trials", type=int, default=3)
    told = parser.parse_args()
    for name in told.graphs:
        trials = []
        for trial in range(told.trials):
            graph, labels = made(name, int(told.nodes), trial)
            trials.append([accuracies(graph, labels, trial, variant) for variant in VARIANTS])
        right = np.array(trials)  # (trials, variants, counts)
        print(name, *right[:, 0].mean(axis=0).round(), flush=True)
        for variant, found in zip(list(VARIANTS)[1:], right.transpose(1, 0, 2)[1:], strict=True):
            gained = found - right[:, 0]
            numbers = zip(gained.mean(axis=0), gained.std(axis=0, ddof=1) / np.sqrt(told.trials), strict=True)
            print(f"  {variant}:", *(f"{a:+.1f} ({b:.1f})" for a, b in numbers), flush=True)


if __name__ == "__main__":
    main()
