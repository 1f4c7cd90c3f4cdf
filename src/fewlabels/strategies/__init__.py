"""The menu of query strategies. A strategy gives every unlabelled node a cost; the lowest is asked.

To add one: a file with a class that has `cost(field) -> (u,)`, a test, and a line in `STRATEGIES`. The command line,
the table of strategies and the contract test read this menu; the first line of the class's docstring
describes it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from fewlabels.arrays import TIE, Floats, Ints
from fewlabels.errors import SettingError, nearest
from fewlabels.field import Costs
from fewlabels.strategies.bmrf import BMRF
from fewlabels.strategies.entropy import Entropy
from fewlabels.strategies.least_confidence import LeastConfidence
from fewlabels.strategies.margin import Margin
from fewlabels.strategies.random import Random
from fewlabels.strategies.sopt import SOpt
from fewlabels.strategies.tsa import TSA
from fewlabels.strategies.vopt import VOpt
from fewlabels.strategies.zlg import ZLG

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class Strategy(Protocol):
    """Anything with a `cost`; `field.h`, `field.variance`, `field.island` and columns of G hold all it should need.

    `field.askable` (u,) says which nodes may be asked about; the costs of the others count for nothing. Only exact
    inference goes back to the graph and the answers themselves, `field.weights` and `field.answers`.
    """

    def cost(self, field: Conditioned) -> Floats | Costs:
        """(u,) one finite number for every node of `field.unlabelled`; the lowest is asked.

        What a field's own verbs return, such as `field.two_step_costs()`, will do as well.
        """


STRATEGIES: dict[str, type[Strategy]] = {
    "tsa": TSA,
    "zlg": ZLG,
    "bmrf": BMRF,
    "sopt": SOpt,
    "vopt": VOpt,
    "margin": Margin,
    "entropy": Entropy,
    "least_confidence": LeastConfidence,
    "random": Random,
}

TINY = 1e3  # costs whose largest is below one in so many are all tiny
NOISE = 1e-12  # by which costs that should be zero may differ


def make_strategy(strategy: str | Strategy) -> Strategy:
    """A strategy by its name on the menu; any object with a cost is taken as it is."""
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            raise SettingError(
                f"there is no strategy {strategy!r}: choose one of "
                f"{', '.join(STRATEGIES)}.{nearest(strategy, STRATEGIES)}"
            )
        return STRATEGIES[strategy]()
    if isinstance(strategy, type) or not callable(getattr(strategy, "cost", None)):
        raise SettingError(
            f"strategy is {strategy!r}: give a name ({', '.join(STRATEGIES)}) or an object with cost(field)."
        )
    return strategy


def cost_of(strategy: Strategy, field: Conditioned) -> Costs:
    """The strategy's costs, checked."""
    found = strategy.cost(field)
    values, screening = found if isinstance(found, Costs) else (found, None)
    cost = np.asarray(values, dtype=float)
    u = len(field.unlabelled)
    if cost.shape != (u,) or not np.isfinite(cost).all():
        fact = f"costs of shape {cost.shape}" if cost.shape != (u,) else f"the cost {cost[~np.isfinite(cost)][0]}"
        raise SettingError(
            f"strategy {type(strategy).__name__} gave {fact}: "
            f"it must give one finite number for each of the {u} unlabelled nodes."
        )
    return Costs(cost, screening)


def tied(cost: Floats, nodes: Ints) -> Ints:
    """The nodes whose cost is the lowest up to rounding, in the order of their numbers.

    Rounding is that of numbers about 1, or of the lowest where it is larger; where all are tiny, as variances on very
    strong edges are, that of the largest, but no less than sums of numbers about 1 are off by.
    """
    bound = cost.min() + max(NOISE, TIE * max(min(1.0, TINY * abs(cost).max()), abs(cost.min())))
    return np.sort(nodes[cost <= bound])


def lowest(cost: Floats, nodes: Ints, rng: np.random.Generator) -> int:
    """The node with the lowest cost; ties are broken uniformly at random."""
    ties = tied(cost, nodes)
    return int(ties[rng.integers(len(ties))])
