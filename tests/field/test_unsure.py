"""Answers of finite weight: every engine's field is that of the graph with a labelled node hung on for each of them."""

import numpy as np
import oracle
import pytest
from support.fields import COSTS, plain_costs
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.field.dense import DenseField
from fewlabels.field.sparse import SparseField
from fewlabels.field.sparse.solve.choose import make_solver
from fewlabels.field.sparse.solve.sketch import sketched
from fewlabels.graph import Graph
from fewlabels.kernels import cpu, reference
from fewlabels.marginals import exact_marginals, two_step_marginals


def with_dongles(W, beta, labels, attached):
    """The Laplacian and the labels of the graph in which each unsure answer is a node of its own, tied to the one it is
    about; a component without any answer gets its small ridge.
    """
    ties = [(q, c, w) for q, c in zip(*np.nonzero(attached), strict=True) if (w := attached[q, c])]
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


def random_weights_of_answers(C, rng):
    """(C,) weights, often with several classes named."""
    return np.where(rng.random(C) < 0.6, 10 ** rng.uniform(-2, 1.5, C), 0.0)


def assert_is_its_definition(field, W, labels, close=1e-8):
    n, C = len(W), field.n_classes
    L, with_answers = with_dongles(W, field.beta, labels, field.attached)
    u, _ = oracle.split(len(L), with_answers)
    order = np.argsort(field.unlabelled)
    np.testing.assert_array_equal(field.unlabelled[order], u)
    if not u:
        return
    reached = field.island[order] < 0
    component = Graph(W).components()
    answered = {component[k] for k in [*labels, *np.flatnonzero(field.attached.any(axis=1))]}
    np.testing.assert_array_equal(reached, [component[k] in answered for k in u])
    inside = np.ix_(reached, reached)
    truth = np.linalg.inv(L[np.ix_(u, u)])
    np.testing.assert_allclose(field.variance[order][reached], np.diag(truth)[reached], rtol=close)
    if with_answers:
        expected = np.where(reached[:, None], oracle.propagation(L, with_answers, C), 0.0)
        np.testing.assert_allclose(field.h[order], expected, atol=close)
        p = oracle.two_step(L, with_answers, C)
        np.testing.assert_allclose(two_step_marginals(field)[order][reached], p[reached], atol=close)
    if not hasattr(field, "columns"):  # the sparse engine has no G
        G = field.G[np.ix_(order, order)]
        np.testing.assert_allclose(G[inside], truth[inside], rtol=close, atol=close * abs(truth[inside]).max(initial=0))
    assert n == field.n_nodes


def live(field, W, steps, rng, check=assert_is_its_definition):
    """Answers, sure and unsure, given, changed and taken back at random; the field is compared after every one."""
    n, labels = len(W), {}
    for step in range(steps):
        node = int(rng.integers(n))
        verb = rng.choice(["observe", "attach", "attach", "detach", "forget", "relabel"])
        if verb == "observe" and node not in labels:
            labels[node] = int(rng.integers(field.n_classes))
            field.observe(node, labels[node])
        elif verb == "attach":
            field.attach(node, random_weights_of_answers(field.n_classes, rng))
        elif verb == "detach":
            field.attach(node, np.zeros(field.n_classes))
        elif verb == "forget" and labels:
            node = int(rng.choice(list(labels)))
            del labels[node]
            field.forget(node)
        elif verb == "relabel" and labels:
            node = int(rng.choice(list(labels)))
            labels[node] = int(rng.integers(field.n_classes))
            field.relabel(node, labels[node])
        if step == steps // 2:
            field.add_class()
        check(field, W, labels)
    return labels


SIZES = [([1], 2), ([2], 3), ([9, 4, 2, 1], 3), ([12], 2), ([5, 5, 1], 6)]


@pytest.mark.parametrize("kernels", [cpu, reference], ids=["cpu", "reference"])
@pytest.mark.parametrize(("sizes", "C"), SIZES)
def test_dense_is_the_graph_with_a_labelled_node_hung_on_for_every_answer(sizes, C, kernels):
    rng = np.random.default_rng(C)
    W = in_pieces(sizes, rng)
    live(DenseField(Graph(W), C, 0.7, kernels), W, 40, rng)


SOLVED = 1e-6  # what the tolerance of a sparse solver leaves


def assert_is_dense(field, W, labels):
    """By its definition, and in what only the sparse engine keeps: resistances along edges, costs by its cache."""
    assert_is_its_definition(field, W, labels, SOLVED)
    dense = DenseField(Graph(W), field.n_classes, field.beta, reference)
    dense.label[:], dense.attached[:] = field.label, field.attached
    dense.refresh()
    order = np.argsort(dense.unlabelled)
    G = np.zeros((len(W), len(W)))
    G[np.ix_(dense.unlabelled, dense.unlabelled)] = dense.G
    start, other, ties = field.grounding.edges
    here = np.repeat(np.arange(len(W)), np.diff(start))
    np.testing.assert_allclose(ties, G[here, here] + G[other, other] - 2 * G[here, other], atol=SOLVED, rtol=SOLVED)
    for verb in COSTS:
        found = getattr(field, verb)().values
        truth = plain_costs(reference, verb, dense)[order]
        if len(found):
            best = np.argmin(found)
            assert found[best] == pytest.approx(truth[best], rel=SOLVED, abs=SOLVED)


@pytest.mark.parametrize(
    ("sizes", "C", "solver"),
    [([1], 2, "superlu"), ([30], 2, "superlu"), ([30], 2, "jacobi")]
    + [([9, 4, 2, 1], 3, solver) for solver in ("superlu", "amg", "plain", "jacobi")],
)
def test_sparse_is_the_same_with_every_solver_also_along_edges_and_in_its_cache(sizes, C, solver):
    rng = np.random.default_rng(C)
    W = in_pieces(sizes, rng)
    field = SparseField(Graph(W), C, 0.7, solver, pool=4, sample=8)
    field.grounding.probes()
    live(field, W, 20, rng, assert_is_dense)


def test_a_sparse_field_starts_afresh_with_many_answers_and_its_copy_goes_its_own_way():
    rng = np.random.default_rng(5)
    W = in_pieces([90, 20, 1], rng)
    field = SparseField(Graph(W), 3, 0.7, "superlu")
    answers = {int(k): random_weights_of_answers(3, rng) for k in rng.permutation(111)[:70]}
    field.attach_all(answers)
    assert_is_its_definition(field, W, {}, SOLVED)
    twin = field.copy()
    twin.attach(3, np.array([0.0, 4.0, 0.0]))
    twin.observe(5, 1)
    assert_is_its_definition(twin, W, {5: 1}, SOLVED)
    assert_is_its_definition(field, W, {}, SOLVED)
    field.attach_all({k: np.zeros(3) for k in answers})
    assert (field.island >= 0).all()


def test_the_sketched_diagonal_knows_of_unsure_answers():
    rng = np.random.default_rng(6)
    n = 500
    graph = Graph(random_weights(n, rng, density=6 / n))
    field = SparseField(graph, 2, 1.0, "superlu")
    for node in rng.permutation(n)[:40]:
        field.attached[node, 0] = 3.0
    field.refresh()
    system = field.grounding._system
    solver, precision = make_solver(system, "jacobi"), field.precision
    found, _ = sketched(
        system, solver, precision, graph.components(), lambda: solver.solve(system, np.ones((n, 1)), 1e-9)[:, 0], rng
    )
    assert np.sqrt(np.mean((found / field.grounding.diagonal - 1) ** 2)) < 0.03


def test_by_hand_two_nodes_and_one_answer_of_weight_two():
    """0 - 1, weight 1, and an answer of weight 2 at node 1: G_11 = 1/2, G_00 = 3/2, and h is the answer everywhere."""
    field = DenseField(Graph.from_edges([0], [1]), 2)
    field.attach(1, np.array([2.0, 0.0]))
    order = np.argsort(field.unlabelled)
    np.testing.assert_allclose(field.G[np.ix_(order, order)], [[1.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(field.h, [[1, -1]] * 2)
    field.observe(0, 1)  # contradicted by a sure answer of weight 1: h_1 = (2 - 1) / 3
    np.testing.assert_allclose(field.G, [[1 / 3]])
    np.testing.assert_allclose(field.h, [[1 / 3, -1 / 3]])


def test_an_answer_of_great_weight_is_a_sure_one():
    rng = np.random.default_rng(1)
    graph = Graph(in_pieces([8, 3], rng))
    unsure, sure = DenseField(graph, 3), DenseField(graph, 3)
    for node, c in random_labels(11, 4, 3, rng).items():
        unsure.attach(node, 1e9 * np.eye(3)[c])
        sure.observe(node, c)
    among = [int(np.flatnonzero(unsure.unlabelled == k)[0]) for k in sure.unlabelled]
    np.testing.assert_allclose(unsure.h[among], sure.h, atol=1e-7)
    np.testing.assert_allclose(unsure.G[np.ix_(among, among)], sure.G, atol=1e-7)


@pytest.mark.parametrize("many", [1, 2, 40])
def test_many_at_once_are_one_after_another(many):
    rng = np.random.default_rng(many)
    graph = Graph(in_pieces([50, 15, 4, 1], rng))
    one_by_one, at_once = DenseField(graph, 3), DenseField(graph, 3)
    answers = {int(k): random_weights_of_answers(3, rng) for k in rng.permutation(70)[:many]}
    for node, weights in answers.items():
        one_by_one.attach(node, weights)
    at_once.attach_all(answers)
    a, b = np.argsort(at_once.unlabelled), np.argsort(one_by_one.unlabelled)
    np.testing.assert_allclose(at_once.G[np.ix_(a, a)], one_by_one.G[np.ix_(b, b)], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(at_once.h[a], one_by_one.h[b], atol=1e-10)
    assert at_once.refreshes == (many > 3)


def test_taking_the_only_answer_back_leaves_nothing_of_it():
    rng = np.random.default_rng(2)
    field = DenseField(Graph(in_pieces([9, 2], rng)), 2)
    fresh = field.copy()
    for _ in range(30):
        field.attach(4, random_weights_of_answers(2, rng) + 0.1)
    field.attach(4, np.zeros(2))
    assert (field.island >= 0).all()
    assert not field.h.any()
    np.testing.assert_allclose(field.G, fresh.G, atol=1e-10)


def test_weights_over_twelve_decades_keep_their_digits_by_starting_afresh():
    rng = np.random.default_rng(3)
    W = in_pieces([12], rng)
    field = DenseField(Graph(W), 2)
    labels = {}
    for node in range(6):
        field.attach(node, np.array([10.0 ** (node - 6), 0.0]))
        assert_is_its_definition(field, W, labels)
    field.observe(7, 1)
    assert_is_its_definition(field, W, {7: 1})
    for node in range(6):
        field.attach(node, np.zeros(2))
        assert_is_its_definition(field, W, {7: 1})


@pytest.mark.parametrize("weight", [0.1, 1.0, 3.0])
def test_an_answer_by_itself_says_the_same_by_exact_and_by_two_step_marginals(weight):
    field = DenseField(Graph.from_edges([0], [1], n_nodes=3), 3)
    field.attach(2, np.array([0.0, weight, 0.0]))
    at_two = field.unlabelled == 2
    np.testing.assert_allclose(exact_marginals(field)[at_two], two_step_marginals(field)[at_two])


def test_exact_marginals_are_those_of_the_graph_with_labelled_nodes_hung_on():
    """Summed over all labellings of a path of five, with two answers of one node and one of another."""
    rng = np.random.default_rng(4)
    w = rng.uniform(0.3, 2, 4)
    field = DenseField(Graph.from_edges(range(4), range(1, 5), w), 3)
    field.observe(0, 1)
    field.attach(2, np.array([0.5, 0.0, 1.2]))
    field.attach(4, np.array([0.9, 0.0, 0.0]))
    W = np.zeros((5, 5))
    W[range(4), range(1, 5)] = w
    L, labels = with_dongles(W + W.T, 1.0, {0: 1}, field.attached)
    p = np.zeros((4, 3))
    for c in range(3):
        y = np.array([1.0 if labels.get(k) == c else -1.0 for k in range(len(L))])
        for free in np.ndindex(2, 2, 2, 2):
            y[1:5] = 2 * np.array(free) - 1
            p[:, c] += (y[1:5] > 0) * np.exp(-y @ L @ y / 2) / _total(L, y)
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(exact_marginals(field)[np.argsort(field.unlabelled)], p, rtol=1e-10)


def _total(L, known):
    """The sum over all labellings of nodes 1 to 4, the others as known."""
    y = known.copy()
    total = 0.0
    for free in np.ndindex(2, 2, 2, 2):
        y[1:5] = 2 * np.array(free) - 1
        total += np.exp(-y @ L @ y / 2)
    return total
