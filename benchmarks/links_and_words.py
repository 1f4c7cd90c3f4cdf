"""Links joined with words: accuracy after 20, 60 and 140 answers, against links alone, words alone and both just added.

    FEWLABELS_DATA=folder python benchmarks/links_and_words.py [--sets "cora;citeseer"] [--learners "links;joined"]
        [--trials 3] [--labels 140] [--engine auto] [--smoothness auto] [--results results/links_and_words.jsonl]

The folder holds cora.tgz and citeseer.tgz, the archives of LINQS: citations, words, classes. `packages` are Debian's
(from `apt-cache dumpavail`): links are dependencies, words those of the description, classes ten sections. `made` is a
graph made up: links that lead elsewhere in 4 of 10 cases, few words, most of them about anything. Of each set the
largest component is taken. Every trial starts from one random label, the same for all learners; the default learner
asks by TSA. Each finished trial is a line of JSON: a rerun skips it, and `--trials 0` only prints the table.
"""

import argparse
import json
import os
import re
import subprocess
import tarfile
import time
from pathlib import Path

import numpy as np
from few_labels_graphs import linked
from scipy import sparse

import fewlabels as fl
from fewlabels.experiments.datasets import FOLDER

COUNTS = (20, 60, 140)
SECTIONS = ["database", "editors", "electronics", "games", "graphics", "mail", "math", "science", "sound", "video"]
LEARNERS = {
    "links": lambda graph, X: graph,
    "words": lambda graph, X: alone(graph).with_features(X),
    "added": lambda graph, X: graph.with_features(X, steps=0),
    "joined": lambda graph, X: graph.with_features(X),
    "joined 3, 20": lambda graph, X: graph.with_features(X, steps=3, n_neighbors=20),
    "averages 3, 20": lambda graph, X: without(graph, graph.with_features(X, steps=3, n_neighbors=20)),
}


def alone(graph):
    return fl.Graph(sparse.csr_array(graph.weights.shape))


def without(graph, joined):
    """The new ties alone."""
    W = sparse.csr_array(joined.weights - graph.weights)
    W.data[W.data < 1e-9] = 0
    W.eliminate_zeros()
    return fl.Graph(W)


def archive(name):
    with tarfile.open(Path(os.environ[FOLDER]) / f"{name}.tgz") as files:
        content, cites = (
            [line.split() for line in files.extractfile(f"{name}/{name}.{kind}").read().decode().splitlines()]
            for kind in ("content", "cites")
        )
    number = {paper: k for k, (paper, *_) in enumerate(content)}
    ends = [(number[a], number[b]) for a, b in cites if a in number and b in number and a != b]
    return ends, np.array([row[1:-1] for row in content], dtype=float), [row[-1] for row in content]


def packages():
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    found = {}
    for block in listed.split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): ?((?:.*(?:\n .*)*))", block, re.MULTILINE))
        if fields.get("Section", "").split("/")[-1] in SECTIONS:
            found[fields["Package"]] = fields
    number = {name: k for k, name in enumerate(found)}
    ends = []
    for name, fields in found.items():
        needs = ",".join(fields.get(kind, "") for kind in ("Pre-Depends", "Depends", "Recommends", "Suggests"))
        others = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)", needs)
        ends += [(number[name], number[other]) for other in others if other in number and other != name]
    from sklearn.feature_extraction.text import CountVectorizer

    described = [fields.get("Description", "") + fields.get("Description-en", "") for fields in found.values()]
    X = CountVectorizer(min_df=5, stop_words="english", binary=True).fit_transform(described)
    return ends, X, [fields["Section"] for fields in found.values()]


def made(n=3000, classes=6, degree=4, mixing=0.4, words=12, topical=0.25, seed=1):
    """A node has words from a list of 500, a share of them from the 50 of its class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=n)
    W = sparse.coo_array(linked(rng, labels, degree, mixing)[0])
    own = rng.integers(500, size=(classes, 50))
    about = rng.random((n, words)) < topical
    drawn = np.where(about, own[labels[:, None], rng.integers(50, size=(n, words))], rng.integers(500, size=(n, words)))
    X = sparse.csr_array((np.ones(drawn.size), (np.repeat(np.arange(n), words), drawn.ravel())), shape=(n, 500))
    return list(zip(*W.coords, strict=True)), X, labels


SETS = {
    "cora": lambda: archive("cora"),
    "citeseer": lambda: archive("citeseer"),
    "packages": packages,
    "made": made,
    "made, links good": lambda: made(seed=2, mixing=0.2, topical=0.1),
    "made, words good": lambda: made(seed=3, mixing=0.6, topical=0.6),
    "made, large": lambda: made(n=8000, classes=4, seed=4),
}


def read(name):
    """Links, words and classes of the largest component; links count once."""
    ends, X, labels = SETS[name]()
    n = X.shape[0]
    W = sparse.csr_array((np.ones(len(ends)), tuple(zip(*ends, strict=True))), shape=(n, n))
    W = sparse.csr_array(W + W.T)
    W.data[:] = 1
    component = sparse.csgraph.connected_components(W, directed=False)[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return (
        fl.Graph(W[kept][:, kept]),
        sparse.csr_array(X)[kept],
        np.unique(np.array(labels)[kept], return_inverse=True)[1],
    )


def run(graph, labels, trial, n_answers, engine, smoothness):
    learner = fl.ActiveLearner(graph, range(labels.max() + 1), engine=engine, random_state=trial, smoothness=smoothness)
    node, accuracy = int(np.random.default_rng([1, trial]).integers(len(labels))), []
    for k in range(n_answers):
        learner.teach(node, int(labels[node]))
        accuracy.append(round(float((learner.predict() == labels).mean()), 5))
        if k < n_answers - 1:
            node = learner.query()
    return accuracy


def report(rows):
    print("\n| set | learner | field | trials | area | " + " | ".join(map(str, COUNTS)) + " |\n|" + "---|" * 8)
    groups = {}
    for row in rows:
        groups.setdefault((row["set"], row["learner"], row["smoothness"]), []).append(row["accuracy"])
    for (name, learner, smoothness), trials in groups.items():
        mean = np.mean([t[: min(map(len, trials))] for t in trials], axis=0)
        at = " | ".join(f"{mean[k - 1]:.3f}" if k <= len(mean) else "-" for k in COUNTS)
        print(f"| {name} | {learner} | {smoothness} | {len(trials)} | {mean.mean():.3f} | {at} |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sets", default=";".join(SETS), help="separated by semicolons")
    options.add_argument("--learners", default="links;words;added;joined", help="separated by semicolons")
    options.add_argument("--trials", type=int, default=3)
    options.add_argument("--labels", type=int, default=140)
    options.add_argument("--engine", default="auto")
    options.add_argument("--smoothness", default="auto")
    options.add_argument("--results", type=Path, default=Path("results/links_and_words.jsonl"))
    given = options.parse_args()
    given.results.parent.mkdir(parents=True, exist_ok=True)
    smoothness = given.smoothness if given.smoothness == "auto" else float(given.smoothness)

    def finished():
        return [json.loads(line) for line in given.results.read_text().splitlines()] if given.results.exists() else []

    for name in given.sets.split(";") if given.trials else ():
        graph, X, labels = read(name)
        print(f"{name}: {graph}, {X.shape[1]} words, {labels.max() + 1} classes", flush=True)
        for learner in given.learners.split(";"):
            tied = LEARNERS[learner](graph, X)
            for trial in range(given.trials):
                key = {"set": name, "learner": learner, "trial": trial, "smoothness": given.smoothness}
                key["fingerprint"] = tied.fingerprint()
                done = [row for row in finished() if all(row[part] == value for part, value in key.items())]
                if any(len(row["accuracy"]) >= given.labels for row in done):
                    continue
                began = time.perf_counter()
                accuracy = run(tied, labels, trial, given.labels, given.engine, smoothness)
                row = key | {"accuracy": accuracy, "seconds": round(time.perf_counter() - began, 1)}
                with given.results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                told = " ".join(f"{accuracy[k - 1]:.3f}" for k in COUNTS if k <= given.labels)
                print(f"  {learner} {trial}: area {np.mean(accuracy):.3f}, {told}, {row['seconds']} s", flush=True)
    report(finished())


if __name__ == "__main__":
    main()
