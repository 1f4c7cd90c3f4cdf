"""A learner that begins again is as a new one, without a second set-up of its graph."""

import numpy as np
import pytest
from support.items import words

from fewlabels import ActiveLearner


def live(learner, rng, steps):
    for step in range(steps):
        node, label = int(rng.integers(60)), int(rng.integers(len(learner.classes)))
        known = {answer.node for answer in learner.answers} | set(learner.skipped)
        kind = rng.integers(8)
        if node in known:
            learner.forget(node)
        elif kind < 5:
            learner.teach(node, label)
        elif kind == 5:
            learner.teach(node, label, 0.8)
        elif kind == 6:
            learner.skip(node)
        elif step % 5 == 0:
            learner.add_class(len(learner.classes))


@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_begun_again_it_is_as_a_new_one(engine):
    learner = ActiveLearner(words(60).graph, range(3), engine=engine)
    learner.check()
    live(learner, np.random.default_rng(2), 40)
    covariance = learner.covariance
    learner.begin_again(["a", "b"])
    assert (learner.classes, learner.labelled, learner.skipped, learner.checks) == (["a", "b"], {}, [], [])
    assert learner.covariance is covariance
    new = ActiveLearner(words(60).graph, ["a", "b"], engine=engine)
    for one in (learner, new):
        one.teach([5, 40], ["a", "b"])
    np.testing.assert_allclose(learner.predict_proba(), new.predict_proba(), atol=1e-8)
    assert learner.query() == new.query()


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("steps", [3, 80])
def test_it_knows_the_same_whether_every_state_was_worked_out_or_only_the_last(engine, steps, tmp_path):
    ours = ActiveLearner(words(60).graph, range(2), engine=engine)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        live(ours, rng, 1)
        assert 0 <= ours.expected_error() <= 1
    ours.save(tmp_path / "j")
    other = ActiveLearner.load(tmp_path / "j", words(60).graph)
    assert other.expected_error() == pytest.approx(ours.expected_error(), abs=1e-9)
    np.testing.assert_allclose(other.predict_proba(), ours.predict_proba(), atol=1e-9)
    np.testing.assert_allclose(other.costs(), ours.costs(), atol=1e-6 if engine == "sparse" else 1e-9)
    assert other.query() == ours.query()
