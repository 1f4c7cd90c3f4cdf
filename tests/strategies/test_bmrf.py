"""The strategy "bmrf" on the paper's chain: 18 nodes, node 1 is +, node 11 is -, beta = 1."""

import numpy as np
import pytest
from support.fields import field_of

import fewlabels as fl
from fewlabels.experiments.figure1 import TRUTH, chain_learner
from fewlabels.marginals import exact_marginals
from fewlabels.strategies import tied


def ties_of(learner):
    cost = learner.costs()
    open_ = np.flatnonzero(~np.isnan(cost))
    return [int(node) + 1 for node in tied(cost[open_], open_)]


def test_marginals_beyond_the_last_label_are_those_the_paper_prints():
    field = field_of(fl.Graph.from_edges(range(17), range(1, 18)), 2).with_answers({0: 0, 10: 1})
    minus = dict(zip(field.unlabelled.tolist(), exact_marginals(field)[:, 1], strict=True))
    assert [round(minus[k - 1], 2) for k in range(12, 19)] == [0.88, 0.79, 0.72, 0.67, 0.63, 0.60, 0.57]


def test_among_the_nodes_beyond_the_last_label_sixteen_has_the_lowest_cost():
    cost = chain_learner("bmrf").costs()
    assert 12 + int(np.argmin(cost[11:])) == 16


def test_the_questions_of_figure_1_are_asked_and_every_node_is_right_after_them():
    learner = chain_learner("bmrf")
    for node, ties in [(6, [6]), (16, [16]), (8, [8, 9, 13, 14]), (13, [13, 14])]:
        assert ties_of(learner) == ties
        learner.teach(node, TRUTH[node - 1])
    assert "".join(learner.predict()) == TRUTH


def test_costs_are_at_their_nodes():
    graph = fl.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [1.0, 2.0, 0.5, 1.5, 0.7])
    learner = fl.ActiveLearner(graph, ["a", "b", "c"], strategy="bmrf", beta=1.0)
    learner.teach(1, "c")
    mirrored = fl.ActiveLearner(fl.Graph(graph.weights[::-1][:, ::-1]), ["a", "b", "c"], strategy="bmrf", beta=1.0)
    mirrored.teach(4, "c")
    assert np.allclose(learner.costs(), mirrored.costs()[::-1], rtol=0, atol=1e-12, equal_nan=True)


def test_when_all_is_labelled_there_is_nothing_to_cost():
    field = field_of(fl.Graph.from_edges([0], [1]), 2).with_answers({0: 0, 1: 1})
    assert fl.STRATEGIES["bmrf"]().cost(field).shape == (0,)


def test_too_wide_a_graph_is_refused_when_a_question_is_asked_for():
    learner = fl.ActiveLearner(fl.Graph(1 - np.eye(40)), ["a", "b"], strategy="bmrf")
    with pytest.raises(fl.FewlabelsError, match="treewidth 39 or more"):
        learner.query()
