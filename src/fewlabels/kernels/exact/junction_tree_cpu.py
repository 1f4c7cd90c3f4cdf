"""Numba twin of `junction_tree.exact_cost`: every node supposed known in turn, without recalibrating the tree.

Supposing q known changes the chance of v given its scope only on the path from q to the root. There, with P the
chances before and m(S_v) = P(y_q | S_v), the clique of p above v becomes P(C_p) m(S_v) / P(y_q), and
m(S_p) = sum over y_p of P(y_p | S_p) m(S_v); away from the path P(v | S_v) stays. So one sweep up the path and one
down the rest will do, products and sums only. Chances here are not logarithms: what underflows goes to the twin.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit

from fewlabels.arrays import Floats, Ints
from fewlabels.kernels.exact import junction_tree
from fewlabels.kernels.exact.elimination import Tree

LOST = 1e-100  # chances below this may have lost digits to underflow
TINY = 1e-150  # given an answer less probable than this, chances are not computed
ROOM = 2**27  # bytes of chances worked on at a time
WORTH = 3_000_000  # table entries that are worth one more thread
COPIES = 6  # tables of a clique alive at once: a column found, one in the making, and a worker's


class Shape(NamedTuple):
    """The tree as flat arrays. In a clique's index the node itself is the highest bit, the last of its scope bit 0."""

    parent: Ints  # (u,)
    table: Ints  # (u + 1,) where the table of a clique begins; half of that is where its scope's table begins
    first: Ints  # (u,) first place of the component
    last: Ints  # (u,)
    child_at: Ints  # (u + 1,)
    child: Ints  # children of all cliques
    gone_at: Ints  # (u + 1,)
    gone: Ints  # bits of the parent's clique that are not in the scope of v, descending


class Column(NamedTuple):
    """The chances in one one-vs-rest column, given the labels so far."""

    given: Floats  # tables of P(v | S_v)
    scope: Floats  # tables of P(S_v)
    node: Floats  # (u, 2) P(v = -1), P(v = +1)


def exact_cost(tree: Tree, pull: Floats, n: int) -> Floats:
    """(u,) R+q, in the order of the nodes."""
    u, C = pull.shape
    junction_tree.require(tree, COPIES)
    shape = flat(tree)
    log_chance = junction_tree.log_chances(tree, pull)[:, 1]  # (u, C)
    chance = junction_tree.class_chances(log_chance)[tree.order]  # (u, C) in the order of places
    column = lru_cache(max(1, junction_tree.ROOM // (12 * max(tree.entries, 1))))(
        lambda c: _column(tree, pull[tree.order, c])
    )
    cost, lost = np.empty(u), np.exp(log_chance).sum(axis=1)[tree.order] < LOST
    chunk = max(1, ROOM // (8 * (2 * C + 4) * max(u, 1)))
    for start in range(0, u, chunk):
        q = np.arange(start, min(start + chunk, u))
        after = [given_each(shape, column(c), q) for c in range(1 if C == 2 else C)]
        if C == 2:
            after.append(1 - after[0][:, ::-1])  # of two columns, each is the mirror image of the other
        wrong, ill = _errors(after, chance[q])
        cost[q] = wrong / n
        lost[q] |= ill
    if lost.any():
        cost[lost] = junction_tree.exact_cost(tree, pull, n, tree.order[lost])
    by_node = np.empty(u)
    by_node[tree.order] = cost
    return by_node


def _errors(after: list[Floats], chance: Floats) -> tuple[Floats, Any]:
    """(Q,) errors to expect over the answers to each question, and whether underflow has touched them."""
    wrong, ill = np.zeros(len(chance)), np.zeros(len(chance), dtype=bool)
    for c in range(len(after)):
        p = [column[:, int(d == c)] for d, column in enumerate(after)]  # C times (Q, u)
        total, top = np.zeros_like(p[0]), np.zeros_like(p[0])
        for one in p:
            total += one
            np.maximum(top, one, out=top)
        matters = chance[:, c] > LOST
        fine = (total >= LOST).all(axis=1)  # False where NaN
        ill |= matters & ~fine
        use = matters & fine
        wrong[use] += chance[use, c] * (1 - top[use] / total[use]).sum(axis=1)  # q itself is certain: adds nothing
    return wrong, ill


def _column(tree: Tree, pull: Floats) -> Column:
    """Calibrate the tree for one column, and lay its tables out one after the other."""
    tables = junction_tree.calibrate(tree, pull[:, None])
    given = np.concatenate([np.zeros(0), *(table.ravel() for table in tables.given)])
    scope = np.concatenate([np.zeros(0), *(table.ravel() for table in tables.scope)])
    return Column(np.exp(given, out=given), np.exp(scope, out=scope), np.exp(tables.node[:, :, 0]))


def flat(tree: Tree) -> Shape:
    """The tree as flat arrays."""
    children = junction_tree.children_of(tree)
    gone = [[len(kept) - 1 - at for at, keep in enumerate(kept) if not keep] for kept in tree.kept]
    return Shape(
        parent=tree.parent,
        table=_starts([2 ** (len(scope) + 1) for scope in tree.scope]),
        first=np.searchsorted(tree.component, tree.component, side="left"),
        last=np.searchsorted(tree.component, tree.component, side="right") - 1,
        child_at=_starts([len(c) for c in children]),
        child=np.array([c for some in children for c in some], dtype=np.int64),
        gone_at=_starts([len(bits) for bits in gone]),
        gone=np.array([bit for bits in gone for bit in bits], dtype=np.int64),
    )


def _starts(sizes: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def given_each(shape: Shape, column: Column, questions: Ints) -> Floats:
    """(Q, 2, u) chance of +1 at every place, given that each question is -1, +1; NaN if that is all but impossible.

    Threads share the questions; fewer of them where their tables would take too much room.
    """
    after = np.full((len(questions), 2, len(shape.parent)), np.nan)
    entries = int(shape.table[-1])
    workers = min(get_num_threads(), 1 + 2 * entries * len(questions) // WORTH, 1 + junction_tree.ROOM // (4 * entries))
    if workers == 1:  # a small graph: starting a thread would not pay off
        _given_some(shape, column, questions, after)
        return after
    share = -(-len(questions) // workers)
    parts = [slice(start, start + share) for start in range(0, len(questions), share)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda part: _given_some(shape, column, questions[part], after[part]), parts))
    return after


@njit(cache=True, nogil=True, error_model="numpy")
def _given_some(shape: Shape, column: Column, questions: Ints, after: Floats) -> None:
    """One worker's questions, into after (Q, 2, u)."""
    u = len(shape.parent)
    size = 0
    for v in range(u):
        size = max(size, shape.table[v + 1] - shape.table[v])
    clique, spare, m = np.empty(size), np.empty(size), np.empty(size)
    scope = np.empty(shape.table[u] // 2)  # chances of every scope, given q
    on_path = np.full(u, -1)
    for at, q in enumerate(questions):
        for y in range(2):
            if column.node[q, y] >= TINY:
                row = after[at, y]
                row[:] = column.node[:, 1]
                _climb(shape, column, q, y, row, on_path, scope, clique, spare, m)
                _descend(shape, column, q, row, on_path, scope, clique, spare)


@njit(cache=True)
def _climb(
    shape: Shape,
    column: Column,
    q: int,
    y: int,
    row: Floats,
    on_path: Ints,
    scope: Floats,
    clique: Floats,
    spare: Floats,
    m: Floats,
) -> None:
    """From q to the root: the chances of every clique on the way, handed to the children that are not on it."""
    scale = 1 / column.node[q, y]
    v, below = q, -1
    while v >= 0:
        at = shape.table[v]
        half = (shape.table[v + 1] - at) // 2
        before, given = column.scope[at // 2 : at // 2 + half], column.given[at : at + 2 * half]
        if below < 0:
            m[: 2 * half] = 0.0
            m[y * half : (y + 1) * half] = 1.0
        else:
            _spread(m, (shape.table[below + 1] - shape.table[below]) // 2, shape, below)
        plus = 0.0
        for s in range(half):
            weight = before[s] * scale
            low, high = given[s] * m[s], given[half + s] * m[half + s]
            m[s] = low + high
            clique[s], clique[half + s] = low * weight, high * weight
            plus += high * weight
        row[v] = plus
        on_path[v] = q
        _tell_children(shape, v, below, scope, clique, spare)
        v, below = shape.parent[v], v


@njit(cache=True)
def _descend(
    shape: Shape, column: Column, q: int, row: Floats, on_path: Ints, scope: Floats, clique: Floats, spare: Floats
) -> None:
    """From the root of q's component down, off the path."""
    for v in range(shape.last[q], shape.first[q] - 1, -1):
        if on_path[v] == q:
            continue
        at = shape.table[v]
        half = (shape.table[v + 1] - at) // 2
        mine, given = scope[at // 2 : at // 2 + half], column.given[at : at + 2 * half]
        plus = 0.0
        for s in range(half):
            clique[s] = given[s] * mine[s]
            clique[half + s] = given[half + s] * mine[s]
            plus += clique[half + s]
        row[v] = plus
        _tell_children(shape, v, -1, scope, clique, spare)


@njit(cache=True)
def _tell_children(shape: Shape, v: int, apart: int, scope: Floats, clique: Floats, spare: Floats) -> None:
    """Sum the clique of v down to the scope of every child but one."""
    size = shape.table[v + 1] - shape.table[v]
    for at in range(shape.child_at[v], shape.child_at[v + 1]):
        child = shape.child[at]
        if child == apart:
            continue
        begin, width = shape.table[child] // 2, (shape.table[child + 1] - shape.table[child]) // 2
        bits = shape.gone[shape.gone_at[child] : shape.gone_at[child + 1]]
        source, left = clique, size
        for i in range(len(bits)):
            target = scope[begin : begin + width] if i == len(bits) - 1 else spare
            left //= 2
            low = 1 << bits[i]
            for high in range(left // low):
                for s in range(low):
                    target[high * low + s] = source[2 * high * low + s] + source[(2 * high + 1) * low + s]
            source = target
        if len(bits) == 0:
            scope[begin : begin + width] = clique[:width]


@njit(cache=True)
def _spread(m: Floats, size: int, shape: Shape, v: int) -> None:
    """Turn m, a table of this size over the scope of v, into one over the clique of its parent, in place."""
    for at in range(shape.gone_at[v + 1] - 1, shape.gone_at[v] - 1, -1):
        low = 1 << shape.gone[at]
        for high in range(size // low - 1, -1, -1):  # from the end, so that nothing is overwritten before it is read
            for s in range(low):
                value = m[high * low + s]
                m[2 * high * low + s] = value
                m[(2 * high + 1) * low + s] = value
        size *= 2
