"""Which node is asked next, if there is one."""

from __future__ import annotations

import numpy as np

from fewlabels.errors import QueryError
from fewlabels.kernels.reference import Floats
from fewlabels.strategies import lowest


def pick(cost: Floats, rng: np.random.Generator) -> int:
    """The node with the lowest of (n,) costs, NaN where it must not be asked; ties are drawn."""
    askable = np.flatnonzero(~np.isnan(cost))
    return lowest(cost[askable], askable, rng)


def require_left(wanted: int, n_nodes: int, answered: int, skipped: int, left_out: int) -> None:
    """Refuse more questions than there are nodes to ask about."""
    left = n_nodes - answered - skipped - left_out
    if wanted > left:
        also = f" and {skipped} skipped" if skipped else ""
        also += f" and {left_out} left out" if left_out else ""
        raise QueryError(
            f"{wanted} question(s) wanted and {left} node(s) left: {answered} are labelled{also}. "
            "Ask for fewer, or forget one."
        )
