"""The paper's worked example: a chain of 18 nodes, node 1 known to be + and node 11 to be -."""

import numpy as np
import pytest

from fewlabels.experiments.figure1 import PAPER, chain_example, chain_learner


def test_two_step_marginals_right_of_node_11():
    negative = chain_learner("tsa").predict_proba()[11:, 0]
    np.testing.assert_allclose(negative, [0.8808, 0.7311, 0.6608, 0.6225, 0.5987, 0.5826, 0.5709], atol=5e-5)


@pytest.mark.parametrize(
    ("strategy", "ties"),
    [
        ("tsa", [[6], [16], [8, 9, 13, 14]]),
        ("bmrf", [[6], [16], [8, 9, 13, 14]]),
        ("zlg", [[6], [8, 9]]),
        ("sopt", [[16], [6], [3, 4, 8, 9, 13, 14]]),
    ],
)
def test_first_questions(strategy, ties):
    assert chain_example(strategy).ties[: len(ties)] == ties


@pytest.mark.parametrize(("strategy", "error_rate"), [("zlg", 0.33), ("sopt", 0.06), ("bmrf", 0.00), ("tsa", 0.00)])
def test_error_rate_after_four_questions(strategy, error_rate):
    example = chain_example(strategy)
    assert sorted(example.asked) == sorted(PAPER[strategy])
    assert round(example.error_rate, 2) == error_rate
