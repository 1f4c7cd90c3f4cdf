import os
from pathlib import Path

import pytest

from fewlabels.errors import FileError
from fewlabels.experiments import datasets

if not Path("/dev/nvidia0").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported: its kernels then run on the CPU


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """No test reads or fills the user's own cache of features."""
    os.environ["FEWLABELS_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(params=["dblp", "cora", "citeseer"])
def published(request):
    return load(request.param)


def load(name):
    """A published dataset, or a skip with the reason where neither the data nor a network is at hand."""
    try:
        return datasets.DATASETS[name]()
    except FileError as error:
        pytest.skip(str(error))


def pytest_collection_modifyitems(items):
    """The longest first, so that the cores finish together; one alone compiles the kernels of the sparse engine."""
    first = (
        "test_on_demand.py",
        "test_browser.py",
        "test_kills.py",
        "test_precision.py",
        "test_docs.py",
    )
    items.sort(key=lambda item: first.index(item.path.name) if item.path.name in first else len(first))
