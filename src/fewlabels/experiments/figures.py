"""Pictures of results. Nothing is computed here but means of the rows that are drawn."""

from __future__ import annotations

import os
from itertools import cycle
from typing import TYPE_CHECKING, Any

from fewlabels.experiments.curves import curve
from fewlabels.experiments.datasets import Dataset
from fewlabels.experiments.paper import published
from fewlabels.experiments.trials import Row
from fewlabels.files.atomic import atomic_file

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLORS = {
    "tsa": "tab:red", "zlg": "tab:blue", "bmrf": "black", "sopt": "tab:green", "vopt": "tab:orange",
    "random": "tab:gray", "margin": "tab:purple", "entropy": "tab:brown", "least_confidence": "tab:pink",
}  # fmt: skip
OTHER_COLORS = ("tab:cyan", "tab:olive", "navy", "gold", "teal", "orchid", "sienna", "yellowgreen")  # dashed
DASHES = (0, (6, 1.5))


def new_figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, *paths: str | os.PathLike[str]) -> None:
    """Save under every path, in the format of its ending, each whole or not at all."""
    for path in paths:
        with atomic_file(path) as draft:
            figure.savefig(draft, dpi=110, metadata={"Date": None} if str(path).endswith(".svg") else None)


def draw_curves(rows: pd.DataFrame, dataset: str, axes: Any = None) -> Figure:
    """Accuracy against labelled nodes with standard errors; the paper's curve, if there is one, dashed under it.

    Strategies of other packages have longer dashes.
    """
    if axes is None:
        figure = new_figure(7, 5)
        axes = figure.subplots()
    theirs = published(dataset)
    others = cycle(OTHER_COLORS)
    for strategy in dict.fromkeys(rows["strategy"]):
        ours, mine = curve(rows, strategy), strategy in COLORS
        color, dashes = (COLORS[strategy], "-") if mine else (next(others), DASHES)
        [line] = axes.plot(ours.labelled, ours.mean, color=color, ls=dashes, lw=1.6, label=strategy)
        axes.fill_between(
            ours.labelled, ours.mean - ours.error, ours.mean + ours.error, color=line.get_color(), alpha=0.18, lw=0
        )
        if strategy in theirs:
            axes.plot(*theirs[strategy], color=line.get_color(), lw=1.4, ls=(0, (2, 2)), alpha=0.7, zorder=1)
    if theirs:
        axes.plot([], [], color="0.4", lw=1.4, ls=(0, (2, 2)), label="the paper's curve")
    trials = rows["trial"].nunique()
    axes.set(xlabel="labelled nodes", ylabel="accuracy", title=f"{dataset}, mean of {trials} trials ± standard error")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    return axes.figure


def draw_box(dataset: Dataset, axes: Any = None) -> Figure:
    """The jittered box: a 10 x 10 grid of labels, as in Figure 2(b)."""
    if axes is None:
        figure = new_figure(4, 4)
        axes = figure.subplots()
    axes.imshow(dataset.labels.reshape(10, 10), cmap="coolwarm", vmin=-0.4, vmax=1.4)
    for node, label in enumerate(dataset.labels):
        axes.text(node % 10, node // 10, dataset.class_names[label], ha="center", va="center", fontsize=9)
    axes.set(xticks=[], yticks=[], title="the jittered box, one draw")
    return axes.figure


def draw_figure_2(rows: dict[str, pd.DataFrame], box: Dataset) -> Figure:
    """All of Figure 2, laid out as in the paper."""
    figure = new_figure(15, 9)
    places = figure.subplots(2, 3).ravel()
    draw_box(box, places[1])
    for place, name in zip((0, 2, 3, 4, 5), ("chain", "box", "dblp", "cora", "citeseer"), strict=True):
        draw_curves(rows[name], name, places[place])
    return figure


def draw_demo(rows: list[Row], dataset: Dataset) -> Figure:
    """Accuracy and expected error as labels grow, above the asked pictures in the order they were asked."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    across = 10
    down = -(-len(rows) // across)
    figure = new_figure(8, 4.2 + 0.85 * down)
    above, below = figure.subfigures(2, 1, height_ratios=[4.2, 0.85 * down])  # type: ignore[misc]
    axes = above.subplots()
    asked = [row.labelled for row in rows]
    axes.plot(asked, [row.accuracy for row in rows], color="tab:blue", lw=2, label="accuracy")
    expected = [1 - row.expected_error for row in rows]
    axes.plot(asked, expected, color="tab:orange", lw=1.5, ls="--", label="accuracy it expects")
    axes.set(xlabel="labels given", ylabel="share of all nodes", ylim=(0, 1.02))
    axes.set_title(f"{len(rows)} answers label {dataset.graph.n_nodes:,} {dataset.name}: {rows[-1].accuracy:.1%} right")
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    assert dataset.images is not None
    for place, picture in enumerate(below.subplots(down, across, squeeze=False).ravel()):
        picture.set_axis_off()
        if place < len(rows):
            node = rows[place].node
            picture.imshow(dataset.images[node], cmap="gray_r")
            picture.set_title(f"{place + 1}: “{dataset.labels[node]}”", fontsize=8, pad=2)
    return figure
