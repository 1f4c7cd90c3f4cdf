"""Labelled graphs to try strategies on: the paper's three citation graphs and scikit-learn's digits."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fewlabels.errors import FileError
from fewlabels.graph import Graph

FOLDER = "FEWLABELS_DATA"  # environment variable: a folder that holds the files, in place of the download
SOURCE = "https://raw.githubusercontent.com/yifeim/sigma_opt_codes/master/data/"


@dataclass(frozen=True)
class Published:
    """One file of Ma, Garnett & Schneider 2013 and what Table 1 of Jun & Nowak 2016 says of it."""

    file: str
    sha256: str
    n_nodes: int
    n_edges: int
    n_classes: int


PUBLISHED = {
    "dblp": Published("DBLP.mat", "62e27b0f2fa117c4894adf7a5b77727cfe6c248ccc4ccd1bca5886d2da783954", 1711, 2898, 4),
    "cora": Published("CORA.mat", "37960a729171f52868e090d6d22dd7b6f9a04944d0c3da60a7665480d082b730", 2485, 5069, 7),
    "citeseer": Published(
        "CITESEER.mat", "b7271c92aed978043c91545b2c820925374a13b9b9fc4baa314e3e189ee32ccd", 2109, 3665, 6
    ),
}


@dataclass(frozen=True)
class Dataset:
    """A graph whose every label is known, to try strategies on."""

    name: str
    graph: Graph
    labels: NDArray[np.int64]  # (n,) class numbers
    images: NDArray[np.float64] | None = None  # (n, height, width), where the nodes are pictures

    @property
    def classes(self) -> list[int]:
        return list(range(int(self.labels.max()) + 1))


def digits() -> Dataset:
    """scikit-learn's 1797 handwritten digits, each tied to its 7 nearest neighbours."""
    from sklearn.datasets import load_digits

    data: Any = load_digits()
    return Dataset("digits", Graph.from_features(data.data, n_neighbors=7), data.target.astype(np.int64), data.images)


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
    return Dataset(name, graph, one_hot.argmax(axis=0).astype(np.int64))


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
