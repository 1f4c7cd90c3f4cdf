"""The directive `commands`: every command of the command line with its help and its options, read from the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fewlabels.cli import app as program


class Commands(SphinxDirective):
    """One section a command, as MyST that the page's own parser reads."""

    def run(self) -> list[nodes.Node]:
        group: Any = typer.main.get_command(program)
        text = "\n\n".join(_section(name, command) for name, command in _commands("fewlabels", group))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Every command with its whole name, those of a group one by one."""
    if hasattr(command, "commands"):
        for word, inner in command.commands.items():
            yield from _commands(f"{name} {word}", inner)
    else:
        yield name, command


def _section(name: str, command: Any) -> str:
    rows = [_row(option) for option in command.params if option.name != "help"]
    words = re.sub(r"\*\*(.+?)\*\*", r"`\1`", command.help.strip())
    table = "\n".join(["| | default | |", "|---|---|---|", *rows])
    return f"## {name}\n\n{words}\n\n{table}"


def _row(option: Any) -> str:
    spelled = (
        ", ".join(f"`{name}`" for name in option.opts) if option.opts[0].startswith("-") else option.opts[0].upper()
    )
    if option.secondary_opts:
        spelled += f", `{option.secondary_opts[0]}`"
    default = "" if option.default is None or option.default is False else f"`{option.default}`"
    help_ = (option.help or "").replace("|", r"\|")
    return f"| {spelled} | {'needed' if option.required else default} | {help_} |"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
