"""The person's own graph: items are its nodes, and a table, features, texts or photos may say more about them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import FileError, SettingError
from fewlabels.files.features import own_features
from fewlabels.files.table import quietly
from fewlabels.graph import Graph
from fewlabels.graph.knn import among
from fewlabels.graph.read import read_edges
from fewlabels.items.assemble import Shown, Tell
from fewlabels.items.beside import Beside, by_photos, by_texts, photos_of
from fewlabels.items.pictures import ImageFiles, contents
from fewlabels.items.rows import NAMES, read_rows
from fewlabels.items.texts import at_rows

ORDER = "the nodes, as they come in the column source and then in target"


def read_network(
    edges: Path,
    data: Path | None,
    name: str | None,
    label: str | None,
    tell: Tell,
    *,
    text: str | None = None,
    image: str | None = None,
    features: Path | None = None,
    embed: str | None = None,
    neighbors: int = 10,
    ignore: Sequence[str] = (),
    images_from: Path | None = None,
) -> tuple[Graph, Shown]:
    """Nodes in the order of the edges, then those of the table that no edge names, which stand alone.

    With features, or the texts or photos of the table, the links are joined with neighbours by these
    (`Graph.with_features`).
    """
    notes: list[str] = []

    def note(sentence: str) -> None:
        notes.append(sentence)
        tell(sentence)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        named = read_edges(edges, note)
    for warning in caught:
        note(f"{edges}: {warning.message}")
    nodes = [str(node) for node in named.names]
    if data is None:
        plain = Shown(nodes, named.fingerprint(), notes=notes)
        if features is None:
            return Graph(named.weights), plain
        X = own_features(features, len(nodes), ORDER)
        joint = joined(Graph(named.weights), X, "features", neighbors, tell)
        return joint, replace(plain, ties=_ties(plain.ties, neighbors, X))
    shows = [column for column in (text, image) if column is not None]
    rows = read_rows(data, name, label, shows, ignore=ignore, nodes=nodes)
    notes += [*rows.notes, *([said] if (said := rows.label_note()) else [])]
    if rows.name is None:
        raise FileError(
            f"{data} has no column that names the nodes ({', '.join(NAMES)}; no cell empty, no name twice): "
            "say which with --name-column."
        )
    names = rows.names()
    row_of = {node: row for row, node in enumerate(names)}
    if not any(node in row_of for node in nodes):
        raise FileError(
            f"no node of {edges} is in the column {rows.name!r} of {data}: the edges name {nodes[0]!r}, the table "
            f"{names[0]!r}. Name the column of the nodes with --name-column."
        )
    listed = set(nodes)
    alone = [node for node in names if node not in listed]
    if alone:
        note(f"{len(alone):,} of {len(names):,} rows of {data} are in no edge and stand alone, the first {alone[0]!r}")
    bare = sum(node not in row_of for node in nodes)
    if bare:
        note(f"{bare:,} of {len(nodes):,} nodes have no row in {data}")
        if image is not None:
            first = next(node for node in nodes if node not in row_of)
            raise FileError(
                f"{data} has no row for node {first!r}: with --image every node needs a picture. Add its row, or leave "
                "--image out."
            )
    attributes, known = rows.attributes(shows), rows.known()
    every = nodes + alone
    nothing: Mapping[str, str] = {}
    described = rows.table.reset_index(drop=True).reindex([row_of.get(node, -1) for node in every])
    shown = Shown(
        every,
        named.fingerprint(),
        attributes=[attributes[row_of[node]] if node in row_of else nothing for node in every],
        known={k: known[row_of[node]] for k, node in enumerate(every) if row_of.get(node, -1) in known},
        table=described.reset_index(drop=True),
        notes=notes,
    )
    graph = Graph(among(np.arange(len(nodes)), named.weights, len(every)))
    at = np.array([[k, row_of[node]] for k, node in enumerate(every) if node in row_of])
    by_hand = features is None and embed is None
    beside: Beside | None = None
    if text is not None:
        texts = rows.texts(text, may_be_empty=True)
        shown = replace(shown, texts=[texts[row_of[node]] if node in row_of else "" for node in every])
        beside = by_texts(texts, embed, tell) if features is None else None
    elif image is not None:
        photos = photos_of(rows, image, features=by_hand, tell=tell, images_from=images_from)
        seen = [photos[row_of[node]] for node in every]
        shown = replace(shown, pictures=ImageFiles(seen), contents=contents(seen))
        beside = by_photos(photos, embed, tell) if features is None else None
    if features is not None:
        X = own_features(features, len(rows), "the rows of the table")
        shown = replace(shown, ties=_ties(shown.ties, neighbors, X))
        beside = Beside(X, "features", "")
    elif beside is not None:
        shown = replace(shown, ties=_ties(shown.ties, neighbors, "words" if image is None else "photos"), by=beside.by)
    if beside is None:
        return graph, shown
    return joined(graph, at_rows(beside.X[at[:, 1]], at[:, 0], len(every)), beside.kind, neighbors, tell), shown


def joined(graph: Graph, X: Any, kind: str, neighbors: int, tell: Tell) -> Graph:
    """The links with neighbours by these; `kind` says what they are: only "features" may be counts of words."""
    k = min(neighbors, graph.n_nodes - 1)
    tell(f"Averaging the {kind} over {graph.n_edges:,} links, and finding the {k} nearest of each node by them")
    return graph.with_features(X, n_neighbors=k, words=None if kind == "features" else False)


def with_node_features(
    graph: Graph,
    path: Path | None,
    text: str | None,
    neighbors: int,
    tell: Tell,
    *,
    image: str | None = None,
    embed: str | None = None,
) -> Graph:
    """The graph, joined with the features of its nodes if a file of them is given."""
    if path is None:
        if (column := text or image) is not None:
            option = "--text" if text is not None else "--image"
            raise SettingError(f"{option} {column} names a column of a table of nodes: give that table as --features.")
        if embed is not None:
            raise SettingError(f"--embed {embed}: name the column that it reads, with --features TABLE --text COLUMN.")
        return graph
    X, kind = node_features(path, text, graph.names, tell, image=image, embed=embed)
    return joined(graph, X, kind, neighbors, tell)


def node_features(
    path: Path,
    text: str | None,
    names: Sequence[Hashable],
    tell: Tell = quietly,
    *,
    image: str | None = None,
    embed: str | None = None,
) -> tuple[Any, str]:
    """(n, d) the features of these nodes, zeros where the file has none, and what they are, as in `joined`.

    From a .npy file in the order of the nodes, or from a table that names them: a column of texts or of photos, or all
    columns that tell rows apart. `tell` hears how the table was read.
    """
    column = text if text is not None else image
    option = "--text" if text is not None else "--image"
    if text is not None and image is not None:
        raise SettingError("--text and --image given together: nodes are compared by one. Leave the other out.")
    if embed is not None and column is None:
        raise SettingError("--embed compares texts or photos: name the column of them with --text or --image.")
    if path.suffix.lower() == ".npy":
        if column is not None:
            raise SettingError(f"{option} {column} names a column, and {path} is an array: give a table of the nodes.")
        return own_features(path, len(names), ORDER), "features"
    rows = read_rows(path, None, None, [] if column is None else [column], nodes=[str(name) for name in names])
    if rows.name is None or rows.name == column:
        raise FileError(f"{path} has no column that names the nodes: call it node, and fill it in every row.")
    for sentence in rows.notes:
        tell(sentence)
    if text is not None:
        beside = by_texts(rows.texts(text, may_be_empty=True), embed, tell)
    elif image is not None:
        beside = by_photos(photos_of(rows, image, features=embed is None, tell=tell), embed, tell)
    else:
        found = rows.compared()
        for sentence in found.sentences:
            tell(sentence)
        if found.X is None:
            raise FileError(f"{path} has no column of numbers or categories: name a column of texts with --text.")
        beside = Beside(found.X, "features", "")
    if beside.by:
        tell(f"Nodes are {beside.by}")
    row_of = {name: row for row, name in enumerate(rows.names())}
    at = np.array([[k, row_of[str(name)]] for k, name in enumerate(names) if str(name) in row_of]).reshape(-1, 2)
    if not len(at):
        raise FileError(
            f"{path}: its column {rows.name!r} names none of the nodes, such as {str(names[0])!r}. Name them in a "
            "column called node, each once."
        )
    return at_rows(beside.X[at[:, 1]], at[:, 0], len(names)), beside.kind


def _ties(links: str, neighbors: int, by: Floats | str) -> str:
    if not isinstance(by, str):
        by = hashlib.sha256(repr(by.shape).encode() + by.astype("<f8").tobytes()).hexdigest()
    return f"{links} and {neighbors} nearest by {by} averaged over the links"
