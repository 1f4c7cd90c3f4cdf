"""What wrong answers cost, what a stated confidence saves, and how many of them doubtful() finds."""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

import fewlabels as fl
from fewlabels.errors import FileError
from fewlabels.experiments.datasets import DATASETS
from fewlabels.field import FieldSpec

QUESTIONS, TRIALS, RATES = 100, 10, (0.1, 0.2)
FIRM = 0.999  # a confidence far above what the answers deserve


def spoken(data, rate, rng):
    """(n,) what is said of each node when asked: its class or, at this rate, another one."""
    wrong = rng.random(len(data.labels)) < rate
    other = (data.labels + rng.integers(1, len(data.classes), len(data.labels))) % len(data.classes)
    return np.where(wrong, other, data.labels)


def labelling(data, said, confidence, setting, seed):
    """A learner that has asked its questions."""
    strategy, questions, covariance = setting
    learner = fl.ActiveLearner(data.graph, data.classes, strategy, engine=covariance, random_state=seed)
    for _ in range(questions):
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


def trial(data, setting, seed):
    """For every rate the numbers of one trial, in the order of the table's columns."""
    right = labelling(data, data.labels, 1.0, setting, seed)
    rows = []
    for rate in RATES:
        said = spoken(data, rate, np.random.default_rng(seed))
        sure = labelling(data, said, 1.0, setting, seed)
        unsure = labelling(data, said, 1 - rate, setting, seed)
        many = int(rate * setting[1])  # as many as one may expect to be wrong
        firm = labelling(data, said, FIRM, setting, seed)
        row = [accuracy(learner, data) for learner in (right, sure, firm, unsure)]
        row += [found(learner, data) for learner in (sure, unsure)]
        rows.append(row + [looked_at_again(learner, data, many) for learner in (sure, unsure)])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategy", default="tsa")
    parser.add_argument("--graphs", default="digits,cora,citeseer")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--trials", type=int, default=TRIALS)
    options = parser.parse_args()
    table = Table(
        "graph", "wrong", "all right", "sure", f"{FIRM}", "1 - wrong",
        "found: sure", "1 - wrong", "again: sure", "1 - wrong",
        title=f"{options.strategy}, {options.questions} answers, {options.trials} trials: mean (standard error)",
    )  # fmt: skip
    for name in options.graphs.split(","):
        try:
            data = DATASETS[name]()
        except FileError as error:
            print(error)
            continue
        covariance = FieldSpec(smoothness=0).resolved(data.graph).build()
        setting = options.strategy, options.questions, covariance
        numbers = np.array([trial(data, setting, seed) for seed in range(options.trials)])  # (trials, rates, columns)
        means, errors = numbers.mean(axis=0), numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))
        for rate, mean, error in zip(RATES, means, errors, strict=True):
            cells = (f"{m:.3f} ({e:.3f})" for m, e in zip(mean, error, strict=True))
            table.add_row(data.name, f"{rate:.0%}", *cells)
        print(f"{data.name}: done", flush=True)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
