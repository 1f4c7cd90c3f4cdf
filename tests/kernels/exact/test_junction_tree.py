"""Exact inference against enumeration of all labelings, closed forms on trees, and its own plain twin."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from fewlabels import Graph
from fewlabels.errors import MemoryNeededError, SettingError
from fewlabels.field import Answers
from fewlabels.kernels.exact import junction_tree, junction_tree_cpu
from fewlabels.kernels.exact.elimination import eliminate, fewest_missing, least_share_missing
from fewlabels.kernels.exact.elimination import junction_tree as tree_of
from fewlabels.marginals import exact_marginals, markov_field
from fewlabels.risk import exact_lookahead


def enumerated(W, beta, label, C):
    """Marginals (u, C) and R+q (u,) from the definition: a sum over all labelings, column by column."""
    n = len(label)
    Y = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)  # (2^n, n)
    i, j = np.triu_indices(n, 1)
    weight = np.exp(-beta / 2 * ((Y[:, i] - Y[:, j]) ** 2 @ W[i, j]))  # (2^n,)
    known = label >= 0
    u = np.flatnonzero(~known)
    now, given = np.empty((len(u), C)), np.empty((len(u), 2, len(u), C))  # given[q, answer, k, column]
    for c in range(C):
        right = (Y[:, known] == np.where(label[known] == c, 1, -1)).all(axis=1)
        w, up = weight * right, Y[:, u] > 0
        now[:, c] = w @ up / w.sum()
        for q in range(len(u)):
            for answer, supposed in enumerate([w * ~up[:, q], w * up[:, q]]):
                given[q, answer, :, c] = supposed @ up / supposed.sum()
    chance = now / now.sum(axis=1, keepdims=True)
    cost = np.zeros(len(u))
    for q in range(len(u)):
        others = np.arange(len(u)) != q
        for c in range(C):
            p = given[q, (np.arange(C) == c).astype(int)][np.arange(C), :, np.arange(C)].T[others]  # (u - 1, C)
            cost[q] += chance[q, c] * (1 - (p / p.sum(axis=1, keepdims=True)).max(axis=1)).sum() / n
    return chance, cost


def weights_of(shape, n, rng):
    W = np.zeros((n, n))
    if shape == "complete":
        W += rng.random((n, n))
    elif shape == "cycle":
        W[np.arange(n), (np.arange(n) + 1) % n] = rng.random(n)
    elif shape == "tree":
        W[np.arange(1, n), [rng.integers(k) for k in range(1, n)]] = rng.random(n - 1)
    elif shape == "no edges":
        pass
    else:
        share = {"sparse": 0.15, "dense": 0.5}[shape]  # sparse: several components and lone nodes
        W += np.where(rng.random((n, n)) < share, rng.random((n, n)), 0)
    W = np.triu(W + W.T, 1)
    return W + W.T


def field_of(W, beta, label, C):
    """As much of a field as exact inference reads; spares large graphs the inverse."""
    label = np.asarray(label)
    return SimpleNamespace(
        weights=sparse.csr_array(beta * W),
        label=label,
        answers=Answers(C),
        unlabelled=np.flatnonzero(label < 0),
        n_nodes=len(label),
        n_classes=C,
    )


def with_labels(n, labels):
    label = np.full(n, -1)
    label[list(labels)] = list(labels.values())
    return label


def chain(n):
    return Graph.from_edges(range(n - 1), range(1, n))


def grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    return Graph.from_edges(
        np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()]), np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    )


@pytest.mark.parametrize("shape", ["sparse", "dense", "complete", "cycle", "tree", "no edges"])
@pytest.mark.parametrize(("n", "C", "n_labels"), [(1, 2, 0), (2, 2, 1), (6, 4, 2), (9, 3, 3), (13, 2, 2), (11, 2, 0)])
@pytest.mark.parametrize("beta", [0.3, 3.0])
def test_marginals_and_costs_are_those_of_enumeration(shape, n, C, n_labels, beta):
    rng = np.random.default_rng([n, C, len(shape)])
    W = weights_of(shape, n, rng)
    label = np.full(n, -1)
    label[rng.choice(n, n_labels, replace=False)] = rng.integers(C, size=n_labels)
    field = field_of(W, beta, label, C)
    chance, cost = enumerated(W, beta, label, C)
    assert np.allclose(exact_marginals(field), chance, rtol=0, atol=1e-10)
    assert np.allclose(exact_lookahead(field), cost, rtol=0, atol=1e-10)
    assert np.allclose(junction_tree.exact_cost(*markov_field(field), n), cost, rtol=0, atol=1e-10)


def test_a_single_edge_is_a_sigmoid_of_twice_its_weight():
    field = field_of(np.array([[0, 0.7], [0.7, 0]]), 1.0, np.array([0, -1]), 2)
    assert np.allclose(exact_marginals(field), [[expit(1.4), expit(-1.4)]])


def test_where_no_label_reaches_all_classes_are_equally_likely():
    field = field_of(weights_of("dense", 8, np.random.default_rng(0)), 1.0, np.full(8, -1), 3)
    assert np.allclose(exact_marginals(field), 1 / 3)


def test_a_long_chain_follows_the_product_of_its_correlations():
    """Between neighbours E[y y'] = tanh(beta w); beyond the last label nothing but that product is left."""
    n, beta = 3000, 2.5
    field = field_of(chain(n).weights, beta, with_labels(n, {0: 0}), 2)
    expected = (1 + np.tanh(beta) ** np.arange(1, n)) / 2
    assert np.allclose(exact_marginals(field)[:, 0], expected, rtol=0, atol=1e-12)


def test_a_large_random_tree_follows_messages_passed_along_its_edges():
    """Log odds: a message over an edge of strength b turns t into 2 atanh(tanh(b) tanh(t / 2))."""
    n, rng = 3000, np.random.default_rng(1)
    parent = np.array([-1] + [int(rng.integers(max(0, k - 50), k)) for k in range(1, n)])
    w = np.concatenate([[0], rng.uniform(0.1, 2, n - 1)])
    label = np.full(n, -1)
    label[rng.choice(n, 40, replace=False)] = rng.integers(2, size=40)
    field = field_of(Graph.from_edges(range(1, n), parent[1:], w[1:]).weights, 1.0, label, 2)
    own = np.select([label == 0, label == 1], [50.0, -50.0])  # e^-50: as good as certain

    def carry(t, b):
        return 2 * np.arctanh(np.tanh(b) * np.tanh(t / 2))

    up, down = own.copy(), np.zeros(n)
    for k in range(n - 1, 0, -1):
        up[parent[k]] += carry(up[k], w[k])
    for k in range(1, n):
        down[k] = carry(up[parent[k]] - carry(up[k], w[k]) + down[parent[k]], w[k])
    assert np.allclose(exact_marginals(field)[:, 0], expit(up + down)[field.unlabelled], rtol=0, atol=1e-9)


@pytest.mark.parametrize("C", [2, 3])
def test_on_the_papers_grid_a_cost_is_the_error_after_each_answer(C):
    W, labels = grid(10, 10).weights, {0: 0, 34: 1, 72: C - 1}
    field = field_of(W, 1.0, with_labels(100, labels), C)
    chance, cost = exact_marginals(field), exact_lookahead(field)
    for at in (0, 40, 96):
        q, expected = int(field.unlabelled[at]), 0.0
        for c in range(C):
            after = field_of(W, 1.0, with_labels(100, {**labels, q: c}), C)
            expected += chance[at, c] * (1 - exact_marginals(after).max(axis=1)).sum() / 100
        assert cost[at] == pytest.approx(expected, abs=1e-10)


def test_memory_for_one_question_or_one_condition_at_a_time_gives_the_same(monkeypatch):
    field = field_of(weights_of("dense", 12, np.random.default_rng(3)), 1.0, np.array([0, 1, 2] + 9 * [-1]), 3)
    marginals, cost = exact_marginals(field), exact_lookahead(field)
    monkeypatch.setattr(junction_tree, "ROOM", 1)
    monkeypatch.setattr(junction_tree_cpu, "ROOM", 1)
    assert np.allclose(exact_marginals(field), marginals, rtol=0, atol=1e-14)
    assert np.allclose(exact_lookahead(field), cost, rtol=0, atol=1e-14)


@pytest.mark.parametrize("C", [2, 3, 4])
@pytest.mark.parametrize("strong", [1e3, 1e6])
def test_strong_ties_neither_overflow_nor_lose_the_unlikely_classes(C, strong):
    """Node C is tied alike to one label of every class: each column says no, and all classes are equally likely."""
    star = Graph.from_edges([C] * C + [C], [*range(C), C + 1], [strong] * (C + 1))
    field = field_of(star.weights, 1.0, [*range(C), -1, -1], C)
    tree, pull = markov_field(field)
    assert np.allclose(exact_marginals(field), 1 / C)
    assert np.allclose(junction_tree.exact_cost(tree, pull, C + 2), 0)
    assert np.allclose(exact_lookahead(field), 0)


@pytest.mark.parametrize("beta", [1e2, 1e6])
def test_strong_and_weak_ties_mixed_agree_with_the_plain_twin(beta):
    rng = np.random.default_rng(5)
    W = weights_of("dense", 16, rng) * 10 ** rng.uniform(-6, 0, (16, 16))
    W = np.triu(W) + np.triu(W).T
    field = field_of(W, beta, np.array([0, 1, 2, 0] + 12 * [-1]), 3)
    tree, pull = markov_field(field)
    cost = exact_lookahead(field)
    assert np.isfinite(cost).all()
    assert np.allclose(cost, junction_tree.exact_cost(tree, pull, 16), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("graph", "width"), [(Graph(1 - np.eye(40)), 39), (grid(30, 30), 17)])
def test_too_wide_a_graph_is_refused_by_its_treewidth(graph, width):
    with pytest.raises(SettingError, match=rf'treewidth {width} or more.*up to 16. Use strategy "tsa"'):
        exact_marginals(field_of(graph.weights, 1.0, np.full(graph.n_nodes, -1), 2))


def test_labels_narrow_the_graph():
    field = field_of(1 - np.eye(40), 0.1, 12 * [0, 1] + 16 * [-1], 2)
    assert np.allclose(exact_marginals(field), 0.5)


def test_tables_that_do_not_fit_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr("fewlabels.machine.memory.available", lambda: 1000)
    tree = tree_of(chain(100).weights)
    with pytest.raises(MemoryNeededError, match="exact inference with treewidth 1 needs"):
        junction_tree.exact_marginals(tree, np.zeros((100, 2)))
    with pytest.raises(MemoryNeededError, match="exact inference with treewidth 1 needs"):
        junction_tree_cpu.exact_cost(tree, np.zeros((100, 2)), 100)


@pytest.mark.parametrize("rank", [fewest_missing, least_share_missing])
def test_counts_of_missing_edges_kept_up_are_those_counted_afresh(rank):
    W = weights_of("sparse", 40, np.random.default_rng(8))
    neighbours = [set(np.flatnonzero(row).tolist()) for row in W]
    order, later = eliminate([set(around) for around in neighbours], rank, 40)
    for v in order:

        def missing(x):
            around = sorted(neighbours[x])
            return sum(b not in neighbours[a] for at, a in enumerate(around) for b in around[at + 1 :])

        left = [x for x in range(40) if neighbours[x] is not None]
        assert rank(missing(v), len(neighbours[v])) == min(rank(missing(x), len(neighbours[x])) for x in left)
        assert later[v] == neighbours[v]
        for a in neighbours[v]:
            neighbours[a] = (neighbours[a] | neighbours[v]) - {a, v}
        neighbours[v] = None


@pytest.mark.parametrize(("graph", "width"), [(chain(50), 1), (grid(5, 40), 5), (grid(15, 15), 15)])
def test_widths_known_in_theory_are_found(graph, width):
    assert max(len(scope) for scope in tree_of(graph.weights).scope) == width


def test_an_explicit_zero_weight_is_no_edge():
    W = sparse.csr_array(([1.0, 1.0, 0.0, 0.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert sorted(len(scope) for scope in tree_of(W).scope) == [0, 0, 1]
