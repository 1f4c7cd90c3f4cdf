"""The package as a whole: light to import, its menu described."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import fewlabels as fl

ROOT = Path(__file__).parents[2]
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


HEAVY = ["scipy.sparse", "scipy.special", "numba", "torch", "sklearn", "pandas", "pyarrow", "matplotlib", "networkx"]
HEAVY += ["fastapi", "dask", "distributed"]


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [("import fewlabels", [*HEAVY, "numpy", "typer", "rich"]), ("import fewlabels.cli", HEAVY)],
)
def test_importing_loads_nothing_heavy(statement, heavy):
    code = f"import sys; {statement}; print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_every_public_name_is_there_and_no_other():
    assert all(getattr(fl, name) is not None and name in dir(fl) for name in fl.__all__)
    space = {}
    exec("from fewlabels import *", space)
    assert set(fl.__all__) <= set(space)
    with pytest.raises(AttributeError, match="has no attribute 'HarmonicRegressor'"):
        _ = fl.HarmonicRegressor


def test_the_readme_describes_every_strategy_as_the_menu_does():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, strategy in fl.STRATEGIES.items():
        assert f"| `{name}` | {strategy.__doc__.splitlines()[0]} |" in readme


def test_the_version_is_the_same_wherever_people_look_for_it():
    assert f"version: {fl.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version {fl.__version__} " in (ROOT / "README.md").read_text(encoding="utf-8")
    [(released, day)] = re.findall(r"^## ([\d.]+), ([\d-]+)$", CHANGES, flags=re.MULTILINE)[:1]
    assert released == fl.__version__
    assert f"date-released: {day}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
