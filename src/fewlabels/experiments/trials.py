"""Trials: a learner asks, the known labels answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fewlabels.experiments.datasets import Dataset
from fewlabels.learner import ActiveLearner


@dataclass(frozen=True)
class Row:
    """The state of a trial after one answer."""

    labelled: int
    node: int
    accuracy: float  # over all nodes, labelled ones counted right
    expected_error: float
    seconds: float  # spent on choosing the question and taking in the answer


def answer_from_labels(learner: ActiveLearner, dataset: Dataset, n_labels: int) -> Iterator[Row]:
    """Let the learner ask until n_labels nodes are labelled; a row after each answer."""
    for labelled in range(len(learner.labelled) + 1, n_labels + 1):
        start = time.perf_counter()
        node = learner.query()
        learner.teach(node, int(dataset.labels[node]))
        seconds = time.perf_counter() - start
        accuracy = float(np.mean(learner.predict() == dataset.labels))
        yield Row(labelled, node, accuracy, learner.expected_error(), seconds)
