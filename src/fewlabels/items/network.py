"""The person's own graph: items are its nodes, and a table may say more about them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fewlabels.errors import FileError
from fewlabels.graph import Graph
from fewlabels.graph.knn import among
from fewlabels.graph.read import read_edges
from fewlabels.items.assemble import Shown, Tell
from fewlabels.items.rows import NAMES, read_rows


def read_network(
    edges: Path, data: Path | None, name: str | None, label: str | None, tell: Tell
) -> tuple[Graph, Shown]:
    """Nodes in the order of the edges, then those of the table that no edge names, which stand alone."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        named = read_edges(edges)
    for warning in caught:
        tell(f"{edges}: {warning.message}")
    nodes = [str(node) for node in named.names]
    if data is None:
        return Graph(named.weights), Shown(nodes, named.fingerprint())
    rows = read_rows(data, name, label)
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
        tell(f"{len(alone):,} of {len(names):,} rows of {data} are in no edge and stand alone, the first {alone[0]!r}")
    bare = sum(node not in row_of for node in nodes)
    if bare:
        tell(f"{bare:,} of {len(nodes):,} nodes have no row in {data}")
    attributes, known = rows.attributes(), rows.known()
    every = nodes + alone
    nothing: Mapping[str, str] = {}
    shown = Shown(
        every,
        named.fingerprint(),
        attributes=[attributes[row_of[node]] if node in row_of else nothing for node in every],
        known={k: known[row_of[node]] for k, node in enumerate(every) if row_of.get(node, -1) in known},
    )
    return Graph(among(np.arange(len(nodes)), named.weights, len(every))), shown
