"""What is known before the first answer: the shares of the classes, or what a model thinks of every node."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import SettingError, nearest
from fewlabels.files.predictions import ModelPredictions
from fewlabels.graph import Graph
from fewlabels.learner.settings import quoted

ROUNDING = 1e-3  # by which a row of chances may miss 1
SAVED = 1e-6  # and by which one of float32 does


def split_prior(
    prior: Any, graph: Graph, classes: list[Hashable]
) -> tuple[Mapping[Hashable, float] | None, Floats | None]:
    """The shares of the classes, {class: share}, or (n, C) a model's chances, checked; whichever was given."""
    if prior is None or isinstance(prior, Mapping):
        return prior, None
    return None, checked_chances(prior, graph.names, classes)


def checked_chances(prior: Any, nodes: Sequence[Hashable], classes: list[Hashable]) -> Floats:
    """(n, C) chances in the order of nodes and classes; a pandas frame has the nodes as index, the classes as columns.

    They are kept to the precision of float32, in which they are saved, and rows add up to one.
    """
    if hasattr(prior, "columns") and hasattr(prior, "index"):
        prior = _in_order(prior, nodes, classes)
    try:
        P = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        raise SettingError(
            "prior is neither {class: share} nor an array of numbers: give the share of every class, or a chance for "
            "every node and class."
        ) from None
    if P.shape != (len(nodes), len(classes)):
        raise SettingError(
            f"prior has shape {P.shape} for {len(nodes):,} nodes and {len(classes)} classes: give a row for every node "
            f"and a column for every class, {quoted(classes)}; or give the share of every class, as {{class: share}}."
        )
    bad = np.argwhere(~((P >= 0) & (P <= 1 + ROUNDING)))
    if len(bad):
        k, c = bad[0]
        raise SettingError(
            f"prior gives node {nodes[k]!r} the chance {P[k, c]:g} of being {classes[c]!r}: chances are from 0 to 1. "
            f"Where the model says nothing, give {1 / len(classes):.3g} to each class."
        )
    total = P.sum(axis=1)
    off = np.flatnonzero(np.abs(total - 1) > ROUNDING)
    if len(off):
        k = int(off[0])
        raise SettingError(
            f"the chances that prior gives node {nodes[k]!r} add up to {total[k]:g}: they must add up to 1. "
            "Scores become chances by a softmax."
        )
    scale = np.where(np.abs(total - 1) < SAVED, 1.0, 1 / total)[:, None]  # those saved come back as they were
    return (scale * P).astype(np.float32).astype(float)


def chances_of_model(
    predictions: ModelPredictions, nodes: Sequence[Hashable], classes: Sequence[Hashable | None]
) -> Floats:
    """(n, C) a model's chances for these nodes and classes, equal where it has no prediction.

    Classes that it does not know, or None, get an equal share; what it gives to others is left out.
    """
    column = {name: c for c, name in enumerate(predictions.classes)}
    place = {name: row for row, name in enumerate(predictions.nodes)}
    n, C = len(nodes), len(classes)
    found = np.full((n, C), 1 / C)
    at = [(k, place[str(name)]) for k, name in enumerate(nodes) if str(name) in place]
    known = [(c, column[str(name)]) for c, name in enumerate(classes) if name is not None and str(name) in column]
    if not at or not known:
        return found
    (rows, sources), (to, of) = zip(*at, strict=True), zip(*known, strict=True)
    part = predictions.chances[np.ix_(sources, of)]
    total = part.sum(axis=1, keepdims=True)
    equal = np.full_like(part, 1 / len(of))
    found[np.ix_(rows, to)] = np.divide(part, total, out=equal, where=total > 0) * len(of) / C
    return found


def packed(chances: Floats | None) -> dict[str, Any] | None:
    """The chances as JSON can hold them."""
    if chances is None:
        return None
    text = base64.b64encode(zlib.compress(chances.astype("<f4").tobytes())).decode("ascii")
    return {"shape": list(chances.shape), "float32": text}


def unpacked(record: Mapping[str, Any]) -> Floats:
    """(n, C) the chances that `packed` wrote."""
    n, C = record["shape"]
    content = zlib.decompressobj().decompress(base64.b64decode(record["float32"]), 4 * n * C)
    return np.frombuffer(content, dtype="<f4").reshape(n, C).astype(float)


def _in_order(frame: Any, nodes: Sequence[Hashable], classes: list[Hashable]) -> Any:
    """The frame's numbers, rows and columns by name."""
    columns, rows = list(frame.columns), list(frame.index)
    missing, unknown = [c for c in classes if c not in columns], [c for c in columns if c not in classes]
    if missing or unknown:
        fact = (
            f"has no column for class {missing[0]!r}" if missing else f"has a column {unknown[0]!r}, which is no class"
        )
        hint = nearest(missing[0] if missing else unknown[0], unknown if missing else classes)
        raise SettingError(f"prior {fact}.{hint} Give one column for each of {quoted(classes)}.")
    place = {node: row for row, node in enumerate(rows)}
    if len(place) < len(rows) or len(columns) > len(classes):
        raise SettingError("prior names a node or a class twice: give one row for every node, one column for a class.")
    gone = next((node for node in nodes if node not in place), None)
    if gone is not None:
        raise SettingError(
            f"prior has no row for node {gone!r}.{nearest(gone, place)} Its index must name the nodes; where the model "
            f"says nothing, give {1 / len(classes):.3g} to each class."
        )
    return frame[classes].to_numpy()[[place[node] for node in nodes]]
