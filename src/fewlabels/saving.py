"""A learner from its journal: every event said to it again."""

from __future__ import annotations

import os
from typing import Any

from fewlabels import journal
from fewlabels.errors import FileError
from fewlabels.field import Engine, Field
from fewlabels.graph import Graph
from fewlabels.strategies import Strategy


def replayed(
    make: Any,
    path: str | os.PathLike[str],
    graph: Graph,
    strategy: Strategy | None,
    engine: str | Engine | Field | None,
) -> tuple[Any, journal.Record, list[journal.Record]]:
    """The learner that `make` makes, in the state of the journal, with its settings and events."""
    header, events = journal.read(path)
    if header.get("graph") != graph.fingerprint():
        raise FileError(
            f"{path} was saved on another graph, of {header.get('n_nodes')} nodes; this one has "
            f"{graph.n_nodes}. Load it with the graph it was made on."
        )
    chosen = header.get("strategy") if strategy is None else strategy
    if chosen is None:
        raise FileError(f"{path} was saved with a strategy of your own: pass it as load(path, graph, strategy=...).")
    try:
        held_by = header["engine"] if engine is None else engine
        learner = make(graph, header["classes"], chosen, header["beta"], held_by, header["seed"])
        for event in events:
            _replay(learner, event)
    except (KeyError, TypeError, IndexError) as error:
        raise FileError(
            f"{path} holds a record this version cannot replay ({error!r}). Mend or remove that line."
        ) from None
    return learner, {key: value for key, value in header.items() if key != "fewlabels"}, events


def _replay(learner: Any, event: journal.Record) -> None:
    do = event["do"]
    if do == "add_class":
        return learner.add_class(event["label"])
    if event["node"] < 0:
        raise IndexError("negative node number")
    node = learner.graph.names[event["node"]]
    if do == "teach":
        return learner.teach(node, event["label"], event.get("confidence", 1.0))
    return {"forget": learner.forget, "skip": learner.skip}[do](node)
