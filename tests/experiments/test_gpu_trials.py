"""A batch of trials on the card asks what the trials ask one by one."""

from functools import partial

import numpy as np
import pytest
from support.gpus import DEVICE, INTERPRETED, coarse
from support.graphs import random_weights

import fewlabels as fl
from fewlabels.errors import SettingError
from fewlabels.experiments.datasets import Dataset, chain
from fewlabels.experiments.gpu_trials import COSTS, run_trials
from fewlabels.experiments.trials import Always, run_trial

pytestmark = INTERPRETED


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    coarse(monkeypatch, (32, 64, 1))


def assert_same(draw, strategy, n_labels, trials):
    ours = run_trials(draw, strategy, n_labels, range(trials), 0, 1.0, device=DEVICE)
    theirs = [run_trial(draw, strategy, n_labels, trial, 0, 1.0) for trial in range(trials)]
    for a, b in zip(ours, theirs, strict=True):
        assert [(row.labelled, row.node) for row in a] == [(row.labelled, row.node) for row in b]
        np.testing.assert_allclose([row.accuracy for row in a], [row.accuracy for row in b], rtol=1e-12)
        np.testing.assert_allclose([row.expected_error for row in a], [row.expected_error for row in b], atol=1e-12)


@pytest.mark.parametrize("strategy", COSTS)
def test_the_questions_are_those_of_single_trials(strategy):
    assert_same(partial(chain, 15), strategy, 8, 3)


def test_nodes_without_a_known_label_are_not_asked():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 20)
    labels[[2, 5, 11]] = -1
    data = Dataset("some", fl.Graph(random_weights(20, rng)), labels, ("a", "b", "c"))
    assert_same(Always(data), "tsa", 30, 2)


def test_a_graph_in_pieces_and_a_strategy_off_the_card_are_refused():
    graph = fl.Graph.from_edges([0, 2], [1, 3])
    data = Dataset("pieces", graph, np.array([0, 1, 0, 1]), ("a", "b"))
    with pytest.raises(SettingError, match="not in one piece"):
        run_trials(Always(data), "tsa", 2, range(1), 0, 1.0, device=DEVICE)
    with pytest.raises(SettingError, match="choose one of tsa, zlg"):
        run_trials(Always(data), "margin", 2, range(1), 0, 1.0, device=DEVICE)
