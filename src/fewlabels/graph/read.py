"""A graph read from a file; the extension tells the format: a table of edges, a matrix (.npz), or GraphML."""

from __future__ import annotations

import os
from pathlib import Path

from fewlabels.errors import FileError
from fewlabels.files.edges import read_edge_list
from fewlabels.files.table import GIVE, KINDS, Tell, quietly
from fewlabels.graph.graph import Graph

WHOLE = {".npz": Graph.from_npz, ".graphml": Graph.from_graphml}  # files that hold more than a list of edges


def read_edges(path: str | os.PathLike[str], tell: Tell = quietly) -> Graph:
    """A graph from a table of edges: columns source, target and, optionally, weight; nodes keep their names, as text.

    A SciPy .npz file holds the whole matrix instead, and names if `to_npz` wrote it; .graphml holds nodes and edges.
    `tell` hears what is unusual about how a table is written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending in WHOLE:
        return WHOLE[ending](path)
    if ending not in KINDS:
        raise FileError(f"{path} ends in {path.suffix!r}: {GIVE} of edges, or a whole graph as .npz or .graphml.")
    return Graph.from_edge_list(read_edge_list(path, tell))
