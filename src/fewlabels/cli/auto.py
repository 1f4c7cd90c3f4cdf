"""fewlabels demo --auto: the digits answer for themselves, in the terminal."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fewlabels.cli.common import console
from fewlabels.learner import ActiveLearner


def label_by_themselves(auto: int, seed: int, out: Path) -> None:
    """Ask this many questions, answer from the known digits, print the accuracy and save a picture."""
    from fewlabels.experiments.datasets import digits
    from fewlabels.experiments.figures import draw_demo, save
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
    save(draw_demo(rows, dataset), out)
    console.print(
        f"{median(row.seconds for row in rows) * 1000:.0f} ms a question. The asked digits and the curve: {out}"
    )
