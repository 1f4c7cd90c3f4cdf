"""Jun & Nowak 2016: the published curves of Figure 2, the sentences about them, and whether ours agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.experiments.curves import by_trial, curve, paired
from fewlabels.experiments.datasets import DATASETS, chain, jittered_box
from fewlabels.experiments.runner import Plan
from fewlabels.experiments.trials import Always, Draw

if TYPE_CHECKING:
    import pandas as pd

FIVE = ("random", "vopt", "sopt", "zlg", "tsa")
LABELS = {"chain": 10, "box": 50, "dblp": 70, "cora": 70, "citeseer": 70}  # labelled nodes in the paper's plots
STRATEGIES = {name: (*FIVE, "bmrf") if name == "chain" else FIVE for name in LABELS}
GRAPHS = ("dblp", "cora", "citeseer")

CLOSE = 0.008  # mean difference to the paper's curve that counts as the same, on the three graphs
CLOSE_RANDOM = 0.025  # the same for random questions, whose trials differ more
COMPARED = range(10, 71)  # over these numbers of labelled nodes
OUTSIDE = 0.1  # share of a toy's points that may lie beyond two standard errors; of a short curve, one
TRIALS = 50  # behind every published curve
ROUNDING = 5e-5  # of the published numbers, which have four digits


def plan(
    name: str, trials: int = TRIALS, labels: int | None = None, strategies: tuple[str, ...] | None = None, seed: int = 0
) -> Plan:
    """The paper's experiment of this name: its protocol and, by default, its strategies and number of labels."""
    toys: dict[str, Draw] = {"chain": partial(chain, 15), "box": jittered_box}
    draw = toys.get(name) or Always(DATASETS[name]())
    return Plan(name, draw, strategies or STRATEGIES[name], labels or LABELS[name], trials, seed)


def published(dataset: str) -> dict[str, tuple[Floats, Floats]]:
    """{strategy: (labelled, mean accuracy)} of the paper's curves; empty for other datasets."""
    text = files("fewlabels.experiments").joinpath("paper_curves.json").read_text(encoding="utf-8")
    curves = {}
    for strategy, runs in json.loads(text).get(dataset, {}).items():
        labelled = np.concatenate([run["from"] + np.arange(len(run["accuracy"])) for run in runs]).astype(float)
        curves[strategy] = labelled, np.concatenate([run["accuracy"] for run in runs])
    return curves


@dataclass(frozen=True)
class Comparison:
    """One of our curves beside the paper's, at the numbers of labelled nodes both have."""

    dataset: str
    strategy: str
    labelled: Floats
    ours: Floats
    theirs: Floats
    error: Floats  # combined standard error: the paper's trials are assumed to spread like ours

    @property
    def in_errors(self) -> Floats:
        """The difference in combined standard errors; where all trials end alike, only the rounding is left."""
        return (self.ours - self.theirs) / np.hypot(self.error, ROUNDING)

    @property
    def verdict(self) -> tuple[bool, str]:
        """Whether the curves agree, and how closely."""
        if self.dataset in GRAPHS:
            inside = np.isin(self.labelled, COMPARED)
            bound = CLOSE_RANDOM if self.strategy == "random" else CLOSE
            if not inside.any():
                return False, f"no labels between {COMPARED.start} and {COMPARED.stop - 1} to compare"
            mean = float((self.ours - self.theirs)[inside].mean())
            return abs(mean) <= bound, f"mean difference {mean:+.4f} over 10-70 labels (bound {bound})"
        points, outside = len(self.labelled), int((np.abs(self.in_errors) > 2).sum())
        return (
            outside <= max(1, OUTSIDE * points),
            f"{points - outside} of {points} points within 2 standard errors (bound: all but one in ten)",
        )


def compare(dataset: str, rows: pd.DataFrame) -> list[Comparison]:
    """Each of our curves beside the published one."""
    found = []
    ran = set(rows["strategy"])
    for strategy, (labelled, accuracy) in published(dataset).items():
        if strategy not in ran:
            continue
        ours = curve(rows, strategy)
        both = np.isin(labelled, ours.labelled)
        mean, error = ours.at(labelled[both])
        spread = error * np.sqrt(by_trial(rows, strategy).shape[0])  # of single trials
        combined = np.hypot(error, spread / np.sqrt(TRIALS))
        found.append(Comparison(dataset, strategy, labelled[both], mean, accuracy[both], combined))
    return found


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, whether our results bear it out, and the figures."""

    sentence: str
    holds: bool
    figures: str


AS_GOOD = -0.01  # "as good as": not worse by more than this, or not clearly worse at all


def claims(dataset: str, rows: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about this dataset, each with its figures, where the strategies it names were run."""
    ran = set(rows["strategy"])
    return [claim(rows) for where, named, claim in _CLAIMS if dataset in where and named <= ran]


def _as_good_as_sopt_early(rows: pd.DataFrame) -> Claim:
    sentence = "TSA is as good as SOpt in the earlier period (up to 20 labels)."
    return _as_good_as(rows, "sopt", range(2, 21), sentence)


def _as_good_as_zlg_late(rows: pd.DataFrame) -> Claim:
    sentence = "TSA is as good as or better than ZLG in the later period (50 labels and more)."
    return _as_good_as(rows, "zlg", range(50, 71), sentence)


def _as_good_as(rows: pd.DataFrame, other: str, labels: range, sentence: str) -> Claim:
    gap = paired(rows, "tsa", other, labels)
    figures = f"tsa - {other} {gap.mean:+.3f}, 95 % interval [{gap.low:+.3f}, {gap.high:+.3f}]"
    return Claim(sentence, gap.mean >= AS_GOOD or gap.high >= 0, figures)


def _adaptive_end_above(rows: pd.DataFrame) -> Claim:
    end = {s: float(curve(rows, s).mean[-1]) for s in ("zlg", "tsa", "bmrf", "vopt", "sopt")}
    holds = min(end["zlg"], end["tsa"], end["bmrf"]) > max(end["vopt"], end["sopt"])
    return Claim("ZLG, TSA and BMRF end above VOpt and SOpt.", holds, _listed(end))


def _zlg_worst_then_best(rows: pd.DataFrame) -> Claim:
    curves = {s: curve(rows, s).mean for s in ("vopt", "sopt", "zlg", "tsa")}
    half = {s: float(mean[1 : len(mean) // 2].mean()) for s, mean in curves.items()}
    end = {s: float(mean[-1]) for s, mean in curves.items()}
    holds = min(half, key=half.__getitem__) == "zlg" == max(end, key=end.__getitem__)
    sentence = "ZLG is the worst of the four in the first half and the best at the end."
    return Claim(sentence, holds, f"first half: {_listed(half)}; end: {_listed(end)}")


def _listed(accuracy: dict[str, float]) -> str:
    return ", ".join(f"{strategy} {a:.3f}" for strategy, a in accuracy.items())


_CLAIMS: list[tuple[tuple[str, ...], set[str], Callable[[pd.DataFrame], Claim]]] = [
    (GRAPHS, {"tsa", "sopt"}, _as_good_as_sopt_early),
    (GRAPHS, {"tsa", "zlg"}, _as_good_as_zlg_late),
    (("chain",), {"zlg", "tsa", "bmrf", "vopt", "sopt"}, _adaptive_end_above),
    (("box",), {"vopt", "sopt", "zlg", "tsa"}, _zlg_worst_then_best),
]
