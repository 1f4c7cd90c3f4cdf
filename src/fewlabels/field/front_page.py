"""Which node to ask about next: all of it, from the weights of a graph to the question. Plain NumPy; read this first.

A node has a value for every class: +1 if it is of that class, -1 if not. Nodes that are linked tend to have the same
one. Before anybody has answered that is all there is, a covariance; then come answers, and what they say of every node.
The rest of `field` computes the same: in less time, in less memory, from graphs that lose digits here.
With smoothness 0 it is Jun & Nowak 2016, "Graph-Based Active Learning: A New Look at Expected Error Minimization".
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints


class Field(NamedTuple):
    """What is known of the n nodes, given the answers."""

    h: Floats  # (n, C) what to expect of each node; 0 where no answer reaches
    G: Floats  # (n, n) what is still open, and how it goes together
    variance: Floats  # (n,) G_kk, infinite where no answer reaches
    together: Flags  # (n, n) whether two nodes are in the same piece of the graph
    asked: Ints  # the nodes that a question may be about: those without a sure answer


def covariance(weights: Floats, beta: float = 1.0, smoothness: float = 0.0) -> tuple[Floats, Flags]:
    """K (n, n), how the values of any two nodes go together; and (n, n) which two are in the same piece of the graph.

    Of a piece it tells the differences; the level of its values is anybody's guess until one of its nodes is answered.
    """
    degree = weights.sum(axis=1)
    L = beta * (np.diag(degree) - weights)  # (L x)_k: how far x_k is from the values of its neighbours
    mean = beta * degree.sum() / max(np.count_nonzero(degree), 1)  # of the nodes that have links
    Q = L + smoothness * L @ L / max(mean, 1e-300)  # the larger x'Qx, the less likely are values x
    K = np.linalg.pinv(Q, hermitian=True)
    level = np.eye(len(Q)) - Q @ K  # what Q takes to zero: 1 / size between nodes of the same piece
    return np.asarray(K, dtype=float), level > 0.5 / len(Q)


def conditioned(
    K: Floats, together: Flags, labels: Mapping[int, int], unsure: Mapping[int, Floats], n_classes: int
) -> Field:
    """The field given labels, {node: class}, and unsure answers, {node: (C,) their weights, by the class they name}.

    A label fixes the values of its node. Unsure answers measure them, with noise of variance 1 / weight. The levels of
    the pieces are estimated along with the rest (which is kriging); there is none to estimate without an answer.
    """
    doubted = [node for node in unsure if node not in labels]
    nodes = np.array([*labels, *doubted], dtype=int)
    said = [np.eye(n_classes)[label] for label in labels.values()] + [unsure[k] / unsure[k].sum() for k in doubted]
    values = 2 * np.array(said).reshape(-1, n_classes) - 1  # (answers, C)
    noise = np.array([0.0] * len(labels) + [1 / unsure[k].sum() for k in doubted])
    levels = np.unique(together[:, nodes], axis=1).astype(float)  # (n, pieces with an answer)
    known = np.hstack([K[:, nodes], levels])  # (n, answers + pieces)
    free = np.zeros((levels.shape[1], levels.shape[1]))
    A = np.linalg.inv(np.block([[K[np.ix_(nodes, nodes)] + np.diag(noise), levels[nodes]], [levels[nodes].T, free]]))
    reach = known @ A  # how much every answer counts at every node
    G = K - reach @ known.T
    variance = np.where(levels.any(axis=1), np.diag(G), np.inf)
    return Field(reach[:, : len(nodes)] @ values, G, variance, together, np.setdiff1d(np.arange(len(K)), [*labels]))


def chances(h: Floats, variance: Floats) -> Floats:
    """(m, C) of each class at each of m nodes.

    A node is +1 or -1 and nothing between. Of what was expected, h give or take the variance, the first is
    exp(2 h / variance) times as likely as the second: the two-step approximation.
    """
    log_odds = 2 * h / variance[:, None]
    p = 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
    return p / p.sum(axis=1, keepdims=True)


def expected_errors(p: Floats) -> Floats:
    """(m,) the chance to be wrong about each of m nodes, if the likeliest class is predicted."""
    return 1 - p.max(axis=1)


def look_ahead(field: Field) -> Floats:
    """(u,) for each node that may be asked: the share of all nodes we expect to be wrong about once it is answered."""
    h, G, variance, together, asked = field
    C, cost = h.shape[1], np.zeros(len(asked))
    now = chances(h[asked], variance[asked])
    for i, q in enumerate(asked):
        others = np.delete(asked, i)
        if np.isfinite(variance[q]):  # the others follow q as far as they go together with it
            share, left = G[others, q] / G[q, q], variance[others] - G[others, q] ** 2 / G[q, q]
        else:  # the first answer in a piece: it is what to expect of all its nodes, and their differences remain
            same, resistance = together[others, q], np.diag(G)[others] + G[q, q] - 2 * G[others, q]
            share, left = same.astype(float), np.where(same, resistance, variance[others])
        for c in range(C):
            surprise = np.where(np.arange(C) == c, 1, -1) - h[q]  # (C,) by the answer c
            after = chances(h[others] + np.outer(share, surprise), left)
            cost[i] += now[i, c] * expected_errors(after).sum() / len(h)
    return cost


def next_question(field: Field, rng: np.random.Generator) -> int:
    """The node whose answer leaves the least error to expect; one of them at random if there are several."""
    cost = look_ahead(field)
    best = field.asked[cost <= cost.min() + 1e-9]
    return int(best[rng.integers(len(best))])
