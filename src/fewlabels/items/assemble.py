"""Items put together from their parts: the map, the classes and the fingerprint are computed here, once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fewlabels.errors import FileError
from fewlabels.graph import Graph
from fewlabels.items import Items, Pictures
from fewlabels.items.neighbours import map_of

if TYPE_CHECKING:
    import pandas as pd

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Shown:
    """What is known about each item, and in words where its ties come from."""

    names: Sequence[str]
    ties: str  # such as "10 nearest by text": with the contents, it determines the graph
    texts: Sequence[str] | None = None
    attributes: Sequence[Mapping[str, str]] | None = None
    pictures: Pictures | None = None
    contents: Sequence[str] = ()  # a digest of each item's image
    known: Mapping[int, str] = field(default_factory=dict)
    table: pd.DataFrame | None = None  # as it was given, a row for every item
    notes: Sequence[str] = ()
    left_out: Sequence[tuple[str, str]] = ()
    by: str = ""  # in words, what photos or texts are compared by; answers outlast it, so it is not fingerprinted


def assemble(title: str, kind: str, graph: Graph, shown: Shown, classes: Sequence[str], tell: Tell) -> Items:
    """The items, with their map; classes are those given, then new ones among the known labels, sorted."""
    seen: set[str] = set()
    twice = next((name for name in shown.names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]
    if twice is not None:
        raise FileError(f"two items are called {twice!r}: give every item a name of its own.")
    if graph.n_nodes > 5_000:
        tell(f"Drawing the map of {graph.n_nodes:,} items")
    given = list(dict.fromkeys(name.strip() for name in classes if name.strip()))
    return Items(
        title=title,
        kind=kind,
        graph=graph,
        names=list(shown.names),
        position=map_of(graph),
        fingerprint=fingerprint(shown),
        texts=shown.texts,
        attributes=shown.attributes,
        pictures=shown.pictures,
        known=dict(shown.known),
        classes=given + sorted(set(shown.known.values()) - set(given)),
        table=shown.table,
        notes=shown.notes,
        left_out=shown.left_out,
        by=shown.by,
    )


def fingerprint(shown: Shown) -> str:
    """SHA-256 of what the items are; not of known labels and classes, which may grow as people work.

    A nearest-neighbour graph counts as what it is made from: the last bits of its weights depend on the processor and
    on how many cores are free, and answers must open on another machine.
    """
    digest = hashlib.sha256()
    parts = {
        "ties": shown.ties,
        "names": list(shown.names),
        "texts": shown.texts,
        "attributes": None if shown.attributes is None else [dict(row) for row in shown.attributes],
        "contents": list(shown.contents),
    }
    for part in parts.items():
        digest.update(json.dumps(part).encode())
    return digest.hexdigest()
