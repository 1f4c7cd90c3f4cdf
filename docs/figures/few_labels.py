"""The picture of the maths page: label propagation with few labels, before and after.

python docs/figures/few_labels.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import fewlabels as fl
from fewlabels.centring import centred_h

NODES, CLASSES, ANSWERS = 4_000, 4, 8
COLOURS = ("#2a78b5", "#d9822b", "#4f9d4f", "#b04a6f")


def blocks(rng: np.random.Generator) -> tuple[fl.Graph, NDArray[np.int64]]:
    """Four communities, a tenth of the edges between any two nodes; the nodes are sorted by community."""
    label = np.repeat(np.arange(CLASSES), NODES // CLASSES)
    source = rng.integers(NODES, size=6 * NODES)
    inside = label[source] * (NODES // CLASSES) + rng.integers(NODES // CLASSES, size=len(source))
    target = np.where(rng.random(len(source)) < 0.1, rng.integers(NODES, size=len(source)), inside)
    pairs = np.unique(np.sort(np.column_stack([source, target])[source != target], axis=1), axis=0)
    return fl.Graph.from_edges(pairs[:, 0], pairs[:, 1], n_nodes=NODES), label


def main() -> None:
    rng = np.random.default_rng(2)
    graph, label = blocks(rng)
    told = rng.permutation(NODES)[:ANSWERS]
    figure = Figure(figsize=(10, 6), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    for axes, options, title in (
        (panels[0], {"smoothness": 0, "centred": False}, "the graph's Laplacian, h as it is"),
        (panels[1], {}, "the smooth field, h about its mean"),
    ):
        learner = fl.ActiveLearner(graph, range(CLASSES), **options)
        learner.teach(told.tolist(), label[told].tolist())
        field = learner._field
        h, order = centred_h(field), np.argsort(field.unlabelled)
        for c in range(CLASSES):
            axes.plot(field.unlabelled[order], h[order, c], ".", ms=1.5, color=COLOURS[c])
            axes.plot(told[label[told] == c], np.full((label[told] == c).sum(), 1.0), "v", ms=7, color=COLOURS[c])
        right = np.mean(learner.predict() == label)
        axes.set(title=f"{title}: {right:.0%} right", ylabel="h, a colour for each class", ylim=(-1.15, 1.15))
        axes.vlines(np.arange(1, CLASSES) * NODES // CLASSES, -1.15, 1.15, color="0.8", lw=0.8, zorder=0)
    panels[1].set(xlabel=f"{NODES:,} nodes, sorted by community; a triangle is an answer", xlim=(0, NODES))
    figure.savefig(Path(__file__).parents[1] / "pictures" / "few-labels.png", dpi=110)


if __name__ == "__main__":
    main()
