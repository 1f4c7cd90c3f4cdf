"""The nearest neighbours of many items, and their map, remembered between starts."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats
from fewlabels.errors import GraphError
from fewlabels.graph import Graph
from fewlabels.items.feature_cache import Cache
from fewlabels.items.layout import layout

VERSION = 1  # of neighbours and map: raise it when either changes
MANY = 2_000  # items from which they are worth remembering
MOST = 2**27  # bytes
BROKEN = (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile)


def neighbour_graph(X: Floats, neighbors: int, tell: Callable[[str], None]) -> Graph:
    """Each item tied to its nearest by these features."""
    n, k = len(X), min(neighbors, len(X) - 1)
    if n <= MANY:
        return Graph.from_features(X, k)
    tell(f"Finding the {k} nearest neighbours of each of {n:,} items")
    key = hashlib.sha256(f"{X.shape} {k} ".encode() + np.ascontiguousarray(X, dtype="<f8").tobytes()).hexdigest()
    cache = Cache(f"neighbours {VERSION}")
    held = _arrays(cache, key)
    if held is not None:
        try:
            return Graph(sparse.csr_array((held["data"], held["indices"], held["indptr"]), shape=(n, n)))
        except (GraphError, *BROKEN):
            pass  # computed anew, below
    graph = Graph.from_features(X, k)
    W = graph.weights
    _keep(cache, key, data=W.data, indices=W.indices, indptr=W.indptr)
    return graph


def map_of(graph: Graph) -> Floats:
    """(n, 2) the map of the items."""
    if graph.n_nodes <= MANY:
        return layout(graph)
    cache, key = Cache(f"map {VERSION}"), graph.fingerprint()
    held = _arrays(cache, key)
    if held is not None and held["position"].shape == (graph.n_nodes, 2):
        return held["position"]
    position = layout(graph)
    _keep(cache, key, position=position)
    return position


def _arrays(cache: Cache, key: str) -> dict[str, Any] | None:
    content = cache.find([key]).get(key)
    if content is None:
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return dict(file)
    except BROKEN:
        return None


def _keep(cache: Cache, key: str, **arrays: Any) -> None:
    if sum(array.nbytes for array in arrays.values()) <= MOST:
        content = io.BytesIO()
        np.savez(content, **arrays)
        cache.keep({key: content.getvalue()})
