"""Figure 1 of Jun & Nowak 2016: four questions on a chain of 18 nodes, by each strategy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.strategies import tied

TRUTH = "+++++++++---++++++"
GIVEN = [1, 11]  # labelled from the start; nodes are numbered from 1, as in the paper
PAPER = {  # what the paper's run asked
    "zlg": [6, 8, 9, 10],
    "sopt": [16, 6, 3, 13],
    "bmrf": [6, 16, 8, 13],
    "tsa": [6, 16, 8, 13],
}


@dataclass(frozen=True)
class Example:
    """One row of the figure."""

    strategy: str
    asked: list[int]
    ties: list[list[int]]  # the nodes each question was drawn from
    predicted: str
    error_rate: float


def chain_learner(strategy: str) -> ActiveLearner:
    """The chain with its two given labels. A node halfway between + and - is predicted -, as in the paper's table."""
    nodes = range(18)
    chain = Graph.from_edges(nodes[:-1], nodes[1:])
    named = Graph(chain.weights, names=range(1, 19))
    learner = ActiveLearner(named, ["-", "+"], strategy, field="paper")
    learner.teach(GIVEN, [TRUTH[node - 1] for node in GIVEN])
    return learner


def chain_example(strategy: str) -> Example:
    """Ask four questions. Of several nodes that tie, the one the paper's run drew is asked."""
    learner = chain_learner(strategy)
    asked: list[int] = []
    ties: list[list[int]] = []
    for _ in PAPER[strategy]:
        cost = learner.costs()
        open_ = np.flatnonzero(~np.isnan(cost))
        ties.append([int(k) + 1 for k in tied(cost[open_], open_)])
        node = next((node for node in PAPER[strategy] if node in ties[-1]), ties[-1][0])
        learner.teach(node, TRUTH[node - 1])
        asked.append(node)
    predicted = "".join(learner.predict())
    return Example(
        strategy, asked, ties, predicted, sum(p != t for p, t in zip(predicted, TRUTH, strict=True)) / len(TRUTH)
    )
