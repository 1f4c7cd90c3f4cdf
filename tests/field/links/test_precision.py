"""h stays right to 1e-9 on graphs as ill-conditioned as people have them: long chains, and weights over decades.

The truth is refined in extended precision, by differences along the edges, until nothing changes any more.
FEWLABELS_LONGEST=300000 tries larger graphs.
"""

import os

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu
from support.fields import field_of, on_demand

import fewlabels as fl
from fewlabels.field.links.on_demand import OnDemand
from fewlabels.field.links.solve import chebyshev, diagonal

N = 21_000  # beyond 20,000 nodes columns are kept in float32
LONGEST = int(os.environ.get("FEWLABELS_LONGEST", "0"))
SIZES = [N, *(n for n in (40_000, 100_000, 300_000) if n <= LONGEST)]


def linked(parent):
    """Node i + 1 hangs on parent[i]."""
    child = np.arange(1, len(parent) + 1)
    W = sparse.coo_array((np.ones(len(parent)), (child, parent)), shape=(len(parent) + 1,) * 2)
    return sparse.csr_array(W + W.T)


def path(n):
    return linked(np.arange(n - 1))


def ring(n):
    W = path(n).tolil()
    W[0, n - 1] = W[n - 1, 0] = 1
    return W.tocsr()


def strip(n):
    return sparse.csr_array(sparse.kronsum(path(4), path(n // 4)))


def tree(n):
    return linked(np.arange(n - 1) // 2)


def comb(n):
    child = np.arange(1, n)
    return linked(np.where(child % 50 == 0, child - 50, child - 1))


def grid(n):
    side = int(n**0.5)
    return sparse.csr_array(sparse.kronsum(path(side), path(side)))


def over_decades(W, decades):
    upper = sparse.triu(W, format="csr")
    upper.data = 10 ** np.random.default_rng(3).uniform(-decades / 2, decades / 2, upper.nnz)
    return sparse.csr_array(upper + upper.T)


GRAPHS = {
    "path": path, "ring": ring, "strip": strip, "tree": tree, "comb": comb,
    "path over 4 decades": lambda n: over_decades(path(n), 4),
    "grid over 8 decades": lambda n: over_decades(grid(n), 8),
}  # fmt: skip


def true_h(W, smoothness, nodes, signs):
    """(n, C) harmonic for Q = L + smoothness L^2 / mean degree, given (l, C) signs at these nodes."""
    n, W = W.shape[0], sparse.csr_array(W)
    ends, data = np.repeat(np.arange(n), np.diff(W.indptr)), W.data.astype(np.longdouble)[:, None]
    starts = np.flatnonzero(np.diff(W.indptr))

    def laplacian(x):
        out = np.zeros_like(x)
        out[starts] = np.add.reduceat(data * (x[ends] - x[W.indices]), W.indptr[starts])
        return out

    share = smoothness / W.sum(axis=1).mean()
    L = sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)
    free = np.setdiff1d(np.arange(n), nodes)
    inverse = splu(sparse.csc_matrix((L + share * (L @ L))[free][:, free]))
    h = np.zeros((n, signs.shape[1]), dtype=np.longdouble)
    h[nodes] = signs
    for _ in range(30):
        Lh = laplacian(h)
        change = inverse.solve(np.asarray((Lh + share * laplacian(Lh))[free], dtype=float))
        h[free] -= change
        if np.abs(change).max() < 1e-15:
            return h
    raise AssertionError("the truth did not converge")


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", GRAPHS)
def test_labels_are_spread_to_rounding(name, n, smoothness):
    W = GRAPHS[name](n)
    if smoothness and W.data.max() > 1e5 * W.data.min():
        pytest.skip("the smooth field refuses such weights")
    n = W.shape[0]
    field = on_demand(fl.Graph(W), 2, smoothness=smoothness)
    nodes = np.random.default_rng(1).choice(n, 7, replace=False)
    for i, node in enumerate(nodes):
        field = field.with_answer(int(node), i % 2)
        assert np.isfinite(field.variance).all()
    truth = true_h(W, smoothness, nodes, np.where(np.arange(2) == np.arange(7)[:, None] % 2, 1.0, -1.0))
    assert np.abs(field.all_h - truth).max() < 1e-9
    assert np.isfinite(field.two_step_costs().values).all()


@pytest.mark.parametrize("many", [2, 50, 1000])
def test_along_a_long_chain_variances_are_those_of_a_brownian_bridge(many):
    """Between two answered nodes at a and b it is (k - a) (b - k) / (b - a); from 500 answers on it begins at them."""
    n = 40_000
    field = on_demand(fl.Graph(path(n)), 2).with_answer(0, 0).with_answer(n - 1, 1)
    at = np.random.default_rng(0).choice(np.arange(1, n - 1), many - 2, replace=False)
    field = field.with_answers({int(node): i % 2 for i, node in enumerate(at)})
    assert field.covariance.exact
    assert (field.covariance.base is not None) == (many > 500)
    known, k = np.sort([0, *at, n - 1]), field.unlabelled
    after = np.searchsorted(known, k)
    a, b = known[after - 1].astype(float), known[after]
    np.testing.assert_allclose(field.variance, (k - a) * (b - k) / (b - a), rtol=1e-9)
    y = np.where(field.label[known] == 1, 1.0, -1.0)
    np.testing.assert_allclose(field.h[:, 1], np.interp(k, known, y), atol=1e-9)


@pytest.mark.parametrize(("decades", "close"), [(4, 1e-11), (8, 1e-7)])
def test_variances_where_weights_span_decades(decades, close):
    W = over_decades(grid(900), decades)
    ours, dense = on_demand(fl.Graph(W), 2, solver="superlu"), field_of(fl.Graph(W), 2)
    for i, node in enumerate(np.random.default_rng(1).choice(900, 12, replace=False)):
        ours, dense = (field.with_answer(int(node), i % 2) for field in (ours, dense))
        np.testing.assert_allclose(ours.variance, dense.variance, rtol=close)
        np.testing.assert_allclose(ours.h, dense.h, atol=close)


def hardly_touching(weight, parts=5, size=300):
    """Random graphs of six edges a node, in a row, each joined to the next by one weak edge."""
    rng, n = np.random.default_rng(5), parts * size
    upper = sparse.lil_array((n, n))
    for left in range(0, n, size):
        i, j = left + np.sort(rng.integers(size, size=(2, 6 * size)), axis=0)
        upper[i[i < j], j[i < j]] = 1.0
    for left in range(0, n - size, size):
        upper[left, left + size] = weight
    return sparse.csr_array(upper + upper.T)


@pytest.mark.parametrize("weight", [1e-2, 4e-5])
@pytest.mark.parametrize("labels", [3, 20])
def test_clusters_that_hardly_touch(weight, labels, monkeypatch):
    monkeypatch.setattr(diagonal, "COLUMNS_UP_TO", 0)
    W = hardly_touching(weight)
    n = W.shape[0]
    field = on_demand(fl.Graph(W), 2, smoothness=3.3, solver="chebyshev")
    nodes = np.random.default_rng(1).choice(n, labels, replace=False)
    field = field.with_answers({int(node): i % 2 for i, node in enumerate(nodes)})
    truth = true_h(W, 3.3, nodes, np.where(np.arange(2) == np.arange(labels)[:, None] % 2, 1.0, -1.0))
    assert np.abs(field.all_h - truth).max() < 1e-9  # while G is 50,000 where there is no label
    probes = np.setdiff1d(np.arange(7, n, 190), nodes)
    monkeypatch.setattr(OnDemand, "_roughly", True)
    tight, rough = (field.covariance.conditioned_columns(field, probes, rough) for rough in (False, True))
    assert (np.abs(tight - rough) < 0.02 * tight[probes, np.arange(len(probes))]).all()


def test_a_sketched_diagonal_where_clusters_hardly_touch(monkeypatch):
    monkeypatch.setattr(diagonal, "COLUMNS_UP_TO", 0)
    graph = fl.Graph(hardly_touching(1e-3))
    truth, field = field_of(graph, 2, smoothness=3.3), on_demand(graph, 2, smoothness=3.3, solver="chebyshev")
    assert not field.covariance.exact
    for node in np.random.default_rng(1).choice(graph.n_nodes, 20, replace=False):
        truth, field = (each.with_answer(int(node), 0) for each in (truth, field))
    off = field.variance / truth.variance - 1
    assert np.sqrt(np.mean(off**2)) < 0.02
    assert np.abs(off).max() < 0.1


def test_hubs_that_the_rough_inverse_gets_wrong_are_refined_all_the_same(monkeypatch):
    monkeypatch.setattr(chebyshev, "TOLERANCE", 1e-2)
    tree = nx.barabasi_albert_graph(5000, 1, seed=0)
    tree.add_edges_from(np.random.default_rng(0).integers(5000, size=(2500, 2)).tolist())
    tree.remove_edges_from(nx.selfloop_edges(tree))
    W = nx.to_scipy_sparse_array(tree, dtype=float, format="csr")
    field = on_demand(fl.Graph(W), 2, smoothness=3.3, solver="chebyshev")
    nodes = np.arange(0, 5000, 500)
    field = field.with_answers({int(node): i % 2 for i, node in enumerate(nodes)})
    truth = true_h(W, 3.3, nodes, np.where(np.arange(2) == np.arange(len(nodes))[:, None] % 2, 1.0, -1.0))
    assert np.abs(field.all_h - truth).max() < 1e-9
