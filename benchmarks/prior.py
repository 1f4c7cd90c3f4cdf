"""What a model already thinks: how many answers it saves, and how many a useless one costs.

    FEWLABELS_DATA=folder python benchmarks/prior.py [--sets "digits;cora"] [--models "none;independent"] [--trials 5]
        [--labels 80] [--engine auto] [--graphs folder] [--results results/prior.jsonl]

Every trial starts from one random label, the same for all models; TSA asks. Models:
  none         no prior
  independent  right at 6 nodes in 10, wrong anywhere; says 60%
  regions      right at about 6 nodes in 10, wrong in whole regions, there always the same way; says 90%
  random       any class anywhere; says 60%
  sure         the same; says 99%
  nonsense     any class, the same in whole regions; says 90%
The table has percent right after 1, 5, 10, 20 and 40 answers, and the answers it takes to be as right as the learner
without a model is after 10, 20 and 40. Each finished trial is a line of JSON: a rerun skips it, `--trials 0` only
prints the table. A set is read from a file of `--graphs` (as honest.py keeps them), if it is there.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from few_labels_graphs import linked, mnist, near, power
from scipy import sparse

import fewlabels as fl
from fewlabels.experiments import datasets

COUNTS = (1, 5, 10, 20, 40)
REGIONS, WRONG = 40, 0.4
SAYS = {"independent": 0.6, "regions": 0.9, "random": 0.6, "sure": 0.99, "nonsense": 0.9}


def published(name):
    data = datasets.DATASETS[name]()
    return data.graph.weights, data.labels


def blocks(seed=1, n=1200, classes=4, degree=8, mixing=0.15):
    rng = np.random.default_rng(seed)
    return linked(rng, rng.integers(classes, size=n), degree, mixing)


def roll(n=1500):
    from sklearn.datasets import make_swiss_roll

    X, along = make_swiss_roll(n, noise=0.5, random_state=1)
    return near(X, along.argsort().argsort() * 6 // n)


SETS = {
    "digits": lambda: published("digits"),
    "cora": lambda: published("cora"),
    "blocks": blocks,
    "citeseer": lambda: published("citeseer"),
    "mnist": lambda: mnist(slice(0, 1200)),
    "power": lambda: power(np.random.default_rng(4), 1500),  # nothing was chosen by this and the next
    "roll": roll,
}


def read(name, folder):
    """The largest component."""
    if folder and (folder / f"{name}.npz").exists():
        data = np.load(folder / f"{name}.npz")
        n = len(data["labels"])
        W, labels = sparse.csr_array((data["data"], data["indices"], data["indptr"]), shape=(n, n)), data["labels"]
    else:
        W, labels = SETS[name]()
    component = sparse.csgraph.connected_components(W, directed=False)[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return fl.Graph(W[kept][:, kept]), np.unique(np.asarray(labels)[kept], return_inverse=True)[1]


def model(kind, graph, labels, rng):
    """(n, C) its chances."""
    n, C = len(labels), labels.max() + 1
    if kind == "none":
        return None
    said = rng.integers(C, size=n)
    if kind == "independent":
        said = np.where(rng.random(n) < 1 - WRONG, labels, (labels + rng.integers(1, C, n)) % C)
    if kind in ("regions", "nonsense"):
        far = graph.weights.copy()
        far.data = 1 / far.data
        centres = rng.choice(n, REGIONS, replace=False)
        region = sparse.csgraph.dijkstra(far, indices=centres).argmin(axis=0)
        shift = np.where(rng.random(REGIONS) < WRONG, rng.integers(1, C, REGIONS), 0)
        said = (labels + shift[region]) % C if kind == "regions" else rng.integers(C, size=REGIONS)[region]
    P = np.full((n, C), (1 - SAYS[kind]) / (C - 1))
    P[np.arange(n), said] = SAYS[kind]
    return P


def run(graph, labels, kind, trial, n_answers, engine):
    prior = model(kind, graph, labels, np.random.default_rng([3, trial]))
    right = None if prior is None else float((prior.argmax(axis=1) == labels).mean())
    learner = fl.ActiveLearner(graph, range(labels.max() + 1), engine=engine, random_state=trial, prior=prior)
    node, accuracy, stated = int(np.random.default_rng([1, trial]).integers(len(labels))), [], []
    for k in range(n_answers):
        learner.teach(node, int(labels[node]))
        accuracy.append(round(float((learner.predict() == labels).mean()), 5))
        stated.append(round(float(learner.expected_error()), 5))
        if k < n_answers - 1:
            node = learner.query()
    return {"accuracy": accuracy, "stated": stated, "right": right}


def answers_to(curve, level):
    """Answers until the curve reaches the level, on a straight line between two."""
    at = next((k for k, value in enumerate(curve) if value >= level), None)
    if at is None:
        return f"> {len(curve)}"
    if at == 0:
        return "1"
    return f"{at + (level - curve[at - 1]) / (curve[at] - curve[at - 1]):.0f}"


def report(rows):
    columns = ["set", "model", "trials", "right by itself", *map(str, COUNTS), "answers to the same", "stated error"]
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    groups = {}
    for row in rows:
        groups.setdefault((row["set"], row["model"]), []).append(row)
    for (name, kind), trials in groups.items():
        curve = np.mean([row["accuracy"] for row in trials], axis=0)
        plain = groups.get((name, "none"), trials)
        base = np.mean([row["accuracy"] for row in plain], axis=0)
        right = "" if kind == "none" else f"{100 * np.mean([row['right'] for row in trials]):.0f}"
        at = " | ".join(f"{100 * curve[k - 1]:.0f}" for k in COUNTS)
        needed = ", ".join(answers_to(curve, base[k - 1]) for k in COUNTS[2:])
        stated = " ".join(f"{100 * np.mean([row['stated'][k - 1] for row in trials]):.0f}" for k in COUNTS)
        print(f"| {name} | {kind} | {len(trials)} | {right} | {at} | {needed} | {stated} |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sets", default=";".join(SETS), help="separated by semicolons")
    options.add_argument("--models", default=";".join(["none", *SAYS]), help="likewise")
    options.add_argument("--trials", type=int, default=5)
    options.add_argument("--labels", type=int, default=80)
    options.add_argument("--engine", default="auto")
    options.add_argument("--graphs", type=Path)
    options.add_argument("--results", type=Path, default=Path("results/prior.jsonl"))
    given = options.parse_args()
    given.results.parent.mkdir(parents=True, exist_ok=True)

    def finished():
        return [json.loads(line) for line in given.results.read_text().splitlines()] if given.results.exists() else []

    for name in given.sets.split(";") if given.trials else ():
        graph, labels = read(name, given.graphs)
        for kind in given.models.split(";"):
            for trial in range(given.trials):
                key = {"set": name, "model": kind, "trial": trial, "fingerprint": graph.fingerprint()}
                done = [row for row in finished() if all(row[part] == value for part, value in key.items())]
                if any(len(row["accuracy"]) >= given.labels for row in done):
                    continue
                began = time.perf_counter()
                found = run(graph, labels, kind, trial, given.labels, given.engine)
                with given.results.open("a") as file:
                    file.write(json.dumps(key | found | {"seconds": round(time.perf_counter() - began, 1)}) + "\n")
    report(finished())


if __name__ == "__main__":
    main()
