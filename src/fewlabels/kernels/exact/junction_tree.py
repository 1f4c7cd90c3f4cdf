"""Exact inference in the binary Markov random field P(y) ~ exp(-2 sum of beta w over the edges whose ends differ).

Plain NumPy and logarithms throughout, so that no weight is too strong: the specification that `junction_tree_cpu` is
checked against. A table over a clique has one axis of length 2 per node, places ascending, index 0 for -1 and 1 for
+1; the last axis is the batch: one one-vs-rest column, or one supposed answer, per entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.exact.elimination import Tree
from fewlabels.machine import memory

ROOM = 2**29  # bytes of tables worked on at a time
COPIES = 4  # tables of a clique alive at once, temporaries included


@dataclass(frozen=True)
class Tables:
    """What inference finds out, as logarithms, per place of the tree."""

    given: list[Floats]  # (2, 2, ..., B) chance of v given its scope
    scope: list[Floats]  # (2, ..., B) chance of the scope
    node: Floats  # (u, 2, B) chance of -1 and +1 at v


def class_chances(log_chance: Floats) -> Floats:
    """Chance of each class: the C binary chances of +1 along the last axis, normalised, even where all are tiny."""
    p = np.exp(log_chance - log_chance.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def exact_marginals(tree: Tree, pull: Floats) -> Floats:
    """(u, C) chance of each class at each node; pull (u, C) is twice the signed beta w to the labels: log odds."""
    return class_chances(log_chances(tree, pull)[:, 1])


def exact_cost(tree: Tree, pull: Floats, n: int, questions: Ints | None = None) -> Floats:
    """Look-ahead risk R+q of the exact marginals, for every node or the questions named: q is clamped in turn."""
    u, C = pull.shape
    chance = exact_marginals(tree, pull)  # (u, C)
    questions = np.arange(u) if questions is None else questions
    cost = np.zeros(len(questions))
    chunk = max(1, ROOM // (8 * COPIES * 4 * u * C)) if u else 1
    for start in range(0, len(questions), chunk):
        asked = questions[start : start + chunk]  # (Q,)
        for c in range(C):
            wrong = 1 - _given_answers(tree, pull, asked, c).max(axis=2)  # (u, Q)
            wrong[asked, np.arange(len(asked))] = 0
            cost[start : start + chunk] += chance[asked, c] * wrong.sum(axis=0) / n
    return cost


def _given_answers(tree: Tree, pull: Floats, asked: Ints, c: int) -> Floats:
    """(u, Q, C) chance of each class at each node, given that each node asked is of class c."""
    u, C = pull.shape
    clamped = np.repeat(pull[:, None], len(asked), axis=1)  # (u, Q, C)
    clamped[asked, np.arange(len(asked))] = np.where(np.arange(C) == c, np.inf, -np.inf)
    return class_chances(log_chances(tree, clamped.reshape(u, -1))[:, 1].reshape(clamped.shape))


def log_chances(tree: Tree, pull: Floats) -> Floats:
    """(u, 2, B) log chance of -1 and +1 at each node, for log odds pull (u, B) from outside; infinite where known."""
    u, B = pull.shape
    require(tree, COPIES)
    chunk = max(1, ROOM // (8 * COPIES * max(tree.entries, 1)))
    found = np.empty((u, 2, B))
    for start in range(0, B, chunk):
        part = slice(start, start + chunk)
        found[tree.order, :, part] = calibrate(tree, pull[tree.order, part]).node
    return found


def calibrate(tree: Tree, pull: Floats) -> Tables:
    """Sum the nodes out in order, then tell each what the rest says; pull (u, B) is in the order of places."""
    given = _gather(tree, pull)
    scope: list[Floats] = [np.zeros(pull.shape[1:]) for _ in given]  # at a root: the empty scope, certain
    node = np.empty((len(given), 2, pull.shape[1]))
    children = children_of(tree)
    for v in range(len(given) - 1, -1, -1):
        clique = given[v] + scope[v]  # (2, 2, ..., B)
        node[v] = np.logaddexp.reduce(clique.reshape(2, -1, pull.shape[1]), axis=1)
        for child in children[v]:
            scope[child] = _sum_out(clique, tree.kept[child])
    node -= np.logaddexp.reduce(node, axis=1, keepdims=True)
    return Tables(given, scope, node)


def _gather(tree: Tree, pull: Floats) -> list[Floats]:
    """Per place, (2, 2, ..., B) log chance of v given its scope, including what was summed out before it."""
    u, B = pull.shape
    heard: list[list[tuple[int, Floats]]] = [[] for _ in range(u)]  # messages from the children
    given = []
    for v in range(u):
        s = len(tree.scope[v])
        table = np.zeros((2,) * (s + 1) + (B,))
        table[0] -= np.maximum(pull[v], 0)  # -1 against a pull to +1
        table[1] -= np.maximum(-pull[v], 0)
        for axis, w in enumerate(tree.ties[v]):
            if w:
                pair = -2 * w * (1 - np.eye(2))
                table += pair.reshape([2 if a in (0, axis + 1) else 1 for a in range(s + 2)])
        for child, message in heard[v]:
            table += message.reshape([2 if kept else 1 for kept in tree.kept[child]] + [B])
        heard[v] = []
        total = np.logaddexp(table[0], table[1])  # (2, ..., B)
        table -= total
        given.append(table)
        if s:
            total -= total.max(axis=tuple(range(s)))  # only ratios matter: keeps the numbers small
            heard[tree.parent[v]].append((v, total))
    return given


def children_of(tree: Tree) -> list[list[int]]:
    """The places of every clique's children."""
    children: list[list[int]] = [[] for _ in tree.scope]
    for v, parent in enumerate(tree.parent):
        if parent >= 0:
            children[parent].append(v)
    return children


def _sum_out(table: Floats, kept: list[bool]) -> Floats:
    """The table summed, under logarithms, over the axes that are not kept."""
    for axis in reversed(range(len(kept))):
        if not kept[axis]:
            table = np.logaddexp(table.take(0, axis), table.take(1, axis))
    return table


def require(tree: Tree, copies: int) -> None:
    """Refuse, with the numbers, what does not fit in memory."""
    widest = max((len(scope) for scope in tree.scope), default=0)
    memory.require(8 * copies * tree.entries, f"exact inference with treewidth {widest}", 'Use strategy "tsa".')
