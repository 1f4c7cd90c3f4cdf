"""How a question was chosen, where not every node could be scored in full."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """What was scored in full, on what sample the rest, and what may have been missed."""

    node: Hashable
    cost: float  # of the node asked; the lowest of those scored in full
    gain: float  # how far it is below the cost of asking nothing: the drop in the expected error, for TSA
    pool: int  # questions scored on every node
    sample: int  # nodes on which all questions were scored
    missed: tuple[float, float]  # gain above this one's that a question outside the pool may have: a 95% interval
    seconds: float
