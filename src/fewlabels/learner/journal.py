"""The journal: a labelling as JSON lines, a header and one line for every event; and a learner replayed from it."""

from __future__ import annotations

import binascii
import json
import os
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from fewlabels.errors import FileError
from fewlabels.field.covariance import Covariance
from fewlabels.field.spec import with_lone_nodes
from fewlabels.files.atomic import atomic_file, one_at_a_time
from fewlabels.graph import Graph
from fewlabels.learner.prior import unpacked
from fewlabels.strategies import Strategy

FORMAT = 1

Record = dict[str, Any]


def write(path: str | os.PathLike[str], header: Record, events: list[Record]) -> None:
    """Write the journal whole. A file already there must hold the beginning of the same journal: no answer is lost."""
    path = Path(path)
    records = [{"fewlabels": FORMAT, **header}, *events]
    try:
        text = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)
    except (TypeError, ValueError) as error:
        raise FileError(
            f"{path} was not written: {error}. Classes must be text, numbers or true/false; rename the others."
        ) from None
    if [json.loads(line) for line in text.splitlines()] != records:
        raise FileError(f"{path} was not written: a class would come back as something else. Use text or numbers.")
    with one_at_a_time(path):
        old = _records(path) if path.exists() else []
        if records[: len(old)] != old:
            raise FileError(
                f"{path} holds another journal, of {len(old) - 1} events. "
                "Load it to continue it, or save under another name."
            )
        with atomic_file(path) as draft:
            draft.write_text(text, encoding="utf-8")


def read(path: str | os.PathLike[str]) -> tuple[Record, list[Record]]:
    """Header and events. A last line cut short, as by a power cut, is dropped with a warning."""
    header, *events = _records(Path(path))
    return header, events


def replayed(
    make: Any,
    path: str | os.PathLike[str],
    graph: Graph,
    strategy: Strategy | None,
    engine: str | Covariance | None,
) -> tuple[Any, Record, list[Record]]:
    """The learner that `make` builds, in the state of the journal, with its settings and events."""
    header, events = read(path)
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
        field = header.get("smoothness", 0.0), header.get("overlap", 0.0), header["beta"]
        if header.get("lone", True) and 0 < np.count_nonzero(graph.degrees()) < graph.n_nodes:
            field = with_lone_nodes(graph, *field)
        smoothness, overlap, beta = field
        learner = make(
            graph, header["classes"], chosen, beta, held_by, header["seed"], smoothness=smoothness, overlap=overlap,
            centred=header.get("centred", False), prior=_prior(header),
        )  # fmt: skip
        for event in events:
            _replay(learner, event)
    except (KeyError, TypeError, IndexError, zlib.error, binascii.Error) as error:
        raise FileError(
            f"{path} holds a record this version cannot replay ({error!r}). Fix or remove that line."
        ) from None
    return learner, {key: value for key, value in header.items() if key not in ("fewlabels", "graph")}, events


def closed(events: Iterable[Record]) -> dict[int, int]:
    """{node with an answer or a skip: how many checks had been drawn before it had one}."""
    found: dict[int, int] = {}
    drawn = 0
    for event in events:
        if event["do"] == "check":
            drawn += 1
        elif event["do"] == "forget":
            found.pop(event["node"], None)
        elif event["do"] in ("teach", "skip"):
            found.setdefault(event["node"], drawn)
    return found


def _prior(header: Record) -> Any:
    """{class: share}, or (n, C) a model's chances; a journal from before there was either has none of them."""
    found = header.get("prior")
    if found is None or isinstance(found, dict):
        return None if found is None else unpacked(found)
    return dict(zip(header["classes"], found, strict=True))


def _replay(learner: Any, event: Record) -> None:
    do = event["do"]
    if do == "add_class":
        return learner.add_class(event["label"])
    if do == "prior":
        return learner.set_prior(None if event["prior"] is None else unpacked(event["prior"]))
    if event["node"] < 0:
        raise IndexError("negative node number")
    node = learner.graph.names[event["node"]]
    if do == "teach":
        return learner.teach(node, event["label"], event.get("confidence", 1.0))
    if do == "check":
        return learner.add_checks([node])
    return {"forget": learner.forget, "skip": learner.skip}[do](node)


def _records(path: Path) -> list[Record]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}. Check the path.") from None
    records: list[Record] = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("not an object")
        except ValueError:
            if number == len(lines) > 1:
                warnings.warn(
                    f"{path}: line {number}, the last, is cut short and was dropped; the {number - 2} events "
                    "before it are kept.",
                    stacklevel=4,
                )
                break
            raise FileError(f"{path}: line {number} is not JSON. Fix or remove that line.") from None
        records.append(record)
    if not records or records[0].get("fewlabels") != FORMAT:
        raise FileError(
            f"{path} is not a fewlabels journal of format {FORMAT}: its first line is wrong. Choose another file."
        )
    return records
