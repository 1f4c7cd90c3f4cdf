"""From how many nodes the sparse engine is sooner done than the dense one: set-up and thirty questions.

python benchmarks/crossing.py [power citations knn2 blocks] [--nodes 3000 5000 7000 10000]
"""

import argparse
import time

import numpy as np
from families import FAMILIES

import fewlabels as fl


def session(graph, labels, engine, questions):
    """Seconds to the first question, those of each later round, and the share that is right in the end."""
    start = time.perf_counter()
    learner = fl.ActiveLearner(graph, range(int(labels.max()) + 1), engine=engine)
    node = learner.query()
    first, later = time.perf_counter() - start, []
    for _ in range(questions):
        start = time.perf_counter()
        learner.teach(node, int(labels[node]))
        node = learner.query()
        learner.predict_proba()
        later.append(time.perf_counter() - start)
    return first, later, np.mean(np.asarray(learner.predict()) == labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", default=["power", "citations", "knn2", "blocks"])
    parser.add_argument("--nodes", type=int, nargs="+", default=[3_000, 5_000, 7_000, 10_000])
    parser.add_argument("--questions", type=int, default=30)
    told = parser.parse_args()
    print("| graph | n | engine | first question s | later s | slowest s | all s | right |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in told.families:
        for n in told.nodes:
            weights, labels = FAMILIES[name](n, np.random.default_rng(0))
            for engine in ("dense", "sparse"):
                first, later, right = session(fl.Graph(weights), labels, engine, told.questions)
                print(
                    f"| {name} | {n:,} | {engine} | {first:.2f} | {np.mean(later):.3f} | {max(later):.2f} | "
                    f"{first + sum(later):.1f} | {right:.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
