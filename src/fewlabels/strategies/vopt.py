from __future__ import annotations

from fewlabels.field import Conditioned, Costs


class VOpt:
    """The least variance left, tr G after the answer: explores, whatever the answers were (Ji & Han 2012)."""

    def cost(self, field: Conditioned) -> Costs:
        return field.vopt_costs()
