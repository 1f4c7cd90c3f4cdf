"""Small collections of items to label."""

from unittest.mock import patch

import numpy as np
from support.graphs import random_weights

from fewlabels.graph import Graph
from fewlabels.items import Items, digits


def words(n=40, classes=("cat", "dog"), known=None, texts=None, seed=0):
    """n words on a ring with a few chords, so that every answer reaches every item."""
    rng = np.random.default_rng(seed)
    source = np.concatenate([np.arange(n), rng.integers(n, size=n // 2)])
    target = np.concatenate([(np.arange(n) + 1) % n, rng.integers(n, size=n // 2)])
    apart = source != target
    pairs = sorted({(min(a, b), max(a, b)) for a, b in zip(source[apart], target[apart], strict=True)})
    graph = Graph.from_edges(*np.array(pairs).T, n_nodes=n)
    return Items(
        title="words",
        kind="text",
        graph=graph,
        names=[f"word {k}" for k in range(n)],
        position=rng.random((n, 2)),
        fingerprint=graph.fingerprint(),
        texts=texts or [f"text of word {k}" for k in range(n)],
        known=known or {},
        classes=classes,
    )


CLASSES = ("cat", "dog", "eel")


def notes(n=60, seed=0):
    """n notes with odd characters in them, tied at random."""
    rng = np.random.default_rng(seed)
    names = [f"note {k}" for k in range(n)]
    texts = [f"text of {name}, “quoted” & <b>marked</b>\n" for name in names]
    graph = Graph(random_weights(n, rng, density=0.05))
    return Items("notes", "text", graph, names, rng.random((n, 2)), f"notes-{n}-{seed}", texts, classes=CLASSES)


def some_digits(n=500):
    """The first of scikit-learn's digits, all in one component, and what they are: a tenth of the work of all."""
    _, truth, images = digits.load()
    graph = Graph.from_features(images[:n].reshape(n, -1), n_neighbors=digits.NEIGHBORS)
    with patch.object(digits, "load", lambda: (graph, truth[:n], images[:n])):
        return digits.digits_items(), [str(digit) for digit in truth[:n]]
