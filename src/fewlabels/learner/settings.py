"""A learner's settings, checked: the field, classes, their shares, seed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import Floats, is_whole
from fewlabels.errors import SettingError
from fewlabels.field import DENSE_UP_TO, Engine, Field
from fewlabels.field.known import Centring
from fewlabels.field.opinion import Trust
from fewlabels.field.overlap import overlapped, transitivity
from fewlabels.field.precision import SMOOTH_SPAN, is_even, mean_degree, strength
from fewlabels.graph import Graph
from fewlabels.graph.names import passing_name

AUTO_STRENGTH = 5.0  # of the field when beta is "auto": with smoothness 0, beta times the mean weighted degree
OVERLAPPED_STRENGTH = 7.5  # the same where links are weighed by overlap: most are then weaker than the mean
OVERLAP, MOST_OVERLAP = 2.0, 10.0  # what "auto" takes for overlap where neighbours are linked to each other; and most
CLUSTERED = 0.08  # transitivity from which they are: random links have 0.00 to 0.07, nearest neighbours 0.09 to 0.6
LOPSIDED = 2.0  # mean degree times mean 1 / degree, by overlap, up to which it tells clusters apart rather than hubs
GENTLE, SMOOTH = 0.5, 3.3  # what "auto" takes for smoothness on graphs of some size, and on large ones
SIZES = {True: (300, 1_000), False: (1_250, 5_000)}  # nodes up to which the field is the paper's, and gentle: if even
MOST_PAIRS = 5e7  # pairs up to two edges apart: beyond it a dense engine would fill the memory with them


class Choice(NamedTuple):
    """A setting's value, and why it was taken."""

    value: float
    why: str
    again: bool = False  # whether "auto" would take it again on the same graph


def resolve_smoothness(
    graph: Graph, smoothness: float | str, engine: str | Engine | Field = "auto", *, lone: bool = False
) -> Choice:
    """smoothness as a number; "auto" takes it from the size of the graph and from what kind it is, or, where the engine
    is a field, that of the field. `lone`: nodes without an edge count, too.

    The thresholds are where one field overtook the other on the graphs of docs/few-labels.md.
    """
    if smoothness != "auto":
        number = isinstance(smoothness, Real) and not isinstance(smoothness, bool)
        if not number or not math.isfinite(float(smoothness)) or float(smoothness) < 0:
            raise SettingError(f'smoothness is {smoothness!r}: give a number from 0 (the paper\'s field), or "auto".')
        return Choice(float(smoothness), "as given")
    if not isinstance(engine, str) and not callable(engine):
        return Choice(engine.smoothness, "that of the field")
    W = graph.weights
    neighbours = np.diff(W.indptr)
    some = neighbours[neighbours > 0]
    n = graph.n_nodes if lone else len(some)
    if len(some) == 0:
        return Choice(0.0, "no edges", True)
    if float(W.data.max()) > SMOOTH_SPAN * float(W.data.min()):
        return Choice(0.0, f"weights that span more than a factor {SMOOTH_SPAN:g}", True)
    if n <= DENSE_UP_TO and min(float((some.astype(float) ** 2).sum()), float(n) ** 2) > MOST_PAIRS:
        return Choice(0.0, "most nodes two edges apart", True)
    even = is_even(W if graph.links is None else graph.links)
    small, large = SIZES[even]
    if graph.links is not None and not even:
        small = large  # hubs and words together: measured on CORA and CITESEER
    kind = f"{n:,} nodes" + (" with edges, " if n < graph.n_nodes else ", ")
    kind += "about equally many edges each" if even else "some with few edges, some with many"
    return Choice(0.0 if n <= small else GENTLE if n <= large else SMOOTH, kind, graph.links is None)


def resolve_overlap(
    graph: Graph, overlap: float | str, smoothness: float, engine: str | Engine | Field = "auto"
) -> tuple[Graph, Choice]:
    """The graph as the field sees it, and overlap as a number.

    "auto" weighs links by shared neighbours where nodes have about equally many edges and neighbours are often linked
    to each other; not where smoothness is 0, in the paper's field.
    """
    if overlap != "auto":
        number = isinstance(overlap, Real) and not isinstance(overlap, bool)
        if not number or not 0 <= float(overlap) <= MOST_OVERLAP:
            raise SettingError(
                f'overlap is {overlap!r}: give a number from 0 (weights as they are) to {MOST_OVERLAP:g}, or "auto".'
            )
        return overlapped(graph, float(overlap)), Choice(float(overlap), "as given")
    if not isinstance(engine, str) and not callable(engine):
        return overlapped(graph, engine.overlap), Choice(engine.overlap, "that of the field")
    links = graph.weights if graph.links is None else graph.links
    if smoothness != 0 and is_even(links) and transitivity(links) > CLUSTERED:
        found = overlapped(graph, OVERLAP)
        W, degree = found.weights.data, found.degrees()
        degree = degree[degree > 0]
        if W.max() <= SMOOTH_SPAN * W.min() and degree.mean() * (1 / degree).mean() < LOPSIDED:
            return found, Choice(OVERLAP, "many between neighbours", graph.links is None)
    return graph, Choice(0.0, "as the graph has them", graph.links is None)


def described(
    smoothness: Choice, overlap: Choice, beta: float, centring: Centring | None, trust: Trust | None = None
) -> str:
    """One line: the field that was taken, and why; and how far a model's opinion is trusted."""
    a = smoothness.value
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
    why = smoothness.why
    if overlap.value:
        kind += f", links weighed by shared neighbours (overlap {overlap.value:g})"
        why += f", {overlap.why}" if overlap.why != why else ""
    return f"{kind}, beta {beta:.3g}: {why}; {how}"


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


def resolve_beta(graph: Graph, beta: float | str, smoothness: float = 0.0, *, lone: bool = False) -> float:
    """beta as a number; "auto" is 5 / mean weighted degree, so that scaling all weights changes nothing, and less for a
    smooth field, so that it is as strong; more where links are weighed by overlap. The mean is over the nodes that have
    edges; `lone`: over all.
    """
    if beta == "auto":
        mean = float(graph.degrees().mean()) if lone else mean_degree(graph.degrees())
        wanted = OVERLAPPED_STRENGTH if graph.overlap else AUTO_STRENGTH
        return wanted / strength(mean, smoothness) if mean > 0 else 1.0  # without edges beta has no effect
    if isinstance(beta, bool) or not isinstance(beta, Real) or not (math.isfinite(beta) and beta > 0):
        raise SettingError(f'beta is {beta!r}: give a number above 0, or "auto".')
    return float(beta)


def with_lone_nodes(
    graph: Graph, smoothness: float | str, overlap: float | str, beta: float | str
) -> tuple[float, float, float]:
    """smoothness, overlap and beta in numbers, for the field of a version in which nodes without an edge counted in the
    mean degree and the size.
    """
    a = resolve_smoothness(graph, smoothness, lone=True).value
    seen, shared = resolve_overlap(graph, overlap, a)
    edged = np.count_nonzero(graph.degrees()) / graph.n_nodes
    return a / edged, shared.value, resolve_beta(seen, beta, a, lone=True)


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
