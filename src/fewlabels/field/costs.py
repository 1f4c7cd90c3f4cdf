"""The costs of all questions, and how they were found where not every question could be scored in full."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from fewlabels.arrays import Floats


@dataclass(frozen=True)
class Screening:
    """How a question was found among many: what was scored in full, the sample for the rest, what may be missed."""

    node: Hashable
    cost: float  # of the node asked; the lowest of those scored in full
    gain: float  # how far it is below the cost of asking nothing: the drop in the expected error, for TSA
    pool: int  # questions scored on every node
    sample: int  # nodes on which all questions were scored
    missed: tuple[float, float]  # gain above this one's that a question outside the pool may have: a 95% interval
    seconds: float


class Costs(NamedTuple):
    """(u,) a cost for every unlabelled node, the lowest is asked; and the screening behind them, if there was one."""

    values: Floats
    screening: Screening | None = None
