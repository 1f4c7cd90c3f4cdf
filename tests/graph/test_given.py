"""What a program has, taken for a graph where it can mean nothing else."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import fewlabels as fl
from fewlabels.errors import GraphError
from fewlabels.graph.given import graph_of

WEIGHTS = np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]])


class Network(nx.Graph):
    """One of the user's own kind."""


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, Network])
def test_a_networkx_graph_is_one(kind):
    g = kind()
    g.add_edge("a", "b", weight=3)
    g.add_node("c")
    learner = fl.ActiveLearner(g, ["x", "y"])
    learner.teach("a", "x")
    assert learner.graph.names == ["a", "b", "c"]
    assert learner.predict()[1] == "x"


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.coo_matrix, np.asarray, np.float32, np.uint8, np.ndarray.tolist]
)
def test_a_symmetric_matrix_is_weights(kind):
    assert (graph_of(kind(WEIGHTS)).weights.toarray() == WEIGHTS).all()


def test_a_frame_of_edges_is_a_graph():
    frame = pd.DataFrame({"source": ["b", "a"], "target": ["a", "c"], "weight": [1.0, 2.0]})
    assert graph_of(frame).names == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (np.zeros((5, 3)), r"shape \(5, 3\): if its rows are points, .* Graph.from_features\(X\)"),
        (sparse.csr_array(np.ones((5, 3))), r"shape \(5, 3\): if its rows are points"),
        (np.array([[0, 1], [1, 2], [2, 3]]), r"Graph.from_edges\(pairs\[:, 0\], pairs\[:, 1\]\)"),
        (np.array([[0, 1.0], [3, 0]]), "the same in both directions"),
        (
            pd.DataFrame({"x": [1.0], "y": [2.0]}),
            r"columns x, y: .*from_features\(frame\); .*from_pandas",
        ),
        (pd.Series([1.0]), "without columns"),
        ("edges.csv", r"fewlabels.tables.read_edges\(path\)"),
        (None, "of type NoneType"),
        (nx.DiGraph([(0, 1)]), "is directed"),
        (np.array([["a", "b"]]), r"shape \(1, 2\)"),
    ],
)
def test_what_may_mean_something_else_is_refused_with_the_call_that_helps(given, sentence):
    with pytest.raises(GraphError, match=sentence):
        fl.ActiveLearner(given, ["x", "y"])
