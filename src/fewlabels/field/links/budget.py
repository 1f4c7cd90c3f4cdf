"""What a question may spend, by the size of the graph: how many columns of G, how precise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SMALL, FEW = 20_000, 4_000  # nodes up to which nothing is saved, with a factor and without
POOL, SAMPLE = 200, 512
LEAST_POOL = 25
WITH_FACTOR = 2048  # where a column costs little: on 20,000 nodes of a manifold 512 lose 14% of the gain, 2048 1%.
#   In the smooth field, where an answer does a little to many nodes rather than much to few, 512 lose no more
LARGE = 100_000  # nodes up to which the sample is that large: a gigabyte in float32, which every answer runs through
TIGHT = 1e-9  # tolerance of a column that changes h and diag(G) for good
SCORING = 1e-6, 1e-2  # of one that scores questions, on such small graphs and beyond, where gains are off by up to 0.5%
CLIMB = 0.15  # share of the pool: neighbours of the best finalists that are scored as well


class Budget(NamedTuple):
    """How many questions are scored, and how."""

    pool: int  # questions scored on every node
    sample: int  # nodes k that questions race on
    dtype: type  # precision of the columns kept
    tolerance: float  # of columns that score questions
    once: bool  # columns are solved for once per question, all together

    @property
    def columns(self) -> int:
        """How many are kept."""
        return self.sample + int(self.pool * (1 + CLIMB)) + 1


def budget_for(
    n: int, has_factor: bool, pool: int | None = None, sample: int | None = None, *, smooth: bool = False
) -> Budget:
    """For n nodes, with a Cholesky factor or without, in a smooth field or the paper's; pool and sample as given."""
    shrink = min(1.0, SMALL / n) ** 0.4
    if pool is None:
        pool = int(POOL * shrink * max(0.6, shrink)) if has_factor else max(LEAST_POOL, int(POOL * shrink**3))
    if sample is None:
        most = WITH_FACTOR * min(1.0, LARGE / n) ** 1.2 if has_factor else SAMPLE * shrink
        sample = max(1, int(min(SAMPLE, most) if smooth else most))
    large = n > (SMALL if has_factor else FEW)
    return Budget(pool, sample, np.float32 if large else np.float64, SCORING[large], large)
