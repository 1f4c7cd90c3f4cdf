"""The field is what the definitions say it is, after any answers and any taking back; and nothing of one changes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracle
import pytest
from support.fields import COSTS, afresh, covariance, field_of
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.errors import SettingError
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.graph import Graph

ENGINES = ["dense", "sparse"]


def same(ours, theirs, close=1e-10):
    np.testing.assert_array_equal(ours.label, theirs.label)
    np.testing.assert_array_equal(ours.island, theirs.island)
    np.testing.assert_allclose(ours.G, theirs.G, atol=close)
    np.testing.assert_allclose(ours.h, theirs.h, atol=close)
    np.testing.assert_allclose(ours.variance, theirs.variance, atol=close)


def one_by_one(field, labels):
    """Every answer from the field before, which was worked out."""
    for node, c in labels.items():
        field = field.with_answer(node, c)
        assert np.isfinite(field.h).all()
    return field


def resistances(G):
    return np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G


def test_on_a_path_G_is_the_smaller_distance_to_the_known_end():
    field = field_of(Graph.from_edges([0, 1, 2], [1, 2, 3]), 2).with_answer(0, 0)
    np.testing.assert_allclose(field.G, [[1, 1, 1], [1, 2, 2], [1, 2, 3]])
    np.testing.assert_allclose(field.h, [[1, -1]] * 3)


@pytest.mark.parametrize("beta", [0.2, 1.0, 7.0])
@pytest.mark.parametrize(("n", "C"), [(2, 2), (9, 3), (14, 5)])
@pytest.mark.parametrize("engine", ENGINES)
def test_answers_give_the_inverse_and_the_propagation_of_the_definitions(n, C, beta, engine):
    rng = np.random.default_rng(n)
    W = random_weights(n, rng)
    labels = random_labels(n, max(1, n // 3), C, rng)
    field = one_by_one(field_of(Graph(W), C, beta, engine=engine), labels)
    u, _ = oracle.split(n, labels)
    L = oracle.laplacian(W, beta)
    truth = np.linalg.inv(L[np.ix_(u, u)])
    np.testing.assert_allclose(field.columns(np.array(u)), truth, rtol=1e-10)
    np.testing.assert_allclose(field.variance, np.diag(truth), rtol=1e-10)
    np.testing.assert_allclose(field.h, oracle.propagation(L, labels, C), atol=1e-10)
    np.testing.assert_allclose(field.sums(), truth.sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("many", [1, 3, 40, 70])
def test_many_answers_at_once_are_one_after_another_and_so_taken_back(many, smoothness):
    rng = np.random.default_rng(many)
    empty = field_of(Graph(in_pieces([50, 15, 4, 1], rng)), 3, smoothness=smoothness)
    start = empty.with_answer(0, 1)
    labels = {node: c for node, c in random_labels(70, many, 3, rng).items() if node}
    each, at_once = one_by_one(start, labels), start.with_answers(labels)
    same(at_once, each)
    same(at_once.without(labels), start)
    for node in labels:
        each = each.without([node])
    same(each, start)
    same(each.without([0]), empty)


def test_from_the_field_before_costs_are_those_of_one_made_afresh():
    rng = np.random.default_rng(8)
    field = field_of(Graph(in_pieces([30, 12, 4], rng)), 3, 0.6, 3.3)
    for node, c in random_labels(46, 12, 3, rng).items():
        field = field.with_answer(node, c)
        for verb in COSTS:
            np.testing.assert_allclose(
                getattr(field, verb)().values, getattr(afresh(field), verb)().values, rtol=1e-10, atol=1e-12
            )


@pytest.mark.parametrize(("sizes", "C"), [([9, 4, 2, 1], 3), ([12], 2), ([5, 5], 6)])
def test_another_label_is_the_first_taken_back_and_then_the_other_and_needs_no_new_inverse(sizes, C):
    rng = np.random.default_rng(C)
    n = sum(sizes)
    labels = random_labels(n, n // 2, C, rng)
    field = one_by_one(field_of(Graph(in_pieces(sizes, rng)), C), labels)
    for node, c in labels.items():
        core = field.core
        twin = field.without([node]).with_answer(node, (c + 1) % C)
        field = field.with_answer(node, (c + 1) % C)
        assert field.core is core
        same(field, twin)


def test_what_is_taken_back_in_any_order_leads_through_the_states_before():
    rng = np.random.default_rng(3)
    labels = random_labels(16, 16, 3, rng)
    field = field_of(Graph(in_pieces([9, 4, 2, 1], rng)), 3)
    before = []
    for node, c in labels.items():
        before.append(field)
        field = field.with_answer(node, c)
    assert len(field.unlabelled) == 0
    for node in reversed(labels):
        field = field.without([node])
        same(field, before.pop())


def test_taken_back_in_another_order_it_equals_never_having_known():
    rng = np.random.default_rng(4)
    labels = random_labels(17, 9, 3, rng)
    empty = field_of(Graph(in_pieces([12, 5], rng)), 3)
    field = one_by_one(empty, labels)
    kept = list(labels)[4:7]
    for node in rng.permutation([k for k in labels if k not in kept]):
        field = field.without([int(node)])
    same(field, one_by_one(empty, {node: labels[node] for node in kept}))


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
def test_a_field_does_not_change_whatever_is_made_of_it(smoothness):
    rng = np.random.default_rng(9)
    field = one_by_one(field_of(Graph(in_pieces([14, 5], rng)), 3, 0.5, smoothness), random_labels(19, 4, 3, rng))
    G, h, variance, cost = field.G, field.h, field.variance, field.two_step_costs().values
    others = [
        field.with_answer(int(field.unlabelled[2]), 1), field.with_class(), field.without(list(field.answers.sure)[:2]),
        field.with_unsure({int(field.unlabelled[5]): np.array([0.3, 0.0, 1.0])}), field.without_answers(2),
        field.without_questions(field.unlabelled[:3].tolist()),
    ]  # fmt: skip
    for other in others:
        other.two_step_costs()
        np.testing.assert_allclose(field.G, G, atol=1e-13)
        np.testing.assert_array_equal(field.h, h)
        np.testing.assert_array_equal(field.variance, variance)
        np.testing.assert_allclose(field.two_step_costs().values, cost, atol=1e-12)
        np.testing.assert_allclose(other.G, afresh(other).G, atol=1e-12)


def test_threads_may_ask_fields_of_one_line_at_the_same_time():
    rng = np.random.default_rng(10)
    field = one_by_one(field_of(Graph(random_weights(60, rng, 0.1)), 3), random_labels(60, 5, 3, rng))
    line = [field.with_answer(int(q), int(q) % 3) for q in field.unlabelled[:12]]
    truth = [afresh(each).two_step_costs().values for each in line]
    with ThreadPoolExecutor(4) as threads:
        for found, expected in zip(threads.map(lambda each: each.two_step_costs().values, line), truth, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_component_without_a_label_is_the_limit_of_a_small_ridge():
    rng = np.random.default_rng(5)
    W = in_pieces([6, 4, 1], rng)
    graph = Graph(W)
    component = graph.components()
    in_first = int(np.flatnonzero(component == component[0])[0])
    field = field_of(graph, 3).with_answer(in_first, 2)
    labels = {in_first: 2}
    L = oracle.laplacian(W) + oracle.EPS * np.eye(11)
    u, _ = oracle.split(11, labels)
    np.testing.assert_allclose(field.h, oracle.propagation(L, labels, 3), atol=1e-5)
    ridge = np.linalg.inv(L[np.ix_(u, u)])
    reached = component[u] == component[in_first]
    np.testing.assert_allclose(field.G[np.ix_(reached, reached)], ridge[np.ix_(reached, reached)], atol=1e-5)
    for c in set(component[u][~reached]):
        part = np.ix_(component[u] == c, component[u] == c)
        G = field.G[part]
        np.testing.assert_allclose(resistances(G), resistances(ridge[part]), rtol=1e-5)
        np.testing.assert_allclose(G.sum(axis=0), 0, atol=1e-12)  # the infinite part, a constant, is taken off
        assert ridge[part].mean() == pytest.approx(1 / (oracle.EPS * len(G)), rel=1e-6)
    assert np.isinf(field.variance[field.island >= 0]).all()


def test_asking_in_a_component_without_a_label_leaves_the_effective_resistance():
    field = field_of(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]), 2).with_answer(0, 1)  # a square
    np.testing.assert_allclose(np.diag(field.G), [3 / 4, 1, 3 / 4])


def test_a_new_class_starts_unheard():
    rng = np.random.default_rng(6)
    graph = Graph(in_pieces([7, 3], rng))
    field, fresh = field_of(graph, 2).with_answer(0, 1).with_class(), field_of(graph, 3).with_answer(0, 1)
    np.testing.assert_allclose(field.h, fresh.h, atol=1e-12)
    field, fresh = (f.with_answer(5, 2).without([0]) for f in (field, fresh))
    np.testing.assert_allclose(field.h, fresh.h, atol=1e-12)


def test_no_question_is_about_what_is_closed_or_labelled():
    field = field_of(Graph.from_edges(range(5), range(1, 6)), 2).with_answer(2, 0).without_questions([0, 2])
    assert field.unlabelled[field.askable].tolist() == [1, 3, 4, 5]
    again = field.without([2])
    assert again.unlabelled[again.askable].tolist() == [1, 3, 4, 5]
    assert again.without_questions([]).askable.all()


def test_the_covariance_of_another_graph_or_recipe_is_refused_and_of_the_same_is_taken():
    graph, other = Graph.from_edges(range(5), range(1, 6)), Graph.from_edges([0] * 5, range(1, 6))
    made = covariance(graph, 0.5)
    for spec, given in [(FieldSpec(engine=made), other), (FieldSpec(0.6, engine=made), graph)]:
        with pytest.raises(SettingError, match="another graph, or of another beta"):
            spec.resolved(given)
    again = Graph.from_edges(range(5), range(1, 6))
    assert FieldSpec(0.5, "auto", 0.0, made).resolved(again) is made.recipe


def test_fields_over_one_covariance_know_nothing_of_each_other():
    made = covariance(Graph.from_edges(range(9), range(1, 10)))
    some, others = Conditioned(made, Answers(2, {0: 1})), Conditioned(made, Answers(3, {9: 2, 4: 0}))
    np.testing.assert_allclose(some.variance, some.unlabelled)
    assert others.h.shape == (8, 3)
    np.testing.assert_allclose(some.with_answer(9, 0).variance, [k * (9 - k) / 9 for k in range(1, 9)])
