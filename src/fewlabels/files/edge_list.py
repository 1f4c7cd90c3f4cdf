"""Edges between numbered nodes and the nodes' names: what files and graphs of other packages are read into."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

WEIGHT = "weight"  # what an edge's weight is called by default; an edge without one weighs 1


@dataclass(frozen=True)
class EdgeList:
    """(m,) ends and weights of the edges; without weights each is 1, without names nodes are numbers."""

    source: Any
    target: Any
    weight: Any = None
    n_nodes: int | None = None
    names: Sequence[Hashable] | None = None
