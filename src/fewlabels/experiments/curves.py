"""Curves from rows: means over trials, their standard errors, and comparisons of strategies on the same trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Curve:
    """Accuracy against the number of labelled nodes: mean over trials and its standard error."""

    labelled: Floats  # (k,)
    mean: Floats  # (k,)
    error: Floats  # (k,)

    def at(self, labelled: Floats) -> tuple[Floats, Floats]:
        """Mean and standard error at these numbers of labelled nodes, which the curve must have."""
        place = np.searchsorted(self.labelled, labelled)
        return self.mean[place], self.error[place]


def by_trial(rows: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """Accuracy of one strategy: a line per trial, a column per number of labelled nodes."""
    return rows[rows["strategy"] == strategy].pivot_table(index="trial", columns="labelled", values="accuracy")


def curve(rows: pd.DataFrame, strategy: str) -> Curve:
    """The mean curve of one strategy."""
    table = by_trial(rows, strategy)
    error = table.std(axis=0, ddof=1).fillna(0) / np.sqrt(len(table))
    return Curve(table.columns.to_numpy(dtype=float), table.mean(axis=0).to_numpy(), error.to_numpy())


@dataclass(frozen=True)
class Difference:
    """How much better one strategy does than another on the same trials, with a 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def says(self) -> str:
        return "better" if self.low > 0 else "worse" if self.high < 0 else "no clear difference"


def paired(rows: pd.DataFrame, one: str, other: str, labels: range | None = None) -> Difference:
    """Mean accuracy of one strategy minus the other's, trial by trial, over these (or all) numbers of labels."""
    a, b = by_trial(rows, one), by_trial(rows, other)
    counts = [k for k in map(int, a.columns) if k in b.columns and (labels is None or k in labels)]
    gap = (a[counts].mean(axis=1) - b[counts].mean(axis=1)).dropna()
    return Difference(float(gap.mean()), *interval(gap.to_numpy()))


def interval(values: Floats) -> tuple[float, float]:
    """The 95 % interval of the mean, by Student's t; a single point if there is one value."""
    from scipy.stats import t

    mean, m = float(np.mean(values)), len(values)
    half = float(t.ppf(0.975, m - 1) * np.std(values, ddof=1) / np.sqrt(m)) if m > 1 else 0.0
    return mean - half, mean + half
