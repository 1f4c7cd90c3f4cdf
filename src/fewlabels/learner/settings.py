"""A learner's settings, checked: classes, strength, seed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import is_whole
from fewlabels.errors import SettingError
from fewlabels.graph import Graph

AUTO_STRENGTH = 5.0  # beta times the mean weighted degree when beta is "auto"


def resolve_beta(graph: Graph, beta: float | str) -> float:
    """beta as a number; "auto" is 5 / mean weighted degree, so that scaling all weights changes nothing."""
    if beta == "auto":
        mean = float(graph.degrees().mean())
        return AUTO_STRENGTH / mean if mean > 0 else 1.0  # without edges beta has no effect
    if isinstance(beta, bool) or not isinstance(beta, Real) or not (math.isfinite(beta) and beta > 0):
        raise SettingError(f'beta is {beta!r}: give a number above 0, or "auto".')
    return float(beta)


def checked_classes(classes: Iterable[Hashable]) -> list[Hashable]:
    if isinstance(classes, str) or not hasattr(classes, "__iter__"):
        raise SettingError(f"classes is {classes!r}: give a list of at least two labels.")
    found = [c.item() if isinstance(c, np.generic) else c for c in classes]
    for c in found:
        if not isinstance(c, Hashable) or c != c:
            raise SettingError(f"{c!r} cannot be a class: use text or numbers.")
    if len(found) < 2:
        raise SettingError(
            f"there is {len(found)} class, {found}: give at least two."
            if found
            else "there are no classes: give at least two."
        )
    if len(set(found)) < len(found):
        twice = next(c for k, c in enumerate(found) if c in found[:k])
        raise SettingError(f"class {twice!r} is listed twice: list every class once.")
    return found


def seed_of(random_state: Any) -> int:
    """A whole number that fixes every draw; None takes a fresh one, which is saved with the learner."""
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if not is_whole(random_state) or random_state < 0:
        raise SettingError(f"random_state is {random_state!r}: give a whole number from 0, a numpy Generator, or None.")
    return int(random_state)


def as_array(classes: list[Hashable]) -> NDArray[Any]:
    """The classes as an array of their common plain type, or of objects."""
    if len({type(c) for c in classes}) == 1 and isinstance(classes[0], (str, bool, int, float)):
        plain = np.array(classes)
        if plain.tolist() == classes:  # not so for whole numbers past 64 bits, or text that ends in NUL
            return plain
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    return array


def quoted(classes: list[Hashable], most: int = 10) -> str:
    """The first classes, for a message."""
    return ", ".join(repr(c) for c in classes[:most]) + (
        f" and {len(classes) - most} more" if len(classes) > most else ""
    )
