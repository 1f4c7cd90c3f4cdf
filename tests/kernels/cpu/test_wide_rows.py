"""A step of the polynomial, on 32 columns at a time, is what NumPy makes of it; where its blocks begin in memory."""

import numpy as np
import pytest
from scipy import sparse

from fewlabels.kernels.cpu import chebyshev
from fewlabels.kernels.cpu.prefetch import LINE, aligned
from fewlabels.kernels.cpu.wide_rows import AHEAD, WIDE


def numbers(rng, n, width, shift):
    """(n, width) in float32, beginning so many numbers beyond a line of the memory."""
    X = aligned(1, n * width + shift)[0, shift:].reshape(n, width)
    X[:] = rng.standard_normal((n, width))
    return X


@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("b", [0.0, -0.7])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize(("n", "width"), [(1, WIDE), (2, WIDE), (257, WIDE), (63, 3 * WIDE)])
def test_a_step_is_its_formula(n, width, given, b, shift):
    rng = np.random.default_rng(n)
    W = sparse.random_array((n, n), density=0.1, format="csr", dtype=np.float32, rng=rng)
    indices = np.zeros(W.nnz + AHEAD, np.uint32)
    indices[: W.nnz] = W.indices
    X, Y = numbers(rng, n, width, shift), numbers(rng, n, width, shift)
    B = numbers(rng, n, width, shift) if given else np.empty((0, 1), np.float32)
    expected = 1.3 * X + 0.4 * (W @ X.astype(float) + (B if given else 0)) + (b * Y if b else 0)
    if b == 0:
        Y[:] = np.nan  # not read
    chebyshev.step(W.indptr.astype(np.uint64), indices, W.data, X, Y, B, 1.3, b, 0.4)
    np.testing.assert_allclose(Y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (1000, 16)])
def test_blocks_begin_where_a_line_does(n, m, dtype):
    made = [aligned(n, m, dtype) for _ in range(5)]
    assert all(X.shape == (n, m) and X.dtype == dtype and X.flags.c_contiguous for X in made)
    assert all(X.ctypes.data % LINE == 0 for X in made)
