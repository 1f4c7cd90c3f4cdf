"""Weights of a graph: made of edges or a matrix, refused if they do not make a graph, then symmetric and read-only.

Each step is one pass of SciPy over sorted rows, with at most two more matrices of the graph's size beside the result: a
graph of ten million edges goes through in seconds.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fewlabels.arrays import as_floats, is_whole
from fewlabels.errors import GraphError

LIGHTEST, HEAVIEST = 1e-100, 1e100  # sums and squares of weights between them stay finite
MOST_NODES = 2**31 - 1
SYMMETRY = 1e-9  # two directions of an edge agree when they differ by less than this share
ROUNDINGS = 64  # the same in numbers of fewer bits: so many times their own rounding, and at most one in a hundred


def weights_of_matrix(weights: Any) -> sparse.csr_array:
    """The matrix, dense or sparse, as checked weights; it is copied."""
    agree = agreement(weights)
    if sparse.issparse(weights):
        if weights.dtype.kind not in "biuf":
            raise GraphError(f"the weights are of type {weights.dtype}: give real numbers.")
        entries = (weights if weights.format in ("csr", "csc", "coo") else sparse.coo_array(weights)).astype(float)
    else:
        array = real_numbers("the weights", weights)
        if array.ndim != 2:
            raise GraphError(f"the weights have shape {array.shape}: give a square matrix, a row and column per node.")
        entries = sparse.coo_array(array)
    if len(entries.shape) != 2 or entries.shape[0] != entries.shape[1]:
        raise GraphError(f"the weights have shape {entries.shape}: give a square matrix, a row and column per node.")
    _refuse_empty(entries.shape[0])

    def where(e: int) -> str:
        i, j = sparse.coo_array(entries).coords
        return f"weights[{i[e]}, {j[e]}]"

    refuse_bad(entries.data, where)
    W = sparse.csr_array(entries, copy=True)
    W.sum_duplicates()
    _refuse_bad_sums(W)
    return _frozen(_same_both_ways(_without_loops(W), agree))


def agreement(weights: Any) -> float:
    """The share by which two directions may differ: what rounding in the numbers' own type explains."""
    dtype = getattr(weights, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind != "f":
        return SYMMETRY
    return max(SYMMETRY, min(ROUNDINGS * float(np.finfo(dtype).eps), 0.01))


def weights_of_edges(
    i: NDArray[np.int32], j: NDArray[np.int32], w: NDArray[np.float64], n: int, agree: float = SYMMETRY
) -> sparse.csr_array:
    """Checked weights: repeats of a direction are summed; both directions, if listed, must agree and count once."""
    _refuse_empty(n)
    rising = i <= j
    up = _summed(i[rising], j[rising], w[rising], n)
    falling = ~rising
    down = _summed(j[falling], i[falling], w[falling], n)  # transposed: both lie above the diagonal
    both = _pattern(up).multiply(_pattern(down))
    if both.nnz:
        up_again, down_again = up.multiply(both), down.multiply(both)
        clash = _first_gap(up_again, down_again, agree)
        if clash is not None:
            low, high = clash
            raise GraphError(
                f"edge {low} to {high} weighs {up[low, high]:g} and {high} to {low} weighs {down[low, high]:g}: "
                "edges have no direction. Give both the same weight or list one."
            )
        down = down - down_again
    half = sparse.csr_array(up + down)
    del rising, falling, up, down, both
    _refuse_bad_sums(half)
    half = _without_loops(half)
    return _frozen(half + half.T)


def node_numbers(what: str, values: ArrayLike) -> NDArray[np.int32]:
    """The values as node numbers, refused if they are not."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise GraphError(f"{what} is not a list of node numbers ({error}).") from None
    if array.ndim != 1:
        raise GraphError(f"{what} has shape {array.shape}: give one node number for every edge.")
    if array.size and array.dtype.kind not in "iu":
        raise GraphError(
            f"{what} holds {array[0]!r}, not a whole number: "
            "number the nodes from 0, or pass node names in a file or a networkx graph."
        )
    if array.size and (array.min() < 0 or int(array.max()) >= MOST_NODES):
        wrong = array.min() if array.min() < 0 else array.max()
        raise GraphError(f"{what} holds {wrong}: node numbers run from 0 to {MOST_NODES - 1}.")
    return array.astype(np.int32, copy=False)


def node_count(n_nodes: Any) -> int:
    if not is_whole(n_nodes) or not 1 <= operator.index(n_nodes) <= MOST_NODES:
        raise GraphError(f"n_nodes is {n_nodes!r}: give a whole number from 1 to {MOST_NODES}.")
    return operator.index(n_nodes)


def refuse_bad(w: NDArray[np.float64], where: Callable[[int], str]) -> None:
    """Refuse the first weight that is negative, NaN or infinite; where(e) names entry e."""
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        e = int(bad[0])
        way_out = "Take abs() or drop the edge." if w[e] < 0 else "Fill it in or drop the edge."
        raise GraphError(f"{where(e)} is {w[e]:g}: weights must be finite and >= 0. {way_out}")
    extreme = np.flatnonzero((w > 0) & ((w < LIGHTEST) | (w > HEAVIEST)))
    if len(extreme):
        e = int(extreme[0])
        raise GraphError(
            f"{where(e)} is {w[e]:g}, outside {LIGHTEST:g} to {HEAVIEST:g}: multiply all weights by a constant."
        )


def real_numbers(what: str, values: Any) -> NDArray[np.float64]:
    """The values as an array of float64; the same array if it already is one."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf" and array.size:
            raise TypeError(f"its type is {array.dtype}")
        return as_floats(values)
    except (TypeError, ValueError) as error:
        raise GraphError(f"{what}: not an array of real numbers ({error}). Give numbers only.") from None


def _refuse_empty(n: int) -> None:
    if n == 0:
        raise GraphError("the graph has no nodes: give weights for at least one.")


def _refuse_bad_sums(W: sparse.csr_array) -> None:
    """Weights that are each fine may sum to one that is not."""

    def where(e: int) -> str:
        row = np.searchsorted(W.indptr, e, side="right") - 1
        return f"weights[{row}, {W.indices[e]}]"

    refuse_bad(W.data, where)


def _summed(i: NDArray[np.int32], j: NDArray[np.int32], w: NDArray[np.float64], n: int) -> sparse.csr_array:
    """One entry for each pair listed, zeros kept."""
    W = sparse.csr_array((w, (i, j)), shape=(n, n))
    W.sum_duplicates()  # SciPy 1.13 keeps duplicates
    return W


def _pattern(W: sparse.csr_array) -> sparse.csr_array:
    """1 wherever W stores an entry, even a zero."""
    return sparse.csr_array((np.ones(W.nnz), W.indices, W.indptr), shape=W.shape)


def _without_loops(W: sparse.csr_array) -> sparse.csr_array:
    """No entries on the diagonal, and no zeros stored."""
    loops = np.flatnonzero(W.diagonal())
    if len(loops):
        warnings.warn(
            f"dropped {len(loops)} self-loop(s), the first at node {loops[0]}: they only tie a node to itself.",
            stacklevel=4,
        )
        W = sparse.csr_array(W - sparse.diags_array(W.diagonal()))
    W.eliminate_zeros()
    return W


def _same_both_ways(W: sparse.csr_array, agree: float) -> sparse.csr_array:
    """W if it is symmetric, made so if only rounding is in the way, refused otherwise."""
    turned = sparse.csr_array(W.T)
    turned.sort_indices()
    if np.array_equal(W.indptr, turned.indptr) and np.array_equal(W.indices, turned.indices):
        if np.array_equal(W.data, turned.data):
            return W
        if not (np.abs(W.data - turned.data) > agree * np.maximum(W.data, turned.data)).any():
            W.data += turned.data
            W.data /= 2
            return W
    a, b = _first_gap(W, turned, agree)  # type: ignore[misc]  # entries differ in place or value, so there is one
    raise GraphError(
        f"weights[{a}, {b}] is {W[a, b]:g} and weights[{b}, {a}] is {W[b, a]:g}: the matrix must be symmetric. "
        "Use (W + W.T) / 2 or np.maximum(W, W.T)."
    )


def _first_gap(A: sparse.csr_array, B: sparse.csr_array, agree: float) -> tuple[int, int] | None:
    """Row and column of the first entry in which two matrices differ by more than rounding."""
    excess = sparse.coo_array(abs(A - B) - agree * A.maximum(B))
    wrong = np.flatnonzero(excess.data > 0)
    if not len(wrong):
        return None
    i, j = excess.coords
    return int(i[wrong[0]]), int(j[wrong[0]])


def _frozen(W: sparse.csr_array) -> sparse.csr_array:
    """The same, read-only, with sorted indices of 32 bits where they fit."""
    W = sparse.csr_array(W)
    W.sort_indices()
    if W.nnz < 2**31:
        indices, indptr = (part.astype(np.int32, copy=False) for part in (W.indices, W.indptr))
        W = sparse.csr_array((W.data, indices, indptr), shape=W.shape)
    for part in (W.data, W.indices, W.indptr):
        part.flags.writeable = False
    return W
