"""The labelled graphs of honest.py: ten on which the rules were chosen, and others on which nothing was."""

import csv
import io
import os
import zipfile
from pathlib import Path

import numpy as np
from few_labels_graphs import blobs, linked, mnist, near, published
from scipy import sparse

import fewlabels as fl
from fewlabels.experiments import datasets


def folder():
    return Path(os.environ[datasets.FOLDER])


def scaled(X, labels):
    return near((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), labels)


def table(name):
    import sklearn.datasets

    return scaled(*getattr(sklearn.datasets, f"load_{name}")(return_X_y=True))


def made_up(classes, apart, informative):
    from sklearn.datasets import make_classification

    return scaled(
        *make_classification(1000, 20, n_informative=informative, n_classes=classes, class_sep=apart, random_state=0)
    )


def clothes():
    from PIL import Image

    from fewlabels.items.images import image_features

    rows, labels = [], []
    with zipfile.ZipFile(folder() / "clothes.zip") as archive:
        for name in sorted(archive.namelist()):
            if name.lower().endswith((".jpg", ".jpeg", ".png")):
                rows.append(image_features(Image.open(io.BytesIO(archive.read(name))).convert("RGB")))
                labels.append(name.split("/")[-2])
    return near(np.array(rows), np.unique(labels, return_inverse=True)[1])


def questions(n=2000):
    from fewlabels.items.texts import text_graph

    with (folder() / "trec.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))[:n]
    graph = text_graph([row["question"] for row in rows], 10)
    return graph.weights, np.unique([row["kind"] for row in rows], return_inverse=True)[1]


def pieces(rng, sizes=(300, 200, 150, 100, 80, 60, 40, 30, 20, 10, 5, 3, 2, 1, 1)):
    """Components of many sizes, each a block model of three classes in shares of its own."""
    labels = [rng.choice(3, n, p=rng.dirichlet(np.ones(3))) for n in sizes]
    parts = [linked(rng, np.unique(part, return_inverse=True)[1], 8, 0.1)[0] for part in labels]
    return sparse.block_diag(parts, "csr"), np.concatenate(labels)


def moons(_):
    from sklearn.datasets import make_moons

    return near(*make_moons(1500, noise=0.25, random_state=0))


CHOSEN_ON = {
    "digits": lambda _: published("digits"),
    "mnist 1,000": lambda _: mnist(slice(1000)),
    "clothes": lambda _: clothes(),
    "made up, easy": lambda _: made_up(3, 2.0, 5),
    "made up, hard": lambda _: made_up(6, 0.8, 8),
    "blobs": lambda rng: blobs(rng, [1 / 6] * 6, 4, 4, 900),
    "breast cancer": lambda _: table("breast_cancer"),
    "wine": lambda _: table("wine"),
    "blocks, easy": lambda rng: linked(rng, rng.integers(4, size=800), 10, 0.1),
    "blocks, hard": lambda rng: linked(rng, rng.integers(5, size=800), 6, 0.4),
}
NEW = {
    "cora": lambda _: published("cora"),
    "citeseer": lambda _: published("citeseer"),
    "dblp": lambda _: published("dblp"),
    "questions (trec)": lambda _: questions(),
    "mnist 5,000": lambda _: mnist(slice(3000, 8000)),
    "iris": lambda _: table("iris"),
    "moons": moons,
    "unequal": lambda rng: blobs(rng, [0.85, 0.1, 0.03, 0.02], 8, 6.5, 1500),
    "pieces": lambda rng: pieces(rng),
    "20,000 points": lambda rng: blobs(rng, [1 / 8] * 8, 6, 6, 20_000),
}
SETS = CHOSEN_ON | NEW
WHOLE = ("pieces", "questions (trec)")  # taken with all their components


def made(name, kept_in):
    """The graph and its labels; written to a folder the first time, so that another machine needs only that."""
    path = Path(kept_in) / f"{name.replace(' ', '-').replace(',', '')}.npz"
    if not path.exists():
        W, labels = SETS[name](np.random.default_rng(1))
        W = sparse.csr_array(W)
        if name not in WHOLE:
            component = sparse.csgraph.connected_components(W, directed=False)[1]
            keep = np.flatnonzero(component == np.bincount(component).argmax())
            W, labels = W[keep][:, keep], labels[keep]
        path.parent.mkdir(parents=True, exist_ok=True)
        labels = np.unique(labels, return_inverse=True)[1]
        np.savez_compressed(path, data=W.data, indices=W.indices, indptr=W.indptr, labels=labels)
    found = np.load(path)
    n = len(found["labels"])
    W = sparse.csr_array((found["data"], found["indices"], found["indptr"]), shape=(n, n))
    return fl.Graph(W), found["labels"]
