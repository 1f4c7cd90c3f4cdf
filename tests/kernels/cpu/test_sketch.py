"""The sketch's kernels against their definitions, on dense matrices."""

import numpy as np
import pytest
from scipy import sparse

from fewlabels.kernels.cpu import sketch
from tests.support.graphs import random_weights

SHARE = 0.7


def links(n):
    W = sparse.csr_array(random_weights(n, np.random.default_rng(n), density=0.3))
    L = np.diag(np.asarray(W.sum(axis=1)).ravel()) - W.toarray()
    return W, (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data), L


def test_the_noise_has_the_covariance_of_the_field():
    n, columns, draws = 12, 32, 4_000
    _, edges, L = links(n)
    unsure = np.where(np.arange(n) % 5 == 0, 2.0, 0.0)
    B, squares = np.empty((n, columns)), np.zeros((n, n))
    for seed in range(draws):
        sketch.noise(*edges, SHARE, unsure, 3 * seed, B)
        squares += B @ B.T
    Q = L + SHARE * L @ L + np.diag(unsure)
    off = squares / (columns * draws) - Q
    assert np.abs(off).max() < 5 * np.diag(Q).max() / np.sqrt(columns * draws)


@pytest.mark.parametrize("m", [1, 5, 32])
def test_columns_of_the_noise_are_not_the_same(m):
    _, edges, _ = links(30)
    B = np.empty((30, m), np.float32)
    sketch.noise(*edges, SHARE, np.zeros(30), 0, B)
    np.testing.assert_allclose(B.sum(axis=0), 0, atol=1e-4)  # what an edge adds to one end it takes off the other
    assert len(np.unique(B.round(3), axis=1).T) == m


@pytest.mark.parametrize("share", [0.0, SHARE])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (40, 7), (67, 32)])
def test_potentials_add_up(n, m, share):
    W, edges, L = links(n)
    rng = np.random.default_rng(m)
    Z = rng.standard_normal((n, m))
    ties, squares, LZ = rng.random(W.nnz), rng.random(n), np.full((n, m), np.nan)
    before = ties.copy(), squares.copy()
    sketch.add_ties(*edges, Z, 0.5, ties, LZ)
    ends = np.repeat(np.arange(n), np.diff(W.indptr)), W.indices
    np.testing.assert_allclose(LZ, L @ Z, atol=1e-12)
    np.testing.assert_allclose(ties, before[0] + 0.5 * ((Z[ends[0]] - Z[ends[1]]) ** 2).sum(axis=1))
    A = L + share * L @ L + np.diag(np.where(np.arange(n) % 5 == 0, 2.0, 0.0))
    held = np.arange(n) % 7 == 1
    members, near = np.empty((n, 6), np.int32), np.empty((n, 6))
    degree = np.diag(L).copy()
    sketch.neighbourhoods(*edges, share, degree, np.diag(A).copy(), held, members, near)
    sketch.add_squares(members, near, Z, A @ Z, 0.5, squares)
    for k in range(n):
        around = members[k][members[k] >= 0]
        strongest = sorted(W[[k]].indices[~held[W[[k]].indices]], key=lambda j: -W[k, j])[:5]
        assert around.tolist() == [k, *([] if held[k] else strongest)]
        by = np.linalg.inv(A[np.ix_(around, around)])[0]
        np.testing.assert_allclose(near[k, : len(around)], by, rtol=1e-9)
        far = Z[k] - by @ (A @ Z)[around]
        assert squares[k] == pytest.approx(before[1][k] + 0.5 * (far**2).sum(), rel=1e-9)


def test_a_hub_is_by_itself_and_a_tie_stronger_than_all_digits_is_left_out():
    n = 100
    W = np.zeros((n, n))
    W[0, 1:] = W[1:, 0] = 1
    W[1, 2] = W[2, 1] = 1e13
    graph = sparse.csr_array(W)
    members, near = np.empty((n, 4), np.int32), np.empty((n, 4))
    degree, nobody = W.sum(axis=1), np.zeros(n, dtype=bool)
    edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data
    sketch.neighbourhoods(*edges, 0.0, degree, degree, nobody, members, near)
    assert members[0].tolist() == [0, -1, -1, -1]
    assert members[5].tolist() == [5, -1, -1, -1]  # its only neighbour is a hub
    assert members[1].tolist() == [1, 2, -1, -1]
    assert (near[:, 0] == 1 / degree).all()
    assert (near[:, 1:] == 0).all()
