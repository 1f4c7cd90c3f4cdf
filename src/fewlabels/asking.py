"""Which node is asked next: costs at their nodes, ties drawn, batches chosen one after another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.errors import QueryError
from fewlabels.field import Field
from fewlabels.kernels.reference import Floats
from fewlabels.marginals import largest, two_step_marginals
from fewlabels.strategies import Strategy, cost_of, lowest


def at_nodes(field: Field, values: Floats) -> Floats:
    """(n,) the field's values at their node numbers, NaN where no question will be about the node."""
    everywhere = np.full(field.n_nodes, np.nan)
    everywhere[field.unlabelled] = values
    everywhere[field.skipped] = np.nan
    return everywhere


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


def batch(
    field: Field,
    strategy: Strategy,
    cost: Floats,
    wanted: int,
    without: list[int],
    rng: np.random.Generator,
    tell: Callable[[int, float], None],
) -> list[int]:
    """So many nodes, each as if those before had been answered by their most probable label.

    The field is left as it was. cost (n,) is the strategy's in this state; `tell` hears of every node and its cost.
    """
    chosen: list[int] = []
    supposed: list[int] = []  # nodes that the field takes as answered for now
    try:
        while True:
            cost[without] = np.nan
            chosen.append(pick(cost, rng))
            tell(chosen[-1], float(cost[chosen[-1]]))
            if len(chosen) == wanted:
                return chosen
            place = int(np.flatnonzero(field.unlabelled == chosen[-1])[0])
            guess = largest(two_step_marginals(field)[[place]])[0]
            field.observe(chosen[-1], int(guess))
            supposed.append(chosen[-1])
            cost = at_nodes(field, cost_of(strategy, field))
    finally:
        for node in reversed(supposed):
            field.forget(node)
