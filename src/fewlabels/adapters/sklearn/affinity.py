"""Which points are tied: training points among themselves, and new points to training points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from fewlabels.arrays import Floats, is_whole
from fewlabels.errors import GraphError, SettingError, nearest
from fewlabels.field.precision import SPAN
from fewlabels.graph import Graph
from fewlabels.graph.knn import strengths
from fewlabels.graph.neighbor_search import neighbors_among
from fewlabels.machine import memory

AFFINITIES = ("knn", "rbf", "precomputed")
WEIGHT = "gaussian"  # of the ties between neighbours
AT_ONCE = 2**23  # ties of new points to all training points that are held at a time
PAIR = 67  # bytes that each pair of points takes at most while the full graph is made, as measured


class Affinity(Protocol):
    """A rule that ties points."""

    def graph(self, X: Any) -> Graph:
        """The ties among the training points."""

    def ties(self, points: Any, X: Any) -> Iterator[Any]:
        """(m, n) ties of new points to the training points X, in blocks of rows, each row up to a factor."""


def make_affinity(name: str, X: Any, n_neighbors: int, gamma: float | None) -> Affinity:
    """The rule of this name, with what it takes from the training points."""
    if name not in AFFINITIES:
        raise SettingError(f"affinity is {name!r}: choose one of {', '.join(AFFINITIES)}.{nearest(name, AFFINITIES)}")
    if name == "knn":
        return Nearest(n_neighbors)
    if name == "precomputed":
        return Given()
    return Everyone(_narrowness(X, n_neighbors) if gamma is None else _checked(gamma))


@dataclass(frozen=True)
class Nearest:
    """A point is tied to its nearest neighbours, by the rule of `Graph.from_features`; a new one only to its own."""

    n_neighbors: int

    def graph(self, X: Any) -> Graph:
        return Graph.from_features(X, self.n_neighbors, WEIGHT)

    def ties(self, points: Any, X: Any) -> Iterator[sparse.csr_array]:
        found = neighbors_among(points, X, self.n_neighbors)
        m, k = found.index.shape
        start = np.arange(0, m * k + 1, k)
        tie = strengths(found.distance, WEIGHT)
        yield sparse.csr_array((tie.ravel(), found.index.ravel(), start), shape=(m, X.shape[0]))


@dataclass(frozen=True)
class Everyone:
    """Every two points are tied, by exp(-gamma d^2)."""

    gamma: float

    def graph(self, X: Any) -> Graph:
        _require_room(X)
        tie = np.exp(-self.gamma * _squares(X, X))  # (n, n)
        return _graph_of_ties((tie + tie.T) / 2)  # distances of sparse X are symmetric but for rounding

    def ties(self, points: Any, X: Any) -> Iterator[Floats]:
        m, n = points.shape[0], X.shape[0]
        rows = max(1, AT_ONCE // n)
        for start in range(0, m, rows):
            squares = _squares(points[start : start + rows], X)
            squares -= squares.min(axis=1, keepdims=True)  # the strongest is 1, so that a far point has ties too
            yield np.exp(-self.gamma * squares)


@dataclass(frozen=True)
class Given:
    """The ties are what X says."""

    def graph(self, X: Any) -> Graph:
        n, m = X.shape
        if n != m:
            raise GraphError(f"X has shape {X.shape}: precomputed affinities of n points are a square matrix (n, n).")
        return _graph_of_ties(_not_negative(X))

    def ties(self, points: Any, X: Any) -> Iterator[sparse.csr_array]:
        yield sparse.csr_array(_not_negative(points))


def _graph_of_ties(ties: Any) -> Graph:
    """All ties but of a point to itself, and those `SPAN` times weaker than the strongest: float64 cannot hold both."""
    ties = sparse.coo_array(ties)
    i, j = ties.coords
    between = i != j
    counts = between & (ties.data >= ties.data[between].max(initial=0) / SPAN)
    return Graph(sparse.coo_array((ties.data[counts], (i[counts], j[counts])), shape=ties.shape))


def _not_negative(X: Any) -> sparse.coo_array:
    X = sparse.coo_array(X)
    bad = np.flatnonzero(X.data < 0)
    if len(bad):
        i, j = (int(places[bad[0]]) for places in X.coords)
        raise GraphError(
            f"Negative values in data: X[{i}, {j}] is {X.data[bad[0]]:g}, and affinities must be >= 0. Give weights, "
            "not distances or a linear kernel."
        )
    return X


def equal_rows(points: Any, X: Any) -> sparse.csr_array:
    """(m, n) 1 where a new point equals a training point, number by number."""
    wanted: dict[bytes, list[int]] = {}
    for i, key in enumerate(_keys(points)):
        wanted.setdefault(key, []).append(i)
    pairs = [(i, j) for j, key in enumerate(_keys(X)) for i in wanted.get(key, ())]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return sparse.csr_array((np.ones(len(pairs)), (rows, columns)), shape=(points.shape[0], X.shape[0]))


def _keys(X: Any) -> Iterator[bytes]:
    """Each row as bytes; the same for equal rows."""
    if not sparse.issparse(X):
        yield from (row.tobytes() for row in X + 0.0)  # -0.0 becomes 0.0
        return
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    X.sort_indices()
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].tobytes()


def _narrowness(X: Any, n_neighbors: int) -> float:
    """The gamma at which a point's n_neighbors-th neighbour is, in the median, three standard deviations away.

    That is gamma = 4.5 / s^2. With all points tied, a wider Gaussian drowns the few near ones in the many far ones.
    """
    if not is_whole(n_neighbors) or n_neighbors < 1:
        raise SettingError(f"n_neighbors is {n_neighbors!r}: give a whole number, at least 1.")
    _require_room(X)
    k = min(n_neighbors, X.shape[0] - 1)
    apart = np.partition(_squares(X, X), k, axis=1)[:, k]  # the point itself is at place 0
    apart = apart[apart > 0]
    return float(4.5 / np.median(apart)) if len(apart) else 1.0  # exp(-4.5) is a Gaussian at 3 deviations


def _squares(A: Any, B: Any) -> Floats:
    """(a, b) squared distances."""
    if not sparse.issparse(A):
        return cdist(A, B, "sqeuclidean")
    from sklearn.metrics.pairwise import euclidean_distances

    squares: Floats = euclidean_distances(A, B, squared=True)
    return squares


def _require_room(X: Any) -> None:
    n = X.shape[0]
    memory.require(PAIR * n * n, f'affinity="rbf" of {n:,} points', 'Use affinity="knn".')


def _checked(gamma: Any) -> float:
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0 < float(gamma) < np.inf:
        raise SettingError(f"gamma is {gamma!r}: give a number above 0, or None.")
    return float(gamma)
