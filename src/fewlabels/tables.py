"""Edges, labels and features read from tables: CSV, TSV, JSON lines or Parquet, nodes under any name."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewlabels.cells import column_text, read_table
from fewlabels.edges import read_edges
from fewlabels.errors import FileError, nearest
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.whole_file import whole_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "column_text",
    "read_edges",
    "read_features",
    "read_labels",
    "read_table",
    "standardised",
    "write_predictions",
]
LARGEST = 1e100  # squares of smaller numbers stay finite


def read_labels(path: str | os.PathLike[str], graph: Graph) -> dict[Hashable, str]:
    """{node: label}, nodes as the graph calls them, from a table with columns node and label.

    Rows without a label are left out.
    """
    table = read_table(path, ["node", "label"])
    nodes, labels = column_text(path, table, "node"), column_text(path, table, "label", may_be_empty=True)
    known = {str(name): name for name in graph.names}
    found: dict[Hashable, str] = {}
    for row, (text, label) in enumerate(zip(nodes, labels, strict=True), start=1):
        if not label:
            continue
        if text not in known:
            raise FileError(
                f"{path}, row {row}: no edge names the node {text!r}.{nearest(text, known)} Mend the name or "
                "add its edges."
            )
        node = known[text]
        if found.setdefault(node, label) != label:
            raise FileError(
                f"{path}, row {row}: node {node!r} is {label!r} here and {found[node]!r} above. Keep one of them."
            )
    return found


def read_features(path: str | os.PathLike[str], label_column: str) -> tuple[NDArray[np.float64], list[str]]:
    """(n, d) the columns of numbers, each brought to mean 0 and variance 1, and the labels as text, "" where none."""
    table = read_table(path, [label_column])
    labels = column_text(path, table, label_column, may_be_empty=True)
    X = standardised(path, table.drop(columns=label_column))
    if X is None:
        raise FileError(
            f"{path} has no column of numbers beside {label_column!r}: give features, or edges with --labels."
        )
    return X, labels


def standardised(path: str | os.PathLike[str], table: pd.DataFrame) -> NDArray[np.float64] | None:
    """(n, d) the columns of numbers, each brought to mean 0 and variance 1; None where there is none.

    A column that is mostly words is no feature; one that is mostly numbers must hold a number in every row.
    """
    import pandas as pd

    columns = {}
    for name in table.columns:
        numeric = pd.api.types.is_numeric_dtype(table[name].dtype)
        cells = table[name] if numeric else pd.Series(column_text(path, table, name, may_be_empty=True), dtype=str)
        x = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float, na_value=np.nan)  # (n,)
        if np.isnan(x).mean() < 0.5:
            columns[name] = x
    if not columns:
        return None
    X = np.stack(list(columns.values()), axis=1)
    bad = np.argwhere(~(np.abs(X) < LARGEST))
    if len(bad):
        row, name = int(bad[0, 0]), list(columns)[bad[0, 1]]
        cell = column_text(path, table.iloc[[row]], name, may_be_empty=True)[0]
        raise FileError(
            f"{path}, row {row + 1}: column {name!r} {f'holds {cell!r}, no number' if cell else 'is empty'}. "
            "Fill it in, or remove the row or the column."
        )
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1))


def write_predictions(path: str | os.PathLike[str], learner: ActiveLearner) -> None:
    """CSV of every node: its name, predicted label, chance of each class, and whether any label reaches it."""
    import pandas as pd

    table = pd.DataFrame({"node": list(learner.graph.names), "label": learner.predict()})
    chances = pd.DataFrame(learner.predict_proba(), columns=[f"p_{c}" for c in learner.classes])
    table = pd.concat([table, chances, (~table["node"].isin(learner.unreached)).rename("reached")], axis=1)
    with whole_file(path) as draft:
        table.to_csv(draft, index=False, float_format="%.6g")
