"""Answers of finite weight: every engine's field is that of the graph with a labelled node hung on for each of them."""

import numpy as np
import oracle
import pytest
from support.fields import Life, attached, field_of
from support.graphs import in_pieces, random_labels

from fewlabels.graph import Graph
from fewlabels.marginals import exact_marginals, two_step_marginals


def with_dongles(W, beta, labels, unsure):
    """The Laplacian and the labels of the graph in which each unsure answer is a node of its own, tied to the one it is
    about; a component without any answer gets its small ridge.
    """
    ties = [(q, c, unsure[q, c]) for q, c in zip(*np.nonzero(unsure), strict=True)]
    n = len(W)
    larger = np.zeros((n + len(ties), n + len(ties)))
    larger[:n, :n] = beta * W
    labels = dict(labels)
    for d, (q, c, w) in enumerate(ties, start=n):
        larger[q, d] = larger[d, q] = w
        labels[d] = int(c)
    L = oracle.laplacian(larger)
    component = Graph(larger).components()
    loose = ~np.isin(component, component[list(labels)])
    return L + oracle.EPS * np.diag(loose), labels


SOLVED = 1e-6  # what the tolerance of a sparse solver leaves


def random_weights_of_answers(C, rng):
    """(C,) weights, often with several classes named."""
    return np.where(rng.random(C) < 0.6, 10 ** rng.uniform(-2, 1.5, C), 0.0)


def assert_is_its_definition(field, W, close=1e-8):
    n, C, labels = len(W), field.n_classes, field.answers.sure
    L, with_answers = with_dongles(W, field.beta, labels, attached(field))
    u, _ = oracle.split(len(L), with_answers)
    np.testing.assert_array_equal(field.unlabelled, u)
    np.testing.assert_array_equal(np.flatnonzero(field.label < 0), u)
    if not u:
        return
    reached = field.island < 0
    component = Graph(W).components()
    answered = {component[k] for k in field.answers.nodes}
    np.testing.assert_array_equal(reached, [component[k] in answered for k in u])
    inside = np.ix_(reached, reached)
    truth = np.linalg.inv(L[np.ix_(u, u)])
    np.testing.assert_allclose(field.variance[reached], np.diag(truth)[reached], rtol=close)
    assert np.isinf(field.variance[~reached]).all()
    if with_answers:
        expected = np.where(reached[:, None], oracle.propagation(L, with_answers, C), 0.0)
        np.testing.assert_allclose(field.h, expected, atol=close)
        p = oracle.two_step(L, with_answers, C)
        np.testing.assert_allclose(two_step_marginals(field)[reached], p[reached], atol=close)
    scale = close * abs(truth[inside]).max(initial=0)
    np.testing.assert_allclose(field.columns(np.array(u)[reached])[reached], truth[inside], rtol=close, atol=scale)
    sums = truth[inside].sum(axis=1)
    np.testing.assert_allclose(field.sums()[reached], sums, rtol=close, atol=n * scale)
    if field.covariance.recipe.engine != "sparse":  # which has no G
        np.testing.assert_allclose(field.G[inside], truth[inside], rtol=close, atol=scale)


def live(field, W, steps, rng, check=assert_is_its_definition, every=1):
    """Answers, sure and unsure, given, changed and taken back at random; the field is compared after `every` few, and
    so is one from before.
    """
    life, n, earlier = Life(field), len(W), []
    for step in range(steps):
        node, labels = int(rng.integers(n)), list(life.answers.sure)
        verb = rng.choice(["observe", "attach", "attach", "detach", "forget", "relabel"])
        if verb == "observe":
            life.observe(node, rng.integers(life.n_classes))
        elif verb == "attach":
            life.attach(node, random_weights_of_answers(life.n_classes, rng))
        elif verb == "detach":
            life.attach(node, np.zeros(life.n_classes))
        elif verb == "forget" and labels:
            life.forget(rng.choice(labels))
        elif verb == "relabel" and labels:
            life.observe(rng.choice(labels), rng.integers(life.n_classes))
        if step == steps // 2:
            life.add_class()
        earlier.append(life.field)
        if step % every == 0:
            check(life.field, W)
            check(earlier[int(rng.integers(len(earlier)))], W)
    check(life.field, W)


def closely(check, engine):
    """To what the engine promises."""
    return check if engine == "dense" else lambda field, W: check(field, W, SOLVED)


SIZES = [([1], 2), ([2], 3), ([9, 4, 2, 1], 3), ([12], 2), ([5, 5, 1], 6)]


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize(("sizes", "C"), SIZES)
def test_it_is_the_graph_with_a_labelled_node_hung_on_for_every_answer(sizes, C, engine, every):
    rng = np.random.default_rng(C)
    W = in_pieces(sizes, rng)
    live(field_of(Graph(W), C, 0.7, engine=engine), W, 40, rng, closely(assert_is_its_definition, engine), every)


def test_by_hand_two_nodes_and_one_answer_of_weight_two():
    """0 - 1, weight 1, and an answer of weight 2 at node 1: G_11 = 1/2, G_00 = 3/2, and h is the answer everywhere."""
    field = field_of(Graph.from_edges([0], [1]), 2).with_unsure({1: np.array([2.0, 0.0])})
    np.testing.assert_allclose(field.G, [[1.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(field.h, [[1, -1]] * 2)
    field = field.with_answer(0, 1)  # contradicted by a sure answer of weight 1: h_1 = (2 - 1) / 3
    np.testing.assert_allclose(field.G, [[1 / 3]])
    np.testing.assert_allclose(field.h, [[1 / 3, -1 / 3]])


def test_an_answer_of_great_weight_is_a_sure_one():
    rng = np.random.default_rng(1)
    empty = field_of(Graph(in_pieces([8, 3], rng)), 3)
    labels = random_labels(11, 4, 3, rng)
    unsure, sure = empty.with_unsure({k: 1e9 * np.eye(3)[c] for k, c in labels.items()}), empty.with_answers(labels)
    among = sure.unlabelled
    np.testing.assert_allclose(unsure.h[among], sure.h, atol=1e-7)
    np.testing.assert_allclose(unsure.G[np.ix_(among, among)], sure.G, atol=1e-7)


@pytest.mark.parametrize("many", [1, 2, 40])
def test_many_at_once_are_one_after_another(many):
    rng = np.random.default_rng(many)
    one_by_one = empty = field_of(Graph(in_pieces([50, 15, 4, 1], rng)), 3)
    answers = {int(k): random_weights_of_answers(3, rng) for k in rng.permutation(70)[:many]}
    for node, weights in answers.items():
        one_by_one = one_by_one.with_unsure({node: weights})
        assert one_by_one.core.A.shape[0] >= len(one_by_one.answers.nodes)  # every one is worked out
    at_once = empty.with_unsure(answers)
    np.testing.assert_allclose(at_once.G, one_by_one.G, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(at_once.h, one_by_one.h, atol=1e-12)


def test_taking_the_only_answer_back_leaves_nothing_of_it():
    rng = np.random.default_rng(2)
    fresh = field_of(Graph(in_pieces([9, 2], rng)), 2)
    life = Life(fresh)
    for _ in range(30):
        life.attach(4, random_weights_of_answers(2, rng) + 0.1)
        assert np.isfinite(life.variance).any()
    life.attach(4, np.zeros(2))
    assert (life.island >= 0).all()
    assert not life.h.any()
    np.testing.assert_array_equal(life.G, fresh.G)


def test_weights_over_twelve_decades_keep_their_digits():
    rng = np.random.default_rng(3)
    W = in_pieces([12], rng)
    life = Life(field_of(Graph(W), 2))
    for node in range(6):
        life.attach(node, np.array([10.0 ** (node - 6), 0.0]))
        assert_is_its_definition(life.field, W)
    life.observe(7, 1)
    assert_is_its_definition(life.field, W)
    for node in range(6):
        life.attach(node, np.zeros(2))
        assert_is_its_definition(life.field, W)


@pytest.mark.parametrize("weight", [0.1, 1.0, 3.0])
def test_an_answer_by_itself_says_the_same_by_exact_and_by_two_step_marginals(weight):
    field = field_of(Graph.from_edges([0], [1], n_nodes=3), 3).with_unsure({2: np.array([0.0, weight, 0.0])})
    at_two = field.unlabelled == 2
    np.testing.assert_allclose(exact_marginals(field)[at_two], two_step_marginals(field)[at_two])


def test_exact_marginals_are_those_of_the_graph_with_labelled_nodes_hung_on():
    """Summed over all labellings of a path of five, with two answers of one node and one of another."""
    rng = np.random.default_rng(4)
    w = rng.uniform(0.3, 2, 4)
    field = field_of(Graph.from_edges(range(4), range(1, 5), w), 3).with_answer(0, 1)
    field = field.with_unsure({2: np.array([0.5, 0.0, 1.2]), 4: np.array([0.9, 0.0, 0.0])})
    W = np.zeros((5, 5))
    W[range(4), range(1, 5)] = w
    L, labels = with_dongles(W + W.T, 1.0, {0: 1}, attached(field))
    p = np.zeros((4, 3))
    for c in range(3):
        y = np.array([1.0 if labels.get(k) == c else -1.0 for k in range(len(L))])
        for free in np.ndindex(2, 2, 2, 2):
            y[1:5] = 2 * np.array(free) - 1
            p[:, c] += (y[1:5] > 0) * np.exp(-y @ L @ y / 2) / _total(L, y)
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(exact_marginals(field), p, rtol=1e-10)


def _total(L, known):
    """The sum over all labellings of nodes 1 to 4, the others as known."""
    y = known.copy()
    total = 0.0
    for free in np.ndindex(2, 2, 2, 2):
        y[1:5] = 2 * np.array(free) - 1
        total += np.exp(-y @ L @ y / 2)
    return total
