from __future__ import annotations

from fewlabels.field import Field
from fewlabels.kernels.reference import Floats


class VOpt:
    """The least variance left, tr G after the answer: explores, whatever the answers were (Ji & Han 2012)."""

    def cost(self, field: Field) -> Floats:
        G, _, island = field.state
        cost: Floats = field.kernels.vopt_cost(G, island)
        return cost
