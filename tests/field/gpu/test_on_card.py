"""The field on the card is the field in memory, after any answers and any taking back."""

import subprocess
import sys

import numpy as np
import pytest
from support.fields import COSTS, Life, afresh, plain_costs
from support.gpus import DEVICE, INTERPRETED, anywhere, coarse, pair, torch
from support.graphs import in_pieces, random_labels, random_weights

import fewlabels as fl
from fewlabels.errors import GraphError, MemoryNeededError, SettingError
from fewlabels.field import FieldSpec
from fewlabels.field.links import on_card
from fewlabels.field.links.inverse_on_card import inverse
from fewlabels.field.links.on_card import OnCard
from fewlabels.field.opinion import Opinion
from fewlabels.kernels import reference

pytestmark = INTERPRETED

CLOSE = {torch.float64: 1e-12, torch.float32: 1e-5}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    coarse(monkeypatch)
    anywhere(monkeypatch)


def assert_same(ours, twin, close):
    np.testing.assert_array_equal(ours.unlabelled, twin.unlabelled)
    np.testing.assert_array_equal(ours.island, twin.island)
    np.testing.assert_allclose(ours.G, twin.G, atol=close * max(1, abs(twin.G).max(initial=0)))
    np.testing.assert_allclose(ours.h, twin.h, atol=close)
    np.testing.assert_allclose(ours.variance, twin.variance, rtol=10 * close)


def lives(*args):
    return tuple(Life(field) for field in pair(*args))


def recipe_of(graph, smoothness=0.0):
    return FieldSpec(1.0, smoothness, 0.0, "gpu").resolved(graph)


@pytest.mark.parametrize("a", [0.0, 3.3])
@pytest.mark.parametrize("kind", CLOSE, ids=str)
def test_answers_taking_back_and_a_new_class_equal_the_field_in_memory(kind, a):
    rng = np.random.default_rng(0)
    both = ours, twin = lives(fl.Graph(in_pieces([12, 5, 2, 1], rng)), kind, a)
    labels = random_labels(20, 20, 3, rng)
    assert_same(ours, twin, CLOSE[kind])
    for node, c in labels.items():
        for field in both:
            field.observe(node, c)
        assert_same(ours, twin, CLOSE[kind])
    for field in both:
        field.add_class()
        field.forget(0)
        field.observe(1, 3)
        field.observe(0, labels[0])
    for node in rng.permutation(list(labels)):
        for field in both:
            field.forget(int(node))
        assert_same(ours, twin, 10 * CLOSE[kind])


@pytest.mark.parametrize(("kind", "a"), [*((kind, 0.0) for kind in CLOSE), (torch.float64, 10.0), (torch.float32, 3.3)])
def test_costs_equal_those_of_the_plain_kernels(kind, a):
    """With smoothness some of G is below zero, and h leaves [-1, 1]."""
    rng = np.random.default_rng(7)
    ours, twin = lives(fl.Graph(in_pieces([40, 9, 3], rng)), kind, a)
    for node, c in random_labels(49, 8, 3, rng).items():
        for field in (ours, twin):
            field.observe(node, c)
    reached = twin.island < 0
    assert (a > 0) == (twin.G[np.ix_(reached, reached)] < 0).any()
    for verb in COSTS:
        expected = plain_costs(reference, verb, twin)
        np.testing.assert_allclose(getattr(ours, verb)().values, expected, rtol=1e3 * CLOSE[kind])


@pytest.mark.parametrize("share", [0.2, 0.9])
@pytest.mark.parametrize("verb", ["two_step_costs", "harmonic_costs"])
def test_costs_are_exact_at_the_nodes_asked_about(verb, share):
    rng = np.random.default_rng(8)
    ours, twin = lives(fl.Graph(in_pieces([40, 9, 3], rng)))
    for node, c in random_labels(49, 8, 3, rng).items():
        for field in (ours, twin):
            field.observe(node, c)
        asked = rng.random(len(twin.unlabelled)) < share
        expected, found = plain_costs(reference, verb, twin), getattr(ours, verb)(asked).values
        np.testing.assert_allclose(found[asked], expected[asked], rtol=1e-11)
        assert share > on_card.MOST_ASKED or found[~asked].min() >= found[asked].max()
    np.testing.assert_allclose(ours.G, twin.G, atol=1e-12)


@pytest.mark.parametrize("a", [0.0, 3.3])
@pytest.mark.parametrize("kind", CLOSE, ids=str)
def test_unsure_answers_equal_the_field_in_memory(kind, a):
    rng = np.random.default_rng(3)
    both = ours, twin = lives(fl.Graph(in_pieces([12, 5, 2, 1], rng)), kind, a)
    labels = random_labels(20, 6, 3, rng)
    for step in range(60):
        node = int(rng.integers(20))
        weights = np.where(rng.random(3) < 0.5, 10 ** rng.uniform(-1, 1, 3), 0.0)
        for field in both:
            if step % 5 == 0 and node in labels:
                field.forget(node) if field.label[node] >= 0 else field.observe(node, labels[node])
            else:
                field.attach(node, weights)
        assert_same(ours, twin, 30 * CLOSE[kind])
    assert_same(afresh(ours), ours, 30 * CLOSE[kind])
    for field in both:
        field.add_class()
        field.field = field.with_unsure({node: np.zeros(4) for node in range(20)})
    assert_same(ours, twin, 30 * CLOSE[kind])


def test_a_models_chances_change_the_costs_as_in_memory():
    rng = np.random.default_rng(9)
    graph = fl.Graph(in_pieces([30, 6], rng))
    chances = rng.dirichlet(np.ones(3), 36)
    found = []
    for field in pair(graph, torch.float64, 0.5):
        taught = field.with_answers(random_labels(36, 5, 3, np.random.default_rng(1)))
        believing = taught.with_model(None, Opinion(graph.weights, chances))
        found.append(believing.two_step_costs().values)
        assert abs(found[-1] - taught.two_step_costs().values).max() > 1e-6
    np.testing.assert_allclose(*found, rtol=1e-11)


def test_clusters_that_hardly_touch_are_as_exact_as_in_memory():
    rng = np.random.default_rng(11)
    W = np.zeros((30, 30))
    W[:15, :15], W[15:, 15:] = random_weights(15, rng), random_weights(15, rng)
    W[0, 20] = W[20, 0] = 1e-6
    ours, twin = lives(fl.Graph(W))
    assert ours.covariance.levels.F.shape[1] > 0
    for node in (3, 8, 22, 5):
        for field in (ours, twin):
            field.observe(node, node % 3)
        scale = np.abs(twin.G).max()  # of a cluster that only the bridge reaches it is 1e6
        np.testing.assert_allclose(ours.variance, twin.variance, rtol=1e-9)
        np.testing.assert_allclose(ours.G, twin.G, atol=1e-12 * scale)


def test_only_columns_of_new_answers_are_fetched_and_branches_do_not_disturb_each_other(monkeypatch):
    rng = np.random.default_rng(12)
    ours, twin = pair(fl.Graph(in_pieces([30], rng)))
    fetched, columns = [], OnCard.columns
    monkeypatch.setattr(OnCard, "columns", lambda self, nodes: fetched.extend(nodes) or columns(self, nodes))
    both = [field.with_answers({1: 0, 5: 1}) for field in (ours, twin)]
    assert_same(*both, 1e-12)
    branches = [[field.with_answer(node, 2) for field in both] for node in (7, 9, 11)]
    for pairs in (*branches, *branches):
        assert_same(*pairs, 1e-12)
    later = [field.with_answer(2, 0).without([5]).with_answer(3, 1) for field in branches[1]]
    assert_same(*later, 1e-12)
    assert fetched == [1, 5, 7, 9, 11, 2, 3]


def test_sweeps_over_blocks_of_any_size_give_the_inverse():
    for block in (1, 7, 16, 50):
        rng = np.random.default_rng(block)
        A = rng.random((50, 50))
        A = A @ A.T + np.eye(50)
        ours = torch.zeros((50, 64), dtype=torch.float64, device=DEVICE)[:, :50]
        ours[:] = torch.as_tensor(A)
        assert inverse(ours, block)
        np.testing.assert_allclose(ours.cpu().numpy(), np.linalg.inv(A), atol=1e-12)


@pytest.mark.parametrize("strategy", ["tsa", "zlg", "sopt", "vopt", "margin"])
def test_the_learner_asks_the_same_questions(strategy):
    rng = np.random.default_rng(2)
    graph = fl.Graph(in_pieces([14, 5], rng))
    truth = rng.integers(0, 3, 19)
    learners = [fl.ActiveLearner(graph, [0, 1, 2], strategy, engine=engine) for engine in ("gpu", "dense")]
    for _ in range(6):
        asked = [learner.query() for learner in learners]
        assert asked[0] == asked[1]
        for learner in learners:
            learner.teach(asked[0], int(truth[asked[0]]))
    assert learners[0].query(3) == learners[1].query(3)
    np.testing.assert_allclose(learners[0].costs(), learners[1].costs(), rtol=1e-9)
    np.testing.assert_array_equal(learners[0].predict(), learners[1].predict())


def test_checks_are_judged_as_by_the_dense_engine():
    rng = np.random.default_rng(4)
    graph = fl.Graph(in_pieces([20, 6], rng))
    ours, theirs = (fl.ActiveLearner(graph, [0, 1, 2], engine=engine, smoothness=0.5) for engine in ("gpu", "dense"))
    for learner in (ours, theirs):
        drawn, rng = learner.check(8), np.random.default_rng(5)
        for step, node in enumerate(drawn):
            learner.teach(node, int(rng.integers(3)), 1.0 if step % 3 else 0.9)
    assert ours.checks == theirs.checks
    assert ours.error().wrong == theirs.error().wrong


def test_without_a_gpu_the_engine_says_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(OnCard.__init__, "__defaults__", (None, "cuda"))
    with pytest.raises(SettingError, match=r"sees no GPU\. Use engine='dense'"):
        recipe_of(fl.Graph.from_edges([0], [1])).build()


def test_without_torch_the_engine_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fewlabels.field.links.on_card", None)
    with pytest.raises(SettingError, match=r"pip install 'fewlabels\[gpu\]'"):
        recipe_of(fl.Graph.from_edges([0], [1])).build()


def test_a_graph_too_large_for_the_card_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(on_card, "free_memory", lambda device: 139 * 2**30)
    graph = fl.Graph.from_edges([0], [1], n_nodes=200_000)
    expected = r"200,000 nodes needs 311\.5 GiB on the card and 139\.0 GiB are free: .* about 131,\d{3} nodes"
    with pytest.raises(MemoryNeededError, match=expected):
        OnCard(recipe_of(graph), device=DEVICE)


def test_another_line_of_fields_for_which_the_card_has_no_room_is_refused(monkeypatch):
    field, _ = pair(fl.Graph(random_weights(30, np.random.default_rng(0))))
    monkeypatch.setattr(on_card, "free_memory", lambda device: 2**20)
    with pytest.raises(MemoryNeededError, match=r"30 nodes needs 1\.0 GiB on the card and 0\.0 GiB are free"):
        field.two_step_costs()


def test_float32_is_taken_where_float64_would_be_tight(monkeypatch):
    recipe = recipe_of(fl.Graph(random_weights(300, np.random.default_rng(0))))
    assert OnCard(recipe, device=DEVICE).dtype == torch.float64
    monkeypatch.setattr(on_card, "SPARE", 0)
    monkeypatch.setattr(on_card, "COMFORT", 20)
    for free, computed_in in ((4_300_000, torch.float64), (4_150_000, torch.float32)):
        monkeypatch.setattr(on_card, "free_memory", lambda device, free=free: free)
        covariance = OnCard(recipe, device=DEVICE)
        assert covariance.dtype == torch.float32
        assert covariance.computed_in == computed_in


def test_weights_whose_variances_rounding_would_swallow_are_refused(monkeypatch):
    recipe = recipe_of(fl.Graph(random_weights(30, np.random.default_rng(0))), 3.3)
    monkeypatch.setitem(on_card.LOSES, torch.float64, 1e-18)
    with pytest.raises(GraphError, match=r"lose \d+e-\d+ of a variance to rounding\. Use smoothness=0"):
        OnCard(recipe, device=DEVICE)


def test_the_dense_engine_loads_no_torch():
    code = "import sys, fewlabels as fl; fl.ActiveLearner(fl.Graph.from_edges([0], [1]), ['a', 'b']); "
    code += "print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
