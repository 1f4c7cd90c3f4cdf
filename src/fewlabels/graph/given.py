"""A graph made of whatever a program has, where that has only one meaning."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.errors import GraphError
from fewlabels.graph.graph import Graph
from fewlabels.graph.weights import agreement

ENDS = {"source", "target"}


def graph_of(given: Any) -> Graph:
    """A Graph as it is; one of networkx, igraph or PyTorch Geometric, a frame of edges or a symmetric matrix made one.

    What may mean something else, such as features, is refused with the call that makes a graph of it.
    """
    if isinstance(given, Graph):
        return given
    packages = {base.__module__.partition(".")[0] for base in type(given).__mro__}
    if "networkx" in packages:
        return Graph.from_networkx(given)
    if "igraph" in packages:
        return Graph.from_igraph(given)
    if hasattr(given, "edge_index"):
        return Graph.from_pyg(given)
    if "pandas" in packages:
        return _of_frame(given)
    if sparse.issparse(given) or isinstance(given, (np.ndarray, list, tuple)):
        return _of_matrix(given)
    if isinstance(given, (str, os.PathLike)):
        raise GraphError(f"the graph is {str(given)!r}, a name: read the file with fewlabels.tables.read_edges(path).")
    raise GraphError(
        f"the graph is of type {type(given).__name__}: make a graph of it with Graph.from_edges, Graph.from_features "
        "or another of Graph's from_... methods."
    )


def _of_frame(frame: Any) -> Graph:
    columns = [str(column) for column in getattr(frame, "columns", ())]
    if set(columns) >= ENDS:
        return Graph.from_pandas(frame)
    named = f"a frame with the columns {', '.join(columns[:8])}" if columns else "a pandas object without columns"
    raise GraphError(
        f"the graph is {named}: if its rows are points, make a graph of them with Graph.from_features(frame); if they "
        'are edges, with Graph.from_pandas(frame, source="...", target="...").'
    )


def _of_matrix(given: Any) -> Graph:
    try:
        matrix = given if sparse.issparse(given) else np.asarray(given)
    except ValueError:
        raise GraphError("the graph is a list of rows that are not equally long: give a symmetric matrix.") from None
    shape, numbers = matrix.shape, matrix.dtype.kind in "biuf"
    if numbers and len(shape) == 2 and shape[0] == shape[1] and _is_symmetric(matrix):
        return Graph(given)
    if numbers and len(shape) == 2 and shape[1] == 2 and matrix.dtype.kind in "iu":
        meant = "edges between node numbers, with Graph.from_edges(pairs[:, 0], pairs[:, 1]); if they are points"
    elif len(shape) == 2 and shape[1] in (2, 3) and matrix.dtype.kind in "UO":
        meant = "edges between named nodes, make a pandas frame of them for Graph.from_pandas; if they are points"
    elif len(shape) == 2 and shape[0] == shape[1]:
        meant = "weights, with Graph(weights), and weights must be the same in both directions; if they are points"
    else:
        meant = "points"
    raise GraphError(
        f"the graph is an array of shape {shape}: if its rows are {meant}, make a graph of them with "
        "Graph.from_features(X)."
    )


def _is_symmetric(matrix: Any) -> bool:
    """Up to rounding, as `Graph` takes it, which checks the rest."""
    W = sparse.csr_array(matrix.astype(float))
    gap = abs(W - W.T)
    return gap.nnz == 0 or float((gap - agreement(matrix) * abs(W).maximum(abs(W.T))).max()) <= 0
