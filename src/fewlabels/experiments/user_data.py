"""A dataset from the user's own labelled files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import FileError, SettingError
from fewlabels.experiments.datasets import Dataset
from fewlabels.files.features import read_features
from fewlabels.files.labels import read_labels, unknown_nodes
from fewlabels.files.predictions import read_predictions
from fewlabels.files.table import Tell, quietly
from fewlabels.graph import Graph
from fewlabels.graph.knn import among
from fewlabels.graph.read import read_edges
from fewlabels.items.network import with_node_features
from fewlabels.items.read import read_items
from fewlabels.items.rows import read_rows
from fewlabels.learner.prior import chances_of_model


def read_dataset(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None,
    label_column: str,
    n_neighbors: int,
    *,
    features: Path | None = None,
    text: str | None = None,
    image: str | None = None,
    embed: str | None = None,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    tell: Tell = quietly,
) -> Dataset:
    """Edges with a labels file; or features, texts or photos with a label column, or photos in a folder for each class,
    made into a graph by nearest neighbours.

    Of features, `columns` says which are compared, `ignore` which are not. Edges may be joined with features, or with
    the texts or photos in a column of a table of nodes, as the network `embed` sees them. Nodes that only the labels
    file names stand alone.
    """
    name = Path(path).stem
    X = None
    if labels is not None:
        if columns is not None or ignore:
            raise SettingError("--columns and --ignore go with a table of features: leave them out, or --labels.")
        graph = read_edges(path, tell)
        if alone := unknown_nodes(labels, graph.names):
            tell(f"{len(alone):,} nodes of {labels} are in no edge and stand alone, the first {alone[0]!r}")
            every = [*graph.names, *alone]
            graph = Graph(among(np.arange(graph.n_nodes), graph.weights, len(every)), names=every)
        graph = with_node_features(graph, features, text, n_neighbors, tell, image=image, embed=embed)
        found = read_labels(labels, graph.names, tell)
        names = [found.get(node, "") for node in graph.names]
    elif features is not None:
        raise SettingError("--features goes with edges: give their labels with --labels.")
    elif Path(path).is_dir() or text is not None or image is not None:
        if columns is not None:
            raise SettingError("--columns goes with rows of numbers: leave it out, or --text and --image.")
        graph, names = _photos_or_texts(Path(path), label_column, n_neighbors, text, image, embed, tell)
    elif embed is not None:
        raise SettingError("--embed compares texts or photos: name the column of them with --text or --image.")
    else:
        X, names = read_features(path, label_column, columns, ignore, tell)
        graph = Graph.from_features(X, min(n_neighbors, len(X) - 1))
    classes = sorted(set(names) - {""})
    if len(classes) < 2:
        raise FileError(f"{labels or path} holds {len(classes)} class(es): a comparison needs at least two.")
    number = {label: k for k, label in enumerate(classes)} | {"": -1}
    return Dataset(name, graph, np.array([number[label] for label in names]), tuple(classes), features=X)


def _photos_or_texts(
    path: Path, label_column: str, neighbors: int, text: str | None, image: str | None, embed: str | None, tell: Tell
) -> tuple[Graph, list[str]]:
    """Texts or photos as the page ties them, by their names; and the label of each, "" where there is none."""
    folder = path.is_dir()
    items = read_items(
        path, text=text, image=image, label=None if folder else label_column, neighbors=neighbors,
        labels_from_folders=folder, embed=embed, tell=tell,
    )  # fmt: skip
    for sentence in (*items.notes, f"Items are {items.by}"):
        tell(sentence)
    graph = Graph(items.graph.weights, names=list(items.names))
    return graph, [items.known.get(k, "") for k in range(graph.n_nodes)]


def row_names(path: Path, label_column: str) -> list[str]:
    """(n,) what predictions call the rows of a table of features: as on the page, else their numbers, from 1."""
    rows = read_rows(path, None, label_column)
    return [str(row) for row in range(1, len(rows) + 1)] if rows.name is None else rows.names()


def model_of(dataset: Dataset, path: Path, tell: Tell, rows: Sequence[str] | None = None) -> Floats:
    """(n, C) what a model thinks of the dataset's nodes, or of its rows, which are called so (see `row_names`)."""
    found = read_predictions(path, dataset.class_names)
    n = dataset.graph.n_nodes
    names = list(dataset.graph.names if rows is None else rows)
    about = len({str(name) for name in names} & set(found.nodes))
    if not about:
        raise FileError(f"{path}: none of the predictions is about a node, such as {str(names[0])!r}. Use their names.")
    tell(f"A model's predictions for {about:,} of {n:,} nodes")
    return chances_of_model(found, names, list(dataset.class_names))
