"""The command line: parse, call one library function, print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fewlabels import __version__
from fewlabels.errors import FewlabelsError, SettingError
from fewlabels.learner import ActiveLearner
from fewlabels.strategies import STRATEGIES

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
console = Console()

MENU = ", ".join(STRATEGIES)
Seed = Annotated[int, typer.Option(help="Fixes every random draw; the same seed gives the same questions.")]


def main() -> None:
    """Run the command; what is wrong with the input is said in a sentence, with exit code 2."""
    try:
        app()
    except FewlabelsError as error:
        print(f"fewlabels: {error}", file=sys.stderr)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    """Which node of a graph to label next, so that a handful of answers labels the whole graph.

    Start with **fewlabels demo**, which labels 1,797 handwritten digits from 30 answers.
    """
    if version:
        print(f"fewlabels {__version__}")
        raise typer.Exit


@app.command()
def demo(
    auto: Annotated[
        int, typer.Option(help="How many questions to ask; the known digits answer.", min=1, max=1797)
    ] = 30,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Where to save the picture.")] = Path("fewlabels-demo.png"),
) -> None:
    """Label scikit-learn's 1,797 handwritten digits from a few answers, and show how well that went.

    Example: **fewlabels demo --auto 30**
    """
    from fewlabels.experiments.datasets import digits
    from fewlabels.experiments.figures import draw_demo
    from fewlabels.experiments.trials import answer_from_labels

    with console.status("Finding the 7 nearest neighbours of every digit"):
        dataset = digits()
        learner = ActiveLearner(dataset.graph, dataset.classes, random_state=seed)
    columns = (
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=auto, state="")
        rows = []
        for row in answer_from_labels(learner, dataset, auto):
            rows.append(row)
            progress.update(task, completed=row.labelled, state=f"accuracy {row.accuracy:.3f}")
    table = Table(
        "labels",
        "accuracy",
        "expected error",
        "true error",
        title=f"{dataset.graph.n_nodes} digits, {len(dataset.classes)} classes",
    )
    for row in rows:
        if row.labelled in (1, 2, 5) or row.labelled % 10 == 0 or row is rows[-1]:
            table.add_row(
                str(row.labelled), f"{row.accuracy:.3f}", f"{row.expected_error:.3f}", f"{1 - row.accuracy:.3f}"
            )
    console.print(table)
    draw_demo(rows, dataset, out)
    console.print(
        f"{sum(row.seconds for row in rows) / len(rows) * 1000:.0f} ms a question. "
        f"The asked digits and the curve: {out}",
        highlight=False,
    )


@app.command()
def suggest(
    edges: Annotated[Path, typer.Option(help="CSV, TSV or Parquet with columns source, target and perhaps weight.")],
    labels: Annotated[
        Path | None, typer.Option(help="The same kinds of file, with columns node and label; may be empty.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="All classes, as a,b,c; without it, those in the labels file.")
    ] = None,
    n: Annotated[int, typer.Option("-n", help="How many nodes to ask about.", min=1)] = 5,
    out: Annotated[Path | None, typer.Option(help="CSV to write: node, predicted label, chance of each class.")] = None,
    strategy: Annotated[str, typer.Option(help=f"One of {MENU}.")] = "tsa",
    beta: Annotated[str, typer.Option(help='Strength of the ties: a number, or "auto".')] = "auto",
    seed: Seed = 0,
) -> None:
    """Say which nodes of your graph to label next, and predict the others: one step of a pipeline.

    Example: **fewlabels suggest --edges edges.csv --labels labels.csv -n 5 --out predictions.csv**

    With no label yet, name the classes: **fewlabels suggest --edges edges.csv --classes cat,dog**
    """
    from fewlabels.tables import read_edges, read_labels, write_predictions

    graph = read_edges(edges)
    known = read_labels(labels, graph) if labels else {}
    named = [c.strip() for c in classes.split(",") if c.strip()] if classes else sorted(set(known.values()))
    if len(named) < 2:
        raise SettingError(f"only {len(named)} class(es) known: name all of them with --classes a,b,c.")
    with console.status(f"Looking ahead on {graph.n_nodes:,} nodes"):
        learner = ActiveLearner(graph, named, strategy, _number(beta), random_state=seed)
        learner.teach(list(known), list(known.values()))
        left = graph.n_nodes - len(known)
        next_nodes = learner.query(min(n, left)) if left else []
        gains, chances = learner.gains(), learner.predict_proba()
    console.print(
        f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {len(known)} labelled; expected error "
        f"{learner.expected_error():.4f}",
        highlight=False,
    )
    if unreached := learner.unreached:
        console.print(
            f"{len(unreached):,} nodes lie in parts of the graph without a label: nothing is known about them yet.",
            highlight=False,
        )
    if not next_nodes:
        console.print("Every node is labelled: there is nothing left to ask.")
    else:
        table = Table(
            "ask",
            "gain",
            "most likely",
            "chance",
            caption="gain: how much the expected error should drop",
            caption_justify="left",
        )
        for node in next_nodes:
            k = graph.position(node)
            table.add_row(str(node), f"{gains[k]:+.5f}", named[chances[k].argmax()], f"{chances[k].max():.2f}")
        console.print(table)
    if out:
        write_predictions(out, learner)
        console.print(f"Predictions of all nodes: {out}", highlight=False)


@app.command()
def reproduce(
    what: Annotated[str, typer.Argument(help="figure-1: four questions on a chain, by each strategy.")] = "figure-1",
) -> None:
    """Make the results of Jun & Nowak 2016 again, from scratch.

    Example: **fewlabels reproduce figure-1**
    """
    from fewlabels.experiments.figure1 import GIVEN, PAPER, TRUTH, chain_example

    if what != "figure-1":
        raise SettingError(f"{what!r} cannot be reproduced: choose figure-1.")
    table = Table(
        "",
        *(str(node) for node in range(1, len(TRUTH) + 1)),
        "error rate",
        title="Figure 1: questions (✓) and predictions",
        padding=(0, 0),
    )
    table.add_row("truth", *TRUTH, "", end_section=True)
    for strategy in PAPER:
        row = chain_example(strategy)
        cells = ["✓" if node in GIVEN + row.asked else row.predicted[node - 1] for node in range(1, len(TRUTH) + 1)]
        table.add_row(strategy, *cells, f"{row.error_rate:.2f}")
    console.print(table)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
