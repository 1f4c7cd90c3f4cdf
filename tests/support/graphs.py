"""Graphs and labels to test on."""

import numpy as np

from fewlabels.graph import Graph


def random_weights(n, rng, density=0.3, connected=True):
    """Symmetric weights between .1 and 10; a random tree keeps it in one piece."""
    W = np.triu(rng.random((n, n)) < density, 1) * 10 ** rng.uniform(-1, 1, (n, n))
    if connected:
        for k in range(1, n):
            W[rng.integers(k), k] = 10 ** rng.uniform(-1, 1)
    return W + W.T


def in_pieces(sizes, rng):
    """Weights of a graph with connected components of these sizes, its nodes shuffled."""
    n = sum(sizes)
    W = np.zeros((n, n))
    start = 0
    for size in sizes:
        W[start : start + size, start : start + size] = random_weights(size, rng)
        start += size
    order = rng.permutation(n)
    return W[np.ix_(order, order)]


def random_labels(n, how_many, C, rng):
    return {int(k): int(rng.integers(C)) for k in rng.permutation(n)[:how_many]}


def clusters(n, dimensions=3, seed=0, apart=4.0):
    """Near neighbours in four clouds."""
    rng = np.random.default_rng(seed)
    centres = apart * rng.standard_normal((4, dimensions))
    return Graph.from_features(centres[rng.integers(4, size=n)] + rng.standard_normal((n, dimensions)), n_neighbors=8)
