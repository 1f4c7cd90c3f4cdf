"""A dense inverse from a sparse Cholesky factor: for chains, trees, strips and other graphs with little fill-in."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fewlabels.arrays import EPS, Floats
from fewlabels.field.sparse.solve.choose import expected_fill
from fewlabels.field.sparse.solve.factor import Factor, SuperLU
from fewlabels.field.sparse.solve.pcg import System
from fewlabels.machine.progress import Progress

SPARSE = 1 / 400  # entries of the factor per node, over the nodes: beyond it the products of a dense factor are quicker
WIDTH = 128  # columns solved for at a time
TOLERANCE = 1e-9  # of a column, and of the check afterwards


def from_sparse_factor(out: Floats, W: sparse.csr_array, degree: Floats, held: int | None = None) -> float | None:
    """Fill out (m, m) with inv(diag(degree) - W), zero in the row and column held, and return the error found in it.

    None where that would not pay off, or would not be right.
    """
    m = len(out)
    flags = np.zeros(m, dtype=bool)
    if held is not None:
        flags[held] = True
    system = System(W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, degree, flags)
    if expected_fill(system) > SPARSE * m:
        return None
    factor = Factor(system, SuperLU)
    cuts = [np.arange(left, min(left + WIDTH, m)) for left in range(0, m, WIDTH)]
    progress = Progress(f"setting up {m:,} nodes", len(cuts))
    for nodes in cuts:
        out[nodes] = factor.columns(system, nodes, TOLERANCE).T
        progress.step()
    signs = np.where(flags[:, None], 0.0, 1 - 2.0 * np.random.default_rng(0).integers(2, size=(m, 1)))
    X = out @ signs
    error = float(np.abs(out @ system.residual(signs, X)).max())  # of a sum of columns: no less than that of one
    return error + EPS * float(np.diag(out).max()) if error <= TOLERANCE * np.abs(X).max() else None
