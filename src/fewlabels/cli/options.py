"""What the commands share: the console, options, lists given as a,b,c, and what the shell completes for them."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.status import Status
from rich.text import Text

from fewlabels.machine.progress import plain
from fewlabels.strategies import STRATEGIES


class Terminal(Console):
    """A console that every sentence and every cell of a table passes as plain text."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(plain(text), **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        return Plainly(Text(plain(str(status))), console=self, **options)


class Plainly(Status):
    """A line that says how far the work is."""

    def update(self, status: RenderableType | None = None, **options: Any) -> None:
        super().update(None if status is None else Text(plain(str(status))), **options)


console = Terminal(  # names of nodes and files are printed as they are, and long lines whole where there is no terminal
    markup=False, highlight=False, width=None if sys.stdout.isatty() else 500
)


@contextmanager
def reading() -> Iterator[Callable[[str], None]]:
    """What hears of files as they are read: sentences are printed, and bars replace each other in one line."""
    with console.status("Reading") as status:
        yield lambda sentence: (status.update if set(sentence) & set("█░") else console.print)(sentence)


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
Smoothness = Annotated[
    str, typer.Option(help='How far few labels reach: 0 is the paper\'s field, 3.3 a smooth one; or "auto".')
]
Overlap = Annotated[
    str,
    typer.Option(
        help="How much edges count by the neighbours that their ends share: 0 takes the weights as they are, 2 "
        'multiplies them by the square of the overlap; or "auto".'
    ),
]
Centred = Annotated[
    bool | None,
    typer.Option(
        "--centred/--no-centred",
        help="Predict by what differs from node to node, not by which classes were asked about most. Default: yes.",
        show_default=False,
    ),
]
Field = Annotated[
    str,
    typer.Option(
        help='"paper": that of Jun & Nowak 2016, with smoothness 0, overlap 0, beta 1, not centred; "auto": what suits '
        "the graph."
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(help="The columns that rows are compared by, as a,b,c; default: all that tell rows apart."),
]
Ignore = Annotated[str | None, typer.Option(help="Columns that rows are not compared by, as a,b.")]
NodeFeatures = Annotated[
    Path | None,
    typer.Option(
        help="Features of the nodes beside the edges, averaged over them: a .npy file, rows in the order of the nodes "
        "(as in the column source, then in target); or a table with a column node and numbers.",
    ),
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        help="What a model already thinks: a table with a column node and a chance for every class, or node, label and "
        "confidence; or what fewlabels suggest --out wrote.",
    ),
]
NodeText = Annotated[str | None, typer.Option("--text", help="The column of the table whose words are the features.")]
NodeImage = Annotated[
    str | None, typer.Option("--image", help="The column of the table that names photos, which are the features.")
]
NodeEmbed = Annotated[
    str | None,
    typer.Option(
        "--embed",
        help="Compare those texts or photos by a pretrained network: “auto”, a name that fastembed knows, or your own "
        "model.onnx.",
        metavar="MODEL",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        help="Port of the page; default: the first free one from 8765.", min=0, max=65535, envvar="FEWLABELS_PORT"
    ),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser; print the address only.")]
TARGET, CONFIDENCE, EVERY = 0.1, 0.9, 4  # as in learner, which is slow to load; a test compares
Target = Annotated[
    float,
    typer.Option(
        "--target", "--target-error",
        help="The share of wrong predictions to get down to. At 90% confidence 5% takes at least 54 checks, 10% 27, "
        "20% 13.",
    ),
]  # fmt: skip
Confidence = Annotated[
    float, typer.Option(help="How sure to be that the target is reached before “you can stop” is said.")
]
Embed = Annotated[
    str | None,
    typer.Option(
        help="Compare photos or texts by a pretrained network: “auto”, a name that fastembed knows, or your own "
        "model.onnx. Needs fewlabels[embed]; a named one is downloaded once, and used offline afterwards.",
        metavar="MODEL",
    ),
]
Checks = Annotated[
    int,
    typer.Option(
        help="After 20 answers one question in so many is a check: an item drawn at random, asked without a "
        "suggestion, which measures the error. 0: none, and “you can stop” is never said.",
        min=0,
    ),
]
Host = Annotated[
    str,
    typer.Option(
        help="Where the page listens. Beyond 127.0.0.1 others can label, too: whoever has the address, token included.",
        envvar="FEWLABELS_HOST",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        help="The token that lets people in, instead of a generated one; as a variable no process list shows it.",
        envvar="FEWLABELS_TOKEN",
    ),
]


def passive_threads() -> None:
    """Call before Numba loads: its idle threads then leave the cores free to serve the page."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def comma_separated(text: str | None) -> tuple[str, ...] | None:
    """The names in a,b,c, or one on each line, each once; one that holds a comma stands in quotes.

    >>> comma_separated('a, b,"size, cm",a\\nc')
    ('a', 'b', 'size, cm', 'c')
    """
    if not text:
        return None
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    return tuple(dict.fromkeys(name.strip() for row in rows for name in row if name.strip()))


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
