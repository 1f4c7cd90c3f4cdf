"""Items read from what a person has: a folder of images, a table, or the edges of a graph."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewlabels.errors import FileError, SettingError
from fewlabels.graph import Graph
from fewlabels.items import Items
from fewlabels.items.assemble import Shown, Tell, assemble
from fewlabels.items.features import own_features
from fewlabels.items.network import read_network
from fewlabels.items.pictures import SUFFIXES, ImageFiles, images_in, look_at
from fewlabels.items.rows import read_rows
from fewlabels.items.texts import text_graph
from fewlabels.kernels.reference import Floats
from fewlabels.tables import standardised

TABLE_ORDER, FOLDER_ORDER = "the rows of the table", "the sorted paths of the images"


def _say_nothing(sentence: str) -> None:
    pass


def read_items(
    data: Path | None,
    *,
    text: str | None = None,
    image: str | None = None,
    features: Path | None = None,
    edges: Path | None = None,
    label: str | None = None,
    name: str | None = None,
    classes: Sequence[str] = (),
    neighbors: int = 10,
    tell: Tell = _say_nothing,
) -> Items:
    """The items of a folder of images, of a table, or of edges; `tell` hears what takes longer than a moment.

    Columns are given by name. Features are a .npy file with a row for every item, in the order of the table or of the
    sorted images; neighbours come from them, whatever is shown.
    """
    folder = data is not None and data.is_dir()
    _refuse_contradictions(
        data, folder, {"text": text, "image": image, "features": features, "edges": edges, "label": label, "name": name}
    )
    if neighbors < 1:
        raise SettingError(f"{neighbors} neighbours: give at least 1.")
    if edges is not None:
        graph, shown = read_network(edges, data, name, label, tell)
        return assemble(edges.name, "node", _at_least_two(graph, edges), shown, classes, tell)
    if data is not None and not data.exists():
        raise FileError(f"there is no file or folder {data}. Check the path.")
    assert data is not None  # or there would have been a contradiction
    title = data.resolve().name
    if folder:
        paths, names = _listed(data, tell)
        shown, found = _with_pictures(Shown(names), paths, features, tell, in_table=False)
        return assemble(title, "image", _tied(found, neighbors, tell), shown, classes, tell)
    rows = read_rows(data, name, label, [column for column in (text, image) if column is not None])
    if text is None and image is None and features is None and {"source", "target"} <= set(rows.table.columns):
        raise FileError(f"{data} has the columns source and target, so it lists edges: give it as --edges {data}.")
    if len(rows) < 2:
        raise FileError(f"{data} holds 1 row: give at least two items.")
    if image is not None:
        paths = [data.parent / path for path in rows.texts(image, may_be_empty=False)]
        shown = Shown(rows.names(), attributes=rows.attributes([image]), known=rows.known())
        shown, found = _with_pictures(shown, paths, features, tell, in_table=True)
        return assemble(title, "image", _tied(found, neighbors, tell), shown, classes, tell)
    own = None if features is None else own_features(features, len(rows), TABLE_ORDER)
    if text is not None:
        texts = rows.texts(text, may_be_empty=True)
        shown = Shown(rows.names(), texts, rows.attributes([text]), known=rows.known())
        if own is None:
            tell(f"Finding the {min(neighbors, len(texts) - 1)} nearest of each of {len(texts):,} texts")
            return assemble(title, "text", text_graph(texts, neighbors), shown, classes, tell)
        return assemble(title, "text", _tied(own, neighbors, tell), shown, classes, tell)
    if own is None:
        own = standardised(data, rows.features())
    if own is None:
        raise FileError(
            f"{data} has no column of numbers to find neighbours by: its columns are "
            f"{', '.join(rows.table.columns)}. Name one with --text or --image, or give --features or --edges."
        )
    shown = Shown(rows.names(), attributes=rows.attributes(), known=rows.known())
    return assemble(title, "row", _tied(own, neighbors, tell), shown, classes, tell)


def _refuse_contradictions(data: Path | None, folder: bool, given: dict[str, Any]) -> None:
    """Options that do not go together, in one sentence."""
    options = [f"--{option}" for option, value in given.items() if value is not None]
    if data is None and given["edges"] is None:
        raise SettingError("there is nothing to label: give a folder of images, a table, or --edges.")
    if "--text" in options and "--image" in options:
        raise SettingError(
            "--text and --image both: an item shows one of them, and the other columns beneath it. Leave one out."
        )
    if "--edges" in options:
        wrong: list[str] = [option for option in ("--text", "--image", "--features") if option in options]
        if wrong:
            raise SettingError(
                f"--edges and {wrong[0]} both: the edges say which items are neighbours, and a table's columns are "
                f"shown as they are. Leave {wrong[0]} out."
            )
        if data is None and (wrong := [option for option in ("--label", "--name") if option in options]):
            raise SettingError(f"{wrong[0]} names a column of a table of nodes: give that table beside --edges.")
    if folder and (wrong := [option for option in options if option != "--features"]):
        raise SettingError(f"{data} is a folder of images, which has no use for {wrong[0]}: leave it out.")


def _listed(folder: Path, tell: Tell) -> tuple[list[Path], list[str]]:
    """The images of a folder and their names, the paths within it."""
    paths, others = images_in(folder)
    if len(paths) < 2:
        few = "no images" if not paths else "1 image"
        raise FileError(f"{folder} holds {few}: give a folder with at least two of {' '.join(SUFFIXES)}.")
    if others:
        tell(f"Left out {others:,} files of {folder} that are not images")
    return paths, [_readable(path.relative_to(folder).as_posix()) for path in paths]


def _readable(name: str) -> str:
    """A file's name as text that can be sent, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _with_pictures(
    shown: Shown, paths: list[Path], features: Path | None, tell: Tell, *, in_table: bool
) -> tuple[Shown, Floats]:
    """The same items with their images looked at, and the features to find neighbours by."""
    own = None if features is None else own_features(features, len(paths), TABLE_ORDER if in_table else FOLDER_ORDER)
    seen = look_at(paths, features=own is None, in_table=in_table, tell=tell)
    contents = [f"{one.sha256} {one.size}" for one in seen]
    with_images = Shown(
        shown.names, attributes=shown.attributes, pictures=ImageFiles(seen), contents=contents, known=shown.known
    )
    return with_images, np.stack([one.features for one in seen if one.features is not None]) if own is None else own


def _tied(X: Floats, neighbors: int, tell: Tell) -> Graph:
    k = min(neighbors, len(X) - 1)
    if len(X) > 2_000:
        tell(f"Finding the {k} nearest neighbours of each of {len(X):,} items")
    return Graph.from_features(X, k)


def _at_least_two(graph: Graph, edges: Path) -> Graph:
    if graph.n_nodes < 2:
        raise FileError(f"{edges} names 1 node: give at least two items.")
    return graph
