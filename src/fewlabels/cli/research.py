"""fewlabels reproduce, compare and bench: for those who study the method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fewlabels.cli.options import (
    MENU,
    Centred,
    Columns,
    Field,
    Ignore,
    NodeEmbed,
    NodeFeatures,
    NodeImage,
    NodeText,
    Overlap,
    Predictions,
    Seed,
    Smoothness,
    comma_separated,
    console,
    number,
    one_more,
    reading,
    some_strategies,
)
from fewlabels.errors import SettingError, nearest
from fewlabels.machine.progress import plain, say

if TYPE_CHECKING:
    import pandas as pd

    from fewlabels.experiments.runner import Plan

REPRODUCED = (
    "figure-1",
    "chain",
    "box",
    "dblp",
    "cora",
    "citeseer",
    "all",
)  # as in experiments.paper, which is slow to load


def some_cases(incomplete: str) -> list[str]:
    from fewlabels.experiments.bench.cases import CASES

    return one_more(incomplete, CASES)


Trials = Annotated[int, typer.Option(help="Trials for every curve.", min=1)]
Jobs = Annotated[int, typer.Option(help="Worker processes; -1 means one for every core.")]
Cluster = Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run the trials on.")]


def reproduce(
    what: Annotated[
        str, typer.Argument(help=f"One of {', '.join(REPRODUCED)}.", autocompletion=lambda: list(REPRODUCED))
    ] = "all",
    trials: Trials = 50,
    labels: Annotated[int | None, typer.Option(help="Labelled nodes; default: as many as in the paper.", min=1)] = None,
    strategies: Annotated[
        str | None, typer.Option(help=f"Some of {MENU}; default: the paper's.", autocompletion=some_strategies)
    ] = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for CSV, pictures and report.html.")] = Path("results"),
    cluster: Cluster = None,
) -> None:
    """Recompute the results of Jun & Nowak 2016 from scratch and compare them with the published ones.

    Stop it with Ctrl-C at any time: the same command continues where it stopped.

    Example: **fewlabels reproduce cora --trials 10**

    Everything, with one report page at the end: **fewlabels reproduce all**

    All of it with the paper's own field and predictions (smoothness 0, not centred, beta 1), whatever the defaults.
    """
    from fewlabels.experiments import paper

    if what == "figure-1":
        return _figure_1()
    names = list(paper.LABELS) if what == "all" else [what]
    if what not in REPRODUCED:
        raise SettingError(
            f"{what!r} cannot be reproduced: choose one of {', '.join(REPRODUCED)}.{nearest(what, REPRODUCED)}"
        )
    chosen = comma_separated(strategies)
    plans = [paper.plan(name, trials, labels, chosen, seed) for name in names]
    if what == "all":
        _figure_1()
    return _reproduced(plans, out, jobs, cluster)


def _reproduced(plans: list[Plan], out: Path, jobs: int, cluster: str | None) -> None:
    import numpy as np

    from fewlabels.experiments import paper, report
    from fewlabels.experiments.datasets import jittered_box
    from fewlabels.experiments.figures import draw_box, draw_curves, draw_figure_2, save

    rows = {plan.name: _run(plan, out, jobs, cluster) for plan in plans}
    box = jittered_box(np.random.default_rng(0))
    table = Table("curve", "agrees", "evidence", title="Ours and the paper's")
    for name, mine in rows.items():
        save(draw_curves(mine, name), out / f"{name}.png", out / f"{name}.svg")
        for comparison in paper.compare(name, mine):
            agrees, why = comparison.verdict
            table.add_row(f"{name} {comparison.strategy}", "yes" if agrees else "no", why)
        for claim in paper.claims(name, mine):
            table.add_row(name, "yes" if claim.holds else "no", f"“{claim.sentence}” {claim.figures}")
    if "box" in rows:
        save(draw_box(box), out / "box-labels.png", out / "box-labels.svg")
    if set(rows) == set(paper.LABELS):
        save(draw_figure_2(rows, box), out / "figure-2.png", out / "figure-2.svg")
    report.write(out / "report.html", report.paper_report(rows, box))
    console.print(table)
    console.print(f"Every figure and number: {out / 'report.html'}")


def _figure_1() -> None:
    from fewlabels.experiments.figure1 import GIVEN, PAPER, TRUTH, chain_example

    nodes = range(1, len(TRUTH) + 1)
    table = Table("", *map(str, nodes), "error rate", title="Figure 1: questions (✓) and predictions", padding=(0, 0))
    table.add_row("truth", *TRUTH, "", end_section=True)
    for strategy in PAPER:
        row = chain_example(strategy)
        cells = ["✓" if node in GIVEN + row.asked else row.predicted[node - 1] for node in nodes]
        table.add_row(strategy, *cells, f"{row.error_rate:.2f}")
    console.print(table)


def compare(
    data: Annotated[
        Path,
        typer.Argument(
            help="Edges (source, target[, weight]); a table with a label; or a folder of images, one for each class."
        ),
    ],
    labels: Annotated[Path | None, typer.Option(help="For edges: a file with columns node and label.")] = None,
    label_column: Annotated[str, typer.Option(help="For features: the column that holds the label.")] = "label",
    columns: Columns = None,
    ignore: Ignore = None,
    features: NodeFeatures = None,
    text: NodeText = None,
    image: NodeImage = None,
    embed: NodeEmbed = None,
    predictions: Predictions = None,
    strategies: Annotated[
        str,
        typer.Option(help=f"Some of {MENU}, skactiveml:NAME and graphlearning:NAME.", autocompletion=some_strategies),
    ] = "tsa,sopt,zlg,margin,random",
    n_labels: Annotated[int, typer.Option(help="Labelled nodes at the end of a trial.", min=2)] = 50,
    trials: Trials = 20,
    neighbors: Annotated[int, typer.Option(help="For features: nearest neighbours of each.", min=1)] = 10,
    beta: Annotated[str, typer.Option(help='Strength of the ties: a number, or "auto".')] = "auto",
    smoothness: Smoothness = "auto",
    overlap: Overlap = "auto",
    centred: Centred = None,
    field: Field = "auto",
    jobs: Jobs = -1,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for CSV, picture and report.html.")] = Path("results"),
    cluster: Cluster = None,
) -> None:
    """Find out which strategy is best on data you have labelled already.

    Example, a graph: **fewlabels compare edges.csv --labels labels.csv --strategies tsa,sopt,random**

    Example, rows of numbers with a column that holds the label: **fewlabels compare iris.csv --label-column species**

    Example, texts in a table, or photos in a folder for each class: **fewlabels compare reviews.csv --text review**,
    **fewlabels compare photos/ --embed auto**

    Example, a graph whose nodes have words: **fewlabels compare cites.csv --labels labels.csv --features papers.csv
    --text abstract**

    Strategies of other packages can ask too: **--strategies tsa,skactiveml:UncertaintySampling,graphlearning:var_opt**.
    Whichever strategy asks, label propagation on the graph predicts.
    """
    from fewlabels.adapters.named import check_name
    from fewlabels.experiments import report
    from fewlabels.experiments.figures import draw_curves, save
    from fewlabels.experiments.runner import Plan
    from fewlabels.experiments.trials import Always
    from fewlabels.experiments.user_data import model_of, read_dataset, row_names
    from fewlabels.learner.settings import of_field

    chosen = comma_separated(strategies) or ()
    for name in chosen:
        check_name(name)
    with reading() as tell:
        dataset = read_dataset(
            data, labels, label_column, neighbors, features=features, text=text, image=image, embed=embed,
            columns=comma_separated(columns), ignore=comma_separated(ignore) or (), tell=tell,
        )  # fmt: skip
    known = int((dataset.labels >= 0).sum())
    console.print(
        f"{dataset.graph.n_nodes:,} nodes, {dataset.graph.n_edges:,} edges, {known:,} labels known", highlight=False
    )
    prior = None
    if predictions is not None:
        named = labels is not None or text is not None or image is not None or data.is_dir()
        names = None if named else row_names(data, label_column)
        prior = model_of(dataset, predictions, console.print, names)
    taken = of_field(
        field, beta=number(beta), smoothness=number(smoothness), overlap=number(overlap),
        centred="auto" if centred is None else centred,
    )  # fmt: skip
    plan = Plan(
        dataset.name,
        Always(dataset),
        chosen,
        n_labels,
        trials,
        seed,
        taken["beta"],
        taken["smoothness"],
        taken["overlap"],
        bool(taken["centred"]),
        prior,
    )
    rows = _run(plan, out, jobs, cluster)
    save(draw_curves(rows, dataset.name), out / f"{dataset.name}.png", out / f"{dataset.name}.svg")
    for found in (report.areas(rows), report.differences(rows)):
        table = Table(*found.columns, title=found.title)
        for row in found.rows:
            table.add_row(*map(str, row))
        console.print(table)
    advice = report.advice(rows)
    report.write(out / "report.html", report.comparison_report(dataset.name, rows, advice))
    console.print(f"{advice} Curves and tables: {out / 'report.html'}")


def bench(
    cases: Annotated[
        str | None, typer.Option(help="Some of the cases, as a,b; default: all.", autocompletion=some_cases)
    ] = None,
    growth: Annotated[bool, typer.Option(help="Also time the look-ahead at growing sizes.")] = True,
    out: Annotated[Path | None, typer.Option(help="JSON to write: the figures, the machine, the commit.")] = None,
) -> None:
    """Measure speed on this machine, as ratios to rivals in the same run; only correct results are timed.

    Example: **fewlabels bench --cases tsa-round,set-up**
    """
    from fewlabels.experiments.bench import cases as menu
    from fewlabels.experiments.bench.run import run_cases, write

    table = Table("case", "ms", "rival", "rival's ms", "ratio", "needs at least")
    timings = []
    names = comma_separated(cases) or tuple(menu.CASES)
    with console.status("Checking and timing") as status:
        for name, found in zip(names, run_cases(names), strict=True):
            status.update(f"Checked and timed {name}")
            if isinstance(found, str):
                console.print(found)
                continue
            timings.append(found)
            ours, theirs = f"{found.seconds * 1e3:.3g}", f"{found.rival_seconds * 1e3:.3g}"
            table.add_row(found.case, ours, found.rival, theirs, f"{found.ratio:.1f}", found.floor)
        sizes = menu.growth() if growth else []
    console.print(table)
    if sizes:
        grown = Table("n", "ms", "ns per pair and class", title="TSA look-ahead, 7 classes, 50 labels")
        for n, seconds in sizes:
            grown.add_row(f"{n:,}", f"{seconds * 1e3:.3g}", f"{seconds / n**2 / 7 * 1e9:.2f}")
        console.print(grown)
    if out:
        write(out, timings, sizes)


def _run(plan: Plan, out: Path, jobs: int, cluster: str | None) -> pd.DataFrame:
    """Run the plan with a bar for every curve."""
    from fewlabels.experiments.runner import run

    columns = (
        TextColumn("{task.description:<24}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bars = {s: progress.add_task(plain(f"{plan.name} {s}"), total=plan.trials) for s in plan.strategies}
        try:
            return run(plan, out, jobs, cluster, lambda strategy: progress.advance(bars[strategy]))
        except KeyboardInterrupt:
            progress.stop()
            say("stopped. Finished trials are kept; the same command continues there.")
            raise typer.Exit(130) from None
