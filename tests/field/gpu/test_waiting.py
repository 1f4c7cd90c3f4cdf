"""An answer's change of G waits for the next look-ahead, and nobody who reads or changes G before that notices."""

import numpy as np
import pytest
from support.gpus import DEVICE, INTERPRETED, coarse, torch
from support.graphs import in_pieces, random_labels

import fewlabels as fl
from fewlabels.field.dense import DenseField
from fewlabels.field.gpu import GpuField
from fewlabels.kernels import reference

pytestmark = INTERPRETED

READ = {
    "G": lambda field: field.G,
    "h": lambda field: field.h,
    "variance": lambda field: field.variance,
    "columns": lambda field: field.columns(field.unlabelled[[0, 2]]),
    "sums": lambda field: np.where(field.island < 0, field.sums(), 0),
    "reach": lambda field: field.reach(np.flatnonzero(field.label >= 0)),
    "two_step_costs": lambda field: field.two_step_costs().values,
    "harmonic_costs": lambda field: field.harmonic_costs().values,
    "vopt_costs": lambda field: field.vopt_costs().values,
    "sopt_costs": lambda field: field.sopt_costs().values,
    "copy": lambda field: field.copy().G,
}
CHANGE = {
    "observe": lambda field: field.observe(int(field.unlabelled[1]), 2),
    "forget": lambda field: field.forget(int(np.flatnonzero(field.label >= 0)[0])),
    "relabel": lambda field: field.relabel(int(np.flatnonzero(field.label >= 0)[1]), 1),
    "attach": lambda field: field.attach(int(field.unlabelled[2]), np.arange(field.n_classes) / 2),
    "add_class": lambda field: field.add_class(),
    "refresh": lambda field: field.refresh(),
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    coarse(monkeypatch)


def pair(smoothness):
    graph = fl.Graph(in_pieces([24, 4], np.random.default_rng(5)))
    fields = (
        GpuField(graph, 3, 0.8, torch.float64, DEVICE, smoothness=smoothness),
        DenseField(graph, 3, 0.8, reference, smoothness=smoothness),
    )
    for node, c in random_labels(24, 4, 3, np.random.default_rng(6)).items():
        for field in fields:
            field.observe(node, c)
    return fields


def waits(field):
    return field._matrix._pending is not None


def assert_reads_the_same(ours, twin, name):
    np.testing.assert_array_equal(ours.unlabelled, twin.unlabelled)
    expected = READ[name](twin)
    np.testing.assert_allclose(READ[name](ours), expected, rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("name", READ)
def test_whoever_reads_g_sees_the_change_that_waits(name, smoothness):
    ours, twin = pair(smoothness)
    assert waits(ours)
    assert_reads_the_same(ours, twin, name)
    assert waits(ours) == (name in ("h", "variance", "reach", "copy"))
    np.testing.assert_allclose(ours.G, twin.G, atol=1e-12)


@pytest.mark.parametrize("name", CHANGE)
def test_whatever_changes_the_field_comes_after_the_change_that_waits(name):
    ours, twin = pair(0.0)
    assert waits(ours)
    for field in (ours, twin):
        CHANGE[name](field)
    order, twins = np.argsort(ours.unlabelled), np.argsort(twin.unlabelled)
    np.testing.assert_allclose(ours.G[np.ix_(order, order)], twin.G[np.ix_(twins, twins)], atol=1e-11)
    np.testing.assert_allclose(ours.h[order], twin.h[twins], atol=1e-11)


def test_a_copy_and_its_original_each_make_the_change_once():
    ours, twin = pair(0.0)
    copy = ours.copy()
    for field in (ours, copy):
        assert_reads_the_same(field, twin, "two_step_costs")
        assert_reads_the_same(field, twin, "G")


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
def test_a_long_life_of_answers_and_questions_equals_the_dense_field(smoothness):
    """Every step changes something and reads one thing, so that changes wait for all kinds of readers."""
    ours, twin = pair(smoothness)
    rng = np.random.default_rng(7)
    for _ in range(60):
        known, unknown = np.flatnonzero(twin.label >= 0), twin.unlabelled
        what, node, c = rng.random(), int(rng.choice(unknown)), int(rng.integers(3))
        for field in (ours, twin):
            if what < 0.5 and len(unknown) > 6:
                field.observe(node, c)
            elif what < 0.75 and len(known) > 2:
                field.forget(int(known[c % len(known)]))
            elif what < 0.9:
                field.attach(node, np.array([0.5, 0.0, 1.0 * c]))
            else:
                field.relabel(int(known[0]), c)
        assert_reads_the_same(ours, twin, str(rng.choice(list(READ))))
    G = ours.G
    np.testing.assert_array_equal(G, G.T)
