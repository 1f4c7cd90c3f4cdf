"""What the shell offers at Tab, by the protocol with which bash, zsh and fish ask."""

import os
import subprocess
import sys

import pytest

from fewlabels.cli.research import REPRODUCED
from fewlabels.experiments import paper
from fewlabels.strategies import STRATEGIES


def fewlabels(instruction, **environment):
    return subprocess.run(
        [sys.executable, "-m", "fewlabels"],
        env={**os.environ, "_FEWLABELS_COMPLETE": instruction, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def in_bash(line):
    words = line.split(" ")
    asked = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    return fewlabels("complete_bash", **asked).split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("fewlabels re", ["recover", "reproduce"]),
        ("fewlabels reproduce c", ["chain", "cora", "citeseer"]),
        ("fewlabels suggest --strategy ", list(STRATEGIES)),
        ("fewlabels label things.csv --strategy le", ["least_confidence"]),
        ("fewlabels compare edges.csv --strategies tsa,s", ["tsa,sopt"]),
        ("fewlabels reproduce cora --strategies sopt,vopt,s", []),  # no name twice
        ("fewlabels bench --cases set-up,ts", ["set-up,tsa-round"]),
        ("fewlabels suggest --edges ed", []),  # nothing: the shell then offers its files
        ("fewlabels label ph", []),
    ],
)
def test_bash_is_offered_names(line, offered):
    assert in_bash(line) == offered


def test_zsh_is_offered_names_with_their_meaning_and_files():
    offered = fewlabels("complete_zsh", _TYPER_COMPLETE_ARGS="fewlabels demo --strategy zl")
    assert '"zlg":"The lowest expected error after the answer, by harmonic marginals' in offered
    assert fewlabels("complete_zsh", _TYPER_COMPLETE_ARGS="fewlabels suggest --edges ed") == "_files\n"


def test_fish_is_offered_names_with_their_meaning():
    asked = {"_TYPER_COMPLETE_ARGS": "fewlabels demo --strategy zl", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert fewlabels("complete_fish", **asked).startswith("zlg\tThe lowest expected error after the answer")


@pytest.mark.parametrize(
    ("shell", "part"),
    [("bash", "complete -o default -F"), ("zsh", "#compdef fewlabels"), ("fish", "complete --command")],
)
def test_the_script_for_the_shell_calls_fewlabels(shell, part):
    script = fewlabels(f"source_{shell}")
    assert part in script
    assert f"_FEWLABELS_COMPLETE=complete_{shell}" in script


def test_what_can_be_reproduced_is_what_the_paper_module_knows():
    assert ("figure-1", *paper.LABELS, "all") == REPRODUCED
