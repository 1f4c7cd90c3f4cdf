"""Every code block of the docs is true: Python runs, page by page; commands are those that exist."""

import doctest
import re
import shlex
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from fewlabels.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS = {  # what a block may need: <!-- needs: a graphics card -->
    "a graphics card": Path("/dev/nvidia0").exists(),
    "scikit-activeml": find_spec("skactiveml") is not None,
    "a download": False,  # tests fetch nothing
}
BLOCK = re.compile(
    r"^(?:<!-- needs: (?P<needs>.+?) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$", flags=re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    page: str
    line: int  # of its first line, counted from 1
    language: str
    code: str
    needs: str | None

    def __str__(self):
        return f"{self.page}:{self.line}"

    @property
    def can_run(self):
        return self.needs is None or NEEDS[self.needs]


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            str(page.relative_to(ROOT)),
            text.count("\n", 0, found.start("code")) + 1,
            *found.group("language", "code", "needs"),
        )
        for found in BLOCK.finditer(text)
    ]


BLOCKS = [block for page in PAGES if "_build" not in page.parts for block in blocks_of(page)]
PYTHON = [block for block in BLOCKS if block.language in ("python", "pycon")]
COMMANDS = [
    pytest.param(shlex.split(line.removeprefix("$ "), comments=True), id=f"{block.page}-{line.split('  ')[0]}")
    for block in BLOCKS
    if block.language in ("sh", "console")
    for line in block.code.replace("\\\n", " ").splitlines()
    if block.language == "sh" or line.startswith("$ ")
]


@pytest.mark.parametrize("page", dict.fromkeys(block.page for block in PYTHON))
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    space = {"__name__": "__main__"}
    for block in PYTHON:
        if block.page == page and block.can_run:
            run(block, space)


def run(block, space):
    """Run a block in the page's namespace; what a block with >>> shows must be what comes out."""
    if block.language == "python":
        exec(compile("\n" * (block.line - 1) + block.code, block.page, "exec"), space)
        return
    test = doctest.DocTestParser().get_doctest(block.code, space, block.page, block.page, block.line - 1)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    space.update(test.globs)


@pytest.mark.parametrize("block", [block for block in PYTHON if not block.can_run], ids=str)
def test_a_block_that_cannot_run_here_is_python_all_the_same(block):
    """Where what it needs is there, it runs with its page, above."""
    compile(block.code, block.page, "exec")
    pytest.skip(f"{block} needs {block.needs}, which is not here: it was compiled, and did not run")


def test_what_a_block_needs_is_something_that_may_be_missing():
    assert {block.needs for block in PYTHON if block.needs} == set(NEEDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_is_one_that_exists(words):
    match words:
        case ["fewlabels", *arguments]:
            check_arguments(arguments)
        case ["make", target]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
        case ["python", script, *_]:
            assert (ROOT / script).exists()
        case ["pip", "install", *_, what]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert what in (".", "fewlabels") or set(re.split(r"[\[\],]", what)[1:-1]) <= set(extras)
        case ["docker", "run", *options] if "fewlabels" in options:
            check_arguments(options[options.index("fewlabels") + 1 :])
        case ["dask" | "docker", *_]:
            pass  # other people's programs
        case _:
            pytest.fail(f"nothing here knows how to check {' '.join(words)!r}")


def check_arguments(arguments):
    """Parse what follows `fewlabels` as the command line would, but for running it."""
    command, name = typer.main.get_command(app), "fewlabels"
    while hasattr(command, "commands") and not arguments[0].startswith("-"):
        name, *arguments = arguments
        command = command.commands[name]
    if hasattr(command, "commands"):  # an option of the group itself acts as soon as it is parsed
        assert arguments[0] in [option for known in command.params for option in known.opts]
    else:
        command.make_context(name, arguments)


@pytest.mark.parametrize("words", [command for command in COMMANDS if command.values[0][1:2] == ["suggest"]])
def test_a_quick_command_runs(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("source,target\nann,bob\nbob,cid\ncid,dan\ndan,eve\neve,fay\nfay,gus\n")
    Path("labels.csv").write_text("node,label\nann,cat\ngus,dog\n")
    Path("checks.csv").write_text("node,check\nbob,1\ncid,\n")
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    if "--out" in words:
        table = Path(words[words.index("--out") + 1]).read_text()
        assert table.startswith(
            "node,label,prediction,chance,reached,skipped,check,p_cat,p_dog\nann,cat,cat,1,True,False,,1,0"
        )
