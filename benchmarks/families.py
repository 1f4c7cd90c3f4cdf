"""What the default learner costs on families of large graphs, and how right it is: the first table of docs/scale.md.

python benchmarks/families.py [knn2 knn3 knn8 sheets power blocks road citations] [--nodes 1e5] [--questions 14]
"""

import argparse
import resource

import numpy as np
from scale import Stopwatch, power, sbm
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

import fewlabels as fl


def clouds(n, dimensions, apart, rng):
    """Eight Gaussian clouds."""
    centres, labels = apart * rng.standard_normal((8, dimensions)), rng.integers(8, size=n)
    return neighbours(centres[labels] + rng.standard_normal((n, dimensions))), labels


def plane(n, rng):
    """Points of a square, eight classes by the nearest of 40 centres."""
    X, centres = rng.random((n, 2)), rng.random((40, 2))
    return neighbours(X), cKDTree(centres).query(X)[1] % 8


def sheets(n, rng):
    """Ten bent sheets of four dimensions, one a class, in 64, with noise."""
    labels, Z, X = rng.integers(10, size=n), rng.random((n, 4)), np.empty((n, 64))
    for c in range(10):
        A, B, shift = rng.standard_normal((4, 64)), rng.standard_normal((4, 64)), 0.3 * rng.standard_normal(64)
        X[labels == c] = np.sin(1.5 * Z[labels == c] @ A) + 0.5 * Z[labels == c] @ B + shift
    return neighbours(X + 0.1 * rng.standard_normal((n, 64))), labels


def neighbours(X):
    return fl.Graph.from_features(X, n_neighbors=10).weights


def road(n, rng):
    """A grid of which a quarter of the edges is missing, six classes by the nearest of 30 centres."""
    side = int(np.sqrt(n))
    at = np.arange(side * side).reshape(side, side)
    i, j = np.hstack([(at[:, :-1].ravel(), at[:, 1:].ravel()), (at[:-1].ravel(), at[1:].ravel())])
    keep = rng.random(len(i)) < 0.75
    W = sparse.csr_array((np.exp(0.5 * rng.standard_normal(keep.sum())), (i[keep], j[keep])), shape=(side**2,) * 2)
    W = sparse.csr_array(W + W.T)
    _, component = connected_components(W)
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    centres = rng.random((30, 2))
    places = np.stack(np.divmod(np.arange(side**2), side), axis=1) / side
    return sparse.csr_array(W[largest][:, largest]), cKDTree(centres).query(places[largest])[1] % 6


def citations(n, rng, classes=7):
    """Every node cites an earlier one, whose class it mostly takes, and up to two others, mostly of its class."""
    labels, source, target = list(range(classes)), [], []
    for i in range(classes, n):
        cited = (
            target[int(rng.integers(len(target)))] if target and rng.random() < 0.5 else int(i * rng.random() ** 0.8)
        )
        labels.append(labels[cited] if rng.random() < 0.97 else int(rng.integers(classes)))
        source.append(i)
        target.append(cited)
        for _ in range(rng.integers(3)):
            edge = int(rng.integers(len(source)))
            other = (source[edge], target[edge])[int(rng.integers(2))]
            if other != i and (labels[other] == labels[i] or rng.random() < 0.15):
                source.append(i)
                target.append(other)
    W = sparse.csr_array((np.ones(len(source)), (source, target)), shape=(n, n))
    W = sparse.csr_array(W + W.T)
    W.data[:] = 1
    return W, np.array(labels)


def given(made):
    return made.graph.weights, made.labels


FAMILIES = {
    "knn2": plane,
    "knn3": lambda n, rng: clouds(n, 3, 3, rng),
    "knn8": lambda n, rng: clouds(n, 8, 2, rng),
    "sheets": sheets,
    "power": lambda n, rng: given(power(n, rng)),
    "blocks": lambda n, rng: given(sbm(n, rng, classes=6, mean_degree=16, mixing=0.1)),
    "road": road,
    "citations": citations,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--nodes", type=float, default=1e5)
    parser.add_argument("--questions", type=int, default=14)
    told = parser.parse_args()
    print("| graph | n | solver | to the first question s | later s | answer s | right | peak GiB |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in told.families:
        weights, labels = FAMILIES[name](int(told.nodes), np.random.default_rng(0))
        graph, clock, rng = fl.Graph(weights), Stopwatch(), np.random.default_rng(1)
        learner = fl.ActiveLearner(graph, range(int(labels.max()) + 1), engine="sparse")
        set_up, asked, answered = clock.lap(), [], []
        node = int(rng.integers(graph.n_nodes))
        for _ in range(told.questions):
            clock.lap()
            learner.teach(node, int(labels[node]))
            answered.append(clock.lap())
            node = learner.query()
            asked.append(clock.lap())
        learner.teach(node, int(labels[node]))
        right = np.mean(np.asarray(learner.predict()) == labels)
        first, later, answer = set_up + answered[0] + asked[0], np.mean(asked[1:]), np.mean(answered[1:])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"| {name} | {graph.n_nodes:,} | {learner.covariance.solver.name} | {first:.1f} | {later:.2f} | "
            f"{answer:.2f} | {right:.2f} | {peak:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
