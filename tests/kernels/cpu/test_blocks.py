"""Kernels on blocks of columns, against their definitions on dense matrices."""

import numba
import numpy as np
import pytest
from scipy import sparse

from fewlabels.kernels.cpu import blocks
from tests.support.graphs import random_weights


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 2, 33])
@pytest.mark.parametrize("n", [1, 2, 37])
def test_a_laplacian_times_a_block(n, m, dtype):
    rng = np.random.default_rng(n)
    W = sparse.csr_array(random_weights(n, rng, density=0.3))
    L = np.diag(np.asarray(W.sum(axis=1)).ravel()) - W.toarray()
    X = rng.standard_normal((n, m)).astype(dtype)
    found = blocks.laplacian(W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data.astype(dtype), X)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, L @ X, atol=1e-12 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sizes", [[1], [1, 1, 1], [40], [3, 90, 1, 5], [50, 50]])
def test_a_direction_is_taken_off_every_part_and_how_much_that_was_is_told(sizes, threads):
    rng = np.random.default_rng(len(sizes))
    part = np.repeat(np.arange(len(sizes)), sizes)
    direction = rng.standard_normal(len(part))
    direction /= np.sqrt(np.bincount(part, direction**2))[part]
    X = rng.standard_normal((len(part), 5)).astype(np.float32)
    D = (part[:, None] == np.arange(len(sizes))) * direction[:, None]  # orthonormal columns
    rest, along = X - D @ (D.T @ X), np.linalg.norm(D.T @ X, axis=0)
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        told = blocks.take_off(X, direction.astype(np.float32), part)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_allclose(X, rest, atol=1e-5)
    np.testing.assert_allclose(told, along, rtol=1e-5)
