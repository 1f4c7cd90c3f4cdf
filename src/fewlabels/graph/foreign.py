"""Graphs of other packages as edge lists, and back: networkx, igraph, PyTorch Geometric, pandas.

Reading imports none of them but pandas: it calls the methods that their objects document.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fewlabels.errors import GraphError, nearest
from fewlabels.files.edge_list import WEIGHT, EdgeList

if TYPE_CHECKING:
    import pandas as pd


def edges_of_networkx(g: Any, weight: str | None) -> EdgeList:
    if g.is_directed():
        raise GraphError("the networkx graph is directed: call g.to_undirected() first.")
    names = list(g.nodes)
    position = {name: k for k, name in enumerate(names)}
    weighed = ((a, b, 1) for a, b, *_ in g.edges()) if weight is None else g.edges(data=weight, default=1)
    edges = [(position[a], position[b], value) for a, b, value in weighed]
    i, j, w = zip(*edges, strict=True) if edges else ((), (), ())
    return EdgeList(*either_way(i, j), w, len(names), names)


def edges_of_igraph(g: Any, weight: str | None, name: str | None) -> EdgeList:
    if g.is_directed():
        raise GraphError("the igraph graph is directed: call g.as_undirected() first.")
    ends = np.array(g.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = None
    if weight is not None and weight in g.es.attributes():
        weights = [1.0 if value is None else value for value in g.es[weight]]
    elif weight not in (None, WEIGHT):
        raise GraphError(f"no edge has the attribute {weight!r}.{nearest(weight, g.es.attributes())} Name another.")
    names = list(g.vs[name]) if name is not None and name in g.vs.attributes() else None
    return EdgeList(*either_way(ends[:, 0], ends[:, 1]), weights, g.vcount(), names)


def edges_of_pyg(data: Any, weight: str | None) -> EdgeList:
    if hasattr(data, "edge_types"):
        raise GraphError("the data has several types of nodes or edges: call data.to_homogeneous() first.")
    index = getattr(data, "edge_index", None)
    if index is None:
        raise GraphError("the data has no edge_index: give a Data object whose edges are listed there.")
    ends = _array(index)
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise GraphError(f"edge_index has shape {ends.shape}: give two rows, the sources and the targets.")
    n_nodes = getattr(data, "num_nodes", None)
    return EdgeList(ends[0], ends[1], _pyg_weights(data, weight), None if n_nodes is None else int(n_nodes))


def _pyg_weights(data: Any, weight: str | None) -> Any:
    """(m,) the attribute named; else edge_weight, else edge_attr if it has one number per edge."""
    for name in ["edge_weight", "edge_attr"] if weight is None else [weight]:
        value = getattr(data, name, None)
        if value is None:
            continue
        numbers = _array(value)
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            numbers = numbers[:, 0]
        if numbers.ndim == 1:
            return numbers
        if weight is not None:
            raise GraphError(f"{name} has shape {numbers.shape}: give one weight for every edge.")
    if weight is not None:
        raise GraphError(f"the data has no {weight!r}: name the attribute that holds one weight for every edge.")
    return None


def edges_of_pandas(
    frame: pd.DataFrame, source: str, target: str, weight: str | None, nodes: Iterable[Hashable] | None
) -> EdgeList:
    import pandas as pd

    for column in (source, target, weight):
        if column is not None and column not in frame.columns and not (column == weight == WEIGHT):
            listed = ", ".join(map(str, frame.columns))
            hint = nearest(column, frame.columns)
            raise GraphError(f"the frame has no column {column!r}: its columns are {listed}.{hint} Name one of them.")
    for column in (source, target):
        empty = np.flatnonzero(frame[column].isna())
        if len(empty):
            raise GraphError(f"row {frame.index[empty[0]]}: {column!r} is empty. Fill it in or remove the row.")
    first = [] if nodes is None else list(nodes)
    ends = [*first, *frame[source].tolist(), *frame[target].tolist()]
    number, distinct = pd.factorize(np.fromiter(ends, dtype=object, count=len(ends)))
    if nodes is not None and len(distinct) != len(first):
        _refuse_nodes(first, distinct)
    m = len(frame)
    low, high = number[len(first) : len(first) + m], number[len(first) + m :]
    weights = _column_of_numbers(frame, weight) if weight in frame.columns else None
    return EdgeList(low, high, weights, len(distinct), list(distinct))


def _refuse_nodes(listed: list[Hashable], distinct: Any) -> None:
    if len(set(listed)) < len(listed):
        twice = next(node for k, node in enumerate(listed) if node in listed[:k])
        raise GraphError(f"nodes lists {twice!r} twice: list every node once.")
    raise GraphError(f"an edge names {distinct[len(listed)]!r}, which is not in nodes: add it, or drop the edge.")


def _column_of_numbers(frame: pd.DataFrame, column: Any) -> NDArray[np.float64]:
    import pandas as pd

    numbers = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(bad):
        row, cell = frame.index[bad[0]], frame[column].tolist()[bad[0]]
        raise GraphError(f"row {row}: the weight {cell!r} is not a number >= 0. Fix or remove that row.")
    return np.asarray(numbers)


def upper_half(weights: sparse.csr_array) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """(m,) lower end, higher end and weight of every edge."""
    half = sparse.coo_array(sparse.triu(weights, k=1))
    return *half.coords, half.data


def networkx_of(weights: sparse.csr_array, names: Sequence[Hashable]) -> Any:
    try:
        import networkx as nx
    except ImportError:
        raise GraphError("networkx is not installed: run pip install networkx.") from None
    g = nx.Graph()
    g.add_nodes_from(names)
    ends = (part.tolist() for part in upper_half(weights))
    g.add_weighted_edges_from((names[i], names[j], w) for i, j, w in zip(*ends, strict=True))
    return g


def frame_of(weights: sparse.csr_array, names: Sequence[Hashable]) -> pd.DataFrame:
    import pandas as pd

    i, j, w = upper_half(weights)
    named = pd.Series(np.fromiter(names, dtype=object, count=len(names))).infer_objects().to_numpy()
    return pd.DataFrame({"source": named[i], "target": named[j], "weight": w})


def either_way(i: Any, j: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends with the lower number first: an undirected edge is the same whichever way it is listed."""
    a, b = np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)
    return np.minimum(a, b), np.maximum(a, b)


def _array(tensor: Any) -> NDArray[Any]:
    """A PyTorch tensor on any device, or anything else NumPy understands, as an array."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().numpy()
    return np.asarray(tensor)
