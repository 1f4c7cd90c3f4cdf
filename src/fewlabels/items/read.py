"""Items read from what a person has: a folder of images, a table, or the edges of a graph."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewlabels.arrays import Floats
from fewlabels.errors import FileError, SettingError
from fewlabels.files.features import own_features
from fewlabels.graph import Graph
from fewlabels.items import Items
from fewlabels.items.assemble import Shown, Tell, assemble
from fewlabels.items.beside import photos_of
from fewlabels.items.embedding.chosen import compared, compared_photos
from fewlabels.items.folders import class_note, folder_labels, left_out_note, others_note
from fewlabels.items.neighbours import neighbour_graph, text_neighbours
from fewlabels.items.network import read_network
from fewlabels.items.pictures import SUFFIXES, ImageFiles, contents, images_in, look_at, whole
from fewlabels.items.rows import Rows, read_rows
from fewlabels.items.seen import Seen


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
    images_from: Path | None = None,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    labels_from_folders: bool = False,
    embed: str | None = None,
    tell: Tell = _say_nothing,
) -> Items:
    """The items of a folder of images, of a table, or of edges; `tell` reports what takes longer than a moment.

    Columns are given by name. Features are a .npy file with a row for every item, in the order of the table or of the
    sorted images; neighbours come from them, whatever is shown. With edges, features, texts or photos are averaged over
    the links, and neighbours by them join the links. Images lie in the folder, that of the table, or
    `images_from`, wherever links lead. Rows are compared by `columns`, or all that tell them apart, less `ignore`. The
    folders that images lie in are known labels with `labels_from_folders`. `embed` names the pretrained network that
    photos or texts are compared by: "auto", or as in `fewlabels.embed`.
    """
    folder = data is not None and data.is_dir()
    _refuse_contradictions(
        data, folder, {"text": text, "image": image, "features": features, "edges": edges, "label": label, "name": name,
         "columns": columns, "ignore": ignore or None},
    )  # fmt: skip
    if labels_from_folders and not folder:
        raise SettingError(f"--labels-from-folders goes with a folder of images, and {data} is none: leave it out.")
    refuse_needless_network(embed, features, folder or text is not None or image is not None)
    if neighbors < 1:
        raise SettingError(f"{neighbors} neighbours: give at least 1.")
    if edges is not None:
        kind = "node"
        graph, shown = read_network(
            edges, data, name, label, tell, text=text, image=image, features=features, embed=embed,
            neighbors=neighbors, ignore=ignore, images_from=images_from,
        )  # fmt: skip
        if graph.n_nodes < 2:
            raise FileError(f"{edges} names 1 node: give at least two items.")
    elif data is None or not data.exists():
        raise FileError(f"there is no file or folder {data}. Check the path.")
    elif folder:
        kind = "image"
        graph, shown = _from_folder(data, features, embed, neighbors, images_from, labels_from_folders, tell)
    else:
        shows = [column for column in (text, image) if column is not None]
        rows = read_rows(data, name, label, shows, columns, ignore)
        return items_of_rows(rows, text, image, features, classes, neighbors, tell, images_from, embed)
    return assemble((edges or data or Path()).resolve().name, kind, graph, shown, classes, tell)


def items_of_rows(
    rows: Rows,
    text: str | None,
    image: str | None,
    features: Path | None,
    classes: Sequence[str],
    neighbors: int,
    tell: Tell = _say_nothing,
    images_from: Path | None = None,
    embed: str | None = None,
) -> Items:
    """The items of a table whose columns already have their roles."""
    kind = "text" if text is not None else "image" if image is not None else "row"
    graph, shown = _from_rows(rows, text, image, features, embed, neighbors, tell, images_from)
    return assemble(rows.path.resolve().name, kind, graph, shown, classes, tell)


def _from_folder(
    folder: Path,
    features: Path | None,
    embed: str | None,
    neighbors: int,
    images_from: Path | None,
    labels_from_folders: bool,
    tell: Tell,
) -> tuple[Graph, Shown]:
    paths, others = images_in(folder)
    if len(paths) < 2:
        few = "no images" if not paths else "1 image"
        raise FileError(f"{folder} holds {few}: give a folder with at least two ({' '.join(SUFFIXES)}).")
    names = [_readable(path.relative_to(folder).as_posix()) for path in paths]
    X = None if features is None else own_features(features, len(paths), "the sorted paths of the images")
    by_hand = X is None and embed is None
    within = [one.resolve() for one in (folder, images_from) if one is not None]
    answers = look_at(paths, features=by_hand, tell=tell, within=within)
    seen = [answer for answer in answers if isinstance(answer, Seen)]
    if len(seen) < 2:
        seen = whole(paths, answers, in_table=False)  # refused, with the reason
    kept = [k for k, answer in enumerate(answers) if isinstance(answer, Seen)]
    left_out = [(names[k], answer) for k, answer in enumerate(answers) if isinstance(answer, str)]
    names, X = [names[k] for k in kept], None if X is None else X[kept]
    labels = folder_labels(names)
    notes = [
        others_note(others, folder),
        left_out_note(left_out, len(paths)),
        "" if labels_from_folders else class_note(labels, len(names)),
    ]
    shown = Shown(
        names,
        _ties(min(neighbors, len(names) - 1), "image", X),
        pictures=ImageFiles(seen),
        contents=contents(seen),
        known=labels if labels_from_folders else {},
        notes=[note for note in notes if note],
        left_out=left_out,
    )
    if X is None:
        X, by = compared_photos(seen, embed, tell)
        shown = replace(shown, by=by)
    return neighbour_graph(X, neighbors, tell), shown


def _from_rows(
    rows: Rows,
    text: str | None,
    image: str | None,
    features: Path | None,
    embed: str | None,
    neighbors: int,
    tell: Tell,
    images_from: Path | None,
) -> tuple[Graph, Shown]:
    path, columns = rows.path, list(rows.table.columns)
    if text is None and image is None and features is None and {"source", "target"} <= set(columns):
        raise FileError(f"{path} has the columns source and target, so it lists edges: give it as --edges {path}.")
    if len(rows) < 2:
        raise FileError(f"{path} holds 1 row: give at least two items.")
    X = None if features is None else own_features(features, len(rows), "the rows of the table")
    by_columns = text is None and image is None and X is None
    by = "text" if text is not None else "image" if image is not None else _number(rows)
    plain = Shown(
        rows.names(),
        _ties(min(neighbors, len(rows) - 1), by, X),
        attributes=rows.attributes([c for c in (text, image) if c is not None]),
        known=rows.known(),
        notes=[*rows.notes, *([note] if (note := rows.label_note()) and (rows.label or not by_columns) else [])],
        table=rows.table,
    )
    if text is not None:
        texts = rows.texts(text, may_be_empty=True)
        shown = replace(plain, texts=texts)
        if X is not None:
            return neighbour_graph(X, neighbors, tell), shown
        numbers, said = compared(texts, "text", embed, tell)
        return text_neighbours(texts, neighbors, numbers, tell), replace(shown, by=said)
    if image is not None:
        by_hand = X is None and embed is None
        seen = photos_of(rows, image, features=by_hand, tell=tell, images_from=images_from)
        shown = replace(plain, pictures=ImageFiles(seen), contents=contents(seen))
        if X is None:
            X, said = compared_photos(seen, embed, tell)
            shown = replace(shown, by=said)
        return neighbour_graph(X, neighbors, tell), shown
    if X is not None:
        return neighbour_graph(X, neighbors, tell), plain
    found = rows.compared()
    if found.X is None:
        became = "".join(f" {sentence}." for sentence in found.sentences)
        raise FileError(
            f"{path} has no column of numbers or categories to find neighbours by.{became} Name columns with "
            "--columns, --text or --image, or give --features or --edges."
        )
    names_rows = [f"Rows are named by the column {rows.name!r}"] if rows.name is not None else []
    return neighbour_graph(found.X, neighbors, tell), replace(
        plain, notes=[*plain.notes, *names_rows, *found.sentences]
    )


def _number(rows: Rows) -> str:
    """What rows are compared by, where that was said."""
    asked = "" if rows.columns is None else f" of {', '.join(rows.columns)}"
    return f"number{asked}" + (f" without {', '.join(rows.ignore)}" if rows.ignore else "")


def _refuse_contradictions(data: Path | None, folder: bool, given: dict[str, Any]) -> None:
    """Refuse options that do not go together, in one sentence."""
    columns = {"label": "--label-column", "name": "--name-column"}
    options = [columns.get(option, f"--{option}") for option, value in given.items() if value is not None]
    if data is None and given["edges"] is None:
        raise SettingError("there is nothing to label: give a folder of images, a table, or --edges.")
    if "--text" in options and "--image" in options:
        raise SettingError(
            "--text and --image given together: an item shows one, and the other columns beneath it. Leave one out."
        )
    if "--edges" in options:
        columns_named = ("--text", "--image", "--label-column", "--name-column")
        if data is None and (wrong := [option for option in columns_named if option in options]):
            raise SettingError(f"{wrong[0]} names a column of a table of nodes: give that table as well as --edges.")
    if "--columns" in options and (
        wrong := [option for option in ("--text", "--image", "--features", "--edges") if option in options]
    ):
        raise SettingError(f"--columns and {wrong[0]} given together: each says how rows are compared. Leave one out.")
    if folder and (wrong := [option for option in options if option != "--features"]):
        raise SettingError(f"{data} is a folder of images, which has no use for {wrong[0]}: leave it out.")


def refuse_needless_network(embed: str | None, features: Path | None, suits: bool) -> None:
    """Refuse --embed where there is nothing for a network to compare."""
    if embed is None:
        return
    if features is not None:
        raise SettingError("--embed and --features given together: each says who are neighbours. Leave one out.")
    if not suits:
        raise SettingError(
            "--embed compares photos or texts: give a folder of images, or a table and its column, with --text or "
            "--image."
        )


def _readable(name: str) -> str:
    """A file's name as text that can be sent, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _ties(neighbors: int, by: str, own: Floats | None) -> str:
    if own is not None:
        by = hashlib.sha256(repr(own.shape).encode() + own.astype("<f8").tobytes()).hexdigest()
    return f"{neighbors} nearest by {by}"
