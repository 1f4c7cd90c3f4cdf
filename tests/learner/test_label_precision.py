"""The precision of many labels told at once, from what the sparse engine is conditioned on: against the dense one."""

import numpy as np
import pytest
from support.graphs import in_pieces, random_labels

from fewlabels import Graph
from fewlabels.field.dense import DenseField
from fewlabels.field.known import Centring
from fewlabels.field.sparse import SparseField
from fewlabels.kernels.reference import two_step_marginals
from fewlabels.learner import hindsight
from fewlabels.learner.hindsight import Hindsight
from fewlabels.learner.label_precision import LabelPrecision
from fewlabels.learner.suspects import without_label
from tests.field.sparse.test_waves import clusters, hubs

PERCENT = 0.01


def told(graph, labels, monkeypatch):
    """A dense and a sparse field that heard these labels at once; the sparse one solves for none of them."""
    fields = [DenseField(graph, 3, 0.5, smoothness=3.3), SparseField(graph, 3, 0.5, "chebyshev", smoothness=3.3)]
    for field in fields:
        field.centring = Centring()
        field.label[list(labels)] = list(labels.values())
        field.refresh()
    reach = fields[1].reach

    def only_one(nodes, rough=False):
        assert len(nodes) == 1
        return reach(nodes, rough)

    monkeypatch.setattr(fields[1], "reach", only_one)
    return fields


def kept(field, nodes):
    found = LabelPrecision(field)
    found.keep(nodes)
    return found


def same(truth, found, nodes):
    mine, theirs = found.rows(nodes), truth.rows(nodes)
    own = np.sqrt(np.maximum(np.diag(truth.S)[theirs], 0))
    error = np.abs(found.S[np.ix_(mine, mine)] - truth.S[np.ix_(theirs, theirs)])
    assert (error <= PERCENT * np.outer(own, own) + 1e-9).all()
    np.testing.assert_allclose(found.sampled[mine], truth.sampled[theirs], atol=PERCENT)
    per_node = PERCENT * truth.sampled.shape[1]
    np.testing.assert_allclose(found.total[mine], truth.total[theirs], atol=per_node)


@pytest.mark.parametrize("many", [2, 5, 120])
@pytest.mark.parametrize("graph", [clusters(500), hubs(500), "pieces"], ids=["clusters", "hubs", "pieces"])
def test_it_is_that_of_the_dense_engine_then_and_after_more_answers(graph, many, monkeypatch):
    rng = np.random.default_rng(many)
    graph = Graph(in_pieces([250, 130, 20, 1], rng)) if graph == "pieces" else graph
    labels = random_labels(graph.n_nodes, many, 3, rng)
    fields = told(graph, labels, monkeypatch)
    nodes = np.array(sorted(labels))
    both = [kept(field, nodes) for field in fields]
    same(*both, nodes)
    new, gone = int(fields[0].unlabelled[7]), int(nodes[1])
    nodes = np.sort(np.append(nodes[nodes != gone], new))
    for field, found in zip(fields, both, strict=True):
        field.observe(new, 1)
        found.keep(np.flatnonzero(field.label >= 0))
        field.forget(gone)
        found.keep(nodes)
    same(*both, nodes)


def test_a_label_that_holds_its_component_alone_has_no_precision_and_counts_everywhere(monkeypatch):
    graph = Graph(in_pieces([250, 130, 20], np.random.default_rng(0)))
    bare = SparseField(graph, 3, 0.5, "chebyshev", smoothness=3.3)
    anchor = int(np.flatnonzero(bare.grounding._system.held)[2])
    _, field = told(graph, {anchor: 0, 3: 1, 9: 2}, monkeypatch)
    found = kept(field, np.array([3, 9, anchor]))
    alone = found.rows(np.array([anchor]))
    assert (found.S[alone] == 0).all()
    assert found.total[alone] == 20
    np.testing.assert_array_equal(found.sampled[alone][0], bare.component == bare.component[anchor])


def test_a_few_of_the_labels_may_be_kept_and_all_count(monkeypatch):
    labels = random_labels(500, 90, 3, np.random.default_rng(5))
    truth, field = told(clusters(500), labels, monkeypatch)
    nodes = np.array(sorted(labels))[::11]
    same(kept(truth, np.array(sorted(labels))), kept(field, nodes), nodes)


@pytest.mark.parametrize("graph", [clusters(500), hubs(500)], ids=["clusters", "hubs"])
def test_what_the_others_say_is_what_leaving_each_label_out_says(graph, monkeypatch):
    labels = random_labels(500, 60, 3, np.random.default_rng(2))
    truth, field = told(graph, labels, monkeypatch)
    truth.centring = field.centring = None
    nodes, p = Hindsight(field).chances()
    plain = two_step_marginals(without_label(truth, nodes).pull, np.ones(len(nodes)))
    reached = ~np.isnan(p[:, 0])
    assert reached.sum() > 30
    np.testing.assert_allclose(p[reached], plain[reached], atol=PERCENT)
    truth.centring = field.centring = Centring()
    for most in (hindsight.MOST, 10):
        monkeypatch.setattr(hindsight, "MOST", most)
        np.testing.assert_array_equal(Hindsight(field).predictions(nodes), Hindsight(truth).predictions(nodes))
