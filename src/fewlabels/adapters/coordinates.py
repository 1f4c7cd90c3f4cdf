"""Points for the nodes of a graph that has none, for strategies that see points."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats
from fewlabels.graph import Graph

DIMENSIONS = 16
SMALL = 500  # nodes: up to here all eigenvectors are computed, which is quick


def spectral_coordinates(graph: Graph, dimensions: int = DIMENSIONS) -> Floats:
    """(n, d) the leading eigenvectors of D^-1/2 W D^-1/2, each row scaled to length 1 (Ng, Jordan & Weiss 2001).

    Nodes that are tied are near each other. The same graph gives the same coordinates.
    """
    n = graph.n_nodes
    d = min(dimensions, n)
    degree = graph.degrees()
    scale = sparse.diags_array(1 / np.sqrt(np.where(degree > 0, degree, 1)))
    A = scale @ graph.weights @ scale
    if n <= SMALL or d > n - 2:
        vectors = np.linalg.eigh(A.toarray())[1][:, -d:]
    else:
        from scipy.sparse.linalg import eigsh

        start = np.random.default_rng(0).standard_normal(n)  # ARPACK's own would differ from run to run
        vectors = eigsh(A, d, which="LA", v0=start)[1]
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1))
