"""The recipe of a field: what was asked for, what was taken where that was "auto", and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import SettingError, nearest
from fewlabels.field.overlap import overlapped, transitivity
from fewlabels.field.precision import SMOOTH_SPAN, is_even, mean_degree, strength
from fewlabels.graph import Graph
from fewlabels.machine import memory
from fewlabels.machine.progress import say

if TYPE_CHECKING:
    from fewlabels.field.covariance import Covariance

ENGINES = ("auto", "dense", "gpu", "sparse")
DENSE_UP_TO = 4_000  # nodes: from 5,000 on the sparse engine is sooner done with 30 questions (benchmarks/crossing.py)
ROOM = 0.8  # share of the free memory that the dense engine may take
SPARSE_DEGREE = 0.01  # share of all pairs that are edges: a denser graph gains nothing from sparse solvers
AUTO_STRENGTH = 5.0  # of the field when beta is "auto": with smoothness 0, beta times the mean weighted degree
OVERLAPPED_STRENGTH = 7.5  # the same where links are weighed by overlap: most are then weaker than the mean
OVERLAP, MOST_OVERLAP = 2.0, 10.0  # what "auto" takes for overlap where neighbours are linked to each other; and most
CLUSTERED = 0.08  # transitivity from which they are: random links have 0.00 to 0.07, nearest neighbours 0.09 to 0.6
LOPSIDED = 2.0  # mean degree times mean 1 / degree, by overlap, up to which it tells clusters apart rather than hubs
GENTLE, SMOOTH = 0.5, 3.3  # what "auto" takes for smoothness on graphs of some size, and on large ones
SIZES = {True: (300, 1_000), False: (1_250, 5_000)}  # nodes up to which the field is the paper's, and gentle: if even
MOST_PAIRS = 5e7  # pairs up to two edges apart: more would fill the memory, where they are most of all pairs


class Centring(NamedTuple):
    """Predictions are set about the shares of the classes: known ones (C,), or equal ones."""

    shares: Floats | None = None


class Choice(NamedTuple):
    """A setting's value, and why it was taken."""

    value: float
    why: str
    again: bool = False  # whether "auto" would take it again on the same graph


@dataclass(frozen=True)
class FieldSpec:
    """What is asked of a field; "auto" leaves it to the graph.

    >>> FieldSpec().resolved(Graph.from_edges(range(6), range(1, 7))).smoothness
    Choice(value=0.0, why='7 nodes, about equally many edges each', again=True)
    """

    beta: float | str = "auto"
    smoothness: float | str = "auto"
    overlap: float | str = "auto"
    engine: str | Covariance = "auto"

    @classmethod
    def paper(cls, engine: str | Covariance = "auto") -> FieldSpec:
        """That of Jun & Nowak 2016."""
        return cls(1.0, 0.0, 0.0, engine)

    def resolved(self, graph: Graph) -> Recipe:
        """Every "auto" a value with its reason; where the engine is a covariance, those it was made by."""
        if not isinstance(self.engine, str):
            if not hasattr(self.engine, "recipe"):
                raise SettingError(f"engine is {self.engine!r}: choose one of {', '.join(ENGINES)}.")
            return self._of(self.engine, graph)
        smoothness = _smoothness(graph, self.smoothness)
        links, overlap = _overlap(graph, self.overlap, smoothness.value)
        return Recipe(graph, links, _beta(links, self.beta, smoothness.value), smoothness, overlap, self.engine)

    def _of(self, covariance: Covariance, graph: Graph) -> Recipe:
        recipe = covariance.recipe
        taken = recipe.beta, recipe.smoothness.value, recipe.overlap.value
        asked = self.beta, self.smoothness, self.overlap
        same = all(a in ("auto", b) for a, b in zip(asked, taken, strict=True))
        if not same or (recipe.graph is not graph and recipe.graph.fingerprint() != graph.fingerprint()):
            raise SettingError(
                "engine is the covariance of another graph, or of another beta, smoothness or overlap: make a new one."
            )
        return recipe


class Recipe(NamedTuple):
    """All that a field is made of."""

    graph: Graph
    links: Graph  # the graph as the field sees it
    beta: float
    smoothness: Choice
    overlap: Choice
    engine: str = "auto"

    def build(self) -> Covariance:
        """The covariance, where this engine keeps it."""
        engine = self.engine
        if engine not in ENGINES:
            raise SettingError(
                f"there is no engine {engine!r}: choose one of {', '.join(ENGINES)}.{nearest(engine, ENGINES)}"
            )
        if engine == "auto":
            engine, why = choose_engine(self.graph)
            if engine == "sparse":
                say(f"engine 'sparse' for {self.graph.n_nodes:,} nodes: {why}")
        if engine == "gpu":
            try:
                from fewlabels.field.links.on_card import OnCard  # loads torch and Triton
            except ImportError as error:
                raise SettingError(
                    f"engine 'gpu' needs torch with CUDA, and {error.name} is not installed: "
                    "pip install 'fewlabels[gpu]'."
                ) from None
            return OnCard(self)
        if engine == "sparse":
            from fewlabels.field.links.on_demand import OnDemand  # loads Numba

            return OnDemand(self)
        from fewlabels.field.links.in_memory import InMemory  # loads SciPy

        return InMemory(self)


def choose_engine(graph: Graph, free: int | None = None) -> tuple[str, str]:
    """The engine "auto" takes for this graph with `free` bytes of memory (default: what is free now), and why."""
    free = memory.available() if free is None else free
    n = graph.n_nodes
    need = 16 * n * n
    if need > ROOM * free:
        return "sparse", f"a dense field needs {memory.size(need)} and {memory.size(free)} are free"
    if n > DENSE_UP_TO and graph.weights.nnz <= SPARSE_DEGREE * n * n:
        return "sparse", f"beyond {DENSE_UP_TO:,} nodes the dense engine is slow"
    return "dense", f"all of it takes {memory.size(need)} and {memory.size(free)} are free"


def _smoothness(graph: Graph, smoothness: float | str, *, lone: bool = False) -> Choice:
    """smoothness as a number; "auto" takes it from the size of the graph and from what kind it is. `lone`: nodes
    without an edge count, too.

    The thresholds are where one field overtook the other on the graphs of docs/few-labels.md.
    """
    if smoothness != "auto":
        number = isinstance(smoothness, Real) and not isinstance(smoothness, bool)
        if not number or not math.isfinite(float(smoothness)) or float(smoothness) < 0:
            raise SettingError(f'smoothness is {smoothness!r}: give a number from 0 (the paper\'s field), or "auto".')
        return Choice(float(smoothness), "as given")
    W = graph.weights
    neighbours = np.diff(W.indptr)
    some = neighbours[neighbours > 0]
    n = graph.n_nodes if lone else len(some)
    if len(some) == 0:
        return Choice(0.0, "no edges", True)
    if float(W.data.max()) > SMOOTH_SPAN * float(W.data.min()):
        return Choice(0.0, f"weights that span more than a factor {SMOOTH_SPAN:g}", True)
    if min(float((some.astype(float) ** 2).sum()), float(n) ** 2) > max(MOST_PAIRS, n**2 / 2):
        return Choice(0.0, "most nodes two edges apart", True)
    even = is_even(W if graph.links is None else graph.links)
    small, large = SIZES[even]
    if graph.links is not None and not even:
        small = large  # hubs and words together: measured on CORA and CITESEER
    kind = f"{n:,} nodes" + (" with edges, " if n < graph.n_nodes else ", ")
    kind += "about equally many edges each" if even else "some with few edges, some with many"
    return Choice(0.0 if n <= small else GENTLE if n <= large else SMOOTH, kind, graph.links is None)


def _overlap(graph: Graph, overlap: float | str, smoothness: float) -> tuple[Graph, Choice]:
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
    links = graph.weights if graph.links is None else graph.links
    if smoothness != 0 and is_even(links) and transitivity(links) > CLUSTERED:
        found = overlapped(graph, OVERLAP)
        W, degree = found.weights.data, found.degrees()
        degree = degree[degree > 0]
        if W.max() <= SMOOTH_SPAN * W.min() and degree.mean() * (1 / degree).mean() < LOPSIDED:
            return found, Choice(OVERLAP, "many between neighbours", graph.links is None)
    return graph, Choice(0.0, "as the graph has them", graph.links is None)


def _beta(graph: Graph, beta: float | str, smoothness: float, *, lone: bool = False) -> float:
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
    a = _smoothness(graph, smoothness, lone=True).value
    seen, shared = _overlap(graph, overlap, a)
    edged = np.count_nonzero(graph.degrees()) / graph.n_nodes
    return a / edged, shared.value, _beta(seen, beta, a, lone=True)
