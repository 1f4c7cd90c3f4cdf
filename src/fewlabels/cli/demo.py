"""fewlabels demo: the page on scikit-learn's digits, or (--auto) questions answered from the known digits."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fewlabels.cli.label import open_page
from fewlabels.cli.options import (
    CONFIDENCE,
    EVERY,
    TARGET,
    Checks,
    Confidence,
    Host,
    NoBrowser,
    Port,
    Seed,
    StrategyName,
    Target,
    Token,
    console,
)


def demo(
    auto: Annotated[
        int | None,
        typer.Option(help="No page: ask this many questions, answered from the known digits.", min=1, max=1797),
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="With --auto: where to save the picture.")] = Path("fewlabels-demo.png"),
    store: Annotated[Path | None, typer.Option(help="Where to keep the answers; default: in the cache folder.")] = None,
    target: Target = TARGET,
    confidence: Confidence = CONFIDENCE,
    checks: Checks = EVERY,
    strategy: StrategyName = "tsa",
    port: Port = None,
    no_browser: NoBrowser = False,
    host: Host = "127.0.0.1",
    token: Token = None,
) -> None:
    """Label scikit-learn's 1,797 handwritten digits: on a page in the browser, or automatically in the terminal.

    Example, a page: **fewlabels demo**

    Example, no page: **fewlabels demo --auto 30**
    """
    if auto is not None:
        return _answer_by_themselves(auto, seed, out)
    import pooch

    from fewlabels.items.digits import digits_items

    if store is None:
        store = Path(pooch.os_cache("fewlabels")) / "demo.sqlite"
        store.parent.mkdir(parents=True, exist_ok=True)
    return open_page(
        digits_items,
        store,
        target=target,
        confidence=confidence,
        checks=checks,
        strategy=strategy,
        seed=seed,
        port=port,
        browser=not no_browser,
        host=host,
        token=token,
    )


def _answer_by_themselves(auto: int, seed: int, out: Path) -> None:
    """Ask this many questions, answer from the known digits, print the accuracy and save a picture."""
    from fewlabels.experiments.datasets import digits
    from fewlabels.experiments.figures import draw_demo, save
    from fewlabels.experiments.trials import answer_from_labels
    from fewlabels.learner import ActiveLearner

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
    save(draw_demo(rows, dataset), out)
    console.print(
        f"{median(row.seconds for row in rows) * 1000:.0f} ms per question. The digits asked about and the curve: {out}"
    )
