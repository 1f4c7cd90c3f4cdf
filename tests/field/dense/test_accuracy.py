"""Rounding does not pile up: the field watches its own error and starts afresh when it must."""

import numpy as np
import oracle
import pytest

from fewlabels.field.dense import DenseField
from fewlabels.field.dense.field import DRIFT
from fewlabels.graph import Graph


def weighted_graph(n, decades, rng):
    """A path with 4 n random chords, weights log-uniform over 10^-decades to 10^decades."""
    i, j = rng.integers(0, n, (2, 4 * n))
    i, j = np.concatenate([i, np.arange(n - 1)]), np.concatenate([j, np.arange(1, n)])
    pairs = np.unique(np.sort(np.stack([i, j]), axis=0)[:, i != j], axis=1)
    return Graph.from_edges(*pairs, 10 ** rng.uniform(-decades, decades, pairs.shape[1]))


def relative_error(G, truth):
    """Largest error of an entry, on the scale of the variances of its row and column."""
    scale = np.sqrt(np.diag(truth))
    return float((abs(G - truth) / scale[:, None] / scale[None, :]).max())


def exact_green(W, u):
    """inv(L_uu) in rational numbers: the truth, whatever the weights."""
    return oracle.exact_inverse(oracle.exact_laplacian(W)[np.ix_(u, u)]).astype(float)


def test_1000_answers_and_200_forgets_on_2000_weighted_nodes_equal_a_fresh_solve():
    rng = np.random.default_rng(0)
    n = 2000
    field = DenseField(weighted_graph(n, 0.5, rng), 3)
    labels = {}
    for step, node in enumerate(rng.permutation(n)[:1000]):
        labels[int(node)] = int(rng.integers(3))
        field.observe(int(node), labels[int(node)])
        if step % 5 == 4:
            taken_back = int(rng.choice(list(labels)))
            field.forget(taken_back)
            del labels[taken_back]
    W = field.weights.toarray()
    u = field.unlabelled
    truth = np.linalg.inv(np.diag(W.sum(axis=1))[np.ix_(u, u)] - W[np.ix_(u, u)])
    Y = np.zeros((n, 3))
    for node, c in labels.items():
        Y[node] = np.where(np.arange(3) == c, 1, -1)
    assert len(u) == 1200
    assert relative_error(field.G, truth) < 1e-8
    np.testing.assert_allclose(field.h, truth @ (W[u] @ Y), atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_weights_from_1e_6_to_1e6_equal_exact_rational_arithmetic(seed):
    rng = np.random.default_rng(seed)
    n = 20
    graph = weighted_graph(n, 6, rng)
    field = DenseField(graph, 2)
    labels = {}
    for node in rng.permutation(n)[:8]:
        labels[int(node)] = int(rng.integers(2))
        field.observe(int(node), labels[int(node)])
    taken_back = next(iter(labels))
    field.forget(taken_back)
    del labels[taken_back]
    W = graph.weights.toarray()
    truth = exact_green(W, field.unlabelled)
    Y = np.zeros((n, 2))
    for node, c in labels.items():
        Y[node] = [1, -1] if c == 0 else [-1, 1]
    assert relative_error(field.G, truth) < 1e-8
    np.testing.assert_allclose(field.h, truth @ (W[field.unlabelled] @ Y), atol=1e-8)


def test_drift_is_noticed_and_mended():
    """Node 1 hangs on node 0 by 1e6 and on the rest by 1e-6: knowing 0 takes 1's variance down by twelve digits."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1e6, 1e-6, 1.0])
    field = DenseField(graph, 2)
    field.observe(3, 0)
    field.observe(0, 1)
    assert field.refreshes > 0
    place = int(np.flatnonzero(field.unlabelled == 1)[0])
    assert field.G[place, place] == pytest.approx(exact_green(graph.weights.toarray(), [1, 2])[0, 0], rel=1e-8)
    assert (field.error <= DRIFT * np.diag(field.G)).all()


def test_taking_the_last_label_back_on_a_wide_graph_equals_a_fresh_field():
    graph = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [1e-9, 1, 1, 1, 1])
    field = DenseField(graph, 2)
    field.observe(0, 0)
    field.forget(0)
    fresh = DenseField(graph, 2)
    order, other = np.argsort(field.unlabelled), np.argsort(fresh.unlabelled)
    costs = [f.two_step_costs().values for f in (field, fresh)]
    np.testing.assert_allclose(costs[0][order], costs[1][other], atol=1e-9)


def test_an_ordinary_graph_never_needs_a_fresh_start():
    rng = np.random.default_rng(1)
    field = DenseField(weighted_graph(300, 0.5, rng), 2)
    for node in rng.permutation(300)[:250]:
        field.observe(int(node), 0)
    assert field.refreshes == 0
