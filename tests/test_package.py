"""The package as a whole: light to import, its README true, its menu described."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import fewlabels as fl

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_importing_loads_nothing_heavy():
    heavy = ["numba", "torch", "sklearn", "pandas", "pyarrow", "matplotlib", "networkx", "fastapi", "typer", "rich"]
    heavy += ["dask", "distributed"]
    code = f"import sys, fewlabels; print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_every_public_name_is_there_and_no_other():
    assert all(getattr(fl, name) is not None and name in dir(fl) for name in fl.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'HarmonicRegressor'"):
        _ = fl.HarmonicRegressor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    space = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_readme_describes_every_strategy_as_the_menu_does():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, strategy in fl.STRATEGIES.items():
        assert f"| `{name}` | {strategy.__doc__.splitlines()[0]} |" in readme
