"""What the commands share: the console, options, and lists given as a,b,c."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from fewlabels.strategies import STRATEGIES

console = Console(  # names of nodes and files are printed as they are, and whole where nobody sees a line's end
    markup=False, highlight=False, width=None if sys.stdout.isatty() else 500
)

MENU = ", ".join(STRATEGIES)
Seed = Annotated[int, typer.Option(help="Fixes every random draw; the same seed gives the same questions.", min=0)]


def listed(text: str | None) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip())) if text else None


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
