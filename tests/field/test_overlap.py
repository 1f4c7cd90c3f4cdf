"""Links weighed by shared neighbours: every engine holds the field of the weights that the definition gives."""

import numpy as np
import oracle
import pytest
from field.test_smooth import assert_is_its_definition
from field.test_unsure import closely, live
from support.fields import field_of
from support.graphs import in_pieces, random_weights

from fewlabels.field.overlap import overlapped, transitivity
from fewlabels.graph import Graph
from fewlabels.kernels.cpu.overlap import neighbourhood_overlap
from fewlabels.kernels.reference import neighbourhood_overlap as plain_overlap

RING = Graph.from_features(np.column_stack([np.cos(np.arange(40) / 6.4), np.sin(np.arange(40) / 6.4)]), 6)


@pytest.mark.parametrize("power", [0.5, 1, 2, 7])
@pytest.mark.parametrize("sizes", [[1], [2], [3], [9, 4, 2, 1], [40]])
def test_weights_are_their_definition(sizes, power):
    W = in_pieces(sizes, np.random.default_rng(len(sizes)))
    np.testing.assert_allclose(
        overlapped(Graph(W), power).weights.toarray(), oracle.overlap_weights(W, power), rtol=1e-12
    )


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_the_kernel_equals_its_twin_and_is_the_same_from_either_end(scale):
    W = Graph(scale * random_weights(70, np.random.default_rng(3))).weights
    found = W.copy()
    found.data = neighbourhood_overlap(W.indptr, W.indices, W.data)
    np.testing.assert_allclose(found.toarray(), plain_overlap(W.toarray()), rtol=1e-12)
    assert (found != found.T).nnz == 0
    assert found.data.min() > 0
    assert found.data.max() <= 1 + 1e-12


def test_on_a_square_with_a_diagonal_it_is_what_one_counts():
    """Ends of the diagonal have the same neighbours, 1; those of a side share two of three, and one has four."""
    square = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    W = overlapped(square, 2).weights.toarray()
    assert W[0, 2] == pytest.approx(1)
    assert W[0, 1] == W[1, 0] == pytest.approx(3**2 / (3 * 4))
    assert W[1, 3] == 0


def test_nothing_else_of_the_graph_changes():
    given = Graph(random_weights(12, np.random.default_rng(0)), names=list("abcdefghijkl"))
    found = overlapped(given, 2)
    assert (found.position("c"), found.names, found.overlap) == (2, given.names, 2)
    assert given.overlap == 0
    assert overlapped(given, 0) is given
    np.testing.assert_array_equal(found.weights.indices, given.weights.indices)
    np.testing.assert_array_equal(found.components(), given.components())


def test_transitivity_is_the_share_of_pairs_of_neighbours_that_are_linked():
    square = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    assert transitivity(square.weights) == pytest.approx(6 / 8)
    assert transitivity(Graph.from_edges(range(5), range(1, 6)).weights) == 0
    assert transitivity(Graph([[0]]).weights) == 0


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("a", [0.0, 3.3])
def test_engines_hold_the_field_of_these_weights(engine, a):
    rng = np.random.default_rng(1)
    W = in_pieces([12, 5, 2], rng)
    field = field_of(Graph(W), 3, 0.7, a, engine, overlap=2)
    assert field.covariance.recipe.links.overlap == 2
    live(field, oracle.overlap_weights(W, 2), 30, rng, closely(assert_is_its_definition, engine))
