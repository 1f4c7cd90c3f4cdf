"""What is tested is what people install: the wheel under `make test`, src under plain pytest; and what is in it."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import fewlabels as fl

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
TESTED = Path(os.environ.get("FEWLABELS_TESTED", SOURCE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

of_the_wheel = pytest.mark.skipif(TESTED == SOURCE, reason="src is tested, not a wheel: make test")


def files_of(folder):
    """All but what Python, Numba and Sphinx leave there."""
    files = {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}
    return {file for file in files if not {"__pycache__", "_build"} & set(file.parts)}


def test_the_package_imported_is_the_one_to_be_tested(tmp_path):
    assert Path(fl.__file__).parent == TESTED / "fewlabels"
    code = "import fewlabels; print(fewlabels.__file__)"
    command = [sys.executable, "-c", code]
    elsewhere = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert elsewhere.stdout.strip() == fl.__file__


@of_the_wheel
def test_the_wheel_holds_every_file_of_the_package_and_nothing_else():
    held = files_of(TESTED / "fewlabels")
    assert held == files_of(SOURCE / "fewlabels")
    assert {Path("py.typed"), Path("web/templates/page.html"), Path("experiments/paper_curves.json")} <= held


@of_the_wheel
def test_the_sdist_is_enough_to_build_and_test_and_holds_nothing_else():
    with tarfile.open(next((ROOT / "dist").glob("*.tar.gz"))) as sdist:
        held = {Path(*Path(name).parts[1:]) for name in sdist.getnames()}
    for folder in ("src", "tests", "docs", "benchmarks"):
        assert {Path(folder) / file for file in files_of(ROOT / folder)} <= held
    allowed = {
        "src",
        "tests",
        "docs",
        "benchmarks",
        "examples",
        "conftest.py",
        "Makefile",
        "pyproject.toml",
        "PKG-INFO",
    }
    allowed |= {"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", ".gitignore"}
    allowed |= {"SECURITY.md", "Dockerfile"}  # tests read them
    assert {file.parts[0] for file in held} <= allowed


def requirement(line):
    return re.split(r"[\[>=<~! ]", line)[0].lower()


def imported():
    """{top-level module: a file that imports it} for every import in the package, at the top or inside a function."""
    found = {}
    for file in sorted((TESTED / "fewlabels").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            else:
                continue
            found |= {name.split(".")[0]: file.name for name in names}
    return {name: file for name, file in found.items() if name not in sys.stdlib_module_names | {"fewlabels"}}


# Imported, and not asked for by name, because something asked for always brings it.
BROUGHT = {
    "anyio": "fastapi",
    "llvmlite": "numba",
    "pydantic": "fastapi",
    "distributed": "dask",
    "huggingface_hub": "fastembed",
    "loguru": "fastembed",
    "tokenizers": "fastembed",
}
RIVALS = {"graphlearning", "skactiveml"}  # adapters to them, and `fewlabels bench`, need those who have them
GIVEN = {"networkx"}  # graphs of it come from and go to those who have it
LOADED_BY_OTHERS = {"httptools"}  # by uvicorn


def test_every_import_is_asked_for_in_pyproject_and_nothing_is_asked_for_in_vain():
    asked = {requirement(line) for line in PROJECT["dependencies"]}
    asked |= {requirement(line) for extra in PROJECT["optional-dependencies"].values() for line in extra}
    distributions = packages_distributions()
    names = {m: {d.lower().replace("_", "-") for d in distributions.get(m, [m])} for m in imported()}
    unasked = {
        module: imported()[module]
        for module, given in names.items()
        if not given & asked and BROUGHT.get(module) not in asked and module not in RIVALS | GIVEN
    }
    assert unasked == {}
    in_vain = asked - set().union(*names.values()) - LOADED_BY_OTHERS - set(BROUGHT.values())
    assert in_vain == set()
