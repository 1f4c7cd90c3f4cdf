import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from fewlabels.errors import GraphError, NodeError
from fewlabels.graph import Graph
from fewlabels.graph.given import graph_of

TRIANGLE = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)


@pytest.mark.parametrize(
    "kind",
    [
        np.array,
        sparse.csr_array,
        sparse.coo_matrix,
        sparse.csc_matrix,
        sparse.lil_array,
        lambda W: W.tolist(),
        np.float32,
    ],
)
def test_weights_may_be_dense_or_sparse_of_any_kind(kind):
    graph = Graph(kind(TRIANGLE))
    assert (graph.n_nodes, graph.n_edges) == (3, 3)
    np.testing.assert_array_equal(graph.weights.toarray(), TRIANGLE)
    np.testing.assert_array_equal(graph.laplacian(2).toarray(), [[6, -2, -4], [-2, 8, -6], [-4, -6, 10]])


def test_components_are_numbered_by_their_first_node():
    graph = Graph.from_edges([0, 3], [2, 4], n_nodes=6)
    np.testing.assert_array_equal(graph.components(), [0, 1, 0, 2, 2, 3])


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([[0, -0.2], [-0.2, 0]], r"weights\[0, 1\] is -0\.2: weights must be finite and >= 0\. Take abs"),
        ([[0, np.nan], [np.nan, 0]], r"weights\[0, 1\] is nan"),
        ([[0, np.inf], [np.inf, 0]], r"weights\[0, 1\] is inf"),
        ([[0, 1], [2, 0]], r"weights\[0, 1\] is 1 and weights\[1, 0\] is 2: the matrix must be symmetric"),
        ([[0, 1], [0, 0]], r"weights\[0, 1\] is 1 and weights\[1, 0\] is 0"),
        (np.zeros((2, 3)), r"shape \(2, 3\): give a square matrix"),
        (np.zeros((0, 0)), "the graph has no nodes"),
        (np.zeros(4), r"shape \(4,\)"),
        ([["a", "b"], ["b", "a"]], "not an array of real numbers"),
        ([[0, 1], [1]], "not an array of real numbers"),
        (np.array([[0, 1j], [1j, 0]]), "not an array of real numbers"),
        (sparse.csr_array(np.array([[0, 1j], [1j, 0]])), "type complex128"),
        (None, "not an array of real numbers"),
        ([[0, 1e308], [1e308, 0]], r"weights\[0, 1\] is 1e\+308, outside 1e-100 to 1e\+100: multiply"),
    ],
)
def test_what_is_no_graph_is_refused_with_the_entry_and_the_way_out(weights, sentence):
    with pytest.raises(GraphError, match=sentence):
        Graph(weights)


def test_rounding_is_not_asymmetry():
    W = TRIANGLE.copy()
    W[0, 1] *= 1 + 1e-15
    assert (Graph(W).weights != Graph(W).weights.T).nnz == 0


def test_self_loops_are_dropped_with_a_warning():
    with pytest.warns(UserWarning, match=r"dropped 1 self-loop\(s\), the first at node 2"):
        graph = Graph(TRIANGLE + np.diag([0, 0, 5]))
    np.testing.assert_array_equal(graph.weights.toarray(), TRIANGLE)


def test_a_graph_does_not_follow_later_changes_of_the_matrix_it_was_made_from():
    W = sparse.csr_array(TRIANGLE)
    graph = Graph(W)
    W.data[:] = 7
    np.testing.assert_array_equal(graph.weights.toarray(), TRIANGLE)
    with pytest.raises(ValueError, match="read-only"):
        graph.weights.data[0] = 1


@pytest.mark.parametrize("make", [Graph, graph_of, lambda W: Graph.from_features(W, 1)])
def test_what_is_masked_is_not_taken_for_what_lies_under_the_mask(make):
    W = np.ma.array(TRIANGLE, mask=TRIANGLE > 2)
    with pytest.raises(GraphError, match="masked"):
        make(W)
    assert make(np.ma.array(TRIANGLE)).n_nodes == 3
    with pytest.raises(GraphError, match="masked"):
        Graph.from_edges([0], [1], np.ma.array([1.0], mask=[True]))


class TestFromEdges:
    def test_the_same_direction_twice_is_summed_and_both_directions_are_one_edge(self):
        graph = Graph.from_edges([0, 0, 1, 2], [1, 1, 2, 1], [1, 2, 5, 5])
        np.testing.assert_array_equal(graph.weights.toarray(), [[0, 3, 0], [3, 0, 5], [0, 5, 0]])

    def test_two_directions_that_disagree_are_refused(self):
        with pytest.raises(GraphError, match="edge 0 to 1 weighs 1 and 1 to 0 weighs 2"):
            Graph.from_edges([0, 1], [1, 0], [1, 2])
        with pytest.raises(GraphError, match="edge 0 to 1 weighs 2 and 1 to 0 weighs 1"):
            Graph.from_edges([0, 0, 1], [1, 1, 0])
        with pytest.raises(GraphError, match="weighs 0"):
            Graph.from_edges([0, 1], [1, 0], [0, 2])

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (([0, 1], [1]), "2 sources and 1 targets"),
            (([0], [1], [1, 2]), "one weight for every edge"),
            (([0], [3], None, 2), "an edge names node 3 of a graph of 2 nodes"),
            (([-1], [0]), "source holds -1"),
            (([0.5], [1]), "0.5.*not a whole number"),
            ((["a"], ["b"]), "not a whole number"),
            (([[0, 1]], [[1, 2]]), "shape"),
            (([0], [1], [-1]), r"the weight of edge 0 \(0 to 1\) is -1"),
            (([0], [1], ["x"]), "not an array of real numbers"),
            (([], [], None, 0), "n_nodes is 0"),
            (([], [], None, 2.5), "n_nodes is 2.5"),
            (([], []), "no nodes"),
            (([0], [2**31 - 3]), "renumber the nodes"),
            (([0], [2**40]), "node numbers run from 0"),
        ],
    )
    def test_wrong_edges_are_refused(self, arguments, sentence):
        with pytest.raises(GraphError, match=sentence):
            Graph.from_edges(*arguments)


class TestFromFeatures:
    def test_gaussian_weights_are_scaled_by_the_kth_distance_and_symmetric(self):
        graph = Graph.from_features([[0.0], [1.0], [3.0]], n_neighbors=1)
        W = graph.weights.toarray()
        assert W[0, 1] == pytest.approx(np.exp(-1))  # each other's nearest
        assert W[1, 2] == pytest.approx(np.exp(-1))  # 2's nearest is 1
        assert W[0, 2] == 0

    def test_two_points_are_tied_if_either_lists_the_other_and_the_larger_weight_counts(self):
        W = Graph.from_features([[0.0], [1.0], [2.0], [10.0]], n_neighbors=2).weights.toarray()
        assert W[0, 1] == pytest.approx(np.exp(-1 / 4))  # 0's second neighbour lies 2 away; 1 sees both at 1
        assert W[1, 3] == pytest.approx(np.exp(-1))
        assert W[2, 3] == pytest.approx(np.exp(-((8 / 9) ** 2)))

    def test_binary_weights_are_one(self):
        rng = np.random.default_rng(0)
        graph = Graph.from_features(rng.normal(size=(50, 3)), n_neighbors=4, weight="binary")
        assert set(graph.weights.data) == {1.0}
        assert (np.diff(graph.weights.indptr) >= 4).all()

    def test_cosine_neighbours_do_not_depend_on_length(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 5))
        scaled = X * rng.uniform(0.1, 10, (40, 1))
        a, b = (Graph.from_features(x, 5, metric="cosine").weights.toarray() for x in (X, scaled))
        np.testing.assert_allclose(a, b, atol=1e-9)

    def test_sparse_features_give_the_same_graph(self):
        X = np.abs(np.random.default_rng(0).normal(size=(30, 8))).clip(0.5) - 0.4
        a, b = (Graph.from_features(x, 4, metric="cosine").weights.toarray() for x in (X, sparse.csr_array(X)))
        np.testing.assert_allclose(a, b, atol=1e-9)

    def test_duplicate_points_are_tied_with_weight_one(self):
        graph = Graph.from_features([[1.0, 2.0]] * 5 + [[3.0, 4.0]], n_neighbors=3)
        W = graph.weights.toarray()
        assert np.isfinite(W).all()
        assert W[:5, :5].max() == pytest.approx(1)
        assert W[5].sum() > 0

    @pytest.mark.parametrize(
        ("X", "options", "sentence"),
        [
            ([[1.0], [np.nan]], {}, r"feature \[1, 0\] is nan"),
            (np.zeros((3, 2)), {"n_neighbors": 3}, "n_neighbors is 3 for 3 points: give a whole number from 1 to 2"),
            (np.zeros((3, 2)), {"n_neighbors": 0}, "n_neighbors is 0"),
            (np.zeros((30, 2)), {"weight": "cubic"}, "weight is 'cubic'"),
            (np.zeros((30, 2)), {"metric": "taxi"}, "metric is 'taxi'"),
            (np.zeros((30, 2)), {"metric": "cosine"}, "row 0 is all zeros"),
            (np.array([[1j], [0], [2]]), {}, "imaginary"),
            (sparse.csr_array([[1j], [0], [2]]), {}, "imaginary"),
            (np.zeros(5), {}, "shape"),
            (np.zeros((1, 5)), {}, "at least two rows"),
            ([["a"], ["b"]], {}, "not an array of numbers"),
        ],
    )
    def test_wrong_features_are_refused(self, X, options, sentence):
        with pytest.raises(GraphError, match=sentence):
            Graph.from_features(X, **options)


class TestNames:
    def test_networkx_names_and_weights_are_kept(self):
        g = nx.Graph()
        g.add_edge("ann", "bob", weight=2.0)
        g.add_edge("bob", ("c", 3))
        graph = Graph.from_networkx(g)
        assert list(graph.names) == ["ann", "bob", ("c", 3)]
        np.testing.assert_array_equal(graph.weights.toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
        assert graph.position(("c", 3)) == 2

    def test_parallel_edges_are_summed_and_directed_graphs_refused(self):
        g = nx.MultiGraph([("a", "b"), ("b", "a")])
        assert Graph.from_networkx(g).weights[0, 1] == 2
        with pytest.raises(GraphError, match="to_undirected"):
            Graph.from_networkx(nx.DiGraph([(0, 1)]))

    def test_numbers_that_are_names_are_never_taken_for_positions(self):
        graph = Graph.from_networkx(nx.path_graph(range(1, 6)))
        assert graph.position(1) == 0
        with pytest.raises(NodeError, match="there is no node 0"):
            graph.position(0)

    def test_where_no_name_is_a_number_a_number_is_a_position(self):
        assert Graph.from_networkx(nx.Graph([("a", "b")])).position(1) == 1

    @pytest.mark.parametrize("node", [3, -1, 1.0, "1", None, True, [1]])
    def test_what_is_no_node_is_refused(self, node):
        with pytest.raises(NodeError, match="node"):
            Graph(TRIANGLE).position(node)

    def test_a_misspelt_name_gets_a_hint(self):
        with pytest.raises(NodeError, match="Did you mean 'alice'"):
            Graph(TRIANGLE, names=["alice", "bob", "carol"]).position("alcie")

    def test_names_may_come_from_a_generator(self):
        assert Graph([[0, 1], [1, 0]], names=(name for name in "ab")).names == ["a", "b"]
        with pytest.raises(GraphError, match="names is 3: give one name for every node"):
            Graph([[0, 1], [1, 0]], names=3)

    def test_a_name_that_is_not_equal_to_itself_is_refused(self):
        with pytest.raises(GraphError, match=r"the name nan .* not even equal to itself"):
            Graph([[0, 1], [1, 0]], names=[float("nan"), float("nan")])

    def test_names_must_be_as_many_as_nodes_and_different(self):
        with pytest.raises(GraphError, match="2 names for 3 nodes"):
            Graph(TRIANGLE, names="ab")
        with pytest.raises(GraphError, match="'a' stands for more than one node"):
            Graph(TRIANGLE, names="aba")

    def test_fingerprints_tell_graphs_apart(self):
        same = Graph(TRIANGLE).fingerprint() == Graph(sparse.coo_array(TRIANGLE)).fingerprint()
        others = {
            Graph(TRIANGLE * 2).fingerprint(),
            Graph(TRIANGLE, names="abc").fingerprint(),
            Graph(TRIANGLE).fingerprint(),
        }
        assert same
        assert len(others) == 3
