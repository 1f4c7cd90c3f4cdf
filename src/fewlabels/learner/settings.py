"""A learner's settings, checked: the field, classes, their shares, seed."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import Floats, is_whole
from fewlabels.errors import SettingError, nearest
from fewlabels.field.opinion import Trust
from fewlabels.field.spec import Centring, Recipe
from fewlabels.graph import Graph
from fewlabels.graph.names import passing_name

PAPER: dict[str, Any] = {"beta": 1.0, "smoothness": 0.0, "overlap": 0.0, "centred": False}  # Jun & Nowak 2016


def of_field(field: str, **given: Any) -> dict[str, Any]:
    """beta, smoothness, overlap and centred of the field named; "auto" leaves them as given."""
    if field == "auto":
        return given
    if field != "paper":
        raise SettingError(
            f"there is no field {field!r}: choose one of auto, paper.{nearest(field, ['auto', 'paper'])}"
        )
    for name, value in given.items():
        if value not in ("auto", PAPER[name]):
            raise SettingError(
                f'{name} is {value!r}, and in the field "paper" it is {PAPER[name]!r}: leave one of the two out.'
            )
    return PAPER


def described(recipe: Recipe, centring: Centring | None, trust: Trust | None = None) -> str:
    """One line: the field that was taken, and why; and how far a model's opinion is trusted."""
    a, overlap = recipe.smoothness.value, recipe.overlap
    kind = f"smooth field ({a:g})" if a else "field of the paper (smoothness 0)"
    how = "predictions as label propagation has them"
    if centring is not None:
        how = "predictions centred on " + (
            "equal shares while labels are few" if centring.shares is None else "the prior"
        )
    if trust is not None:
        many = f"{trust.answers:,} answer{'' if trust.answers == 1 else 's'}"
        by = f"after {many}" if trust.answers else "before the first answer"
        how += f"; the model given as prior is taken to know {trust.share:.0%} of the nodes, {by}"
        how += " (it says no more alike of linked nodes than a guess would)" if trust.guesses else ""
    why = recipe.smoothness.why
    if overlap.value:
        kind += f", links weighed by shared neighbours (overlap {overlap.value:g})"
        why += f", {overlap.why}" if overlap.why != why else ""
    return f"{kind}, beta {recipe.beta:.3g}: {why}; {how}"


def resolve_centring(
    centred: bool | str, prior: Mapping[Hashable, float] | None, classes: list[Hashable]
) -> Centring | None:
    """How predictions are centred; "auto" centres them. Known shares are those of all classes, and add up to one."""
    if centred not in (True, False, "auto"):
        raise SettingError(f'centred is {centred!r}: give True, False or "auto".')
    if prior is None:
        return Centring() if centred else None
    if not centred:
        raise SettingError("prior is given and centred is False: predictions follow the shares only where centred.")
    return Centring(checked_shares(prior, classes))


def checked_shares(prior: Mapping[Hashable, float], classes: list[Hashable]) -> Floats:
    """(C,) the shares, in the order of the classes."""
    if not isinstance(prior, Mapping):
        raise SettingError(f"prior is {prior!r}: give the share of every class, as {{class: share}}.")
    missing = [c for c in classes if c not in prior]
    unknown = [c for c in prior if c not in classes]
    if missing or unknown:
        fact = f"has no share for class {missing[0]!r}" if missing else f"names {unknown[0]!r}, which is no class"
        raise SettingError(f"prior {fact}: give one share for each of {quoted(classes)}.")
    shares = [prior[c] for c in classes]
    if any(isinstance(s, bool) or not isinstance(s, Real) or not 0 <= s <= 1 for s in shares):
        raise SettingError(f"prior is {dict(prior)!r}: shares are numbers from 0 to 1.")
    if abs(sum(shares) - 1) > 1e-6:
        raise SettingError(f"the shares in prior add up to {sum(shares):g}: they must add up to 1.")
    return np.array(shares, dtype=float)


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


def warn_if_it_cannot_be_saved(graph: Graph) -> None:
    """Say now, and not after an hour of answers, that a save would be refused."""
    name = passing_name(graph.names)
    if name is not None:
        warnings.warn(
            f"the node {name!r} has no name that lasts, so this learner cannot be saved: name the nodes by text, "
            "numbers, or tuples and frozensets of them.",
            stacklevel=3,  # the line that made the learner
        )


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
