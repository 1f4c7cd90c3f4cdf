"""Where most nodes have labels, those left are factored by themselves: against the dense engine."""

import numpy as np
import pytest
from fewlabels.field.dense import DenseField
from fewlabels.field.sparse import SparseField
from fewlabels.field.sparse.solve import choose, kriging, remainder
from tests.field.sparse.test_waves import clusters


@pytest.fixture
def fields(monkeypatch):
    """A dense and a sparse one with the same 400 of 500 labels, more than are conditioned on."""
    monkeypatch.setattr(kriging, "MOST_ENTRIES", 0)
    graph, rng = clusters(500), np.random.default_rng(1)
    labels = dict(zip(rng.permutation(500)[:400].tolist(), rng.integers(3, size=400).tolist(), strict=True))
    found = DenseField(graph, 3, smoothness=3.3), SparseField(graph, 3, smoothness=3.3, solver="chebyshev")
    for field in found:
        field.observe_all(labels)
    return *found, list(labels)


def left_of(field):
    return field.grounding._solver.remainder(field.grounding._system)


def same(truth, field):
    np.testing.assert_array_equal(np.sort(truth.unlabelled), field.unlabelled)
    order = np.argsort(truth.unlabelled)
    np.testing.assert_allclose(field.h, truth.h[order], atol=1e-9)
    np.testing.assert_allclose(field.variance, truth.variance[order], rtol=1e-8)
    some = field.unlabelled[::17]
    np.testing.assert_allclose(field.columns(some), truth.columns(some)[order], atol=1e-8)
    known = np.flatnonzero(field.label >= 0)[:5]
    np.testing.assert_allclose(field.reach(known), truth.reach(known)[:, order], atol=1e-8)


def test_the_nodes_left_are_those_of_the_dense_engine_after_every_change(fields):
    truth, field, labelled = fields
    same(truth, field)
    assert left_of(field) is not None
    assert field.grounding.exact_diagonal
    new, unsure, other = field.unlabelled[[3, 40, 70]].tolist()
    changes = [
        lambda f: f.observe(new, 1),
        lambda f: f.attach(unsure, np.array([0.5, 0.0, 0.0])),
        lambda f: f.attach(unsure, np.zeros(3)),
        lambda f: f.forget(new),  # left since the factor was made
        lambda f: f.forget(labelled[5]),  # not among those left
        lambda f: f.observe(other, 2),
    ]
    for change in changes:
        for each in (truth, field):
            change(each)
        same(truth, field)
    assert len(left_of(field).nodes) == 101
    twin = field.copy()
    twin.observe(new, 0)
    same(truth, field)


def test_a_question_among_the_nodes_left_is_that_of_the_dense_engine(fields):
    truth, field, _ = fields
    cost = np.full((2, 500), np.nan)
    for row, each in zip(cost, (truth, field), strict=True):
        row[each.unlabelled] = each.two_step_costs().values
    np.testing.assert_allclose(cost[1], cost[0], atol=1e-7)


def test_what_fills_in_is_solved_for_by_conjugate_gradients_until_fewer_are_left(fields, monkeypatch):
    truth, field, _ = fields
    tried = []

    def trial(system):
        tried.append(len(system.held))
        return fill

    monkeypatch.setattr(choose, "expected_fill", trial)
    fill = choose.MOST_FILL + 1.0
    field.refresh()
    same(truth, field)
    for node in field.unlabelled[:15].tolist():
        field.observe(node, 0)
        truth.observe(node, 0)
    same(truth, field)
    assert left_of(field) is None
    assert tried == [100]
    fill = 1.0
    for node in field.unlabelled[:10].tolist():
        field.observe(node, 0)
        truth.observe(node, 0)
    same(truth, field)
    assert len(left_of(field).nodes) <= remainder.FEWER * 100
    assert len(tried) == 2


def test_a_label_that_has_just_come_is_not_solved_for_again(fields, monkeypatch):
    truth, field, _ = fields
    node, other = field.unlabelled[[3, 40]].tolist()
    for each in (truth, field):
        each.observe(node, 1)
    order = np.argsort(truth.unlabelled)
    with monkeypatch.context() as patch:
        patch.setattr(field.grounding, "solve", None)
        np.testing.assert_allclose(field.reach(np.array([node])), truth.reach(np.array([node]))[:, order], atol=1e-9)
        for each in (truth, field):
            each.relabel(node, 2)
    same(truth, field)
    for each in (truth, field):
        each.observe(other, 0)
    order = np.argsort(truth.unlabelled)
    for known in (node, other):
        np.testing.assert_allclose(field.reach(np.array([known])), truth.reach(np.array([known]))[:, order], atol=1e-9)
    field.forget(other)
    truth.forget(other)
    same(truth, field)


def test_every_node_has_a_label(fields):
    _, field, _ = fields
    field.label[field.unlabelled] = 1
    field.refresh()
    assert field.variance.shape == (0,)
    np.testing.assert_array_equal(field.all_h[:, 1], np.where(field.label == 1, 1.0, -1.0))
    assert not field.reach(np.arange(5)).size
