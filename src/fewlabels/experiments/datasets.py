"""Labelled graphs to try strategies on: the paper's toys, its three published graphs, and scikit-learn's digits."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fewlabels.errors import FileError
from fewlabels.graph import Graph
from fewlabels.items.digits import load as load_digits

FOLDER = "FEWLABELS_DATA"  # environment variable: a folder that holds the files, instead of downloading them
SOURCE = "https://raw.githubusercontent.com/yifeim/sigma_opt_codes/master/data/"


@dataclass(frozen=True)
class Published:
    """One file of Ma, Garnett & Schneider 2013 and what Table 1 of Jun & Nowak 2016 says about it."""

    file: str
    sha256: str
    n_nodes: int
    n_edges: int
    n_classes: int
    class_names: tuple[str, ...] = ()  # by comparison with the raw archives; not known for DBLP


CORA_CLASSES = (
    "neural networks", "rule learning", "reinforcement learning", "probabilistic methods",
    "theory", "genetic algorithms", "case based",
)  # fmt: skip
CITESEER_CLASSES = ("agents", "IR", "DB", "AI", "HCI", "ML")

PUBLISHED = {
    "dblp": Published("DBLP.mat", "62e27b0f2fa117c4894adf7a5b77727cfe6c248ccc4ccd1bca5886d2da783954", 1711, 2898, 4),
    "cora": Published(
        "CORA.mat", "37960a729171f52868e090d6d22dd7b6f9a04944d0c3da60a7665480d082b730", 2485, 5069, 7, CORA_CLASSES
    ),
    "citeseer": Published(
        "CITESEER.mat",
        "b7271c92aed978043c91545b2c820925374a13b9b9fc4baa314e3e189ee32ccd",
        2109,
        3665,
        6,
        CITESEER_CLASSES,
    ),
}


@dataclass(frozen=True)
class Dataset:
    """A graph whose labels are known, to try strategies on."""

    name: str
    graph: Graph
    labels: NDArray[np.int64]  # (n,) class numbers, -1 where not known
    class_names: tuple[str, ...] = ()  # in the order of the numbers; empty if not known
    images: NDArray[np.float64] | None = None  # (n, height, width), where the nodes are pictures
    features: NDArray[np.float64] | None = None  # (n, d) the points the graph was made from, if it was

    @property
    def classes(self) -> list[int]:
        return list(range(len(self.class_names) or int(self.labels.max()) + 1))

    def fingerprint(self) -> str:
        """SHA-256 of graph and labels."""
        return hashlib.sha256(self.graph.fingerprint().encode() + self.labels.astype("<i8").tobytes()).hexdigest()


def chain(n: int, rng: np.random.Generator) -> Dataset:
    """A chain of n nodes with weights 1, cut at a random edge: one class on each side, in either order."""
    cut = int(rng.integers(1, n))
    left = int(rng.integers(2))
    labels = np.where(np.arange(n) < cut, left, 1 - left)
    return Dataset("chain", Graph.from_edges(range(n - 1), range(1, n)), labels, ("-", "+"))


def jittered_box(rng: np.random.Generator) -> Dataset:
    """A 10 x 10 grid, + in the 3 x 3 boxes at the bottom left and top right; their neighbours are + by coin toss."""
    side = 10
    node = np.arange(side * side).reshape(side, side)  # row 0 at the top
    source = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    target = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    graph = Graph.from_edges(source, target)
    box = np.zeros((side, side), dtype=bool)
    box[-3:, :3] = box[:3, -3:] = True
    beside = (graph.weights @ box.ravel() > 0) & ~box.ravel()
    labels = box.ravel() | (beside & (rng.random(side * side) < 0.5))
    return Dataset("box", graph, labels.astype(np.int64), ("-", "+"))


def digits() -> Dataset:
    """scikit-learn's 1797 handwritten digits, each tied to its 7 nearest neighbours."""
    graph, labels, images = load_digits()
    return Dataset("digits", graph, labels, images=images, features=images.reshape(len(images), -1))


def dblp() -> Dataset:
    """Coauthors in computer science, 1711 in 4 fields, tied by the number of papers they share."""
    return _published("dblp")


def cora() -> Dataset:
    """Papers on machine learning, 2485 in 7 topics, tied by citations."""
    return _published("cora")


def citeseer() -> Dataset:
    """Papers in computer science, 2109 in 6 topics, tied by citations."""
    return _published("citeseer")


DATASETS = {"digits": digits, "dblp": dblp, "cora": cora, "citeseer": citeseer}


def _published(name: str) -> Dataset:
    from scipy.io import loadmat

    facts = PUBLISHED[name]
    content = loadmat(_located(facts))
    L = sparse.csr_array(content["Laplacian"], dtype=float)
    one_hot = content["labels"].toarray() if sparse.issparse(content["labels"]) else content["labels"]  # (C, n)
    graph = Graph(sparse.csr_array(sparse.diags_array(L.diagonal()) - L))
    found = (graph.n_nodes, graph.n_edges, one_hot.shape[0])
    if found != (facts.n_nodes, facts.n_edges, facts.n_classes):
        raise FileError(f"{facts.file} holds {found} nodes, edges and classes; the paper's Table 1 says otherwise.")
    return Dataset(name, graph, one_hot.argmax(axis=0).astype(np.int64), facts.class_names)


def _located(facts: Published) -> Path:
    """The file, from the folder named by FEWLABELS_DATA or downloaded once into a cache; its hash is checked."""
    folder = os.environ.get(FOLDER)
    if folder:
        path = Path(folder) / facts.file
        if not path.is_file():
            raise FileError(
                f"{FOLDER} is {folder!r}, which holds no {facts.file}. "
                f"Put the file there, or unset {FOLDER} to download it."
            )
    else:
        path = _downloaded(facts)
    if hashlib.sha256(path.read_bytes()).hexdigest() != facts.sha256:
        raise FileError(
            f"{path} is not the published file (its SHA-256 differs): it is cut short or altered. "
            "Delete it and fetch it again."
        )
    return path


def _downloaded(facts: Published) -> Path:
    import pooch

    cache = Path(pooch.os_cache("fewlabels"))
    try:
        return Path(
            pooch.retrieve(SOURCE + facts.file, known_hash=f"sha256:{facts.sha256}", fname=facts.file, path=cache)
        )
    except (OSError, ValueError) as error:
        raise FileError(
            f"could not download {facts.file} ({type(error).__name__}). "
            f"Put it into {cache}, or into a folder named by {FOLDER}."
        ) from None
