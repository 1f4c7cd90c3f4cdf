"""An answer's change of G waits for the next look-ahead, and nobody who reads G before that notices."""

import numpy as np
import pytest
from support.fields import Life, afresh
from support.gpus import INTERPRETED, coarse, pair
from support.graphs import in_pieces, random_labels

import fewlabels as fl

pytestmark = INTERPRETED

READ = {
    "G": lambda field: field.G,
    "h": lambda field: field.h,
    "variance": lambda field: field.variance,
    "columns": lambda field: field.columns(field.unlabelled[[0, 2]]),
    "sums": lambda field: np.where(field.island < 0, field.sums(), 0),
    "left_out": lambda field: field.left_out(np.arange(5)).h,
    "two_step_costs": lambda field: field.two_step_costs().values,
    "two_step_costs of few": lambda field: field.two_step_costs(np.arange(len(field.unlabelled)) < 5).values[:5],
    "harmonic_costs": lambda field: field.harmonic_costs().values,
    "vopt_costs": lambda field: field.vopt_costs().values,
    "sopt_costs": lambda field: field.sopt_costs().values,
    "afresh": lambda field: afresh(field).G,
}
CHANGE = {
    "sure": lambda field: field.with_answer(int(field.unlabelled[1]), 2),
    "two": lambda field: field.with_answer(int(field.unlabelled[1]), 2).with_answer(int(field.unlabelled[2]), 0),
    "taken back": lambda field: field.without([list(field.answers.sure)[-1]]),
    "an older one taken back": lambda field: field.without([next(iter(field.answers.sure))]),
    "relabelled": lambda field: field.with_answer(next(iter(field.answers.sure)), 1),
    "unsure": lambda field: field.with_unsure({int(field.unlabelled[2]): np.arange(field.n_classes) / 2}),
    "a class": lambda field: field.with_class(),
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    coarse(monkeypatch)


def taught(smoothness):
    """With an answer whose change waits."""
    fields = pair(fl.Graph(in_pieces([24, 4], np.random.default_rng(5))), smoothness=smoothness)
    labels = random_labels(24, 5, 3, np.random.default_rng(6))
    last = labels.popitem()
    return [brought(brought(field.with_answers(labels)).with_answer(*last)) for field in fields]


def brought(field):
    """The same, and the array of G is its own."""
    with field.workspace._lock:
        field.workspace._bring(field)
    return field


def waits(field):
    return field.workspace._change is not None


def assert_reads_the_same(ours, twin, name):
    np.testing.assert_array_equal(ours.unlabelled, twin.unlabelled)
    expected = READ[name](twin)
    np.testing.assert_allclose(READ[name](ours), expected, rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("name", READ)
def test_whoever_reads_g_sees_the_change_that_waits(name, smoothness):
    ours, twin = taught(smoothness)
    assert waits(ours)
    assert_reads_the_same(ours, twin, name)
    assert waits(ours) == (name in ("h", "variance", "sums", "left_out", "afresh"))
    np.testing.assert_allclose(ours.G, twin.G, atol=1e-12)


@pytest.mark.parametrize("name", CHANGE)
def test_whatever_is_answered_next_comes_after_the_change_that_waits(name):
    ours, twin = taught(0.0)
    assert waits(ours)
    after = [CHANGE[name](field) for field in (ours, twin)]
    np.testing.assert_allclose(after[0].G, after[1].G, atol=1e-11)
    np.testing.assert_allclose(after[0].h, after[1].h, atol=1e-11)
    np.testing.assert_allclose(ours.G, twin.G, atol=1e-11)  # and back again


def test_a_look_ahead_that_breaks_off_leaves_no_half_made_change(monkeypatch):
    from fewlabels.field.links import on_card

    ours, twin = taught(0.0)
    with monkeypatch.context() as broken:
        broken.setattr(on_card.kernels, "two_step_cost", lambda *args, **more: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ours.two_step_costs()
    assert_reads_the_same(ours, twin, "two_step_costs")
    np.testing.assert_allclose(ours.G, twin.G, atol=1e-12)


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
def test_a_long_life_of_answers_and_questions_equals_the_field_in_memory(smoothness):
    """Every step changes something and reads one thing, so that changes wait for all kinds of readers."""
    both = ours, twin = [Life(field) for field in taught(smoothness)]
    rng = np.random.default_rng(7)
    for _ in range(60):
        known, unknown = np.flatnonzero(twin.label >= 0), twin.unlabelled
        what, node, c = rng.random(), int(rng.choice(unknown)), int(rng.integers(3))
        for field in both:
            if what < 0.5 and len(unknown) > 6:
                field.observe(node, c)
            elif what < 0.75 and len(known) > 2:
                field.forget(int(known[c % len(known)]))
            elif what < 0.9:
                field.attach(node, np.array([0.5, 0.0, 1.0 * c]))
            else:
                field.observe(int(known[0]), c)
        assert_reads_the_same(ours.field, twin.field, str(rng.choice(list(READ))))
    G = ours.G
    np.testing.assert_array_equal(G, G.T)
