"""Links weighed by the neighbours that their ends share (docs/maths.md, "Few labels").

A link between two nodes that have the same neighbours lies inside a cluster; one between nodes that share none may well
be the bridge to another. Among nearest neighbours this tells right links from wrong ones.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fewlabels.graph import Graph

LOOKED_AT = 2_000  # nodes from which it is told whether neighbours are linked to each other
SEED = 19


def overlapped(graph: Graph, power: float) -> Graph:
    """The graph with every weight multiplied by the overlap of the neighbourhoods of its ends, to this power.

    It is a number in (0, 1], so no link is lost; 0 gives the graph as it is.
    """
    if power == 0 or graph.n_edges == 0:
        return graph
    from fewlabels.kernels.cpu.overlap import neighbourhood_overlap  # loads Numba

    W = graph.weights
    found = neighbourhood_overlap(W.indptr, W.indices, W.data)
    return graph.with_overlap(sparse.csr_array((W.data * found**power, W.indices, W.indptr), shape=W.shape), power)


def transitivity(links: sparse.csr_array) -> float:
    """How often two neighbours of a node are linked to each other; of a sample of the nodes, always the same one."""
    n = links.shape[0]
    some = np.sort(np.random.default_rng(SEED).permutation(n)[:LOOKED_AT])
    there = sparse.csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)
    rows = sparse.csr_array(there[some])
    degree = np.diff(rows.indptr).astype(float)
    pairs = float((degree * (degree - 1)).sum())
    return float((rows @ there).multiply(rows).sum()) / pairs if pairs else 0.0
