"""Trials: a learner asks, the known labels answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fewlabels.adapters.named import strategy_named
from fewlabels.arrays import Floats
from fewlabels.experiments.datasets import Dataset
from fewlabels.field.covariance import Covariance
from fewlabels.learner import ActiveLearner
from fewlabels.strategies import Strategy

Draw = Callable[[np.random.Generator], Dataset]  # a dataset for one trial: the toys draw new labels


@dataclass(frozen=True)
class Always:
    """The same dataset for every trial."""

    dataset: Dataset

    def __call__(self, rng: np.random.Generator) -> Dataset:
        return self.dataset


@dataclass(frozen=True)
class Row:
    """The state of a trial after one answer."""

    labelled: int
    node: int
    accuracy: float  # over all nodes whose label is known, answered ones counted right
    expected_error: float
    seconds: float  # spent on choosing the question and taking in the answer


def run_trial(
    draw: Draw,
    strategy: str | Strategy,
    n_labels: int,
    trial: int,
    seed: int,
    beta: float | str,
    engine: str | Covariance = "auto",
    smoothness: float | str = 0.0,
    overlap: float | str = 0.0,
    centred: bool | str = False,
    prior: Floats | None = None,
) -> list[Row]:
    """One trial: a random first label, then the strategy's questions, a row for each.

    A strategy given by name may be from another package (see `fewlabels.adapters.named`); one of your own is given as
    an object. It asks, label propagation predicts: the paper's, unless smoothness, overlap and centred say otherwise.
    prior (n, C) are a model's chances.

    The trial's own generator, spawned from the seed, draws the labels, the first node and the seed for ties, so that
    all strategies of a trial share them.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial,)))
    dataset = draw(rng)
    known = np.flatnonzero(dataset.labels >= 0)
    first = int(rng.choice(known))
    ties = int(rng.integers(2**63))
    chosen: str | Strategy = strategy
    if isinstance(strategy, str):
        chosen = strategy_named(strategy, dataset.graph, dataset.features, len(dataset.classes), ties)
    learner = ActiveLearner(
        dataset.graph,
        dataset.classes,
        chosen,
        beta,
        engine,
        ties,
        smoothness=smoothness,
        overlap=overlap,
        centred=centred,
        prior=prior,
    )
    for node in np.flatnonzero(dataset.labels < 0).tolist():
        learner.skip(dataset.graph.names[node])
    return [_answered(learner, dataset, first), *answer_from_labels(learner, dataset, min(n_labels, len(known)))]


def answer_from_labels(learner: ActiveLearner, dataset: Dataset, n_labels: int) -> Iterator[Row]:
    """Let the learner ask until n_labels nodes are labelled; a row after each answer."""
    for _ in range(len(learner.labelled), n_labels):
        yield _answered(learner, dataset)


def _answered(learner: ActiveLearner, dataset: Dataset, node: int | None = None) -> Row:
    """The learner is told the label of this node, or of the one it asks about."""
    start = time.perf_counter()
    name = learner.query() if node is None else dataset.graph.names[node]
    node = dataset.graph.position(name)
    learner.teach(name, int(dataset.labels[node]))
    seconds = time.perf_counter() - start
    known = dataset.labels >= 0
    accuracy = float(np.mean(learner.predict()[known] == dataset.labels[known]))
    return Row(len(learner.labelled), node, accuracy, learner.expected_error(), seconds)
