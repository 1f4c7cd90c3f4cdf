"""Texts as the page compares them, without any download: right after 10 to 30 answers.

    FEWLABELS_DATA=folder python benchmarks/texts.py [--sets trec,debian,...] [--trials 5] [--n 2000]
        [--embed model.onnx]

Each trial draws n texts of a set, makes the graph that `fewlabels label` makes of them, and asks as the page does. A
second row is the same with words and pairs of words alone, as it was before. `trec` are questions by what they ask for,
`debian` and `packages` one-line descriptions of Debian packages by section (apt-cache), `docstrings` those of numerical
packages, `library` those of Python's own, both by package. Features were chosen on trec, debian and docstrings.
"""

import argparse
import ast
import os
import subprocess
import sysconfig
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import fewlabels as fl
from fewlabels.graph.knn import among, knn_weights
from fewlabels.items import texts as features
from fewlabels.items.embedding.chosen import compared

COUNTS = (10, 20, 30)
NUMERICAL = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "networkx")
LIBRARY = ("asyncio", "email", "tkinter", "idlelib", "multiprocessing", "unittest", "xml", "http", "logging")
TOPICS = ("games", "science", "sound", "net", "editors", "fonts", "graphics", "database", "mail", "electronics")
OTHERS = ("admin", "x11", "text", "web", "math", "video", "kernel", "hamradio", "vcs", "localization")


def trec():
    table = pd.read_csv(Path(os.environ["FEWLABELS_DATA"]) / "trec.tsv", sep="\t")
    return list(zip(table["question"], table["kind"], strict=True))


def descriptions(sections):
    """The first line of what Debian says about each package."""
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    for package in listed.split("\n\n"):
        said = dict(line.split(": ", 1) for line in package.splitlines() if ": " in line and not line.startswith(" "))
        if said.get("Section") in sections and "Description" in said:
            yield said["Description"], said["Section"]


def docstrings(folders):
    """The first two paragraphs of every docstring of some length."""
    for name, folder in folders.items():
        for path in sorted(folder.rglob("*.py")):
            if "test" in str(path.relative_to(folder)):
                continue
            try:
                nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            except (SyntaxError, ValueError):
                continue
            for node in nodes:
                said = ast.get_docstring(node) if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
                if said and len(said) > 80:
                    yield " ".join(" ".join(said.split("\n\n")[:2])[:400].split()), name


def numerical():
    return docstrings({name: Path(find_spec(name).origin).parent for name in NUMERICAL})


def library():
    return docstrings({name: Path(sysconfig.get_path("stdlib")) / name for name in LIBRARY})


SETS = {
    "trec": trec,
    "debian": lambda: descriptions(TOPICS),
    "docstrings": numerical,
    "packages": lambda: descriptions(OTHERS),
    "library": library,
}


def before(texts):
    """The graph of words and pairs of words, which texts were compared by once."""
    X = features._tf_idf(texts, analyzer="word", token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2))
    tied = np.flatnonzero(np.diff(X.indptr))
    return fl.Graph(among(tied, knn_weights(X[tied], 10, "gaussian", "cosine"), len(texts)))


def accuracies(graph, labels, seed):
    learner = fl.ActiveLearner(graph, sorted(set(labels)), random_state=seed)
    right = []
    for answers in range(1, max(COUNTS) + 1):
        node = learner.query()
        learner.teach(node, str(labels[node]))
        if answers in COUNTS:
            right.append((learner.predict() == labels).mean())
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--embed", help="compare by this network, too")
    options = parser.parse_args()
    print(
        "| set | texts, classes | compared by |", " | ".join(map(str, COUNTS)), "|\n" + "|---" * (3 + len(COUNTS)) + "|"
    )
    for name in options.sets.split(","):
        known = sorted(set(SETS[name]()))
        found = {}
        for seed in range(options.trials):
            drawn = np.random.default_rng(seed).permutation(len(known))[: options.n]
            texts, labels = [known[k][0] for k in drawn], np.array([known[k][1] for k in drawn])
            ways = {"the page": features.text_graph(texts, 10)}
            if options.embed:
                ways["network"] = features.text_graph(texts, 10, compared(texts, "text", options.embed, print).X)
            else:
                ways["pairs of words"] = before(texts)
            for way, graph in ways.items():
                found.setdefault(way, []).append(accuracies(graph, labels, seed))
        size = f"{len(texts):,}, {len(Counter(labels.tolist()))}"
        for way, right in found.items():
            mean, spread = np.mean(right, axis=0), np.std(right, axis=0)
            print(
                "|",
                name,
                "|",
                size,
                "|",
                way,
                "|",
                " | ".join(f"{m:.3f}" for m in mean),
                "|",
                f"±{spread[1]:.3f} at 20",
            )


if __name__ == "__main__":
    main()
