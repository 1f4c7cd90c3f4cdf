"""A dataset from the user's own labelled files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fewlabels.errors import FileError
from fewlabels.experiments.datasets import Dataset
from fewlabels.files.features import read_features
from fewlabels.files.labels import read_labels, unknown_nodes
from fewlabels.graph import Graph
from fewlabels.graph.knn import among
from fewlabels.graph.read import read_edges


def read_dataset(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None,
    label_column: str,
    n_neighbors: int,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Dataset:
    """Edges with a labels file, or features with a label column, made into a graph by nearest neighbours.

    Nodes that only the labels file names stand alone.
    """
    name = Path(path).stem
    X = None
    if labels is not None:
        graph = read_edges(path)
        if alone := unknown_nodes(labels, graph.names):
            tell(f"{len(alone):,} nodes of {labels} are in no edge and stand alone, the first {alone[0]!r}")
            every = [*graph.names, *alone]
            graph = Graph(among(np.arange(graph.n_nodes), graph.weights, len(every)), names=every)
        found = read_labels(labels, graph.names)
        text = [found.get(node, "") for node in graph.names]
    else:
        X, text = read_features(path, label_column)
        graph = Graph.from_features(X, min(n_neighbors, len(X) - 1))
    classes = sorted(set(text) - {""})
    if len(classes) < 2:
        raise FileError(f"{labels or path} holds {len(classes)} class(es): a comparison needs at least two.")
    number = {label: k for k, label in enumerate(classes)} | {"": -1}
    return Dataset(name, graph, np.array([number[label] for label in text]), tuple(classes), features=X)
