"""Links joined with features: nodes are also tied where what their links say of them is alike.

The features of one node are noisy; averaged over its links they are those of its surroundings. Neighbours by features
as they are add nothing to the links (docs/few-labels.md).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import as_floats, is_whole
from fewlabels.errors import GraphError, nearest
from fewlabels.graph.knn import among, as_points, nearest_points, ties
from fewlabels.machine import memory

BYTES = 12  # of an entry of a sparse matrix


def joined_with_features(
    links: sparse.csr_array, X: Any, steps: int, n_neighbors: int, words: bool | None, method: str
) -> tuple[sparse.csr_array, float]:
    """(n, n) the links and ties between nodes alike, as heavy as the links on the whole; and the recall of the latter.

    A node whose surroundings have no features keeps its links and gets no tie.
    """
    n = links.shape[0]
    if X.shape[0] != n:
        raise GraphError(f"{X.shape[0]} rows of features for {n} nodes: give one row for every node, in their order.")
    if not is_whole(steps) or steps < 0:
        raise GraphError(f"steps is {steps!r}: give a whole number from 0, how often features are averaged.")
    if not is_whole(n_neighbors) or not 1 <= n_neighbors < n:
        raise GraphError(f"n_neighbors is {n_neighbors!r} for {n} nodes: give a whole number from 1 to {n - 1}.")
    X = averaged(links, tf_idf(X) if (count_words(X) if words is None else words) else X, steps)
    told = np.flatnonzero(_lengths(X) > 0)
    if len(told) < 2:
        raise GraphError(f"{len(told)} of {n} nodes have a feature other than 0: at least two must.")
    found = nearest_points(X[told], min(n_neighbors, len(told) - 1), "cosine", method)
    alike = among(told, ties(found, "gaussian"), n)
    scale = links.sum() / alike.sum() if links.nnz else 1.0
    return sparse.csr_array(links + scale * alike), found.recall


def averaged(links: sparse.csr_array, X: Any, steps: int) -> Any:
    """(n, d) features averaged over the links, `steps` times: S^steps X with S = D^-1/2 (W + w I) D^-1/2.

    w, the mean weight of a link, is a node's own; D are the sums of W + w I.
    """
    own = float(links.data.mean()) if links.nnz else 1.0
    degree = np.asarray(links.sum(axis=1)).ravel() + own
    root = sparse.diags_array(1 / np.sqrt(degree))
    S = sparse.csr_array(root @ (links + own * sparse.eye_array(links.shape[0])) @ root)
    for _ in range(steps):
        _require_room(S, X)
        X = S @ X
    return X


def count_words(X: Any) -> bool:
    """Whether every feature is a whole number from 0."""
    values = X.data if sparse.issparse(X) else X
    return bool((values >= 0).all() and (values == np.floor(values)).all())


def tf_idf(X: Any) -> Any:
    """(n, d) counts times log((1 + n) / (1 + nodes that have the word)) + 1, each row divided by its length."""
    if (X.data if sparse.issparse(X) else X).min(initial=0) < 0:
        raise GraphError("a feature is below 0, and words are counted from 0: leave words=True out.")
    X = sparse.csr_array(X)
    having = np.asarray((X > 0).sum(axis=0)).ravel()
    X = sparse.csr_array(X @ sparse.diags_array(np.log((1 + X.shape[0]) / (1 + having)) + 1))
    length = _lengths(X)
    return sparse.csr_array(sparse.diags_array(1 / np.where(length > 0, length, 1)) @ X)


def rows_of(X: Any, names: Sequence[Hashable]) -> Any:
    """(n, d) features as numbers, a row for every node: an array in their order, or a frame or {name: row} by name."""
    if hasattr(X, "columns") and hasattr(X, "index"):  # a pandas frame
        listed = list(X.index)
        try:
            table: Any = as_floats(X.to_numpy())
        except (TypeError, ValueError) as error:
            raise GraphError(f"the features are not numbers ({error}): keep the columns of numbers.") from None
    elif isinstance(X, Mapping):
        listed, table = list(X), list(X.values())
        wide = {np.size(row) for row in table}
        if len(wide) > 1:
            raise GraphError(f"the features have {min(wide)} to {max(wide)} numbers each: give all nodes equally many.")
    else:
        return as_points(X)
    place = {name: row for row, name in enumerate(listed)}
    if len(place) < len(listed):
        twice = next(name for row, name in enumerate(listed) if place[name] != row)
        raise GraphError(f"the features have two rows for node {twice!r}: keep one.")
    missing = next((name for name in names if name not in place), None)
    if missing is not None:
        raise GraphError(
            f"the features have no row for node {missing!r}.{nearest(missing, place)} "
            "Name the rows as the nodes are; give zeros where nothing is known."
        )
    return as_points(np.asarray(table, dtype=object)[[place[name] for name in names]])


def _lengths(X: Any) -> Any:
    """(n,) of the rows."""
    return np.sqrt(X.multiply(X).sum(axis=1)) if sparse.issparse(X) else np.linalg.norm(X, axis=1)


def _require_room(S: sparse.csr_array, X: Any) -> None:
    """Refuse averages that would not fit: a row of S X has at most the entries of all the rows it is averaged from."""
    if sparse.issparse(X):
        entries = min(int(S.indptr[-1] and np.diff(X.indptr)[S.indices].sum()), X.shape[0] * X.shape[1])
        memory.require(
            BYTES * entries,
            f"averaging {X.shape[1]:,} features of {X.shape[0]:,} nodes over their links",
            "Keep fewer features, or reduce them first (sklearn's TruncatedSVD).",
        )
