"""Every example runs, on small sizes, and draws its picture; the notebook runs from top to bottom."""

import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import nbformat
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SMALL = {
    "compare_strategies": ["--trials", "2", "--labels", "4", "--jobs", "1"],
    "karate_club": [],
    "label_digits": ["--answers", "3"],
    "large_graph": ["--points", "400", "--answers", "3"],
    "own_strategy": ["--points", "80", "--answers", "4"],
}
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def _without_a_screen(tmp_path, monkeypatch):
    from matplotlib import pyplot

    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    yield
    pyplot.close("all")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_draws_its_picture(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [script.name, *SMALL[script.stem], "--out", "picture.png"])
    runpy.run_path(str(script), run_name="__main__")
    pixels = mpl.image.imread("picture.png")  # (height, width, channels)
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50  # something is drawn on the white
    assert capsys.readouterr().out


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_is_short_and_on_the_page_of_examples(script):
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 50
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"(pictures/examples-{script.stem}.png)" in page
    assert f"{{literalinclude}} ../examples/{script.name}" in page


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom_and_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert "ANSWERS = 60" in code[0].source
    code[0].source = code[0].source.replace("ANSWERS = 60", "ANSWERS = 12")  # enough to run every line
    space = {}
    for number, cell in enumerate(code, start=1):
        exec(compile(cell.source, f"{path.name}, cell {number}", "exec"), space)
