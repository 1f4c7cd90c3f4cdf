"""The command line: parse, call one library function, print."""

from __future__ import annotations

import errno
import sys
from typing import Annotated

import typer

from fewlabels import __version__
from fewlabels.cli import labelstudio, research
from fewlabels.cli.commands import Command, Group
from fewlabels.cli.demo import demo
from fewlabels.cli.export import export
from fewlabels.cli.label import label
from fewlabels.cli.recover import recover
from fewlabels.cli.sign_out import sign_out
from fewlabels.cli.suggest import suggest
from fewlabels.cli.warm_up import warm_up
from fewlabels.errors import FewlabelsError
from fewlabels.machine.progress import say

app = typer.Typer(cls=Group, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for command in (
    demo, label, export, suggest, recover, sign_out, warm_up, research.compare, research.reproduce, research.bench,
):  # fmt: skip
    app.command(cls=Command)(command)
app.add_typer(labelstudio.app, name="label-studio")


def main() -> None:
    """Run the command; bad input is reported in a sentence, with exit code 2."""
    try:
        app(prog_name="fewlabels")  # also as python -m fewlabels
    except FewlabelsError as error:
        say(str(error))
        sys.exit(2)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        print(f"fewlabels: the path {str(error.filename)!r:.60}… is too long: check what was given.", file=sys.stderr)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    """Which node of a graph to label next, so that a handful of answers labels the whole graph.

    Start with **fewlabels demo**: a page on which you label 1,797 handwritten digits by answering about thirty.
    """
    if version:
        print(f"fewlabels {__version__}")
        raise typer.Exit
