"""The map: every item a point in the unit square, neighbours close together."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.graph import Graph

DENSE = 300  # components up to this size have their eigenvectors computed exactly
SPREAD = 10.0  # width at which a component enters the refinement
MOVES = 20_000_000  # pulls the refinement may spend: a second or two
ROUNDS = 300  # and never more rounds than this


def layout(graph: Graph, seed: int = 0) -> Floats:
    """(n, 2) a place in [0, 1] x [0, 1] for every node; the same graph and seed give the same places.

    Each component starts from the two smoothest vectors over its edges and is spread out by up to 300 rounds of
    springs; then the components are laid side by side, each on a patch proportional to its share of the nodes.
    """
    rng = np.random.default_rng(seed)
    order, first, size = _by_component(graph)
    W = sparse.csr_array(graph.weights[order][:, order])
    Y = np.zeros((graph.n_nodes, 2))
    starts = np.unique(first)
    for a in starts:
        n = int(size[a])
        if n > 1:
            Y[a : a + n] = _start(sparse.csr_array(W[a : a + n, a : a + n]), rng)
    _refine(Y, W, first, size, int(rng.integers(1, 2**31)))
    placed = np.empty_like(Y)
    placed[order] = _side_by_side(Y, starts, size[starts])
    return placed


def _by_component(graph: Graph) -> tuple[Ints, Ints, Ints]:
    """Nodes sorted by component, largest first; and for each place in that order its component's start and size."""
    component = graph.components()
    count = np.bincount(component)
    order = np.lexsort((component, -count[component]))
    size = count[component[order]]
    new = np.r_[True, np.diff(component[order]) != 0]
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    return order, first, size


def _start(W: sparse.csr_array, rng: np.random.Generator) -> Floats:
    """(n, 2) the two smoothest non-trivial eigenvectors of the normalised Laplacian, with a little noise.

    The noise separates nodes with the same neighbours, which no eigenvector tells apart.
    """
    n = W.shape[0]
    noise = rng.normal(size=(n, 2))
    if n < 3:
        return noise
    root = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    A = sparse.csr_array(sparse.diags_array(1 / root) @ W @ sparse.diags_array(1 / root))
    V = _top_vectors(A, root / np.linalg.norm(root), rng) / root[:, None]
    V *= np.where(V[np.abs(V).argmax(axis=0), range(2)] < 0, -1.0, 1.0)  # an eigenvector's sign is arbitrary
    low, high = V.min(axis=0), V.max(axis=0)
    V = (V - low) / np.where(high > low, high - low, 1.0)
    return SPREAD * (V - 0.5) + 0.01 * SPREAD * noise


def _top_vectors(A: sparse.csr_array, trivial: Floats, rng: np.random.Generator) -> Floats:
    """(n, 2) eigenvectors of A for its largest eigenvalues, the trivial one left out; rough ones where A is large."""
    n = A.shape[0]
    if n <= DENSE:
        values, vectors = np.linalg.eigh(A.toarray() - 2 * np.outer(trivial, trivial))
        return np.asarray(vectors[:, np.argsort(values)[::-1][:2]])
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    def without_trivial(v: Floats) -> Floats:
        return np.asarray(A @ v - 2 * trivial * (trivial @ v))

    operator = LinearOperator((n, n), matvec=without_trivial, dtype=float)
    rough = 1e-2 if n > 5_000 else 1e-4  # a start may be rough, and large graphs have many vectors nearly as smooth
    try:
        values, vectors = eigsh(operator, k=2, which="LA", ncv=24, tol=rough, maxiter=60, v0=rng.normal(size=n))
        return np.asarray(vectors[:, np.argsort(values)[::-1]])
    except ArpackNoConvergence:
        return _smoothed(A, trivial, rng)


def _smoothed(A: sparse.csr_array, trivial: Floats, rng: np.random.Generator) -> Floats:
    """(n, 2) noise averaged over neighbours many times: smooth, though not eigenvectors."""
    V = rng.normal(size=(A.shape[0], 2))
    for _ in range(200):
        V = (V + A @ V) / 2
        V -= np.outer(trivial, trivial @ V)
        V /= np.linalg.norm(V, axis=0)
    return V


def _refine(Y: Floats, W: sparse.csr_array, first: Ints, size: Ints, seed: int) -> None:
    """Springs along the edges, in place; W is in the order of the components."""
    from fewlabels.items.layout_kernel import refine

    strongest = W.max(axis=1).toarray().ravel()  # (n,) the heaviest tie of each node
    upper = sparse.coo_array(sparse.triu(W))
    source, target = (side.astype(np.int64) for side in upper.coords)
    if not len(source):
        return
    pull = np.clip(upper.data / np.maximum(strongest[source], strongest[target]), 0.05, 1.0)
    rounds = int(np.clip(MOVES // len(source), 20, ROUNDS))
    refine(Y, source, target, pull, first, size, rounds, seed)


def _side_by_side(Y: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Components on square patches, area equal to size, in rows, largest first, all scaled into the unit square."""
    side = np.sqrt(sizes)
    patch = side + 0.15 * side[0] ** 0.5  # with a gap around it
    widths = np.unique(np.concatenate([np.linspace(patch[0], 3 * np.sqrt((patch**2).sum()), 12), patch[:1]]))
    rows = min((_in_rows(patch, width) for width in widths), key=lambda corner: (corner + patch[:, None]).max())
    placed = np.empty_like(Y)
    for a, n, s, corner in zip(starts, sizes, side, rows, strict=True):
        part = Y[a : a + n]
        low, high = part.min(axis=0), part.max(axis=0)
        unit = np.where(high > low, (part - low) / np.where(high > low, high - low, 1.0), 0.5)
        placed[a : a + n] = corner + s * unit
    low, high = placed.min(axis=0), placed.max(axis=0)
    extent = (high - low).max() or 1.0
    middle = (high + low) / 2
    return np.asarray(np.clip(0.5 + (placed - middle) / extent, 0.0, 1.0))


def _in_rows(patch: Floats, width: float) -> Floats:
    """(m, 2) lower corners of square patches, largest first, laid left to right in rows no wider than this."""
    corner = np.empty((len(patch), 2))
    x = y = height = 0.0
    for k, side in enumerate(patch.tolist()):
        if x > 0 and x + side > width:
            x, y, height = 0.0, y + height, 0.0
        corner[k] = x, y
        x, height = x + side, max(height, side)
    return corner
