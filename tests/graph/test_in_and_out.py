"""Graphs of other packages and files come in as they are, and go out again; wrong ones get a sentence."""

import os
import sys
from types import SimpleNamespace
from typing import ClassVar

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.foreign import SOME, assert_same, quietly

from fewlabels.errors import FileError, GraphError, NodeError
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.tables import read_edges

names = st.one_of(
    st.integers(-3, 12),
    st.text(min_size=1, max_size=4).filter(lambda text: text.isprintable()),
    st.sampled_from(["with a space", "naïve", "零", "<&>", '"quoted"', "p.1", "n0"]),
)


@st.composite
def awkward(draw, text=False):
    """A networkx graph or multigraph: isolated nodes, self-loops, parallel edges, some edges without a weight."""
    nodes = draw(st.lists(names.map(str) if text else names, min_size=1, max_size=7, unique=True))
    g = draw(st.sampled_from([nx.Graph, nx.MultiGraph]))()
    g.add_nodes_from(nodes)
    for _ in range(draw(st.integers(0, 10))):
        weight = draw(st.sampled_from([None, 0, 1, 2.5, 1e-3]))
        g.add_edge(*(draw(st.sampled_from(nodes)) for _ in range(2)), **({} if weight is None else {"weight": weight}))
    return g


def plainly(g):
    """The specification, from what networkx documents: weights by pairs of nodes, added one edge after another."""
    order = list(g.nodes)
    W = np.zeros((len(order), len(order)))
    for a, b, held in g.edges(data=True):
        i, j = order.index(a), order.index(b)
        if i != j:
            W[i, j] += held.get("weight", 1)
            W[j, i] = W[i, j]
    return order, W


class TestRoundTrips:
    @SOME
    @given(awkward())
    def test_networkx_in_and_out(self, g):
        graph = quietly(Graph.from_networkx, g)
        assert_same(graph, *plainly(g))
        assert_same(Graph.from_networkx(graph.to_networkx()), *plainly(g))

    def test_networkx_weights_can_be_left_out(self):
        g = nx.MultiGraph([("a", "b", {"weight": 5}), ("b", "a", {"weight": "heavy"})])
        assert Graph.from_networkx(g, weight=None).weights[0, 1] == 2
        with pytest.raises(GraphError, match="the weights of 2 edges: not an array of real numbers"):
            Graph.from_networkx(g)

    @SOME
    @given(awkward(text=True), st.booleans())
    def test_graphml_as_networkx_writes_it(self, tmp_path, g, pretty):
        nx.write_graphml_xml(g, tmp_path / "g.graphml", prettyprint=pretty)
        assert_same(quietly(read_edges, tmp_path / "g.graphml"), *plainly(g))

    @SOME
    @given(awkward())
    def test_a_frame_of_edges_with_all_nodes_listed(self, g):
        order, W = plainly(g)
        rows = [(*((b, a) if k % 2 else (a, b)), held.get("weight", 1)) for k, (a, b, held) in enumerate(_once(g))]
        frame = pd.DataFrame(rows, columns=["source", "target", "weight"])
        graph = quietly(Graph.from_pandas, frame, nodes=order)
        assert_same(graph, order, W)
        assert_same(Graph.from_pandas(graph.to_pandas(), nodes=order), order, W)

    @SOME
    @given(awkward(text=True))
    def test_npz_keeps_the_names(self, tmp_path, monkeypatch, g):
        monkeypatch.setattr(os, "fsync", lambda file: None)  # twenty times takes long, and is not the point
        graph = quietly(Graph.from_networkx, g)
        graph.to_npz(tmp_path / "g.npz")
        assert_same(read_edges(tmp_path / "g.npz"), *plainly(g))
        np.testing.assert_array_equal(sparse.load_npz(tmp_path / "g.npz").toarray(), graph.weights.toarray())

    def test_npz_keeps_whole_numbers_and_leaves_numbered_nodes_unnamed(self, tmp_path):
        Graph([[0, 1], [1, 0]], names=[7, 3]).to_npz(tmp_path / "g.npz")
        assert Graph.from_npz(tmp_path / "g.npz").names == [7, 3]
        Graph([[0, 1], [1, 0]]).to_npz(tmp_path / "g.npz")
        assert Graph.from_npz(tmp_path / "g.npz").names == range(2)

    @pytest.mark.parametrize(
        "names", [["a", 1], [("a", 1), ("b", 2)], [("a", 1), ("b", (2, 3))], [1.5, 2], ["a", "b\0"]]
    )
    def test_npz_refuses_names_that_would_come_back_as_something_else(self, tmp_path, names):
        with pytest.raises(FileError, match="all text or all whole numbers"):
            Graph([[0, 1], [1, 0]], names=names).to_npz(tmp_path / "g.npz")
        assert not (tmp_path / "g.npz").exists()

    def test_npz_is_told_by_its_ending(self, tmp_path):
        with pytest.raises(FileError, match=r"ends in '\.txt': give a name that ends in \.npz"):
            Graph([[0, 1], [1, 0]]).to_npz(tmp_path / "g.txt")

    def test_names_in_an_npz_file_are_not_unpickled(self, tmp_path):
        W = sparse.csr_array([[0, 1], [1, 0]])
        held = {"format": b"csr", "shape": W.shape, "data": W.data, "indices": W.indices, "indptr": W.indptr}
        np.savez(tmp_path / "g.npz", names=np.array([print, "b"], dtype=object), **held)
        with pytest.raises(FileError, match="cannot be read as a sparse matrix"):
            Graph.from_npz(tmp_path / "g.npz")


def _once(g):
    """Every edge once; parallel ones in one direction, as a list of edges has them."""
    position = {node: k for k, node in enumerate(g.nodes)}
    once = {}
    for a, b, held in g.edges(data=True):
        a, b = sorted((a, b), key=position.get)
        once[a, b] = {"weight": once.get((a, b), {"weight": 0})["weight"] + held.get("weight", 1)}
    return [(a, b, held) for (a, b), held in once.items()]


class Sequence(list):
    """igraph's sequence of vertices or edges, as far as it is documented: attributes by name, set and read as lists."""

    def __init__(self, n, **held):
        super().__init__(range(n))
        self.held = held

    def attributes(self):
        return list(self.held)

    def __getitem__(self, name):
        return self.held[name]

    def __setitem__(self, name, values):
        assert len(values) == len(self)
        self.held[name] = list(values)


class StandIn:
    """An igraph graph, as far as it is documented."""

    def __init__(self, n, edges, directed=False, vertex_attrs=None, edge_attrs=None):
        self._edges, self._directed = edges, directed
        self.vs, self.es = Sequence(n, **(vertex_attrs or {})), Sequence(len(edges), **(edge_attrs or {}))

    def is_directed(self):
        return self._directed

    def vcount(self):
        return len(self.vs)

    def get_edgelist(self):
        return self._edges


@pytest.fixture(params=["stand-in", "igraph"])
def igraph(request):
    if request.param == "stand-in":
        return StandIn
    return pytest.importorskip("igraph", reason="igraph is GPL: it is tested where it is installed").Graph


class TestIgraph:
    def test_names_weights_parallel_edges_and_lone_vertices(self, igraph):
        g = igraph(
            4,
            [(1, 0), (0, 1), (1, 2), (2, 2)],
            vertex_attrs={"name": ["ann", "bob", "the cat", "zoé"]},
            edge_attrs={"weight": [2.0, 0.5, None, 9.0]},
        )
        with pytest.warns(UserWarning, match="dropped 1 self-loop"):
            graph = Graph.from_igraph(g)
        W = np.zeros((4, 4))
        W[0, 1] = W[1, 0] = 2.5
        W[1, 2] = W[2, 1] = 1
        assert_same(graph, ["ann", "bob", "the cat", "zoé"], W)

    def test_without_attributes_vertices_are_numbers_and_edges_weigh_1(self, igraph):
        assert_same(Graph.from_igraph(igraph(3, [(0, 2)])), [0, 1, 2], [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
        assert_same(Graph.from_igraph(igraph(2, [])), [0, 1], np.zeros((2, 2)))

    def test_what_cannot_be_taken_is_said(self, igraph):
        with pytest.raises(GraphError, match=r"directed: call g\.as_undirected\(\) first"):
            Graph.from_igraph(igraph(2, [(0, 1)], directed=True))
        with pytest.raises(GraphError, match="no edge has the attribute 'widht'"):
            Graph.from_igraph(igraph(2, [(0, 1)], edge_attrs={"width": [1]}), weight="widht")
        with pytest.raises(GraphError, match=r"the weight of edge 0 \(0 to 1\) is -1"):
            Graph.from_igraph(igraph(2, [(0, 1)], edge_attrs={"weight": [-1]}))
        with pytest.raises(GraphError, match="the name 'a' stands for more than one node"):
            Graph.from_igraph(igraph(2, [(0, 1)], vertex_attrs={"name": ["a", "a"]}))
        with pytest.raises(GraphError, match="the graph has no nodes"):
            Graph.from_igraph(igraph(0, []))

    def test_results_go_onto_the_vertices(self, igraph):
        g = igraph(4, [(0, 1), (1, 2)], vertex_attrs={"name": list("abcd")})
        learner = ActiveLearner(Graph.from_igraph(g), ["x", "y"])
        learner.teach("a", "y")
        learner.skip("d")
        learner.to_igraph(g)
        assert g.vs["fewlabels_label"] == ["y", None, None, None]
        assert g.vs["fewlabels_prediction"] == ["y", "y", "y", "x"]
        assert g.vs["fewlabels_reached"] == [True, True, True, False]
        assert g.vs["fewlabels_skipped"] == [False, False, False, True]
        assert g.vs["fewlabels_chance"][0] == 1.0
        with pytest.raises(NodeError, match="3 vertices without names, and the learner's has 4 nodes"):
            learner.to_igraph(igraph(3, []))
        with pytest.raises(NodeError, match="there is no node 'e'"):
            learner.to_igraph(igraph(1, [], vertex_attrs={"name": ["e"]}))


def test_graphml_as_igraph_writes_it(tmp_path):
    igraph = pytest.importorskip("igraph", reason="igraph is GPL: it is tested where it is installed")
    g = igraph.Graph(3, [(0, 1)], vertex_attrs={"name": ["a b", "ü", "c"]}, edge_attrs={"weight": [2.5]})
    g.write_graphml(str(tmp_path / "g.graphml"))
    W = [[0, 2.5, 0], [2.5, 0, 0], [0, 0, 0]]
    assert_same(Graph.from_graphml(tmp_path / "g.graphml"), ["n0", "n1", "n2"], W)
    assert_same(Graph.from_graphml(tmp_path / "g.graphml", name="name"), ["a b", "ü", "c"], W)


class Tensor:
    """A tensor of PyTorch's, as far as it is needed: on a card and part of a computation, until told otherwise."""

    def __init__(self, values, grown_up=False):
        self._values, self._plain = np.asarray(values), grown_up

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self._values, grown_up=True)

    def numpy(self):
        assert self._plain, "can't convert a tensor on a card to numpy: call cpu() first"
        return self._values


def data_of(**held):
    """PyTorch Geometric's Data, as far as it is documented: what was not given is None."""
    tensors = {name: Tensor(value) if isinstance(value, list) else value for name, value in held.items()}
    return SimpleNamespace(**{"edge_index": None, "edge_weight": None, "edge_attr": None, "num_nodes": None} | tensors)


def real_data_of(**held):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data", reason="torch_geometric is tested where it is installed")
    return data.Data(**{name: torch.tensor(v) if isinstance(v, list) else v for name, v in held.items()})


@pytest.fixture(params=[data_of, real_data_of], ids=["stand-in", "torch_geometric"])
def pyg(request):
    return request.param


class TestPyg:
    BOTH: ClassVar = [[0, 1, 1, 2], [1, 0, 2, 1]]

    def test_both_directions_are_one_edge_and_lone_nodes_stay(self, pyg):
        graph = Graph.from_pyg(pyg(edge_index=self.BOTH, num_nodes=4))
        assert_same(graph, [0, 1, 2, 3], np.diag([1, 1, 0], 1) + np.diag([1, 1, 0], -1))

    @pytest.mark.parametrize(
        "held", [{"edge_weight": [2.0, 2.0, 3.0, 3.0]}, {"edge_attr": [[2.0], [2.0], [3.0], [3.0]]}]
    )
    def test_weights_are_one_number_an_edge(self, pyg, held):
        graph = Graph.from_pyg(pyg(edge_index=self.BOTH, num_nodes=3, **held))
        assert_same(graph, [0, 1, 2], np.diag([2, 3], 1) + np.diag([2, 3], -1))

    def test_several_columns_are_features_of_the_edge_unless_asked_for(self, pyg):
        data = pyg(edge_index=self.BOTH, num_nodes=3, edge_attr=[[2.0, 1.0]] * 4)
        assert Graph.from_pyg(data).weights[0, 1] == 1
        with pytest.raises(GraphError, match=r"edge_attr has shape \(4, 2\): give one weight for every edge"):
            Graph.from_pyg(data, weight="edge_attr")

    def test_what_cannot_be_taken_is_said(self, pyg):
        with pytest.raises(GraphError, match="the data has no edge_index"):
            Graph.from_pyg(pyg(num_nodes=3))
        with pytest.raises(GraphError, match="the data has no 'strength'"):
            Graph.from_pyg(pyg(edge_index=self.BOTH, num_nodes=3), weight="strength")
        with pytest.raises(GraphError, match=r"edge_index has shape \(1, 2\)"):
            Graph.from_pyg(pyg(edge_index=[[0, 1]], num_nodes=2))
        with pytest.raises(GraphError, match="edge 0 to 1 weighs 1 and 1 to 0 weighs 2"):
            Graph.from_pyg(pyg(edge_index=[[0, 1], [1, 0]], edge_weight=[1.0, 2.0], num_nodes=2))
        with pytest.raises(GraphError, match="is nan"):
            Graph.from_pyg(pyg(edge_index=[[0], [1]], edge_weight=[float("nan")], num_nodes=2))
        with pytest.raises(GraphError, match=r"to_homogeneous\(\)"):
            Graph.from_pyg(SimpleNamespace(edge_types=[], num_nodes=3))


class TestPandas:
    FRAME = pd.DataFrame({"from": ["b", "a", "b"], "to": ["a", "c", "a"], "km": [1, 2.5, 3]}, index=[10, 11, 12])

    def test_columns_by_name_and_nodes_in_the_order_of_the_rows(self):
        graph = Graph.from_pandas(self.FRAME, "from", "to", "km")
        assert_same(graph, ["b", "a", "c"], [[0, 4, 0], [4, 0, 2.5], [0, 2.5, 0]])
        assert Graph.from_pandas(self.FRAME, "from", "to", None).weights[0, 1] == 2
        assert Graph.from_pandas(self.FRAME, "from", "to").weights[0, 1] == 2

    def test_numbers_categories_and_times_keep_their_type(self):
        frame = pd.DataFrame({"source": np.array([3, 1]), "target": np.array([1, 7])})
        assert Graph.from_pandas(frame).names == [3, 1, 7]
        assert all(type(name) is int for name in Graph.from_pandas(frame).names)
        frame = frame.astype({"source": "category", "target": "Int64"})
        assert Graph.from_pandas(frame).names == [3, 1, 7]
        day = pd.Timestamp("2026-01-01")
        assert Graph.from_pandas(pd.DataFrame({"source": [day], "target": ["x"]})).names == [day, "x"]

    @pytest.mark.parametrize(
        ("change", "options", "sentence"),
        [
            ({}, {"source": "form"}, r"no column 'form': its columns are from, to, km\. Did you mean 'from'"),
            ({}, {"weight": "miles"}, "no column 'miles'"),
            ({"to": ["a", None, "a"]}, {}, "row 11: 'to' is empty"),
            ({"from": ["b", np.nan, "b"]}, {}, "row 11: 'from' is empty"),
            ({"km": [1, -2, 3]}, {}, "row 11: the weight -2 is not a number >= 0"),
            ({"km": [1, 2, np.nan]}, {}, "row 12: the weight nan is not a number >= 0"),
            ({"km": ["1", "far", "2"]}, {}, "row 11: the weight 'far' is not a number >= 0"),
            ({}, {"nodes": ["a", "b"]}, "an edge names 'c', which is not in nodes"),
            ({}, {"nodes": ["a", "b", "c", "a"]}, "nodes lists 'a' twice"),
            ({"from": ["a"] * 3, "to": ["b", "b", "a"]}, {"nodes": []}, "an edge names 'a', which is not in nodes"),
        ],
    )
    def test_what_cannot_be_taken_is_said(self, change, options, sentence):
        with pytest.raises(GraphError, match=sentence):
            Graph.from_pandas(
                self.FRAME.assign(**change), **{"source": "from", "target": "to", "weight": "km"} | options
            )


def test_networkx_is_asked_for_where_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(GraphError, match="networkx is not installed: run pip install networkx"):
        Graph([[0, 1], [1, 0]]).to_networkx()
