"""The field on the card is the dense field, after any answers and any taking back."""

import subprocess
import sys

import numpy as np
import pytest
from support.fields import COSTS, plain_costs
from support.gpus import DEVICE, INTERPRETED, coarse, torch
from support.graphs import in_pieces, random_labels, random_weights

import fewlabels as fl
from fewlabels.errors import GraphError, MemoryNeededError, SettingError
from fewlabels.field import make_field
from fewlabels.field.dense import DenseField
from fewlabels.field.gpu import GpuField
from fewlabels.field.gpu import field as gpu
from fewlabels.field.gpu.inverse import inverse
from fewlabels.kernels import reference

pytestmark = INTERPRETED

CLOSE = {torch.float64: 1e-12, torch.float32: 1e-5}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    coarse(monkeypatch)


def assert_same(ours, twin, close):
    a, b = np.argsort(ours.unlabelled), np.argsort(twin.unlabelled)
    np.testing.assert_array_equal(ours.unlabelled[a], twin.unlabelled[b])
    np.testing.assert_array_equal(ours.island[a], twin.island[b])
    np.testing.assert_allclose(ours.G[np.ix_(a, a)], twin.G[np.ix_(b, b)], atol=close * max(1, abs(twin.G).max()))
    np.testing.assert_allclose(ours.h[a], twin.h[b], atol=close)
    np.testing.assert_allclose(ours.variance[a], twin.variance[b], rtol=10 * close)


def pair(graph, kind, a):
    return GpuField(graph, 3, 0.8, kind, DEVICE, smoothness=a), DenseField(graph, 3, 0.8, reference, smoothness=a)


@pytest.mark.parametrize("a", [0.0, 3.3])
@pytest.mark.parametrize("kind", CLOSE, ids=str)
def test_answers_taking_back_and_a_new_class_equal_the_dense_field(kind, a):
    rng = np.random.default_rng(0)
    graph = fl.Graph(in_pieces([12, 5, 2, 1], rng))
    ours, twin = pair(graph, kind, a)
    labels = random_labels(20, 20, 3, rng)
    assert_same(ours, twin, CLOSE[kind])
    for node, c in labels.items():
        for field in (ours, twin):
            field.observe(node, c)
        if len(ours.unlabelled):
            assert_same(ours, twin, CLOSE[kind])
    for field in (ours, twin):
        field.add_class()
        field.forget(0)
        field.relabel(1, 3)
        field.observe(0, labels[0])
    for node in rng.permutation(list(labels)):
        for field in (ours, twin):
            field.forget(int(node))
        assert_same(ours, twin, 10 * CLOSE[kind])


@pytest.mark.parametrize(("kind", "a"), [*((kind, 0.0) for kind in CLOSE), (torch.float64, 10.0), (torch.float32, 3.3)])
def test_costs_equal_the_dense_field(kind, a):
    """With smoothness some of G is below zero, and h leaves [-1, 1]."""
    rng = np.random.default_rng(7)
    ours, twin = pair(fl.Graph(in_pieces([40, 9, 3], rng)), kind, a)
    for node, c in random_labels(49, 8, 3, rng).items():
        for field in (ours, twin):
            field.observe(node, c)
    reached = twin.island < 0
    assert (a > 0) == (twin.G[np.ix_(reached, reached)] < 0).any()
    order, twins = np.argsort(ours.unlabelled), np.argsort(twin.unlabelled)
    for verb in COSTS:
        expected = plain_costs(reference, verb, twin)[twins]
        np.testing.assert_allclose(getattr(ours, verb)().values[order], expected, rtol=1e3 * CLOSE[kind])


@pytest.mark.parametrize("a", [0.0, 3.3])
@pytest.mark.parametrize("kind", CLOSE, ids=str)
def test_unsure_answers_equal_the_dense_field(kind, a):
    rng = np.random.default_rng(3)
    graph = fl.Graph(in_pieces([12, 5, 2, 1], rng))
    ours, twin = pair(graph, kind, a)
    labels = random_labels(20, 6, 3, rng)
    for step in range(60):
        node = int(rng.integers(20))
        weights = np.where(rng.random(3) < 0.5, 10 ** rng.uniform(-1, 1, 3), 0.0)
        for field in (ours, twin):
            if step % 5 == 0 and node in labels:
                field.forget(node) if field.label[node] >= 0 else field.observe(node, labels[node])
            else:
                field.attach(node, weights)
        assert_same(ours, twin, 30 * CLOSE[kind])
    known = np.flatnonzero(twin.label >= 0)
    a, b = np.argsort(ours.unlabelled), np.argsort(twin.unlabelled)
    np.testing.assert_allclose(ours.reach(known)[:, a], twin.reach(known)[:, b], atol=30 * CLOSE[kind])
    fresh = ours.copy()
    fresh.refresh()
    assert_same(fresh, ours, 30 * CLOSE[kind])
    for field in (ours, twin):
        field.add_class()
        field.attach_all({node: np.zeros(4) for node in range(20)})
    assert_same(ours, twin, 30 * CLOSE[kind])


def test_a_fresh_start_with_labels_and_a_copy_are_the_field_itself():
    rng = np.random.default_rng(1)
    field = GpuField(fl.Graph(in_pieces([14, 6], rng)), 3, 1.0, device=DEVICE)
    for node, c in random_labels(20, 4, 3, rng).items():
        field.observe(node, c)
    twin = field.copy()
    twin.refresh()
    assert_same(field, twin, 1e-12)
    twin.observe(int(twin.unlabelled[0]), 0)
    assert len(twin.unlabelled) == len(field.unlabelled) - 1


@pytest.mark.parametrize("block", [1, 7, 16, 50])
def test_sweeps_over_blocks_of_any_size_give_the_inverse(block):
    rng = np.random.default_rng(block)
    A = rng.random((50, 50))
    A = A @ A.T + np.eye(50)
    ours = torch.zeros((50, 64), dtype=torch.float64, device=DEVICE)[:, :50]
    ours[:] = torch.as_tensor(A)
    inverse(ours, block)
    np.testing.assert_allclose(ours.cpu().numpy(), np.linalg.inv(A), atol=1e-12)


@pytest.mark.parametrize("strategy", ["tsa", "zlg", "sopt", "vopt", "margin"])
def test_the_learner_asks_the_same_questions(strategy, monkeypatch):
    monkeypatch.setattr(GpuField.__init__, "__defaults__", (1.0, None, DEVICE))
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


def test_checks_are_judged_as_by_the_dense_engine(monkeypatch):
    monkeypatch.setattr(GpuField.__init__, "__defaults__", (1.0, None, DEVICE))
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
    with pytest.raises(SettingError, match=r"sees no GPU\. Use engine='dense'"):
        make_field(fl.Graph.from_edges([0], [1]), 2, 1.0, "gpu")


def test_without_torch_the_engine_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fewlabels.field.gpu", None)
    with pytest.raises(SettingError, match=r"pip install 'fewlabels\[gpu\]'"):
        make_field(fl.Graph.from_edges([0], [1]), 2, 1.0, "gpu")


def test_a_graph_too_large_for_the_card_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(gpu, "free_memory", lambda device: 139 * 2**30)
    graph = fl.Graph.from_edges([0], [1], n_nodes=300_000)
    expected = r"300,000 nodes needs 35\d\.\d GiB on the card and 139\.0 GiB are free: .* about 18\d,\d{3} nodes"
    with pytest.raises(MemoryNeededError, match=expected):
        GpuField(graph, 2, device=DEVICE)


def test_float32_is_taken_where_float64_would_be_tight(monkeypatch):
    graph = fl.Graph(random_weights(30, np.random.default_rng(0)))
    assert GpuField(graph, 2, device=DEVICE).dtype == torch.float64
    monkeypatch.setattr(gpu, "SPARE", 0)
    monkeypatch.setattr(gpu, "free_memory", lambda device: 90_000)
    monkeypatch.setattr(gpu, "COMFORT", 13)
    field = GpuField(graph, 2, device=DEVICE)
    assert field.dtype == torch.float32


def test_weights_whose_variances_rounding_would_swallow_are_refused():
    graph = fl.Graph.from_edges([0, 1, 2], [1, 2, 3], [1e6, 1e-6, 1.0])
    with pytest.raises(GraphError, match="Use engine='dense'"):
        GpuField(graph, 2, device=DEVICE)


def test_the_dense_engine_loads_no_torch():
    code = "import sys, fewlabels as fl; fl.ActiveLearner(fl.Graph.from_edges([0], [1]), ['a', 'b']); "
    code += "print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
