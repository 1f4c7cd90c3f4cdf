"""Which node to ask next: the part of a learner that looks ahead."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any, overload

import numpy as np

from fewlabels.arrays import Floats, is_whole
from fewlabels.errors import LabelError, QueryError
from fewlabels.field import Costs, Screening
from fewlabels.learner import answers, choosing
from fewlabels.learner.answers import NumberedAnswer
from fewlabels.learner.outcomes import Foresight, Outcome
from fewlabels.learner.taught import Taught
from fewlabels.risk import by_shares, uncentred_risk
from fewlabels.strategies.first_questions import finding_classes
from fewlabels.strategies.telling import telling
from fewlabels.strategies.tsa import TSA


class Asking(Taught):
    """Every question is chosen by a strategy, in the state that the answers so far have led to."""

    def _begin(self) -> None:
        super()._begin()
        self._costs: Costs | None = None  # (n,) the strategy's in this state, once asked for
        self._two_step: Floats | None = None  # (n,) R+q in this state, once asked for
        self._foresight = Foresight(self._field, self._strategy)
        self.last_question: Screening | None = None  # how it was chosen, where not every node was scored in full

    @overload
    def query(self, *, without: Iterable[Hashable] = ()) -> Any: ...

    @overload
    def query(self, k: int, *, without: Iterable[Hashable] = ()) -> list[Any]: ...

    def query(self, k: int | None = None, *, without: Iterable[Hashable] = ()) -> Any:
        """The node to ask next, or a list of k different ones; none in `without`, which others may be answering.

        The k are chosen one after another, each as if those before had been answered with their most probable class.
        """
        wanted = 1 if k is None else k
        if not is_whole(wanted) or wanted < 1:
            raise QueryError(f"query({k!r}): ask for a whole number of nodes, at least 1.")
        others = [node for node in {self.graph.position(node) for node in without} if self._askable(node)]
        left = self.graph.n_nodes - len(self._answers) - len(self._skipped) - len(others)
        choosing.require_left(wanted, left, len(self._answers), len(self._skipped), len(others))
        rng = self._rng(len(self._events))

        def choose(costs: Costs) -> int:
            costs.values[others] = np.nan
            node = choosing.pick(costs.values, rng)
            self.last_question = self._told(costs.screening, node, float(costs.values[node]))
            return node

        now = self._costs_now()
        first = Costs(now.values.copy(), now.screening)
        chosen = choosing.in_turn(self._strategy, self._field, wanted, choose, first)
        names = [self.graph.names[node] for node in chosen]
        return names[0] if k is None else names

    def pick(self, costs: Floats) -> Any:
        """The node of the lowest of these (n,) costs, NaN where it must not be asked; ties are drawn as by `query`."""
        return self.graph.names[choosing.pick(costs, self._rng(len(self._events)))]

    def costs(self) -> Floats:
        """(n,) the strategy's cost of every node, the lowest is asked; NaN where answered or skipped."""
        return self._costs_now().values.copy()

    def gains(self) -> Floats:
        """(n,) drop in the expected error, by TSA marginals, that asking each node promises; NaN as in `costs`.

        It may be negative: an answer can reveal that others are less certain than they seemed.
        """
        risk = uncentred_risk(self._field)
        field, plain = self._field, type(self._strategy) is TSA  # a subclass may have costs of its own
        if plain and not finding_classes(field) and telling(field).all():
            return risk - self._costs_now().values
        if self._two_step is None:
            self._two_step = choosing.at_nodes(field, by_shares(field, field.two_step_costs()).values)
        return risk - self._two_step

    def outcomes(self, node: Hashable) -> list[Outcome]:
        """What each possible answer to this node would change."""
        k = self.graph.position(node)
        if k in self._answers.sure:
            raise LabelError(
                f"node {node!r} is labelled {self._classes[self._answers.sure[k]]!r}: its answer is known."
            )
        return self._foresight.outcomes(k, self._classes, self._answers.given, self.expected_error())

    def prepare(self, node: Hashable, label: Any) -> None:
        """Work out now what to ask once this answer is taught, so that `query` is ready at once.

        Anything else that is taught or done drops what was prepared.
        """
        k, c = self.graph.position(node), answers.class_number(self._classes, label)
        if k not in self._answers.sure:
            self._foresight.prepare(k, c)

    @property
    def ready(self) -> bool:
        """Whether the costs of this state are known, so that `query` answers at once."""
        return self._costs is not None

    def upcoming(self, node: Hashable) -> dict[Hashable, Any]:
        """{label: the node to ask next if that is the answer to this node}, for the answers that were prepared."""
        k = self.graph.position(node)
        return {
            self._classes[c]: self.graph.names[choosing.pick(costs.values, self._rng(len(self._events) + 1))]
            for (asked, c), costs in self._foresight.prepared.items()
            if asked == k and not np.isnan(costs.values).all()
        }

    def _rng(self, n_events: int) -> np.random.Generator:
        """Draws the question that follows this many events."""
        return np.random.default_rng([self._seed, n_events])

    def _costs_now(self) -> Costs:
        if self._costs is None:
            self._costs = choosing.node_costs(self._strategy, self._field)
        return self._costs

    def _told(self, screening: Screening | None, node: int, cost: float) -> Screening | None:
        """The screening as it is for this node, which need not be the one of the lowest cost."""
        if screening is None:
            return None
        gain = screening.gain + screening.cost - cost
        return replace(screening, node=self.graph.names[node], cost=cost, gain=gain)

    def _take_in(self, new: list[NumberedAnswer]) -> None:
        prepared = self._foresight.prepared
        super()._take_in(new)
        if len(new) == 1 and new[0].sure:
            self._costs = prepared.get((new[0].node, new[0].label))

    def _changed(self) -> None:
        super()._changed()
        self._costs = self._two_step = None
        self._foresight = Foresight(self._field, self._strategy)
