"""The sparse passes over weights against plain loops that say what is meant."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.profiles import examples

from fewlabels.errors import GraphError
from fewlabels.graph import Graph

MANY = examples(300)
N = 5


def by_loops(edges):
    """Each direction summed; both listed must agree; loops dropped. None where they do not agree."""
    sums = {}
    for i, j, w in edges:
        sums[i, j] = sums.get((i, j), 0) + w
    W = np.zeros((N, N))
    for (i, j), w in sums.items():
        if sums.get((j, i), w) != w:
            return None
        if i != j:
            W[i, j] = W[j, i] = w
    return W


def quietly(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # self-loops
        return make()


def is_sound(W):
    assert W.has_sorted_indices
    assert not any(part.flags.writeable for part in (W.data, W.indices, W.indptr))
    assert (W.data > 0).all()
    assert W.indices.dtype == np.int32


@MANY
@given(st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.sampled_from([0, 1, 1, 2])), max_size=14))
def test_edges_make_the_matrix_that_loops_make(edges):
    source, target, weight = (np.array(part) for part in zip(*edges, strict=True)) if edges else ([], [], [])
    expected = by_loops(edges)
    if expected is None:
        with pytest.raises(GraphError, match="edges have no direction"):
            quietly(lambda: Graph.from_edges(source, target, weight, N))
    else:
        W = quietly(lambda: Graph.from_edges(source, target, weight, N)).weights
        np.testing.assert_array_equal(W.toarray(), expected)
        is_sound(W)


@MANY
@given(
    st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.sampled_from([0, 1, 2])), max_size=12),
    st.booleans(),
    st.sampled_from([sparse.coo_array, sparse.csr_array, sparse.csc_array]),
)
def test_a_sparse_matrix_with_duplicates_and_stored_zeros_is_its_dense_self(entries, mirrored, kind):
    if mirrored:
        entries = entries + [(j, i, w) for i, j, w in entries]
    i, j, w = (np.array(part) for part in zip(*entries, strict=True)) if entries else ([], [], [])
    matrix = sparse.coo_array((np.array(w, dtype=float), (np.array(i, int), np.array(j, int))), shape=(N, N))
    dense = matrix.toarray()
    np.fill_diagonal(dense, 0)
    if (dense == dense.T).all():
        W = quietly(lambda: Graph(kind(matrix))).weights
        np.testing.assert_array_equal(W.toarray(), dense)
        is_sound(W)
    else:
        with pytest.raises(GraphError, match="must be symmetric"):
            quietly(lambda: Graph(kind(matrix)))


def test_the_first_bad_entry_is_named_before_duplicates_hide_it():
    with pytest.raises(GraphError, match=r"weights\[0, 1\] is -1: weights must be finite"):
        Graph(sparse.coo_array(([3.0, -1.0, 2.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))


def test_weights_that_are_fine_may_sum_to_one_that_is_not():
    with pytest.raises(GraphError, match=r"weights\[0, 1\] is 1\.8e\+100, outside"):
        Graph.from_edges([0, 0], [1, 1], [9e99, 9e99])
    with pytest.raises(GraphError, match=r"weights\[1, 1\] is 1\.8e\+100, outside"):
        Graph.from_edges([0, 1, 1], [1, 1, 1], [1, 9e99, 9e99])


def test_the_warning_of_a_self_loop_points_at_the_line_that_made_the_graph():
    for make in (lambda: Graph([[1.0, 1], [1, 0]]), lambda: Graph.from_edges([0, 0], [0, 1])):
        with pytest.warns(UserWarning, match="first at node 0") as caught:
            make()
        assert caught[0].filename == __file__


def test_indices_of_64_bits_become_32_and_the_input_stays_as_it_was():
    W = sparse.csr_array(np.array([[0, 1.0], [1, 0]]))
    W.indices, W.indptr = W.indices.astype(np.int64), W.indptr.astype(np.int64)
    is_sound(Graph(W).weights)
    assert W.indices.dtype == np.int64
    assert W.data.flags.writeable


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.coo_matrix])
def test_small_whole_numbers_do_not_wrap_around(kind):
    twice = np.array([200] * 4, np.uint8)
    assert Graph(kind((twice, ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))).degrees().tolist() == [400, 400]
    assert Graph.from_edges([0, 0], [1, 1], twice[:2]).weights[0, 1] == 400
    places = np.array([200, 200, 144, 150], np.uint8), ([0, 0, 1, 2], [0, 0, 0, 0])  # 400, 144, 150
    assert Graph.from_features(kind(places, shape=(3, 1)), 1, "binary").weights[[0], [1, 2]].tolist() == [0, 1]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_matrix_of_float32_is_symmetric_up_to_its_own_rounding(kind):
    rng = np.random.default_rng(0)
    near = np.triu(rng.random((30, 30), dtype=np.float32), 1)
    near = near + near.T
    root = np.sqrt(near.sum(axis=1))
    scaled = near / root[:, None] / root[None, :]  # D^-1/2 W D^-1/2, rounded differently in each direction
    assert (scaled != scaled.T).any()
    assert Graph(kind(scaled)).weights[3, 4] == pytest.approx(scaled[3, 4], rel=1e-6)
    with pytest.raises(GraphError, match="must be symmetric"):
        Graph(kind(scaled.astype(float)))  # what float64 means, it could have said
    with pytest.raises(GraphError, match="must be symmetric"):
        Graph(kind(np.array([[0, 1], [1.001, 0]], np.float32)))
