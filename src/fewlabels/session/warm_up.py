"""Every kernel that the page runs, compiled or loaded before anybody waits for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.graph import Graph
from fewlabels.items.layout import layout
from fewlabels.learner import ActiveLearner

NODES = 600  # from 500 on a look-ahead has a first pass in float32
MANY_NODES = 4_200  # from 4,000 on the sparse engine works as on large graphs
FACTORED_NODES = 20_100  # with a factor, from 20,000 on
SMOOTHNESS = 3.3  # any: the first questions of a smooth field have a kernel of their own
OVERLAP = 2.0  # any: weighing links has one, too


def warm_up(tell: Callable[[str], None] = lambda sentence: None, large: bool = False) -> None:
    """Do once, on a small ring, all that a person can make the dense engine do; and the sparse one, for large graphs.

    Numba keeps what it compiled beside the source, or in the user's cache: a minute or two once, then a moment.
    """
    ring = np.arange(NODES)
    graph = Graph.from_edges(ring, np.roll(ring, 1))
    learner = ActiveLearner(graph, range(3), smoothness=SMOOTHNESS, overlap=OVERLAP)

    def answered() -> None:
        learner.prepare(learner.query(), 0)
        for node in range(6):
            learner.teach(node, node % 3)

    def second_opinion() -> None:
        learner.teach(6, 1, confidence=0.8)
        learner.query()  # in the array of the question before

    steps: dict[str, Callable[[], object]] = {
        "the map": lambda: layout(graph),
        "answers": answered,
        "questions": learner.query,
        "second opinions": second_opinion,
        "undo": lambda: learner.forget(range(7)),  # one among others, and the last
    }
    if large:
        steps["large graphs"] = _on_a_large_graph
    for what, do in steps.items():
        tell(f"Loading the kernels: {what} (compiled once on this machine)")
        do()


def _on_a_large_graph() -> None:
    """Questions and answers on the sparse engine, of a graph whose factor fills in, and of a chain, whose factor does
    not.
    """
    ends = np.random.default_rng(0).integers(MANY_NODES, size=(2, 5 * MANY_NODES))
    chain = np.arange(FACTORED_NODES)
    for graph in (Graph.from_edges(*ends[:, ends[0] < ends[1]]), Graph.from_edges(chain[1:], chain[:-1])):
        learner = ActiveLearner(graph, range(3), engine="sparse", smoothness=SMOOTHNESS)
        for step in range(4):
            learner.teach(learner.query(), step % 3)
        learner.teach(0, 1, confidence=0.8)
        learner.forget(0)
        learner.expected_error()
