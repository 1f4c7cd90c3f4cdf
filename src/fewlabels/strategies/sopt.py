from __future__ import annotations

from fewlabels.field import Field
from fewlabels.kernels.reference import Floats


class SOpt:
    """The least variance left in the sum of labels, 1'G1: explores from the middle (Ma, Garnett & Schneider 2013)."""

    def cost(self, field: Field) -> Floats:
        G, _, island = field.state
        cost: Floats = field.kernels.sopt_cost(G, island)
        return cost
