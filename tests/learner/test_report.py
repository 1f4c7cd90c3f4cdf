"""Results back by node: as a pandas frame, and as attributes of a graph of one's own."""

import networkx as nx
import numpy as np
import pytest

from fewlabels.errors import NodeError
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner


class TestResults:
    def learner(self):
        g = nx.Graph([("a", "b"), ("b", 3)])
        g.add_node("lone", label="kept")
        learner = ActiveLearner(Graph.from_networkx(g), ["cat", "dog"])
        learner.teach("a", "dog")
        learner.skip("b")
        return g, learner

    def test_the_frame_says_what_is_known_of_every_node(self):
        _, learner = self.learner()
        frame = learner.to_frame()
        assert frame.index.name == "node"
        assert frame.index.tolist() == ["a", "b", 3, "lone"]
        assert frame.columns.tolist() == [
            *("label", "prediction", "chance", "reached", "skipped", "check", "p_cat", "p_dog")
        ]
        assert frame["label"].tolist() == ["dog", None, None, None]
        assert frame["prediction"].tolist() == ["dog", "dog", "dog", "cat"]
        assert frame["reached"].tolist() == [True, True, True, False]
        assert frame["skipped"].tolist() == [False, True, False, False]
        np.testing.assert_array_equal(frame[["p_cat", "p_dog"]], learner.predict_proba())
        assert frame.loc["a", "chance"] == 1
        assert frame.loc["b", "chance"] == frame.loc["b", "p_dog"]
        assert frame.loc["lone", "chance"] == 0.5

    def test_names_that_are_tuples_stay_one_index(self):
        learner = ActiveLearner(Graph([[0, 1], [1, 0]], names=[("a", 1), ("b", 2)]), [0, 1])
        assert learner.to_frame().index.tolist() == [("a", 1), ("b", 2)]
        assert learner.to_frame().index.nlevels == 1

    def test_attributes_on_a_graph_of_ones_own_can_be_written_and_are_kept_up(self, tmp_path):
        g, learner = self.learner()
        learner.to_networkx(g)
        assert g.nodes["a"]["fewlabels_label"] == "dog"
        assert g.nodes["b"] == {
            "fewlabels_prediction": "dog",
            "fewlabels_chance": learner.predict_proba()[1, 1],
            "fewlabels_reached": True,
            "fewlabels_skipped": True,
        }
        assert g.nodes["lone"]["label"] == "kept"
        nx.write_graphml_xml(g, tmp_path / "g.graphml")
        learner.forget("a")
        learner.teach("lone", "cat")
        learner.to_networkx(g, prefix="fewlabels_")
        assert "fewlabels_label" not in g.nodes["a"]
        assert g.nodes["lone"]["fewlabels_label"] == "cat"

    def test_a_part_of_the_graph_is_fine_and_a_stranger_changes_nothing(self):
        g, learner = self.learner()
        part = g.subgraph(["a", "b"]).copy()
        learner.to_networkx(part, prefix="")
        assert part.nodes["b"]["prediction"] == "dog"
        g.add_node("stranger")
        with pytest.raises(NodeError, match="there is no node 'stranger'"):
            learner.to_networkx(g)
        assert g.nodes["a"] == {}
