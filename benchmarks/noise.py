"""What wrong answers cost, what a stated confidence saves, and how many of them doubtful() finds."""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

import fewlabels as fl
from fewlabels.errors import FileError
from fewlabels.experiments.datasets import citeseer, cora, digits

QUESTIONS, TRIALS, RATES = 100, 10, (0.1, 0.2)


def spoken(data, rate, rng):
    """(n,) what is said of each node when asked: its class or, at this rate, another one."""
    wrong = rng.random(len(data.labels)) < rate
    other = (data.labels + rng.integers(1, len(data.classes), len(data.labels))) % len(data.classes)
    return np.where(wrong, other, data.labels)


def labelling(data, said, confidence, engine, seed):
    """A learner that has asked `QUESTIONS` times."""
    learner = fl.ActiveLearner(data.graph, data.classes, engine=engine, random_state=seed)
    for _ in range(QUESTIONS):
        node = learner.query()
        learner.teach(node, int(said[node]), confidence)
    return learner


def accuracy(learner, data):
    return np.mean(learner.predict() == data.labels)


def found(learner, data):
    """Share of the wrong answers among as many of the most doubtful ones."""
    wrong = [a for a in learner.answers if a.label != data.labels[a.node]]
    doubts = learner.doubtful(len(wrong))
    return sum(d.label != data.labels[d.node] for d in doubts) / len(wrong)


def looked_at_again(learner, data, many):
    """Accuracy once the most doubtful answers have been given again, rightly this time."""
    for doubt in learner.doubtful(many):
        learner.forget(doubt.node)
        learner.teach(doubt.node, int(data.labels[doubt.node]))
    return accuracy(learner, data)


def trial(data, rate, engine, seed):
    """Accuracies and shares of one trial, in the order of the table's columns."""
    said = spoken(data, rate, np.random.default_rng(seed))
    right = labelling(data, data.labels, 1.0, engine, seed)
    sure = labelling(data, said, 1.0, engine, seed)
    unsure = labelling(data, said, 1 - rate, engine, seed)
    many = int(1.5 * rate * QUESTIONS)
    numbers = [accuracy(learner, data) for learner in (right, sure, unsure)] + [found(sure, data), found(unsure, data)]
    return [*numbers, looked_at_again(sure, data, many), looked_at_again(unsure, data, many)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--trials", type=int, default=TRIALS)
    options = parser.parse_args()
    table = Table(
        "graph", "wrong", "all right", "sure", "confidence", "found: sure", "confidence", "again: sure", "confidence",
        title=f"after {QUESTIONS} answers, {options.trials} trials; mean (standard error)",
    )  # fmt: skip
    for load in (digits, cora, citeseer):
        try:
            data = load()
        except FileError as error:
            print(error)
            continue
        for rate in RATES:
            numbers = np.array([trial(data, rate, options.engine, seed) for seed in range(options.trials)])
            means, errors = numbers.mean(axis=0), numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))
            cells = (f"{m:.3f} ({e:.3f})" for m, e in zip(means, errors, strict=True))
            table.add_row(data.name, f"{rate:.0%}", *cells)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
