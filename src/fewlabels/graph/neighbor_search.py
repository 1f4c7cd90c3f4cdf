"""The nearest neighbours of points: exact, or approximate where exact would take long."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fewlabels.errors import GraphError
from fewlabels.machine.progress import Progress, say

METHODS = ("auto", "exact", "approximate")
MANY = 50_000  # points; up to here exact search is a matter of seconds
TREE = 5  # dimensions up to which a k-d tree is faster than anything else, at any number of points (docs/scale.md)
PAIRS = 1e12  # n^2 (d + 64) at which comparing all pairs takes as long as compiling and running pynndescent
BREADTHS = (20, 60)  # neighbours kept per point while searching: at first, and if that finds too few of the true ones
ENOUGH = 0.95  # recall that needs no second search
SAMPLE = 500  # points on which recall is measured
LOW = 0.9  # recall that deserves a warning
SEED = 0  # the same points give the same graph
BLOCK = 2**14  # points searched between two lines of progress


@dataclass(frozen=True)
class Neighbors:
    """The k nearest neighbours of n points, nearest first."""

    index: NDArray[np.int64]  # (n, k)
    distance: NDArray[np.float64]  # (n, k)
    recall: float  # share of the true neighbours found: 1 for exact search, else measured on a sample


def find_neighbors(X: Any, k: int, method: str = "auto") -> Neighbors:
    """The k nearest other points of each point, X (n, d) being finite, dense or sparse.

    "auto" is exact wherever that is no slower: up to 50,000 points, in up to 5 dimensions whatever their number, and
    for up to about 100,000 points in 16.
    """
    if method not in METHODS:
        raise GraphError(f"method is {method!r}: choose one of {', '.join(METHODS)}.")
    n, d = X.shape
    if method == "exact" or (method == "auto" and exact_is_quick(n, d, sparse.issparse(X))):
        return _exact(X, k)
    return _approximate(X, k)


def neighbors_among(points: Any, X: Any, k: int) -> Neighbors:
    """The k nearest of X (n, d) to each of other points (m, d), found exactly."""
    distance, index = _finder(X, k).kneighbors(points)
    return Neighbors(index, distance, 1.0)


def exact_is_quick(n: int, d: int, is_sparse: bool) -> bool:
    """Whether exact search of n points in d dimensions takes no longer than the approximate one."""
    return n <= MANY or (not is_sparse and (d <= TREE or n * n * (d + 64) <= PAIRS))


def recall(X: Any, index: NDArray[np.int64], distance: NDArray[np.float64], sample: int = SAMPLE) -> float:
    """Share of the k nearest neighbours that were found, over a sample of points searched exactly.

    A point as near as the k-th true neighbour counts, whichever of several equally near ones it is.
    """
    n, k = index.shape
    rows = np.random.default_rng(SEED).choice(n, min(sample, n), replace=False)
    true = _nearest_of(rows, _finder(X, k), X, k)[1]
    return float((distance[rows] <= true[:, -1:] * (1 + 1e-9)).mean())


def _exact(X: Any, k: int) -> Neighbors:
    n = X.shape[0]
    finder = _finder(X, k)
    if n <= MANY:
        distance, index = finder.kneighbors()  # the point itself left out
        return Neighbors(index, distance, 1.0)
    index, distance = np.empty((n, k), np.int64), np.empty((n, k))
    blocks = [np.arange(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]
    progress = Progress(f"finding the {k} nearest of {n:,} points", len(blocks))
    for rows in blocks:
        index[rows], distance[rows] = _nearest_of(rows, finder, X, k)
        progress.step()
    return Neighbors(index, distance, 1.0)


def _approximate(X: Any, k: int) -> Neighbors:
    n, d = X.shape
    try:
        from pynndescent import NNDescent
    except ImportError:
        raise GraphError(
            f"the neighbours of {n:,} points in {d} dimensions are found approximately, and pynndescent is not "
            f"installed: pip install 'fewlabels[large]', or give method=\"exact\" ({_about(_all_pairs(n, d))})."
        ) from None
    started = time.perf_counter()
    if n > MANY:
        say(f"finding roughly the {k} nearest of {n:,} points in {d} dimensions; half a minute goes into compiling")
    for breadth in BREADTHS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # points with too few neighbours are fixed below
            search = NNDescent(_single(X), n_neighbors=min(max(breadth, k + 1), n), random_state=SEED)
            candidates = search.neighbor_graph[0]
        index, distance = _nearest_candidates(X, candidates, k)
        lost = np.flatnonzero(~np.isfinite(distance[:, -1]))
        if len(lost):
            index[lost], distance[lost] = _nearest_of(lost, _finder(X, k), X, k)
        found = recall(X, index, distance)
        if found >= ENOUGH:
            break
    if n > MANY:
        say(f"found {found:.1%} of the {k} nearest neighbours in {time.perf_counter() - started:.0f} s")
    if found < LOW:
        warnings.warn(
            f"the approximate search found {found:.0%} of the {k} nearest neighbours (of {SAMPLE} points searched "
            'exactly): give method="exact", or features of fewer dimensions.',
            stacklevel=5,
        )
    return Neighbors(index, distance, found)


def _all_pairs(n: int, d: int) -> float:
    """Seconds that one core takes to compare all pairs, as measured on a machine of 2025."""
    return n * n * (d + 64) * 4.5e-11


def _about(seconds: float) -> str:
    return f"about {seconds / 60:.0f} minutes on one core" if seconds >= 90 else f"about {seconds:.0f} s on one core"


def _nearest_candidates(X: Any, candidates: NDArray[Any], k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(n, k) the nearest of each point's candidates and their distances in float64; inf where there are too few."""
    n, breadth = candidates.shape
    index, distance = np.empty((n, k), np.int64), np.empty((n, k))
    width = 8 if sparse.issparse(X) else X.shape[1]
    block = max(1, 2**23 // (breadth * width))
    for start in range(0, n, block):
        rows = np.arange(start, min(start + block, n))
        other = candidates[rows].astype(np.int64)  # (b, breadth)
        away = _distances(X, np.repeat(rows, breadth), other.ravel()).reshape(other.shape)
        away[(other < 0) | (other == rows[:, None])] = np.inf
        order = np.argsort(away, axis=1, kind="stable")[:, :k]
        index[rows], distance[rows] = np.take_along_axis(other, order, 1), np.take_along_axis(away, order, 1)
    return index, distance


def _distances(X: Any, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
    gap = X[a] - X[b]
    if sparse.issparse(gap):
        return np.sqrt(np.asarray(gap.multiply(gap).sum(axis=1)).ravel())
    return np.sqrt(np.einsum("ij,ij->i", gap, gap))


def _single(X: Any) -> Any:
    """X in float32, centred and scaled so that nothing that tells points apart is lost."""
    if sparse.issparse(X):
        return sparse.csr_matrix(X / (abs(X).max() or 1.0), dtype=np.float32)
    X = X - X.mean(axis=0)
    X /= np.abs(X).max() or 1.0
    return X.astype(np.float32)


def _finder(X: Any, k: int) -> Any:
    from sklearn.neighbors import NearestNeighbors

    n, d = X.shape
    if n <= MANY:
        return NearestNeighbors(n_neighbors=k).fit(X)
    tree = d <= TREE and not sparse.issparse(X)
    return NearestNeighbors(n_neighbors=k, algorithm="kd_tree" if tree else "brute", n_jobs=-1).fit(X)


def _nearest_of(rows: NDArray[np.int64], finder: Any, X: Any, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(r, k) the exact neighbours of some points, themselves left out, and the distances to them."""
    distance, index = finder.kneighbors(X[rows], min(k + 1, X.shape[0]))
    itself = index == rows[:, None]
    itself[~itself.any(axis=1), -1] = True  # hidden behind its duplicates: the last is dropped instead
    shape = (len(rows), k)
    return index[~itself].reshape(shape), distance[~itself].reshape(shape)
