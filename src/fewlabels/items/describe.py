"""What was understood about the items, in lines for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fewlabels.field import choose_engine
from fewlabels.items import Items
from fewlabels.machine import memory

NOUNS = {"image": "images", "text": "texts", "row": "rows", "node": "nodes"}
FEW = 12  # how many class names are listed


def describe(items: Items, free_bytes: int | None = None) -> list[str]:
    """Items, how they were read, neighbours, components and the engine, a line each; the labels are told by
    `describe_labels`, when it is known which classes were added before.

    `free_bytes` defaults to what is free now.
    """
    free = memory.available() if free_bytes is None else free_bytes
    graph = items.graph
    n, ties = graph.n_nodes, "tie" if graph.n_edges == 1 else "ties"
    return [
        f"Items: {n:,} {NOUNS[items.kind]} from {items.title}",
        *items.notes,
        f"Neighbours: {graph.n_edges:,} {ties}, {2 * graph.n_edges / n:.1f} per item on average"
        + (f"; {items.by}" if items.by else ""),
        _components(np.bincount(graph.components())),
        "Engine: {}, {}".format(*choose_engine(graph, free)),
    ]


def _components(size: np.ndarray) -> str:
    if len(size) == 1:
        return "Components: 1, so every answer reaches every item"
    alone = int((size == 1).sum())
    tail = f"; {alone:,} {'items stand' if alone > 1 else 'item stands'} alone" if alone else ""
    return f"Components: {len(size):,}, the largest of {size.max():,} items{tail}; an answer reaches only its own"


def describe_labels(items: Items, classes: Sequence[str]) -> str:
    """A line about the labels in the data and the classes, those added on the page before included."""
    count = Counter(items.known.values())
    known = f"{len(items.known):,} in the data" if items.known else "none in the data"
    if not classes:
        return f"Labels: {known}; no classes yet, add them on the page or with --classes a,b,c"
    listed = [f"{name} ({count[name]:,})" if count[name] else name for name in classes[:FEW]]
    more = f" and {len(classes) - FEW:,} more" if len(classes) > FEW else ""
    n = len(classes)
    return f"Labels: {known}; {n:,} {'class' if n == 1 else 'classes'}: {', '.join(listed)}{more}"
