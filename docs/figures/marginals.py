"""The picture docs/pictures/marginals.png: exact marginals against their two approximations, on small random graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from fewlabels import Graph
from fewlabels.arrays import Floats
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.marginals import exact_marginals, harmonic_marginals, two_step_marginals

PICTURE = Path(__file__).parents[1] / "pictures" / "marginals.png"


def random_marginals(rng: np.random.Generator, n_graphs: int = 300, n: int = 14) -> Floats:
    """(3, K) chance of the first of two classes at every node a label reaches: exact, TSA, ZLG."""
    found = []
    for _ in range(n_graphs):
        a, b = np.triu_indices(n, 1)
        edge = rng.random(len(a)) < rng.uniform(0.1, 0.35)
        graph = Graph.from_edges(a[edge], b[edge], rng.uniform(0.1, 1.0, edge.sum()), n_nodes=n)
        asked = rng.choice(n, 3, replace=False).tolist()
        labels = dict(zip(asked, (0, 1, int(rng.integers(2))), strict=True))
        field = Conditioned(FieldSpec(1.0, 0, 0).resolved(graph).build(), Answers(2, labels))
        reached = field.island < 0
        found.append(
            np.stack(
                [
                    marginals(field)[reached, 0]
                    for marginals in (exact_marginals, two_step_marginals, harmonic_marginals)
                ]
            )
        )
    return np.concatenate(found, axis=1)


def draw(chance: Floats) -> Figure:
    """Two panels, one dot per node, and how far the dots are from the diagonal."""
    exact, two_step, harmonic = chance
    figure = Figure(figsize=(9, 5), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, title, approximate, color in (
        (panels[0], "TSA: where labels are far, doubt is left", two_step, "tab:blue"),
        (panels[1], "ZLG: one class in reach counts as certain", harmonic, "tab:orange"),
    ):
        error = np.abs(approximate - exact).mean()
        axes.plot([0, 1], [0, 1], color="0.4", lw=1)
        axes.plot(
            exact, approximate, ".", ms=4, alpha=0.35, mew=0, color=color, label=f"mean absolute error {error:.3f}"
        )
        axes.set(title=title, xlabel="exact chance (BMRF)", aspect="equal", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", markerscale=3)
    panels[0].set_ylabel("approximate chance")
    sure = exact[harmonic > 1 - 1e-9]
    extreme = np.mean(np.abs(harmonic - 0.5) > 0.5 - 1e-9)
    panels[1].annotate(
        f"{extreme:.0%} of nodes at 0 or 1;\nexact chance down to {sure.min():.2f}",
        xy=(sure.min(), 1),
        xytext=(0.03, 0.78),
        arrowprops={"arrowstyle": "->", "color": "0.3"},
    )
    return figure


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    draw(random_marginals(np.random.default_rng(0))).savefig(PICTURE, dpi=130)
