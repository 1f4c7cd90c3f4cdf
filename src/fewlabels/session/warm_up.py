"""Every kernel that the page runs, compiled or loaded before anybody waits for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.graph import Graph
from fewlabels.items.layout import layout
from fewlabels.learner import ActiveLearner

NODES = 600  # from 500 on a look-ahead has a first pass in float32
SMOOTHNESS = 3.3  # any: the first questions of a smooth field have a kernel of their own


def warm_up(tell: Callable[[str], None] = lambda sentence: None) -> None:
    """Do once, on a small ring, all that a person can make the dense engine do.

    Numba keeps what it compiled beside the source, or in the user's cache: half a minute once, then a moment.
    """
    ring = np.arange(NODES)
    graph = Graph.from_edges(ring, np.roll(ring, 1))
    learner = ActiveLearner(graph, range(3), smoothness=SMOOTHNESS)

    def answered() -> None:
        learner.prepare(learner.query(), 0)
        for node in range(6):
            learner.teach(node, node % 3)

    steps: dict[str, Callable[[], object]] = {
        "the map": lambda: layout(graph),
        "answers": answered,
        "questions": learner.query,
        "second opinions": lambda: learner.teach(6, 1, confidence=0.8),
        "undo": lambda: learner.forget(range(7)),  # one among others, and the last
    }
    for what, do in steps.items():
        tell(f"Loading the kernels: {what} (compiled once on this machine)")
        do()
