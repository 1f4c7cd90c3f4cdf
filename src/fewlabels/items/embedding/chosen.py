"""How photos or texts are compared: by the network asked for, or by hand-made features, and what to say about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import ModelError
from fewlabels.items.embedding import AUTO, network, numbers_of
from fewlabels.items.embedding.named import INSTALL
from fewlabels.items.pictures import look_at, stacked
from fewlabels.items.seen import Seen

HAND_MADE = {"image": "outlines and colours", "text": "the words and pieces of words they share"}
BETTER = {"image": "what they show", "text": "what they mean"}


class Comparison(NamedTuple):
    """(n, d) rows of length 1, or none where hand-made features do; and in words what items are compared by."""

    X: Floats | None
    by: str


def compared(things: Sequence[Any], kind: str, model: str | None, tell: Callable[[str], None]) -> Comparison:
    """Photos ("image", given by path) or texts as numbers; "auto" goes on without where its network cannot be had."""
    if model is None:
        how = "--embed auto" + ("" if find_spec("fastembed") else f", after {INSTALL},")
        return Comparison(None, f"compared by {HAND_MADE[kind]}; {how} compares {BETTER[kind]}")
    by = network(model, kind, tell)
    try:
        X = numbers_of(things, by, kind, tell)
    except ModelError as error:
        if model != AUTO:
            raise
        return Comparison(None, f"compared by {HAND_MADE[kind]}, because {error}")
    length = np.linalg.norm(X, axis=1, keepdims=True)  # neighbours by angle were better than by distance
    return Comparison(X / np.where(length > 0, length, 1.0), f"compared by {by.name}, {X.shape[1]:,} numbers each")


def compared_photos(seen: Sequence[Seen], model: str | None, tell: Callable[[str], None]) -> tuple[Floats, str]:
    """(n, d) photos that were read as numbers, by the network or by hand, and what they are compared by."""
    X, by = compared([one.path for one in seen], "image", model, tell)
    if X is None and model is not None:
        answers = look_at([one.path for one in seen], features=True, tell=tell)
        seen = [one for one in answers if isinstance(one, Seen)]
    return stacked(seen) if X is None else X, by
