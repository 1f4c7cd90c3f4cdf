"""The nearest neighbours of many items, and their map, remembered between starts."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats
from fewlabels.errors import GraphError
from fewlabels.graph import Graph
from fewlabels.items.feature_cache import Cache
from fewlabels.items.layout import layout
from fewlabels.items.texts import VERSION as WORDS
from fewlabels.items.texts import text_graph

VERSION = 1  # of neighbours and map: raise it when either changes
MANY = 2_000  # items from which they are worth remembering
MOST = 2**27  # bytes
BROKEN = (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile)


def neighbour_graph(X: Floats, neighbors: int, tell: Callable[[str], None]) -> Graph:
    """Each item tied to its nearest by these features."""
    n, k = len(X), min(neighbors, len(X) - 1)
    if n > MANY:
        tell(f"Finding the {k} nearest neighbours of each of {n:,} items")
    return _remembered(n, lambda: [f"{X.shape} {k} ".encode(), _bytes(X)], lambda: Graph.from_features(X, k))


def text_neighbours(texts: Sequence[str], neighbors: int, numbers: Floats | None, tell: Callable[[str], None]) -> Graph:
    """Each text tied to its nearest, by these numbers of a network, or by the words they share."""
    n, k = len(texts), min(neighbors, len(texts) - 1)
    tell(f"Finding the {k} nearest neighbours of each of {n:,} texts")

    def parts() -> list[bytes]:
        by = f"words {WORDS}".encode() if numbers is None else _bytes(numbers)
        return [json.dumps([k, list(texts)]).encode(), by]

    return _remembered(n, parts, lambda: text_graph(texts, neighbors, numbers))


def _remembered(n: int, parts: Callable[[], list[bytes]], compute: Callable[[], Graph]) -> Graph:
    """The graph of n items, computed from these parts unless it was before."""
    if n <= MANY:
        return compute()
    digest = hashlib.sha256()
    for part in parts():
        digest.update(part)
    cache, key = Cache(f"neighbours {VERSION}"), digest.hexdigest()
    held = _arrays(cache, key)
    if held is not None:
        try:
            return Graph(sparse.csr_array((held["data"], held["indices"], held["indptr"]), shape=(n, n)))
        except (GraphError, *BROKEN):
            pass  # computed anew, below
    graph = compute()
    W = graph.weights
    _keep(cache, key, data=W.data, indices=W.indices, indptr=W.indptr)
    return graph


def _bytes(X: Floats) -> bytes:
    return np.ascontiguousarray(X, dtype="<f8").tobytes()


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
