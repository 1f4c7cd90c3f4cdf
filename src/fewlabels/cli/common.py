"""What the commands share: the console, options, lists given as a,b,c, and what the shell offers for them at Tab."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console

from fewlabels.strategies import STRATEGIES

console = Console(  # names of nodes and files are printed as they are, and whole where nobody sees a line's end
    markup=False, highlight=False, width=None if sys.stdout.isatty() else 500
)


def one_strategy() -> list[tuple[str, str]]:
    """Every strategy with what it does, for the shell to offer."""
    return [(name, (strategy.__doc__ or "").splitlines()[0]) for name, strategy in STRATEGIES.items()]


def some_strategies(incomplete: str) -> list[str]:
    return one_more(incomplete, STRATEGIES)


def one_more(incomplete: str, names: Iterable[str]) -> list[str]:
    """The list typed so far with each name that may come next; a name is not offered twice.

    >>> one_more("tsa,s", ["tsa", "sopt", "zlg"])
    ['tsa,sopt']
    """
    *said, begun = incomplete.split(",")
    return [",".join([*said, name]) for name in names if name.startswith(begun) and name not in said]


MENU = ", ".join(STRATEGIES)
Seed = Annotated[int, typer.Option(help="Fixes every random draw; the same seed gives the same questions.", min=0)]
StrategyName = Annotated[
    str, typer.Option(help=f"How questions are chosen: one of {MENU}.", autocompletion=one_strategy)
]


def listed(text: str | None) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip())) if text else None


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
