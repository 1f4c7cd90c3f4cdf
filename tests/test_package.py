"""The package as a whole: light to import, its menu described."""

import subprocess
import sys
from pathlib import Path

import fewlabels as fl

ROOT = Path(__file__).parent.parent


def test_importing_loads_nothing_heavy():
    heavy = ["numba", "torch", "sklearn", "pandas", "pyarrow", "matplotlib", "networkx", "fastapi", "typer", "rich"]
    heavy += ["dask", "distributed"]
    code = f"import sys, fewlabels; print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_the_readme_describes_every_strategy_as_the_menu_does():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, strategy in fl.STRATEGIES.items():
        assert f"| `{name}` | {strategy.__doc__.splitlines()[0]} |" in readme
