"""Edges, labels, features and predictions in files: what people call from their own programs.

The work is done in `files`, `graph.read` and `learner.report`; these names are stable.
"""

from __future__ import annotations

import os
from collections.abc import Hashable

from fewlabels.files import labels
from fewlabels.files.features import read_features, standardised
from fewlabels.files.table import column_text, read_table
from fewlabels.graph import Graph
from fewlabels.graph.read import read_edges
from fewlabels.learner.report import write_predictions

__all__ = [
    "column_text",
    "read_edges",
    "read_features",
    "read_labels",
    "read_table",
    "standardised",
    "write_predictions",
]


def read_labels(path: str | os.PathLike[str], graph: Graph) -> dict[Hashable, str]:
    """{node: label}, nodes as the graph calls them, from a table with columns node and label.

    Rows without a label are left out.
    """
    return labels.read_labels(path, graph.names)
