"""The order in which exact inference sums out the nodes of a graph, and the tree of cliques that this order makes."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import SettingError

WIDEST = 16  # treewidth up to which tables of 2^(width + 1) numbers per clique are worked on


@dataclass(frozen=True)
class Tree:
    """A junction tree, one clique per node: v together with `scope[v]`, its neighbours at the time it is summed out.

    Nodes are named by their place in the order. The nodes of a component stand together; the parent of a clique is the
    first of its scope, and comes later, so a walk up the places meets children first.
    """

    order: Ints  # (u,) the node at each place
    parent: Ints  # (u,) place of the parent clique, -1 at the root of a component
    component: Ints  # (u,) number of the component, non-decreasing
    scope: list[Ints]  # u times (s,) places, ascending
    ties: list[Floats]  # u times (s,) beta w between v and its scope, 0 where elimination added the edge
    kept: list[list[bool]]  # u times: which nodes of the parent's clique are in the scope of v; empty at a root

    @property
    def entries(self) -> int:
        """How many numbers the tables of all cliques hold."""
        return int(sum(2 ** (len(scope) + 1) for scope in self.scope))


def junction_tree(W: sparse.csr_array, widest: int = WIDEST) -> Tree:
    """The tree of cliques of a graph with weights W (u, u), by min-fill; refused as soon as a clique is too wide."""
    W = sparse.csr_array(W, copy=True)
    W.eliminate_zeros()
    ends = W.tocoo()
    neighbours: list[set[int]] = [set() for _ in range(W.shape[0])]
    for a, b in zip(ends.row.tolist(), ends.col.tolist(), strict=True):
        if a != b:
            neighbours[a].add(b)
    order, later = _narrow_order(neighbours, widest)
    component = connected_components(W, directed=False)[1]
    by_component = np.argsort(component[order], kind="stable")
    places = np.array(order, dtype=np.int64)[by_component]  # (u,)
    place = np.empty_like(places)
    place[places] = np.arange(len(places))
    scope = [np.sort(place[list(later[v])]) for v in places.tolist()]
    return Tree(
        order=places,
        parent=np.array([s[0] if len(s) else -1 for s in scope], dtype=np.int64),
        component=component[places].astype(np.int64),
        scope=scope,
        ties=_ties(W, places, scope),
        kept=_kept(scope),
    )


def _narrow_order(neighbours: list[set[int]], widest: int) -> tuple[list[int], list[set[int]]]:
    """The order by the first rule whose cliques stay within `widest`; else a refusal naming the treewidth found."""
    width = _degeneracy(neighbours)
    if width <= widest:
        found = []
        for rank in (fewest_missing, least_share_missing):
            try:
                return eliminate([set(around) for around in neighbours], rank, widest)
            except TooWideError as too_wide:
                found.append(too_wide.width)
        width = min(found)
    raise SettingError(
        f"the unlabelled nodes form a graph of treewidth {width} or more, by min-fill: exact marginals go up to "
        f'{widest}. Use strategy "tsa".'
    )


class TooWideError(Exception):
    """An elimination met a clique wider than allowed."""

    def __init__(self, width: int) -> None:
        self.width = width


def fewest_missing(missing: int, degree: int) -> tuple[float, int]:
    """Min-fill: next comes the node whose neighbours lack the fewest edges; on a tie the one with fewer neighbours."""
    return missing, degree


def least_share_missing(missing: int, degree: int) -> tuple[float, int]:
    """Min-fill relative to the number of pairs: sweeps a grid from one side; more cliques are wide, none as wide."""
    return missing / max(degree, 1) ** 2, degree


def eliminate(
    neighbours: list[set[int]], rank: Callable[[int, int], tuple[float, int]], widest: int
) -> tuple[list[int], list[set[int]]]:
    """Sum out the nodes, always the lowest-ranked next; returns the order, and every node's neighbours at that time.

    Only the counts of missing edges that an added edge or a removed node changes are touched. Changes the sets.
    """
    fill = [_missing(neighbours, v) for v in range(len(neighbours))]
    heap = [(rank(fill[v], len(around)), v) for v, around in enumerate(neighbours)]
    heapq.heapify(heap)
    later: list[set[int]] = [set() for _ in neighbours]
    order: list[int] = []
    done = [False] * len(neighbours)
    while heap:
        was, v = heapq.heappop(heap)
        around = neighbours[v]
        degree = len(around)
        if done[v] or was != rank(fill[v], degree):
            continue  # an older entry: the node has a newer one, or is gone
        if degree > widest:
            raise TooWideError(degree)
        changed = set(around)
        if fill[v]:
            for a, b in combinations(sorted(around), 2):
                if b not in neighbours[a]:
                    changed |= _join(neighbours, fill, a, b)
        for a in around:
            fill[a] -= len(neighbours[a]) - degree  # the pairs (v, x) with x beside a but not beside v
            neighbours[a].remove(v)
        order.append(v)
        later[v] = around
        done[v] = True
        for a in changed:
            heapq.heappush(heap, (rank(fill[a], len(neighbours[a])), a))
    return order, later


def _join(neighbours: list[set[int]], fill: list[int], a: int, b: int) -> set[int]:
    """Add the edge a-b and update the counts of missing edges; returns whose counts changed besides a's and b's."""
    common = neighbours[a] & neighbours[b]
    for x in common:
        fill[x] -= 1
    fill[a] += len(neighbours[a]) - len(common)
    fill[b] += len(neighbours[b]) - len(common)
    neighbours[a].add(b)
    neighbours[b].add(a)
    return common


def _missing(neighbours: list[set[int]], v: int) -> int:
    """Pairs of neighbours of v without an edge."""
    d = len(neighbours[v])
    present = sum(len(neighbours[v] & neighbours[a]) for a in neighbours[v]) // 2
    return d * (d - 1) // 2 - present


def _degeneracy(neighbours: list[set[int]]) -> int:
    """The largest minimum degree of any subgraph: a lower bound on the treewidth, quick even with many edges."""
    degree = [len(around) for around in neighbours]
    heap = [(d, v) for v, d in enumerate(degree)]
    heapq.heapify(heap)
    done = [False] * len(neighbours)
    bound = 0
    while heap:
        d, v = heapq.heappop(heap)
        if done[v] or d != degree[v]:
            continue
        bound = max(bound, d)
        done[v] = True
        for a in neighbours[v]:
            if not done[a]:
                degree[a] -= 1
                heapq.heappush(heap, (degree[a], a))
    return bound


def _kept(scope: list[Ints]) -> list[list[bool]]:
    cliques = [[v, *s.tolist()] for v, s in enumerate(scope)]
    return [[x in mine for x in cliques[mine[1]]] if len(mine) > 1 else [] for mine in cliques]


def _ties(W: sparse.csr_array, places: Ints, scope: list[Ints]) -> list[Floats]:
    """The weight of every edge, at the end that is summed out first."""
    ordered = sparse.csr_array(W[places][:, places])
    ordered.sort_indices()
    ties = []
    for v, s in enumerate(scope):
        row = slice(ordered.indptr[v], ordered.indptr[v + 1])
        beside, w = ordered.indices[row], ordered.data[row]
        tie = np.zeros(len(s))
        tie[np.searchsorted(s, beside[beside > v])] = w[beside > v]
        ties.append(tie)
    return ties
