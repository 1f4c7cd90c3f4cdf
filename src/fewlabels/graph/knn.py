"""Weights between points: each point tied to its nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fewlabels.arrays import LARGEST, as_floats, is_whole
from fewlabels.errors import GraphError
from fewlabels.graph.neighbor_search import Neighbors, find_neighbors

WEIGHTS = ("gaussian", "binary")
METRICS = ("euclidean", "cosine")


def knn_weights(X: Any, n_neighbors: int, weight: str, metric: str, method: str = "auto") -> sparse.csr_array:
    """Symmetric weights of the k-nearest-neighbour graph of points, dense or sparse."""
    return ties(nearest_points(X, n_neighbors, metric, method), weight)


def nearest_points(X: Any, n_neighbors: int, metric: str, method: str = "auto") -> Neighbors:
    """The nearest neighbours of each point; bad points and unknown metrics are refused."""
    if metric not in METRICS:
        raise GraphError(f"metric is {metric!r}: choose one of {', '.join(METRICS)}.")
    X = as_points(X)
    n = X.shape[0]
    if not is_whole(n_neighbors) or not 1 <= n_neighbors < n:
        raise GraphError(f"n_neighbors is {n_neighbors!r} for {n} points: give a whole number from 1 to {n - 1}.")
    if metric == "cosine":
        X = _unit_rows(X)  # neighbours on the unit sphere are the cosine neighbours
    return find_neighbors(X, int(n_neighbors), method)


def ties(found: Neighbors, weight: str) -> sparse.csr_array:
    """Symmetric weights between neighbours; two points are tied if either lists the other.

    The larger of the two directions counts: an outlier keeps its ties.
    """
    tie = strengths(found.distance, weight)
    n, k = tie.shape
    start = np.arange(0, n * k + 1, k)
    directed = sparse.csr_array((tie.ravel(), found.index.ravel(), start), shape=(n, n))
    return sparse.csr_array(directed.maximum(directed.T))


def strengths(distance: NDArray[np.float64], weight: str) -> NDArray[np.float64]:
    """(m, k) how strongly each point is tied to its k neighbours, nearest first, by the distances to them.

    It is exp(-(d / s)^2), s being the distance to the point's own k-th neighbour. So every tie lies between exp(-1) and
    1, and duplicate points (s = 0, d = 0) are tied with weight 1.
    """
    if weight not in WEIGHTS:
        raise GraphError(f"weight is {weight!r}: choose one of {', '.join(WEIGHTS)}.")
    if weight == "binary":
        return np.ones_like(distance)
    scale = np.where(distance[:, -1:] > 0, distance[:, -1:], 1.0)
    return np.exp(-((distance / scale) ** 2))


def among(nodes: NDArray[np.int64], ties: sparse.csr_array, n: int) -> sparse.csr_array:
    """(n, n) the ties between some of n nodes; the others stand alone."""
    part = sparse.coo_array(ties)
    i, j = part.coords
    return sparse.csr_array((part.data, (nodes[i], nodes[j])), shape=(n, n))


def as_points(X: Any) -> Any:
    """X as a finite float array (n, d), dense or sparse."""
    try:
        if sparse.issparse(X):
            X = sparse.csr_array(X if np.iscomplexobj(X) else X.astype(float))
            values = as_floats(X.data)
        else:
            X = values = as_floats(X)
    except (TypeError, ValueError) as error:
        raise GraphError(
            f"the features are not an array of numbers ({error}): give one row of numbers per point."
        ) from None
    if X.ndim != 2 or X.shape[0] < 2 or X.shape[1] == 0:
        raise GraphError(f"the features have shape {X.shape}: give at least two rows (points) of at least one column.")
    if not (np.abs(values) < LARGEST).all():
        dense = X.toarray() if sparse.issparse(X) else X
        i, j = np.argwhere(~(np.abs(dense) < LARGEST))[0]
        raise GraphError(
            f"feature [{i}, {j}] is {dense[i, j]}: every feature must be finite and below {LARGEST:g}. "
            "Fill it in or drop the row."
        )
    return X


def _unit_rows(X: Any) -> Any:
    from sklearn.preprocessing import normalize

    length = np.sqrt(X.multiply(X).sum(axis=1)) if sparse.issparse(X) else np.linalg.norm(X, axis=1)
    if (length == 0).any():
        i = int(np.flatnonzero(length == 0)[0])
        raise GraphError(f'row {i} is all zeros and has no direction for metric="cosine". Drop it or use "euclidean".')
    return normalize(X)
