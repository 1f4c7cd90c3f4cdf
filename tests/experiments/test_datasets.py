import shutil
from pathlib import Path

import numpy as np
import pytest

from fewlabels.errors import FileError
from fewlabels.experiments import datasets


def test_the_papers_graphs_have_the_papers_counts(published):
    facts = datasets.PUBLISHED[published.name]
    assert (published.graph.n_nodes, published.graph.n_edges) == (facts.n_nodes, facts.n_edges)
    assert len(published.classes) == facts.n_classes
    assert published.graph.components().max() == 0
    rarest = published.class_names[np.bincount(published.labels).argmin()] if published.class_names else None
    assert rarest == {"cora": "rule learning", "citeseer": "AI", "dblp": None}[published.name]


def test_an_altered_or_truncated_file_is_refused(published, tmp_path, monkeypatch):
    facts = datasets.PUBLISHED[published.name]
    content = datasets._located(facts).read_bytes()
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    for wrong in (content[:-1], content[:100] + b"x" + content[101:], b""):
        (tmp_path / facts.file).write_bytes(wrong)
        with pytest.raises(FileError, match="SHA-256 differs"):
            datasets.DATASETS[published.name]()


def test_a_missing_file_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    with pytest.raises(FileError, match=r"holds no CORA.mat\. Put the file there"):
        datasets.cora()


def test_without_network_or_cache_the_sentence_says_which_file_to_put_where(tmp_path, monkeypatch):
    monkeypatch.delenv(datasets.FOLDER, raising=False)
    monkeypatch.setattr(datasets, "SOURCE", "http://127.0.0.1:9/")  # nothing listens there
    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path)
    with pytest.raises(FileError, match=r"could not download DBLP.mat .* Put it into"):
        datasets.dblp()


def test_a_file_in_the_cache_is_not_downloaded_again(published, tmp_path, monkeypatch):
    facts = datasets.PUBLISHED[published.name]
    shutil.copy(datasets._located(facts), tmp_path / facts.file)
    monkeypatch.delenv(datasets.FOLDER, raising=False)
    monkeypatch.setattr(datasets, "SOURCE", "http://127.0.0.1:9/")
    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path)
    assert datasets.DATASETS[published.name]().graph.n_nodes == facts.n_nodes
    assert datasets._located(facts) == Path(tmp_path / facts.file)
