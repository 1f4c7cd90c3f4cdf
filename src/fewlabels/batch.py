"""Several questions at once: each is chosen as if those before it had been answered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewlabels.field import Field
from fewlabels.kernels.reference import Floats
from fewlabels.marginals import largest, two_step_marginals
from fewlabels.strategies import Strategy, cost_of


def in_turn(
    strategy: Strategy, field: Field, wanted: int, choose: Callable[[Floats], int], first: Floats | None = None
) -> list[int]:
    """Different nodes, one after another, each chosen as if those before were of their most probable class.

    `choose` is given (n,) the costs, NaN where a label is known or supposed and where no question will be, and names a
    node. `first` are the costs of the field as it is, where they are known already. The field ends as it began.
    """
    chosen: list[int] = []
    supposed: list[int] = []
    try:
        while True:
            cost = at_nodes(field, cost_of(strategy, field)) if chosen or first is None else first
            chosen.append(choose(cost))
            if len(chosen) == wanted:
                return chosen
            place = int(np.flatnonzero(field.unlabelled == chosen[-1])[0])
            guess = largest(two_step_marginals(field)[[place]])[0]
            field.observe(chosen[-1], int(guess))
            supposed.append(chosen[-1])
    finally:
        for node in reversed(supposed):
            field.forget(node)


def at_nodes(field: Field, values: Floats) -> Floats:
    """(n,) a field's values at their node numbers, NaN where labelled and where no question will be about the node."""
    everywhere = np.full(field.n_nodes, np.nan)
    everywhere[field.unlabelled] = values
    everywhere[field.skipped] = np.nan
    return everywhere
