"""Slow waves and polynomials: against eigenvectors and inverses from the definitions."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from support.fields import Life, assert_same, field_of, on_demand
from support.graphs import clusters, in_pieces, random_labels, random_weights

from fewlabels import Graph
from fewlabels.field.links.solve import choose
from fewlabels.field.links.solve.chebyshev import TOLERANCE, Deflation, Smoother
from fewlabels.field.links.solve.factor import Factor, SuperLU
from fewlabels.field.links.solve.pcg import System
from fewlabels.field.links.solve.pinned import Smoothed
from fewlabels.field.links.solve.polynomial import Ordered, Scaled
from fewlabels.field.links.solve.waves import SlowWaves
from fewlabels.kernels.cpu.wide_rows import WIDE


def laplacian(graph):
    W = graph.weights
    degree = np.asarray(W.sum(axis=1)).ravel()
    _, component = connected_components(W)
    pivots = np.where(degree > 0, degree, 1.0)
    nobody = np.zeros(len(degree), dtype=bool)
    system = System(W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, pivots, nobody)
    return system, np.diag(degree) - W.toarray(), component.astype(np.int64)


@pytest.mark.parametrize("m", [1, WIDE, 2 * WIDE])
@pytest.mark.parametrize("n", [2, 37, 600])
def test_a_step_is_what_it_says(n, m):
    rng = np.random.default_rng(m)
    system, L, _ = laplacian(Graph(random_weights(n, rng, density=0.2)))
    matrix = Scaled(Ordered(system), system.diagonal)
    order = Ordered(system).order
    A = (L / np.sqrt(np.outer(system.diagonal, system.diagonal)))[np.ix_(order, order)]
    X, Y, B = rng.standard_normal((3, n, m)).astype(np.float32)
    for given in (B, B[:0]):
        found = Y.copy()
        matrix.step(X, found, 2.0, -1.0, 0.5, given)
        np.testing.assert_allclose(found, 2 * X - Y + 0.5 * ((given if len(given) else 0) - A @ X), atol=1e-5)
    found = np.full_like(Y, np.nan)  # is not read
    matrix.step(X, found, 2.0, 0.0, 0.5, B)
    np.testing.assert_allclose(found, 2 * X + 0.5 * (B - A @ X), atol=1e-5)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_waves_are_the_slowest_eigenvectors(seed):
    system, L, component = laplacian(clusters(700, seed=seed))
    found = Deflation(system, Ordered(system), component).solver()._waves
    scale = 1 / np.sqrt(system.diagonal)
    truth = np.linalg.eigvalsh(scale[:, None] * L * scale)[component.max() + 1 :]
    np.testing.assert_allclose(found.values[:20], truth[:20], atol=1e-4)
    assert found.edge == pytest.approx(truth[len(found.values)], rel=0.05)


def test_a_search_that_was_refused_goes_on_where_it_was(monkeypatch):
    system, _, component = laplacian(clusters(700))
    search, afresh = (Deflation(system, Ordered(system), component) for _ in range(2))
    both = search._search, afresh._search
    assert search.solver(least=1.0) is None  # no edge is that high
    turns = []
    monkeypatch.setattr(SlowWaves, "_turn", lambda self, turn=SlowWaves._turn: (turns.append(self), turn(self)))
    found, truth = search.solver()._waves, afresh.solver()._waves
    first, second = (sum(self is each for self in turns) for each in both)
    assert first < second
    np.testing.assert_allclose(found.values[:20], truth.values[:20], atol=1e-5)


def hubs(n):
    return Graph(nx.to_scipy_sparse_array(nx.barabasi_albert_graph(n, 1, seed=0), dtype=float, format="csr"))


def factored(system, ordered, component, share):
    anchors = np.unique(component, return_index=True)[1]
    held = system._replace(held=np.isin(np.arange(len(component)), anchors))
    smoother = Smoother(ordered, system.diagonal, share, TOLERANCE / (share * system.diagonal.max()))
    return Smoothed(Factor(held, SuperLU), smoother)


def with_waves(system, ordered, component, share):
    smoother = (lambda: Smoother(ordered, system.diagonal, share, TOLERANCE)) if share else None
    return Deflation(system, ordered, component).solver(smoother)


@pytest.mark.parametrize(("made", "share"), [(with_waves, 0.0), (with_waves, 1.0), (factored, 1.0)])
@pytest.mark.parametrize("graph", [clusters(500), hubs(500)], ids=["clusters", "hubs"])
def test_a_covariance_is_nearly_right_in_every_direction(made, share, graph):
    """Also where inv(L) and T share, which are nearly the same at hubs, differ by a thousandth of either."""
    system, L, component = laplacian(graph)
    Q = L + share * L @ L
    values, vectors = np.linalg.eigh(Q)
    some = values > 1e-9 * values[-1]
    root = vectors[:, some] * np.sqrt(values[some])
    covariance = made(system, Ordered(system), component, share)
    off = root.T @ covariance.solve(root) - np.eye(some.sum())  # root' inv(Q) root is one
    assert np.linalg.norm(off, 2) < 4 * TOLERANCE
    nodes = np.arange(0, 500, 7)
    others = np.array([np.flatnonzero(component == component[k])[0] for k in nodes])
    truth = (vectors[:, some] / np.sqrt(values[some])).T @ (np.eye(500)[:, nodes] - np.eye(500)[:, others])
    error = np.linalg.norm(root.T @ covariance.between(nodes, others) - truth, axis=0)
    assert (error <= 4 * TOLERANCE * np.linalg.norm(truth, axis=0)).all()


def test_auto_takes_waves_where_a_factor_fills_in_and_a_factor_where_waves_are_many():
    assert "slow waves" in repr(on_demand(clusters(6_000, dimensions=5, apart=1.0), 2, smoothness=3.3).covariance)
    path = Graph.from_edges(np.arange(5_999), np.arange(1, 6_000))
    assert "Cholesky" in repr(on_demand(path, 2, smoothness=3.3).covariance)


@pytest.mark.parametrize("refused", [False, True])
def test_the_sketch_of_the_diagonal_is_sharper_with_the_waves(refused, monkeypatch):
    """Also with those of a search that was given up for a factor."""
    if refused:
        monkeypatch.setattr(choose, "MIXED", 1.0)
        monkeypatch.setattr(choose, "MOST_PAIRS", 0)
    graph = clusters(4_500, dimensions=4, apart=2.0)
    field = on_demand(graph, 2, smoothness=3.3, solver="auto" if refused else "chebyshev")
    assert ("slow waves" in repr(field.covariance)) != refused
    truth = field_of(graph, 2, smoothness=3.3)
    field, truth = (each.with_answers({5: 0, 1_000: 0, 4_000: 0}) for each in (field, truth))
    off = field.variance / truth.variance - 1
    assert not field.covariance.exact
    assert np.sqrt(np.mean(off**2)) < 0.015
    assert np.abs(off).max() < 0.08


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
def test_a_field_by_waves_is_the_dense_one_after_any_answers_and_any_taking_back(smoothness):
    """On clusters, of which some have no answer for long, and pieces beside them."""
    rng = np.random.default_rng(0)
    parts = [clusters(300).weights, clusters(120, seed=1).weights, in_pieces([3, 1], rng)]
    graph = Graph(sparse.block_array([[parts[i] if i == j else None for j in range(3)] for i in range(3)]).tocsr())
    ours, dense = lives = (
        Life(on_demand(graph, 3, 0.5, smoothness, "chebyshev")), Life(field_of(graph, 3, 0.5, smoothness))
    )  # fmt: skip
    assert "slow waves" in repr(ours.covariance)
    labels = random_labels(424, 30, 3, rng)
    for step, (node, c) in enumerate(labels.items()):
        unsure = rng.random(3) * (rng.random(3) < 0.7)
        for life in lives:
            life.observe(node, c)
            if step % 4 == 1:
                life.attach((node + 3) % 424, unsure)
        if step % 5 == 0:
            assert_same(ours, dense)
    for step, node in enumerate(rng.permutation(list(labels))[:20]):
        for life in lives:
            if step % 3:
                life.forget(node)
            else:
                life.observe(node, (labels[int(node)] + 1) % 3)
        if step % 5 == 0:
            assert_same(ours, dense)
            one, other = ours.two_step_costs().values, dense.two_step_costs().values
            assert other[np.argmin(one)] < other.min() + 2e-3


@pytest.mark.parametrize(("parts", "size"), [(60, 12), (1, 90)])
def test_fewer_waves_than_components_and_none_at_all(parts, size):
    """Complete graphs: every wave of one is as quick as the others."""
    i, j = np.triu_indices(size, 1)
    at = size * np.repeat(np.arange(parts), len(i))
    graph = Graph.from_edges(at + np.tile(i, parts), at + np.tile(j, parts))
    truth, field = field_of(graph, 2, smoothness=3.3), on_demand(graph, 2, smoothness=3.3, solver="chebyshev")
    truth, field = (each.with_answers({node: node % 2 for node in range(5)}) for each in (truth, field))
    assert_same(field, truth)
