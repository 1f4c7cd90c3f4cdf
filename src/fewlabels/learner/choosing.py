"""Which node is asked next, or which several: each of those is chosen as if the ones before it had been answered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import QueryError
from fewlabels.field import Conditioned, Costs
from fewlabels.marginals import largest, two_step_marginals
from fewlabels.strategies import Strategy, cost_of, lowest


def pick(cost: Floats, rng: np.random.Generator) -> int:
    """The node with the lowest of (n,) costs, NaN where it must not be asked; ties are broken at random."""
    askable = np.flatnonzero(~np.isnan(cost))
    return lowest(cost[askable], askable, rng)


def require_left(wanted: int, left: int, answered: int, skipped: int, left_out: int, what: str = "question") -> None:
    """Refuse more questions, or checks, than there are nodes to ask about."""
    if wanted > left:
        also = f" and {skipped} skipped" if skipped else ""
        also += f" and {left_out} left out" if left_out else ""
        raise QueryError(
            f"{wanted} {what}(s) wanted and {left} node(s) left: {answered} are labelled{also}. "
            "Ask for fewer, or forget one."
        )


def in_turn(
    strategy: Strategy, field: Conditioned, wanted: int, choose: Callable[[Costs], int], first: Costs | None = None
) -> list[int]:
    """Different nodes, one after another, each chosen as if those before were of their most probable class.

    `choose` is given (n,) the costs, NaN where a label is known or supposed and where no question is to be asked; it
    returns a node. `first` are the costs of the field as it is, if already known.
    """
    chosen: list[int] = []
    while True:
        costs = node_costs(strategy, field) if chosen or first is None else first
        chosen.append(choose(costs))
        if len(chosen) == wanted:
            return chosen
        place = int(np.searchsorted(field.unlabelled, chosen[-1]))
        guess = largest(two_step_marginals(field)[[place]])[0]
        field = field.with_answer(chosen[-1], int(guess))


def node_costs(strategy: Strategy, field: Conditioned) -> Costs:
    """(n,) the strategy's costs by node number, NaN where labelled and where no question will be about the node."""
    values, screening = cost_of(strategy, field)
    return Costs(at_nodes(field, values), screening)


def at_nodes(field: Conditioned, values: Floats) -> Floats:
    """(n,) a field's values at their node numbers, NaN where labelled and where no question will be about the node."""
    everywhere = np.full(field.n_nodes, np.nan)
    everywhere[field.unlabelled] = values
    everywhere[list(field.closed)] = np.nan
    return everywhere
