"""A model's predictions, from a table: a column for every class, or a label and how sure the model is of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import FileError
from fewlabels.files.table import column_text, read_table

NODES = ("node", "id", "name", "item", "file", "task")  # columns that may name what a row is about
LABELS = ("label", "prediction")
CONFIDENCES = ("confidence", "chance", "score")
PREFIX = "p_"  # of the columns of chances, as in the files that fewlabels writes
UNSAID = 0.9  # how sure a model is taken to be where it does not say
ROUNDING, MISSED = 0.005, 0.05  # by which a chance of two digits may be off, and a row of them may miss 1 at most
LISTED = 5  # classes named in a sentence


@dataclass(frozen=True)
class ModelPredictions:
    """What a model thinks of some nodes."""

    nodes: Sequence[str]
    classes: Sequence[str]
    chances: Floats  # (m, K)

    @property
    def labels(self) -> list[str]:
        """(m,) the most probable class of each."""
        return [self.classes[c] for c in self.chances.argmax(axis=1)]


def of_labels(
    nodes: Sequence[str], labels: Sequence[str], sure: Sequence[float], classes: Sequence[str]
) -> ModelPredictions:
    """One label each, with how sure the model is; the other classes, at least one, share the rest."""
    every = list(dict.fromkeys([*classes, *labels]))
    number = {name: c for c, name in enumerate(every)}
    p = np.asarray(sure, dtype=float)
    chances = np.repeat(((1 - p) / max(1, len(every) - 1))[:, None], len(every), axis=1)
    chances[np.arange(len(p)), [number[label] for label in labels]] = p
    return ModelPredictions(nodes, every, chances)


def read_predictions(path: str | os.PathLike[str], classes: Sequence[str] = ()) -> ModelPredictions:
    """The predictions in a table that names its nodes; `classes` are those already known.

    Chances are in a column for each class, named as the class or with p_ before it; else there is a column label (or
    prediction) and, where the model says how sure it is, one called confidence (or chance, or score). Rows without a
    number or a label are left out.
    """
    table = read_table(path, [])
    table.columns = table.columns.map(str)
    columns = list(table.columns)
    node = next((name for name in NODES if name in columns), None)
    if node is None:
        raise FileError(
            f"{path} has no column that names the nodes: call it node. Its columns are {', '.join(columns)}."
        )
    names = column_text(path, table, node)
    marked = [name for name in columns if name.startswith(PREFIX)]
    label = next((name for name in LABELS if name in columns), None)
    found = {name.removeprefix(PREFIX): name for name in marked} or {c: c for c in classes if c in columns}
    if not found and label is None:
        found = {name: name for name in columns if name not in (*NODES, *CONFIDENCES)}
    if len(found) > 1:
        return _by_class(
            path, names, {c: column_text(path, table, name, may_be_empty=True) for c, name in found.items()}
        )
    if label is None:
        raise FileError(
            f"{path} holds no predictions: give a column for every class, or columns label and confidence. "
            f"Its columns are {', '.join(columns)}."
        )
    said = column_text(path, table, label, may_be_empty=True)
    sure = next((name for name in CONFIDENCES if name in columns), None)
    how_sure = [str(UNSAID)] * len(said) if sure is None else column_text(path, table, sure, may_be_empty=True)
    rows = [row for row, text in enumerate(said) if text]
    numbers = [_number(path, row, sure or "", how_sure[row] or str(UNSAID)) for row in rows]
    return of_labels(_once(path, [names[row] for row in rows]), [said[row] for row in rows], numbers, classes)


def _by_class(path: str | os.PathLike[str], names: list[str], cells: dict[str, list[str]]) -> ModelPredictions:
    rows = [row for row in range(len(names)) if any(column[row] for column in cells.values())]
    chances = np.array([[_number(path, row, c, column[row]) for c, column in cells.items()] for row in rows])
    chances = chances.reshape(len(rows), len(cells))
    total = chances.sum(axis=1)
    bad = np.flatnonzero(np.abs(total - 1) > min(ROUNDING * len(cells), MISSED) + 1e-9)
    if len(bad):
        of = ", ".join([*list(cells)[:LISTED], *(["…"] if len(cells) > LISTED else [])])
        raise FileError(
            f"{path}, row {rows[bad[0]] + 1}: the chances of {of} add up to {total[bad[0]]:g}, and must add up to 1. "
            "Scores become chances by a softmax. If the model knows other classes, too, put p_ before all their names."
        )
    return ModelPredictions(_once(path, [names[row] for row in rows]), list(cells), chances / total[:, None])


def _once(path: str | os.PathLike[str], names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise FileError(f"{path} has two predictions for {twice!r}: keep one.")
    return names


def _number(path: str | os.PathLike[str], row: int, column: str, text: str) -> float:
    try:
        value = float(text.replace(",", "."))  # a chance has no thousands
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise FileError(f"{path}, row {row + 1}: {column} is {text!r}, not a chance. Give a number from 0 to 1.")
    return value
