"""What is taught and forgotten while answers are held back is known once the learner has caught up."""

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
@pytest.mark.parametrize("steps", [3, 80])  # told one by one, and worked out afresh
def test_held_back_or_not_it_knows_the_same(engine, steps):
    plain, held = (ActiveLearner(words(60).graph, range(2), engine=engine) for _ in range(2))
    for learner in (plain, held):
        learner.teach([3, 30, 50], [0, 1, 0])
    held.postpone()
    for learner in (plain, held):
        live(learner, np.random.default_rng(1), steps)
    assert held.expected_error() == pytest.approx(plain.expected_error(), abs=1e-9)  # whoever asks need not catch up
    assert held._events == plain._events
    np.testing.assert_allclose(held.predict_proba(), plain.predict_proba(), atol=1e-8)
    np.testing.assert_allclose(held.costs(), plain.costs(), atol=1e-6)
    assert held.query() == plain.query()


@pytest.mark.parametrize(
    "ask",
    [
        ActiveLearner.predict, ActiveLearner.query, ActiveLearner.describe, ActiveLearner.error, ActiveLearner.gains,
        lambda learner: learner.unreached, lambda learner: learner.outcomes(20)[0].changes,
        lambda learner: learner.prepare(20, 1) or learner.upcoming(20), lambda learner: learner.doubtful()[0].chance,
    ],
)  # fmt: skip
def test_what_is_asked_in_between_knows_all_and_so_does_what_is_asked_then(ask):
    plain, held = (ActiveLearner(words(60).graph, range(2)) for _ in range(2))
    held.postpone()
    for learner in (plain, held):
        learner.teach([3, 30, 31, 32], [0, 1, 0, 1])
    assert str(ask(held)) == str(ask(plain))
    held.catch_up()
    assert held.query() == plain.query()
    np.testing.assert_allclose(held.predict_proba(), plain.predict_proba(), atol=1e-8)


@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_begun_again_it_is_as_a_new_one(engine):
    learner = ActiveLearner(words(60).graph, range(3), engine=engine)
    learner.check()
    live(learner, np.random.default_rng(2), 40)
    learner.begin_again(["a", "b"])
    assert (learner.classes, learner.labelled, learner.skipped, learner.checks) == (["a", "b"], {}, [], [])
    new = ActiveLearner(words(60).graph, ["a", "b"], engine=engine)
    for one in (learner, new):
        one.teach([5, 40], ["a", "b"])
    np.testing.assert_allclose(learner.predict_proba(), new.predict_proba(), atol=1e-8)
    assert learner.query() == new.query()
