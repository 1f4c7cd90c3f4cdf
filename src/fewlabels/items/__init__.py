"""Items: what a person labels, read from what they have (a folder of images, a table, a graph)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fewlabels.arrays import Floats
from fewlabels.files.predictions import ModelPredictions
from fewlabels.graph import Graph
from fewlabels.items.search import Haystack
from fewlabels.items.unusual import Unusual
from fewlabels.items.values import SharedValues
from fewlabels.items.words import MOST, SharedWords

if TYPE_CHECKING:
    import pandas as pd


class Pictures(Protocol):
    """The items' images, by item number: nothing outside the list can be requested."""

    def full(self, item: int) -> tuple[bytes, str]:
        """The image itself: bytes and media type."""

    def thumbnail(self, item: int) -> tuple[bytes, str]:
        """The same, at most 128 x 128."""

    def original(self, item: int) -> tuple[bytes, str]:
        """The file's own bytes, and the ending that fits them, such as .jpg."""

    def ending(self, item: int) -> str:
        """That ending alone."""

    def file(self, item: int) -> Path | None:
        """Where the file lies; None where the image is drawn."""

    def slow(self, item: int) -> bool:
        """Whether the image itself takes long to make."""


@dataclass(frozen=True)
class Items:
    """Things to label, the graph between them, and everything shown about them."""

    title: str
    kind: str  # "image", "text", "row" or "node"
    graph: Graph  # one node per item, numbered 0 to n - 1
    names: Sequence[str]  # (n,) what each item is called; no name twice
    position: Floats  # (n, 2) the map, each coordinate in [0, 1]
    fingerprint: str  # SHA-256 of what the items are: names, contents, what ties them
    texts: Sequence[str] | None = None
    attributes: Sequence[Mapping[str, str]] | None = None  # shown as a table under the item
    pictures: Pictures | None = None
    known: Mapping[int, str] = field(default_factory=dict)  # labels the table already holds: item number -> class
    classes: Sequence[str] = ()  # those given, then new ones from the label column, sorted
    by: str = ""  # in words, what photos or texts are compared by
    model_labels: Sequence[str | None] | None = None  # (n,) what a model thinks of each, None where it has no opinion
    model: ModelPredictions | None = None  # its chances; items by name
    table: pd.DataFrame | None = None  # as it was given, a row for every item
    notes: Sequence[str] = ()  # what a person should know about how the data were read
    left_out: Sequence[tuple[str, str]] = ()  # images that cannot be shown, and why

    @cached_property
    def haystack(self) -> Haystack:
        """What is searched for words: names, texts and values."""
        texts = self.texts if self.texts is not None else [""] * len(self.names)
        values = [""] * len(self.names) if self.attributes is None else [" ".join(r.values()) for r in self.attributes]
        return Haystack(map(" ".join, zip(self.names, texts, values, strict=True)))

    def unusual(self, item: int, most: int) -> list[str]:
        """The columns whose values are most unusual in this item, the most unusual first."""
        if self.attributes is None or self._unusual is None:
            return []
        return self._unusual.columns(self.attributes[item], most)

    @cached_property
    def _unusual(self) -> Unusual | None:
        return None if self.attributes is None else Unusual(self.attributes)

    def shared_words(self, i: int, j: int, most: int = MOST) -> list[str]:
        """The words that the texts of two items share, the most telling first; none where there are no texts."""
        return [] if self._words is None else self._words.between(i, j, most)

    def shared_values(self, i: int, j: int) -> list[tuple[str, str, str]]:
        """(column, value here, value there) where two rows agree, the most telling first; none for texts and images."""
        return self._values.between(i, j) if self._values is not None and self.kind in ("row", "node") else []

    @cached_property
    def _values(self) -> SharedValues | None:
        return None if self.attributes is None else SharedValues(self.attributes)

    @cached_property
    def _words(self) -> SharedWords | None:
        return None if self.texts is None else SharedWords(self.texts)
