"""The dense field is what the definitions say it is, after any answers and any taking back."""

import re
import tracemalloc

import numpy as np
import oracle
import pytest
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.errors import GraphError, MemoryNeededError
from fewlabels.field.dense import DenseField, inverse, sparse_factor
from fewlabels.graph import Graph
from fewlabels.machine import memory, progress


def by_node(field):
    """G and h in the order of node numbers."""
    order = np.argsort(field.unlabelled)
    return field.G[np.ix_(order, order)], field.h[order]


def resistances(G):
    return np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G


def test_on_a_path_G_is_the_smaller_distance_to_the_known_end():
    field = DenseField(Graph.from_edges([0, 1, 2], [1, 2, 3]), 2)
    field.observe(0, 0)
    G, h = by_node(field)
    np.testing.assert_allclose(G, [[1, 1, 1], [1, 2, 2], [1, 2, 3]])
    np.testing.assert_allclose(h, [[1, -1]] * 3)


@pytest.mark.parametrize("beta", [0.2, 1.0, 7.0])
@pytest.mark.parametrize(("n", "C"), [(2, 2), (9, 3), (14, 5)])
def test_observe_gives_the_inverse_and_the_propagation_of_the_definitions(n, C, beta):
    rng = np.random.default_rng(n)
    W = random_weights(n, rng)
    labels = random_labels(n, max(1, n // 3), C, rng)
    field = DenseField(Graph(W), C, beta)
    for node, c in labels.items():
        field.observe(node, c)
    u, _ = oracle.split(n, labels)
    L = oracle.laplacian(W, beta)
    G, h = by_node(field)
    np.testing.assert_allclose(G, np.linalg.inv(L[np.ix_(u, u)]), rtol=1e-10)
    np.testing.assert_allclose(h, oracle.propagation(L, labels, C), atol=1e-10)


@pytest.mark.parametrize("many", [1, 3, 40, 70])
def test_many_answers_at_once_are_one_after_another_whichever_way_it_takes_and_so_taken_back(many):
    rng = np.random.default_rng(many)
    graph = Graph(in_pieces([50, 15, 4, 1], rng))
    one_by_one, at_once = DenseField(graph, 3), DenseField(graph, 3)
    for field in (one_by_one, at_once):
        field.observe(0, 1)
    labels = {node: c for node, c in random_labels(70, many, 3, rng).items() if node}
    for node, c in labels.items():
        one_by_one.observe(node, c)
    at_once.observe_all(labels)
    for ours, theirs in zip(by_node(at_once), by_node(one_by_one), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
    assert at_once.refreshes == (len(labels) * 20 >= 69)
    at_once.forget_all(list(labels))
    for node in labels:
        one_by_one.forget(node)
    for ours, theirs in zip(by_node(at_once), by_node(one_by_one), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize(("sizes", "C"), [([9, 4, 2, 1], 3), ([12], 2), ([5, 5], 6)])
def test_relabel_is_forget_and_observe(sizes, C):
    rng = np.random.default_rng(C)
    n = sum(sizes)
    field = DenseField(Graph(in_pieces(sizes, rng)), C)
    labels = random_labels(n, n // 2, C, rng)
    for node, c in labels.items():
        field.observe(node, c)
    for node, c in labels.items():
        twin = field.copy()
        twin.forget(node)
        twin.observe(node, (c + 1) % C)
        field.relabel(node, (c + 1) % C)
        for ours, theirs in zip(by_node(field), by_node(twin), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-10)
        assert (field.label == twin.label).all()


def test_forget_undoes_observe_in_any_order_also_back_to_no_label():
    rng = np.random.default_rng(3)
    W = in_pieces([9, 4, 2, 1], rng)
    labels = random_labels(16, 16, 3, rng)
    field = DenseField(Graph(W), 3)
    states = []
    for node, c in labels.items():
        states.append((by_node(field), np.sort(field.island), field.unlabelled.copy()))
        field.observe(node, c)
    assert len(field.unlabelled) == 0
    for node in reversed(labels):
        field.forget(node)
        (G, h), island, unlabelled = states.pop()
        np.testing.assert_allclose(by_node(field)[0], G, atol=1e-10)
        np.testing.assert_allclose(by_node(field)[1], h, atol=1e-10)
        np.testing.assert_array_equal(np.sort(field.island), island)
        assert set(field.unlabelled) == set(unlabelled)


def test_forgetting_in_another_order_equals_never_having_known():
    rng = np.random.default_rng(4)
    graph = Graph(in_pieces([12, 5], rng))
    labels = random_labels(17, 9, 3, rng)
    field, fresh = DenseField(graph, 3), DenseField(graph, 3)
    for node, c in labels.items():
        field.observe(node, c)
    kept = list(labels)[4:7]
    for node in rng.permutation([k for k in labels if k not in kept]):
        field.forget(int(node))
    for node in kept:
        fresh.observe(node, labels[node])
    for ours, theirs in zip(by_node(field), by_node(fresh), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_a_component_without_a_label_is_the_limit_of_a_small_ridge():
    rng = np.random.default_rng(5)
    sizes = [6, 4, 1]
    W = in_pieces(sizes, rng)
    graph = Graph(W)
    component = graph.components()
    field = DenseField(graph, 3)
    in_first = int(np.flatnonzero(component == component[0])[0])
    field.observe(in_first, 2)
    labels = {in_first: 2}
    L = oracle.laplacian(W) + oracle.EPS * np.eye(11)
    u, _ = oracle.split(11, labels)
    G, h = by_node(field)
    np.testing.assert_allclose(h, oracle.propagation(L, labels, 3), atol=1e-5)
    ridge = np.linalg.inv(L[np.ix_(u, u)])
    reached = component[u] == component[in_first]
    np.testing.assert_allclose(G[np.ix_(reached, reached)], ridge[np.ix_(reached, reached)], atol=1e-5)
    for c in set(component[u][~reached]):
        part = np.ix_(component[u] == c, component[u] == c)
        np.testing.assert_allclose(resistances(G[part]), resistances(ridge[part]), rtol=1e-5)
        np.testing.assert_allclose(G[part].sum(axis=0), 0, atol=1e-12)  # the infinite part, a constant, is taken off
        assert ridge[part].mean() == pytest.approx(1 / (oracle.EPS * len(G[part])), rel=1e-6)
    assert np.isinf(field.variance[field.island >= 0]).all()


def test_asking_in_a_component_without_a_label_leaves_the_effective_resistance():
    field = DenseField(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]), 2)  # a square
    field.observe(0, 1)
    np.testing.assert_allclose(np.diag(by_node(field)[0]), [3 / 4, 1, 3 / 4])


def test_a_new_class_starts_unheard():
    rng = np.random.default_rng(6)
    graph = Graph(in_pieces([7, 3], rng))
    field, fresh = DenseField(graph, 2), DenseField(graph, 3)
    for f in (field, fresh):
        f.observe(0, 1)
    field.add_class()
    np.testing.assert_allclose(field.h, fresh.h, atol=1e-12)
    for f in (field, fresh):
        f.observe(5, 2)
        f.forget(0)
    np.testing.assert_allclose(by_node(field)[1], by_node(fresh)[1], atol=1e-12)


def test_an_answer_takes_no_copy_of_G():
    n = 600
    rng = np.random.default_rng(7)
    field = DenseField(Graph(random_weights(n, rng, density=0.01)), 3)
    field.observe(0, 0)
    buffer = field.G
    tracemalloc.start()
    try:
        field.observe(1, 1)
        field.forget(0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.shares_memory(field.G, buffer)
    assert peak < 0.15 * 8 * n * n


def test_setting_up_takes_one_matrix():
    n = 1500
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    DenseField(Graph.from_edges([0], [1]), 2)  # kernels compiled
    tracemalloc.start()
    try:
        DenseField(graph, 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * 8 * n * n


@pytest.mark.parametrize("m", [1, 5, 64, 130])
def test_blocks_give_the_inverse_also_when_the_last_one_is_short(m):
    rng = np.random.default_rng(m)
    A = np.diag(random_weights(m, rng).sum(axis=1) + rng.random(m)) - 0.1
    A = A @ A.T + np.eye(m)
    expected = np.linalg.inv(A)
    assert inverse._inverse_by_blocks(A, block=64)
    np.testing.assert_allclose(np.tril(A), np.tril(expected), rtol=1e-9, atol=1e-12)
    assert not inverse._inverse_by_blocks(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_a_long_set_up_tells_the_time_left(capsys, monkeypatch):
    monkeypatch.setattr(inverse, "BLOCKS_FROM", 1)
    monkeypatch.setattr(sparse_factor, "SPARSE", 0.0)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    n = 2100  # three blocks, each taken up three times
    field = DenseField(Graph.from_edges(np.arange(n - 1), np.arange(1, n)), 2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 8
    assert re.fullmatch(r"fewlabels: setting up 2,100 nodes, about \d+ s left", lines[0])
    end = field.G[np.ix_(field.unlabelled == 0, field.unlabelled == 0)]
    assert end[0, 0] == pytest.approx((n - 1) * (2 * n - 1) / (6 * n), rel=1e-10)  # the path's pseudo-inverse


def test_a_graph_too_large_for_the_memory_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**30)
    graph = Graph.from_edges([0], [1], n_nodes=20_000)
    with pytest.raises(MemoryNeededError, match=r"20,000 nodes needs 3\.0 GiB of memory and 1\.0 GiB are free"):
        DenseField(graph, 2)


def test_weights_that_float64_cannot_hold_together_are_refused():
    with pytest.raises(GraphError, match="more than a factor 1e\\+13"):
        DenseField(Graph.from_edges([0, 1], [1, 2], [1e-9, 1e9]), 2)
    with pytest.raises(GraphError, match="must stay within"):
        DenseField(Graph.from_edges([0], [1], [1e-60]), 2)
