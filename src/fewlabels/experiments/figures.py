"""Pictures of results. Nothing is computed here."""

from __future__ import annotations

import os

from fewlabels.experiments.datasets import Dataset
from fewlabels.experiments.trials import Row
from fewlabels.whole_file import whole_file


def draw_demo(rows: list[Row], dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Accuracy and expected error as labels grow, above the asked pictures in the order they were asked."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    across = 10
    down = -(-len(rows) // across)
    figure = Figure(figsize=(8, 4.2 + 0.85 * down), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[4.2, 0.85 * down])  # type: ignore[misc]
    axes = above.subplots()
    asked = [row.labelled for row in rows]
    axes.plot(asked, [row.accuracy for row in rows], color="tab:blue", lw=2, label="accuracy")
    axes.plot(
        asked,
        [1 - row.expected_error for row in rows],
        color="tab:orange",
        lw=1.5,
        ls="--",
        label="accuracy it expects",
    )
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
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=110)
