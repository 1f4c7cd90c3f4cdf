"""What an answer would change, worked out before it is given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from fewlabels.arrays import Ints
from fewlabels.field import Conditioned, Costs
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.choosing import node_costs
from fewlabels.learner.suspects import chances
from fewlabels.marginals import predicted
from fewlabels.risk import zero_one_risk
from fewlabels.strategies import Strategy

EXAMPLES = 12  # nodes named for each answer


@dataclass(frozen=True)
class Outcome:
    """What the learner would say of all nodes if one of them turned out to be of a class."""

    label: Hashable
    chance: float  # that this is the answer
    expected_error: float  # after it
    changes: int  # how many predictions of other nodes would change, or appear
    examples: tuple[
        tuple[int, int], ...
    ] = ()  # some of them, the surest first: position of the node, number of its class


class Foresight:
    """The field as it will be when a node has been answered."""

    def __init__(self, field: Conditioned, strategy: Strategy) -> None:
        self._field, self._strategy = field, strategy
        self.prepared: dict[tuple[int, int], Costs] = {}  # (node, class) -> (n,) costs after, NaN where labelled

    def prepare(self, node: int, label: int) -> None:
        """Work out the costs after this answer."""
        if (node, label) not in self.prepared:
            self.prepared[node, label] = node_costs(self._strategy, self._field.with_answer(node, label))

    def outcomes(
        self, node: int, classes: Sequence[Hashable], given: Sequence[NumberedAnswer], error_now: float
    ) -> list[Outcome]:
        """What each class, as the answer, would mean for the other nodes; the expected error moves as the model's own
        risk does.
        """
        p, n = chances(self._field, given), self._field.n_nodes
        beyond = error_now - zero_one_risk(p, n)
        at_node = p[self._field.unlabelled == node][0]
        now = np.empty(self._field.n_nodes, dtype=np.int64)
        now[self._field.unlabelled] = _guesses(self._field)
        found = []
        for c, label in enumerate(classes):
            after = self._field.with_answer(node, c)
            guesses, chance = _guesses(after), chances(after, given)
            changed = np.flatnonzero(now[after.unlabelled] != guesses)
            sure = changed[np.argsort(-chance[changed, guesses[changed]], kind="stable")[:EXAMPLES]]
            examples = tuple(zip(after.unlabelled[sure].tolist(), guesses[sure].tolist(), strict=True))
            error = max(0.0, zero_one_risk(chance, n) + beyond)
            found.append(Outcome(label, float(at_node[c]), error, len(changed), examples))
        return found


def _guesses(field: Conditioned) -> Ints:
    """(u,) class number predicted, -1 where no label reaches."""
    return np.where(field.island < 0, predicted(field), -1)
