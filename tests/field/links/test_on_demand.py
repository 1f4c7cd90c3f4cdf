"""The sparse engine is the dense one, without G: the same h, variances, columns and costs, whichever solver it uses."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.fields import COSTS, Life, assert_same, field_of, on_demand, plain_costs
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.errors import FewlabelsError, SettingError
from fewlabels.field import FieldSpec
from fewlabels.field.links import budget
from fewlabels.field.links.on_demand import OnDemand
from fewlabels.field.links.solve.choose import SOLVERS
from fewlabels.graph import Graph
from fewlabels.kernels import reference
from fewlabels.learner import ActiveLearner
from fewlabels.machine import memory
from fewlabels.risk import expected_error

CLOSE = {"rtol": 1e-7, "atol": 1e-7}


def forced(solver):
    if solver == "cholespy":
        pytest.importorskip("cholespy")
    return solver


def wide_weights(n, decades, rng):
    W = random_weights(n, rng, density=0.1)
    scale = np.triu(10 ** rng.uniform(-decades / 2, decades / 2, (n, n)), 1)
    return W * (scale + scale.T)


def both(graph, C, beta=1.0, smoothness=0.0, solver="auto", **size):
    return (
        Life(on_demand(graph, C, beta, smoothness, forced(solver), **size)),
        Life(field_of(graph, C, beta, smoothness)),
    )


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("sizes", "C"), [([9, 4, 2, 1], 3), ([40], 2), ([1, 1, 1], 4), ([60, 30, 5], 7)])
def test_is_the_dense_field_after_any_answers_and_any_taking_back(sizes, C, solver, smoothness):
    rng = np.random.default_rng(sum(sizes))
    n = sum(sizes)
    lives = ours, dense = both(Graph(in_pieces(sizes, rng)), C, 0.7, smoothness, solver)
    assert_same(ours, dense)
    labels = random_labels(n, max(2, 2 * n // 3), C, rng)
    for step, (node, c) in enumerate(labels.items()):
        unsure = rng.random(C) * (rng.random(C) < 0.7)
        for life in lives:
            life.observe(node, c)
            if step % 4 == 1:
                life.attach((node + 3) % n, unsure)
        if n < 20 or step % 9 == 0:
            assert_same(ours, dense)
    assert_same(ours, dense)
    for step, node in enumerate(rng.permutation(list(labels))):
        for life in lives:
            if step % 3:
                life.forget(node)
            else:
                life.observe(node, (labels[int(node)] + 1) % C)
            if step == 4:
                life.add_class()
        if n < 20 or step % 9 == 0:
            assert_same(ours, dense)
    for life in lives:
        for node in list(life.answers.unsure):
            life.attach(node, np.zeros(life.n_classes))
    assert_same(ours, dense)


@pytest.mark.parametrize("solver", SOLVERS)
def test_many_answers_at_once_are_one_after_another(solver):
    rng = np.random.default_rng(1)
    lives = ours, dense = both(Graph(in_pieces([120, 15, 4, 1], rng)), 3, 1.0, 0.0, solver)
    labels = random_labels(140, 80, 3, rng)
    for life in lives:
        life.field = life.with_answers(labels)
    assert_same(ours, dense)
    for life in lives:
        life.field = life.without(list(labels)[5:])
        life.add_class()
        life.observe(next(k for k in range(140) if k not in labels), 3)
    assert_same(ours, dense)


@pytest.mark.parametrize("solver", ["superlu", "chebyshev", "gradients"])
def test_weights_over_six_decades(solver):
    rng = np.random.default_rng(3)
    lives = ours, dense = both(Graph(wide_weights(50, 6, rng)), 3, 1.0, 0.0, solver)
    for node, c in random_labels(50, 20, 3, rng).items():
        for life in lives:
            life.observe(node, c)
        np.testing.assert_allclose(ours.h, dense.h, atol=1e-8)
        np.testing.assert_allclose(ours.variance, dense.variance, rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("many", [0, 1, 5, 25])
@pytest.mark.parametrize("verb", COSTS)
def test_costs_are_the_dense_ones_where_the_pool_is_everything(verb, many, solver):
    rng = np.random.default_rng(many)
    lives = ours, dense = both(Graph(in_pieces([18, 9, 2, 1], rng)), 4, 0.8, 0.0, solver)
    for node, c in random_labels(30, many, 4, rng).items():
        for life in lives:
            life.observe(node, c)
    found, truth = getattr(ours, verb)(), getattr(dense, verb)()
    near = CLOSE if ours.covariance.solver.exact else {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(found.values, truth.values, **near)
    assert truth.screening is None


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("verb", ["vopt_costs", "sopt_costs"])
def test_the_best_by_variance_is_exact_where_the_pool_is_not_everything(verb, smoothness):
    rng = np.random.default_rng(5)
    lives = ours, dense = both(Graph(in_pieces([150, 40, 9], rng)), 3, 0.5, smoothness, "superlu", pool=40)
    for node, c in random_labels(199, 6, 3, rng).items():
        for life in lives:
            life.observe(node, c)
        found, truth = getattr(ours, verb)().values, getattr(dense, verb)().values
        asked = int(np.argmin(found))
        assert found[asked] == pytest.approx(truth[asked], rel=1e-9)
        assert truth[asked] == pytest.approx(truth.min(), rel=1e-9)


@pytest.mark.parametrize("solver", ["superlu", "gradients"])
@pytest.mark.parametrize("verb", ["two_step_costs", "harmonic_costs"])
def test_the_lowest_cost_is_that_of_a_finalist_and_exact(verb, solver):
    rng = np.random.default_rng(4)
    n = 400
    lives = ours, dense = both(Graph(in_pieces([n - 30, 20, 9, 1], rng)), 3, 0.05, 0.0, solver, pool=20, sample=64)
    for node, c in random_labels(n, 6, 3, rng).items():
        for life in lives:
            life.observe(node, c)
        found, screening = getattr(ours, verb)()
        truth = plain_costs(reference, verb, dense)
        asked = int(np.argmin(found))
        assert found[asked] == pytest.approx(truth[asked], abs=1e-6 if ours.covariance.solver.exact else 1e-4)
        assert found[asked] == pytest.approx(found[ours.unlabelled == screening.node][0], abs=1e-9)
        assert screening.pool <= 23
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found, getattr(ours, verb)().values)


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("solver", ["superlu", "cholespy", "gradients", "chebyshev"])
def test_columns_in_float32_leave_h_exact_and_gains_within_a_hundredth(solver, smoothness, monkeypatch):
    monkeypatch.setattr(budget, "SMALL", 50)  # a graph of 400 nodes is a large one
    monkeypatch.setattr(budget, "FEW", 50)
    rng = np.random.default_rng(4)
    n = 400
    graph = Graph(in_pieces([n - 30, 20, 9, 1], rng))
    lives = ours, dense = both(graph, 3, 0.5, smoothness, solver, pool=20, sample=64)
    labels = random_labels(n, 8, 3, rng)
    for node, c in labels.items():
        for life in lives:
            life.observe(node, c)
        found, screening = ours.two_step_costs()
        assert ours.workspace.X.dtype == np.float32
        truth = plain_costs(reference, "two_step_costs", dense)
        asked, now = int(np.argmin(found)), expected_error(dense.field)
        assert found[ours.unlabelled == screening.node] == found[asked]  # the same node, or one tied with it
        assert abs(found[asked] - truth[asked]) < 0.01 * max(now - truth.min(), 1e-3)
        assert_same(ours, dense, float32=True)
    for node in list(labels)[::2]:
        for life in lives:
            life.forget(node)
    assert_same(ours, dense, float32=True)


class Counted:
    """A solver that tells how many columns it has solved for."""

    def __init__(self, solver):
        self._solver, self.columns_solved = solver, 0

    def __getattr__(self, name):
        return getattr(self._solver, name)

    def solve(self, B):
        self.columns_solved += B.shape[1]
        return self._solver.solve(B)

    def columns(self, nodes):
        self.columns_solved += len(nodes)
        return self._solver.columns(nodes)


@pytest.fixture
def counted():
    """A field on two pieces with twelve answers, some unsure; and its solver, which counts."""
    rng = np.random.default_rng(2)
    field = on_demand(Graph(in_pieces([300, 30], rng)), 3, 0.02, 3.3, "superlu", pool=20, sample=64)
    made = field.covariance
    choice, solver, others = made._chosen
    made.variances, made.sums()
    counter = Counted(solver)
    made.__dict__["_chosen"] = choice, counter, others
    for node, c in random_labels(330, 12, 3, rng).items():
        field = field.with_answer(node, c)
        assert np.isfinite(field.h).all()
    field = field.with_unsure({100: np.array([0.5, 0.0, 1.0])})
    field.two_step_costs()
    return field, counter


def test_taking_back_another_label_and_a_new_class_cost_no_solve(counted):
    field, counter = counted
    before, labels = counter.columns_solved, field.answers.sure
    field = field.with_answer(list(labels)[3], (labels[list(labels)[3]] + 1) % 3)
    assert np.isfinite(field.h).all()
    for gone in (list(labels)[-1:], list(labels)[4:5], list(labels)[:3]):
        field = field.without(gone)
        assert np.isfinite(field.variance).all()
        assert np.isfinite(field.h).all()
    field = field.with_unsure({100: np.zeros(3)}).with_class()
    assert np.isfinite(field.h).all()
    field.left_out(np.arange(5))
    assert counter.columns_solved == before


def test_what_if_costs_one_column_for_all_labels_of_a_node_and_none_for_one_at_hand(counted):
    field, counter = counted
    before = counter.columns_solved
    q = int(field.unlabelled[7])
    one = field.with_answer(q, 0)
    assert np.isfinite(one.h).all()
    solved = counter.columns_solved - before
    assert solved <= 2  # and what refines it
    for c in (1, 2):
        assert np.isfinite(field.with_answer(q, c).h).all()
        assert np.isfinite(one.with_answer(q, c).variance).all()
    assert counter.columns_solved == before + solved


def test_the_columns_of_a_question_are_solved_for_once(counted):
    field, counter = counted
    before = counter.columns_solved
    expected = field.two_step_costs().values
    np.testing.assert_array_equal(field.two_step_costs().values, expected)
    assert counter.columns_solved == before
    known = field.workspace.solved
    asked = np.zeros(len(field.unlabelled), dtype=bool)
    asked[np.argsort(expected)[:60]] = True
    field.two_step_costs(asked)
    assert counter.columns_solved - before <= 2 * (field.workspace.solved - known) < 60  # each refined once
    again = field.with_answer(int(field.unlabelled[np.argmin(expected)]), 0)
    before = counter.columns_solved
    again.two_step_costs()
    assert counter.columns_solved - before < 60  # most of the sample's columns stay


def test_two_fields_made_of_one_go_their_own_ways():
    rng = np.random.default_rng(12)
    graph = Graph(in_pieces([40, 10], rng))
    for solver in ("superlu", "chebyshev", "gradients"):
        ours, dense = (life.field.with_answers({3: 1, 45: 0}) for life in both(graph, 3, 1.0, 3.3, solver))
        assert_same(ours, dense)
        one, two = (([f.with_answer(5, 2) for f in (ours, dense)]), [f.with_answer(7, 0) for f in (ours, dense)])
        three = [f.with_answer(9, 1).without([3]) for f in one]
        for each in (one, two, three, (ours, dense), two, one, three):
            assert_same(*each)
            np.testing.assert_allclose(each[0].two_step_costs().values, each[1].two_step_costs().values, atol=2e-4)


def test_threads_may_ask_fields_of_one_line_at_the_same_time():
    rng = np.random.default_rng(10)
    graph = Graph(random_weights(200, rng, 0.05))
    field = on_demand(graph, 3, pool=20, sample=50)
    for node, c in random_labels(200, 5, 3, rng).items():
        field = field.with_answer(node, c)
        field.two_step_costs()
    line = [field.with_answer(int(q), int(q) % 3) for q in field.unlabelled[:12]]
    with ThreadPoolExecutor(4) as threads:
        for each, found in zip(line, threads.map(lambda each: each.two_step_costs().values, line), strict=True):
            truth = field_of(graph, 3).with_answers(each.answers.sure).two_step_costs().values
            assert found.min() == pytest.approx(truth[np.argmin(found)], abs=1e-9)


def test_says_that_G_is_never_formed_and_what_solvers_there_are():
    field = on_demand(Graph.from_edges([0, 1], [1, 2]), 2)
    with pytest.raises(FewlabelsError, match="never forms G, 3 x 3"):
        _ = field.G
    with pytest.raises(SettingError, match=r"no solver 'superlo': choose one of auto, .*superlu"):
        on_demand(Graph.from_edges([0], [1]), 2, solver="superlo").with_answer(0, 0).sums()


def test_auto_takes_the_sparse_engine_where_the_dense_one_does_not_fit_and_says_why(monkeypatch, capsys):
    def made(n):
        return FieldSpec.paper().resolved(Graph.from_edges(np.arange(n - 1), np.arange(1, n))).build()

    assert not isinstance(made(3), OnDemand)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(memory, "available", lambda: 300 * 2**20)
    assert isinstance(made(8000), OnDemand)
    told = capsys.readouterr().err
    assert "engine 'sparse' for 8,000 nodes: a dense field needs 1.0 GiB and 0.3 GiB are free" in told


def test_a_question_tells_its_pool_its_sample_and_what_it_may_have_missed():
    rng = np.random.default_rng(13)
    graph = Graph(random_weights(900, rng, density=4 / 900))
    learner = ActiveLearner(graph, ["a", "b", "c"], engine="sparse", centred=False)
    learner.teach([3, 700], ["a", "b"])
    node = learner.query()
    told = learner.last_question
    assert told.node == node
    assert told.cost == learner.costs()[node] == np.nanmin(learner.costs())
    assert told.gain == pytest.approx(learner.expected_error() - told.cost)
    assert 0 < told.pool < 898
    assert 0 < told.sample <= 2048
    assert 0 <= told.missed[0] <= told.missed[1]
    assert learner.query() == node
    batch = learner.query(3)
    assert batch[0] == node
    assert len(set(batch)) == 3
    dense = ActiveLearner(graph, ["a", "b", "c"], engine="dense")
    assert dense.query() is not None
    assert dense.last_question is None


@pytest.mark.parametrize("strategy", ["tsa", "zlg", "sopt", "vopt", "margin", "entropy", "least_confidence", "random"])
def test_every_strategy_runs_where_the_pool_is_not_everything(strategy):
    rng = np.random.default_rng(14)
    graph = Graph(in_pieces([500, 100, 1], rng))
    made = on_demand(graph, 3, 0.1, pool=10, sample=30).covariance
    learner = ActiveLearner(graph, [0, 1, 2], strategy, engine=made, beta=0.1)
    asked = []
    for step in range(6):
        asked.append(learner.query())
        learner.teach(asked[-1], step % 3)
    learner.skip(learner.query())
    learner.forget(asked[2])
    assert learner.query() not in learner.skipped
    assert len(learner.predict()) == 601
