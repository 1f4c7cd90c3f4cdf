"""The named cases: what is timed, against which rival, and the check that comes first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import FewlabelsError, FileError
from fewlabels.experiments.bench import blocked_numpy
from fewlabels.experiments.datasets import cora
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.field.covariance import Covariance
from fewlabels.graph import Graph
from fewlabels.strategies import STRATEGIES, cost_of, lowest, tied

LABELS = 50
ALIKE = 1e-9  # how much our costs and the rival's may differ


class MissingRivalError(FewlabelsError):
    """The rival's package is not installed."""


@dataclass(frozen=True)
class Timing:
    """One line of the table."""

    case: str
    rival: str
    seconds: float
    rival_seconds: float
    floor: str  # operations and bytes that no program of this kind can do without

    @property
    def ratio(self) -> float:
        return self.rival_seconds / self.seconds


@cache
def cora_alike() -> tuple[Graph, tuple[int, ...]]:
    """CORA and its labels, or a random graph of its size if it is not available."""
    try:
        data = cora()
        return data.graph, tuple(data.labels.tolist())
    except FileError:
        rng = np.random.default_rng(0)
        return sparse_graph(2485, rng), tuple(rng.integers(0, 7, 2485).tolist())


def sparse_graph(n: int, rng: np.random.Generator) -> Graph:
    """A random connected graph of mean degree about 4."""
    path = np.stack([np.arange(n - 1), np.arange(1, n)])
    edges = np.unique(np.sort(np.hstack([path, rng.integers(0, n, (2, n))]), axis=0), axis=1)
    source, target = edges[:, edges[0] != edges[1]]
    return Graph.from_edges(source, target, n_nodes=n)


def in_memory(graph: Graph) -> Covariance:
    """Of the paper's field."""
    return FieldSpec(1.0, 0.0, 0.0, "dense").resolved(graph).build()


def costs(strategy: str, field: Conditioned) -> Floats:
    return cost_of(STRATEGIES[strategy](), field).values


def taught_field(graph: Graph, labels: tuple[int, ...], n_classes: int = 7) -> Conditioned:
    asked = np.random.default_rng(0).permutation(graph.n_nodes)[:LABELS].tolist()
    return Conditioned(in_memory(graph), Answers(n_classes, {node: labels[node] for node in asked}))


def fastest_question(strategy: str, field: Conditioned, labels: tuple[int, ...]) -> float:
    """Seconds of an answer, another one each time, and of the question after it."""
    answers = iter(field.unlabelled.tolist())

    def question() -> int:
        node = next(answers)
        after = field.with_answer(node, labels[node])
        return lowest(costs(strategy, after), after.unlabelled, np.random.default_rng(0))

    return fastest(question, 7, undo=lambda: field.vopt_costs())


def fastest(call: Callable[[], object], repeats: int, undo: Callable[[], object] = lambda: None) -> float:
    """Seconds of the quickest of several calls, after one to warm up; what each call changed is undone, not timed."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
        undo()
    return min(seconds[1:])


def tsa_round() -> Timing:
    """A whole TSA question at CORA's size, teach and query, against blocked NumPy."""
    return _round("tsa", blocked_numpy.two_step_cost)


def zlg_round() -> Timing:
    """A whole ZLG question at CORA's size against blocked NumPy."""
    return _round("zlg", blocked_numpy.harmonic_cost)


def _round(strategy: str, rival_cost: Callable[[Floats, Floats, int, int], Floats]) -> Timing:
    graph, labels = cora_alike()
    field = taught_field(graph, labels)
    n = graph.n_nodes
    node = int(field.unlabelled[0])
    ours, theirs = costs(strategy, field), rival_cost(field.G, field.h, n, blocked_numpy.BLOCKS[0])
    _require_same(ours, theirs, scale=1e3)  # far from the lowest, costs are rounded to float32
    if tied(ours, field.unlabelled).tolist() != tied(theirs, field.unlabelled).tolist():
        raise AssertionError("ours and the rival would ask different questions")

    before, h_before = field.G, field.h

    def rival(block: int) -> int:
        r = before[0] / before[0, 0]
        G = before - np.outer(r, before[0])
        h = h_before + np.outer(r, np.where(np.arange(7) == labels[node], 1.0, -1.0) - h_before[0])
        return int(rival_cost(G[1:, 1:].copy(), h[1:], n, block).argmin())

    pairs, C = len(field.h) ** 2, field.n_classes
    exponentials = f"{pairs * (C + 2) / 1e6:.0f}M exponentials, " if strategy == "tsa" else ""
    floor = f"{exponentials}{pairs * 8 * 3 / 1e6:.0f} MB (G read twice, written once)"
    theirs_seconds = min(fastest(lambda b=b: rival(b), 2) for b in blocked_numpy.BLOCKS)  # type: ignore[misc]
    seconds = fastest_question(strategy, field, labels)
    return Timing(f"{strategy} round, n = {n}, 7 classes", "NumPy in blocks", seconds, theirs_seconds, floor)


def vopt_round() -> Timing:
    """A whole VOpt question against GraphLearning's full-covariance acquisition of the same size."""
    return _variance_round("vopt", "var_opt")


def sopt_round() -> Timing:
    """A whole SOpt question against GraphLearning's full-covariance acquisition of the same size."""
    return _variance_round("sopt", "sigma_opt")


def _variance_round(strategy: str, theirs: str) -> Timing:
    try:
        from graphlearning import active_learning
    except ImportError:
        raise MissingRivalError("graphlearning is not installed: make bench installs it.") from None
    graph, labels = cora_alike()
    field = taught_field(graph, labels)
    G = field.G
    rival = getattr(active_learning, theirs)(G.copy(), gamma2=0.0)  # gamma2: their noise, none here
    everywhere = np.arange(len(G))
    gain = rival.compute(None, everywhere)
    cost = costs(strategy, field)
    _require_same(cost - cost.max(), gain.min() - gain, scale=float(np.ptp(gain)))

    def rival_question() -> int:
        rival.C = G.copy()
        rival.update([0], [0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return int(np.nanargmax(rival.compute(None, everywhere)))

    copying = fastest(lambda: G.copy(), 5)
    floor = f"{len(G) ** 2 * 8 * 3 / 1e6:.0f} MB (G read twice, written once)"
    seconds = fastest_question(strategy, field, labels)
    their_seconds = fastest(rival_question, 5) - copying
    return Timing(f"{strategy} round, n = {graph.n_nodes}", "GraphLearning", seconds, their_seconds, floor)


def eer_question() -> Timing:
    """One TSA question at n = 500 against scikit-activeml's Monte-Carlo expected error reduction, all candidates."""
    try:
        from skactiveml.classifier import ParzenWindowClassifier
        from skactiveml.pool import MonteCarloEER
    except ImportError:
        raise MissingRivalError("scikit-activeml is not installed: make bench installs it.") from None
    from sklearn.datasets import make_blobs

    X, truth = make_blobs(500, n_features=8, centers=4, random_state=0)
    known = np.random.default_rng(0).permutation(500)[:20]
    y = np.full(500, np.nan)
    y[known] = truth[known]
    answers = Answers(4, {node: int(truth[node]) for node in known.tolist()})
    field = Conditioned(in_memory(Graph.from_features(X, 10)), answers)
    rival = MonteCarloEER(missing_label=np.nan, random_state=0)
    model = ParzenWindowClassifier(classes=range(4), missing_label=np.nan)
    ours = fastest(lambda: costs("tsa", field), 7)
    if not np.isfinite(costs("tsa", field)).all():
        raise AssertionError("costs are not finite")
    start = time.perf_counter()
    rival.query(X, y, model, fit_clf=True, ignore_partial_fit=True)
    theirs = time.perf_counter() - start
    return Timing("tsa question, n = 500, 4 classes", "scikit-activeml EER", ours, theirs, "another model: time only")


def set_up() -> Timing:
    """The pseudo-inverse at CORA's size by Cholesky against NumPy's inverse by LU."""
    graph, _ = cora_alike()
    n = graph.n_nodes
    L = graph.laplacian().toarray()
    field = Conditioned(in_memory(graph), Answers(7))
    P = np.linalg.inv(L + 1 / n) - 1 / n
    _require_same(field.G, P, scale=float(abs(P).max()))
    ours = fastest(lambda: in_memory(graph), 3)
    theirs = fastest(lambda: np.linalg.inv(L + 1 / n) - 1 / n, 3)
    return Timing(f"set-up, n = {n}", "NumPy's LU inverse", ours, theirs, f"{n**3 / 1e9:.0f} GFLOP")


CASES: dict[str, Callable[[], Timing]] = {
    "tsa-round": tsa_round,
    "zlg-round": zlg_round,
    "vopt-round": vopt_round,
    "sopt-round": sopt_round,
    "eer-question": eer_question,
    "set-up": set_up,
}


def growth(sizes: tuple[int, ...] = (500, 1250, 2500, 5000, 10_000), n_classes: int = 7) -> list[tuple[int, float]]:
    """(n, seconds) of one TSA look-ahead on random sparse graphs with 50 labels: it should grow as n^2."""
    found = []
    for n in sizes:
        rng = np.random.default_rng(n)
        field = taught_field(sparse_graph(n, rng), tuple(rng.integers(0, n_classes, n).tolist()), n_classes)
        found.append((n, fastest(lambda field=field: costs("tsa", field), 3)))  # type: ignore[misc]
    return found


def _require_same(ours: Floats, theirs: Floats, scale: float = 1.0) -> None:
    """A case that is wrong is not timed."""
    gap = float(abs(ours - theirs).max())
    if not gap <= ALIKE * scale:
        raise AssertionError(f"ours and the rival's differ by {gap:g}")
