"""Every path into the package that the docs name can be imported; and the house is as its plan says."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

from fewlabels.cli import options
from fewlabels.learner import checks, estimate

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROMISED = {
    "fewlabels.tables.read_edges",
    "fewlabels.tables.read_labels",
    "fewlabels.tables.read_features",
    "fewlabels.tables.write_predictions",
    "fewlabels.adapters.sklearn.HarmonicClassifier",
    "fewlabels.adapters.skactiveml.GraphQuery",
    "fewlabels.adapters.skactiveml.FromSkactiveml",
    "fewlabels.adapters.graphlearning.FromGraphLearning",
    "fewlabels.adapters.labelstudio.read_tasks",
    "fewlabels.learner.ActiveLearner",
    "fewlabels.graph.Graph",
}
CARD = ["torch", "triton"]
NEEDED = {".skactiveml": ["skactiveml"], ".gpu": CARD, ".on_card": CARD}  # packages that need not be installed
NO_PATHS = ("fewlabels.sqlite", "fewlabels.tables.read", "fewlabels.single")  # endings of files, keys of the browser


def named():
    """Dotted names in the docs, and `from fewlabels... import a, b`."""
    found = set(PROMISED)
    for page in PAGES:
        if "_build" in page.parts:
            continue
        text = page.read_text(encoding="utf-8")
        found |= set(re.findall(r"\bfewlabels(?:\.[a-z_]\w*)+(?:\.[A-Z]\w*)?|\bfewlabels\.[A-Z]\w*", text))
        for module, names in re.findall(r"from (fewlabels[\w.]*) import ([\w, ]+)", text):
            found |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return sorted(path for path in found if not path.startswith(NO_PATHS))


@pytest.mark.parametrize("path", named())
def test_a_path_the_docs_name_can_be_imported(path):
    for part, packages in NEEDED.items():
        for package in packages if part in path else ():
            pytest.importorskip(package)
    found = importlib.import_module("fewlabels")
    for k, name in enumerate(path.split(".")[1:], start=2):
        try:
            found = getattr(found, name)
        except AttributeError:
            found = importlib.import_module(".".join(path.split(".")[:k]))


def test_the_root_of_the_package_holds_at_most_ten_modules():
    beside = [file.name for file in (ROOT / "src" / "fewlabels").glob("*.py") if file.name != "__init__.py"]
    assert len(beside) <= 10


def test_the_picture_of_the_layers_is_that_of_the_contract():
    layers = runpy.run_path(str(ROOT / "docs" / "figures" / "layers.py"))
    assert layers["PICTURE"].read_text(encoding="utf-8") == layers["drawn"](), "run make pictures"
    assert len(layers["layers"]()) <= 12


def test_a_default_that_is_slow_to_load_is_the_same_where_it_is_repeated():
    assert (options.TARGET, options.CONFIDENCE, options.EVERY) == (estimate.TARGET, estimate.CONFIDENCE, checks.EVERY)
