"""The graph: symmetric non-negative weights between nodes, checked once when it is made."""

from __future__ import annotations

import hashlib
import operator
import os
from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from fewlabels.arrays import is_whole
from fewlabels.errors import FileError, GraphError, NodeError, nearest
from fewlabels.files.edge_list import WEIGHT, EdgeList
from fewlabels.files.graphml import edges_of_graphml
from fewlabels.files.npz import read_matrix, write_matrix
from fewlabels.graph.alike import joined_with_features, rows_of
from fewlabels.graph.foreign import (
    edges_of_igraph,
    edges_of_networkx,
    edges_of_pandas,
    edges_of_pyg,
    frame_of,
    networkx_of,
)
from fewlabels.graph.knn import WEIGHTS, nearest_points, ties
from fewlabels.graph.names import described
from fewlabels.graph.weights import (
    agreement,
    node_count,
    node_numbers,
    real_numbers,
    refuse_bad,
    weights_of_edges,
    weights_of_matrix,
)

if TYPE_CHECKING:
    import pandas as pd

DIGESTED = 2**20  # entries at a time


class Graph:
    """An undirected weighted graph of n nodes.

    >>> path = Graph([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    >>> path.n_nodes, path.n_edges
    (3, 2)
    >>> path.laplacian().toarray()
    array([[ 1., -1.,  0.],
           [-1.,  3., -2.],
           [ 0., -2.,  2.]])

    Nodes are numbered 0 to n - 1; ``names`` gives them other names, which the learner then accepts and returns.
    """

    def __init__(self, weights: Any, *, names: Iterable[Hashable] | None = None) -> None:
        self._hold(weights_of_matrix(weights), names)

    def _hold(self, weights: sparse.csr_array, names: Iterable[Hashable] | None) -> None:
        self.weights = weights
        self.recall: float | None = None  # share of the true neighbours found, if made of points
        self.links: sparse.csr_array | None = None  # the weights without those that features added, where they did
        self.overlap = 0.0  # to what power weights were multiplied by the overlap of neighbourhoods (field/overlap.py)
        self.names: Sequence[Hashable] = range(self.n_nodes)
        self._position: dict[Hashable, int] | None = None
        if names is not None and not hasattr(names, "__iter__"):
            raise GraphError(f"names is {names!r}: give one name for every node.")
        listed = list(self.names if names is None else names)
        if listed != list(self.names):
            self._name(listed)

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        n_nodes: int | None = None,
        *,
        names: Iterable[Hashable] | None = None,
    ) -> Graph:
        """A graph from a list of edges between node numbers; weights default to 1.

        Repeats of the same direction are summed; both directions are one edge, and must agree in weight.

        >>> Graph.from_edges([0, 1, 1], [1, 0, 2], [5, 5, 1]).weights.toarray()
        array([[0., 5., 0.],
               [5., 0., 1.],
               [0., 1., 0.]])
        """
        i, j = node_numbers("source", source), node_numbers("target", target)
        if len(i) != len(j):
            raise GraphError(f"{len(i)} sources and {len(j)} targets: give one of each for every edge.")
        w = np.ones(len(i)) if weight is None else real_numbers(f"the weights of {len(i)} edges", weight)
        if w.shape != i.shape:
            raise GraphError(f"{len(i)} edges and weights of shape {w.shape}: give one weight for every edge.")
        largest = max(i.max(initial=-1), j.max(initial=-1))
        if n_nodes is None and largest > 1_000_000 + 100 * len(i):
            raise GraphError(
                f"node numbers reach {largest} in {len(i)} edges: renumber the nodes from 0, or give n_nodes."
            )
        n = int(largest) + 1 if n_nodes is None else node_count(n_nodes)
        if largest >= n:
            raise GraphError(
                f"an edge names node {largest} of a graph of {n} nodes, 0 to {n - 1}. Raise n_nodes or fix the edge."
            )
        refuse_bad(w, lambda e: f"the weight of edge {e} ({i[e]} to {j[e]})")
        graph = cls.__new__(cls)
        graph._hold(weights_of_edges(i, j, w, n, agreement(weight)), names)
        return graph

    @classmethod
    def from_features(
        cls,
        X: Any,
        n_neighbors: int = 10,
        weight: str = "gaussian",
        metric: str = "euclidean",
        *,
        method: str = "auto",
    ) -> Graph:
        """The k-nearest-neighbour graph of points, dense or sparse (see `ties` for the weights).

        Neighbours are exact, unless that would take long (more than 50,000 points in many dimensions): then they are
        found approximately (`pip install 'fewlabels[large]'`), and `graph.recall` tells what share of them was found.
        `method` forces "exact" or "approximate" at any size.

        >>> Graph.from_features([[0.0], [1.0], [3.0], [3.0]], n_neighbors=1, weight="binary").n_edges
        2
        """
        if weight not in WEIGHTS:
            raise GraphError(f"weight is {weight!r}: choose one of {', '.join(WEIGHTS)}.")
        found = nearest_points(X, n_neighbors, metric, method)
        graph = cls(ties(found, weight))
        graph.recall = found.recall
        return graph

    def with_features(
        self, X: Any, steps: int = 2, n_neighbors: int = 10, *, words: bool | None = None, method: str = "auto"
    ) -> Graph:
        """A graph of the same nodes, tied by its links and by features of the nodes, such as words.

        Features are averaged over the links, `steps` times; then each node is also tied to its nearest by the cosine of
        these averages. X, dense or sparse, has a row for every node in their order; or it is a frame or {name: row}.
        Whole numbers from 0 are taken for counts of words, and weighted by tf-idf, unless `words` says otherwise. The
        links keep their weights, and the new ties weigh as much on the whole.

        >>> pairs = Graph.from_edges([0, 2], [1, 3])
        >>> pairs.with_features([[5, 0], [0, 0], [3, 1], [0, 4]], n_neighbors=1).n_edges
        2
        """
        weights, recall = joined_with_features(self.weights, rows_of(X, self.names), steps, n_neighbors, words, method)
        graph = Graph(weights, names=None if self._position is None else self.names)
        graph.recall, graph.links = recall, self.weights if self.links is None else self.links
        return graph

    def with_overlap(self, weights: sparse.csr_array, power: float) -> Graph:
        """The same links with these weights, which have been multiplied by the overlap of neighbourhoods."""
        graph = copy(self)
        graph.weights, graph.overlap = weights, power
        return graph

    @classmethod
    def from_networkx(cls, g: Any, weight: str | None = WEIGHT) -> Graph:
        """A networkx graph with its node names; an edge without the attribute weighs 1, parallel edges are summed."""
        return cls.from_edge_list(edges_of_networkx(g, weight))

    @classmethod
    def from_igraph(cls, g: Any, weight: str | None = WEIGHT, name: str | None = "name") -> Graph:
        """An igraph graph; vertices are named by their attribute `name`, if they have it.

        An edge without the attribute `weight` weighs 1; parallel edges are summed.
        """
        return cls.from_edge_list(edges_of_igraph(g, weight, name))

    @classmethod
    def from_pyg(cls, data: Any, weight: str | None = None) -> Graph:
        """The graph of a PyTorch Geometric `Data` object: its `edge_index`, folded as in `from_edges`.

        Weights are the attribute that `weight` names; by default `edge_weight`, else `edge_attr` if it has one number
        per edge (more of them are features of the edge, not its weight), else 1.
        """
        return cls.from_edge_list(edges_of_pyg(data, weight))

    @classmethod
    def from_pandas(
        cls,
        frame: pd.DataFrame,
        source: str = "source",
        target: str = "target",
        weight: str | None = WEIGHT,
        *,
        nodes: Iterable[Hashable] | None = None,
    ) -> Graph:
        """A frame with a row for every edge; without a column `weight` each edge weighs 1.

        Nodes keep their names, in the order of the sources, then of the targets; `nodes` lists all of them in another
        order, including those without an edge. Rows are folded as in `from_edges`.
        """
        return cls.from_edge_list(edges_of_pandas(frame, source, target, weight, nodes))

    @classmethod
    def from_graphml(
        cls, path: str | os.PathLike[str], weight: str | None = WEIGHT, *, name: str | None = None
    ) -> Graph:
        """The graph in a GraphML file, read without networkx; nodes are named by their id, or by an attribute.

        An edge without the attribute `weight` weighs 1. Parallel edges are summed; in a directed graph both directions
        of an edge are one, as in `from_edges`.
        """
        try:
            return cls.from_edge_list(edges_of_graphml(Path(path), weight, name))
        except GraphError as error:
            raise FileError(f"{path}: {error}") from None

    @classmethod
    def from_npz(cls, path: str | os.PathLike[str]) -> Graph:
        """The graph whose weights are the matrix in a SciPy .npz file, with names if `to_npz` stored them."""
        weights, names = read_matrix(Path(path))
        try:
            return cls(weights, names=names)
        except GraphError as error:
            raise FileError(f"{path}: {error}") from None

    @classmethod
    def from_edge_list(cls, edges: EdgeList) -> Graph:
        """A graph from an edge list, folded as in `from_edges`."""
        if edges.n_nodes == 0:
            raise GraphError("the graph has no nodes: give at least one.")
        return cls.from_edges(edges.source, edges.target, edges.weight, edges.n_nodes, names=edges.names)

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write the weights for `scipy.sparse.load_npz`, and the names beside them for `from_npz`."""
        write_matrix(Path(path), self.weights, None if self._position is None else self.names)

    def to_networkx(self) -> Any:
        """A networkx graph with the same nodes, and the attribute weight on every edge."""
        return networkx_of(self.weights, self.names)

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for every edge: source, target and weight. Nodes without an edge are not in it."""
        return frame_of(self.weights, self.names)

    @property
    def n_nodes(self) -> int:
        return int(self.weights.shape[0])

    @property
    def n_edges(self) -> int:
        return int(self.weights.nnz // 2)

    def degrees(self) -> NDArray[np.float64]:
        """(n,) sum of the weights at each node."""
        return np.asarray(self.weights.sum(axis=1), dtype=float).ravel()

    def laplacian(self, beta: float = 1.0) -> sparse.csr_array:
        """L = beta (D - W)."""
        return sparse.csr_array(beta * (sparse.diags_array(self.degrees()) - self.weights))

    def components(self) -> NDArray[np.int64]:
        """(n,) number of the connected component of each node, counted in the order of their first nodes."""
        return csgraph.connected_components(self.weights, directed=False)[1].astype(np.int64)

    def position(self, node: Hashable) -> int:
        """The number, 0 to n - 1, of a node given by name (or by number, if no name is a number)."""
        if self._position is not None:
            try:
                return self._position[node]
            except TypeError:
                raise NodeError(f"node {node!r} cannot be looked up: give one node name.") from None
            except KeyError:
                if self._has_numbers or not is_whole(node):
                    hint = nearest(node, self.names) if isinstance(node, str) else ""
                    raise NodeError(
                        f"there is no node {node!r} in this graph of {self.n_nodes} named nodes.{hint}"
                    ) from None
        if not is_whole(node):
            raise NodeError(f"node {node!r} is not a whole number: nodes of this graph are 0 to {self.n_nodes - 1}.")
        number = operator.index(node)  # type: ignore[arg-type]
        if not 0 <= number < self.n_nodes:
            raise NodeError(f"there is no node {number}: nodes of this graph are 0 to {self.n_nodes - 1}.")
        return number

    def fingerprint(self) -> str:
        """SHA-256 of nodes, edges, weights and names."""
        digest = hashlib.sha256(f"graph of {self.n_nodes}".encode())
        for array, dtype in ((self.weights.indptr, "<i8"), (self.weights.indices, "<i8"), (self.weights.data, "<f8")):
            for start in range(0, len(array), DIGESTED):
                digest.update(array[start : start + DIGESTED].astype(dtype).tobytes())
        if self._position is not None:
            digest.update(described(self.names).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges)"

    def _name(self, names: list[Hashable]) -> None:
        if len(names) != self.n_nodes:
            raise GraphError(f"{len(names)} names for {self.n_nodes} nodes: give one name for every node.")
        names = [name.item() if isinstance(name, np.generic) else name for name in names]
        try:
            self._position = {name: k for k, name in enumerate(names)}
        except TypeError as error:
            raise GraphError(f"a node name cannot be looked up ({error}): use text, numbers or tuples.") from None
        if nan := next((name for name in names if isinstance(name, Number) and name != name), None):
            raise GraphError(f"the name {nan!r} finds no node, as it is not even equal to itself: give another.")
        if len(self._position) < len(names):
            twice = next(name for k, name in enumerate(names) if self._position[name] != k)
            raise GraphError(f"the name {twice!r} stands for more than one node: give every node a name of its own.")
        self.names = names
        self._has_numbers = any(isinstance(name, Number) for name in names)
