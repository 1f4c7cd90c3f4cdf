"""Items: what a person labels, read from what they have (a folder of images, a table, a graph)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fewlabels.arrays import Floats
from fewlabels.graph import Graph


class Pictures(Protocol):
    """The images of the items, by item number: nothing that is not in the list can be asked for."""

    def full(self, item: int) -> tuple[bytes, str]:
        """The image itself: bytes and media type."""

    def thumbnail(self, item: int) -> tuple[bytes, str]:
        """The same, at most 128 x 128."""


@dataclass(frozen=True)
class Items:
    """Things to label, the graph between them, and all that is shown of them."""

    title: str
    kind: str  # "image", "text", "row" or "node"
    graph: Graph  # one node an item, numbered 0 to n - 1
    names: Sequence[str]  # (n,) what an item is called; each once
    position: Floats  # (n, 2) the map, each coordinate in [0, 1]
    fingerprint: str  # SHA-256 of what the items are: names, contents, what ties them
    texts: Sequence[str] | None = None
    attributes: Sequence[Mapping[str, str]] | None = None  # shown as a table under the item
    pictures: Pictures | None = None
    known: Mapping[int, str] = field(default_factory=dict)  # labels the table already holds: item number -> class
    classes: Sequence[str] = ()  # those given first, then new ones of the label column, sorted
