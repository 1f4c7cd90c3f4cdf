"""The help of every command, read as people read it."""

import pytest
from typer.testing import CliRunner

from fewlabels.cli import app

COMMANDS = ["demo", "label", "export", "suggest", "recover", "sign-out", "compare", "reproduce", "bench"]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["label-studio"], ["label-studio", "backend"]])
def test_flags_are_shown_as_flags(command):
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "bool" not in shown.output
