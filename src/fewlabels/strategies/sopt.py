from __future__ import annotations

from typing import TYPE_CHECKING

from fewlabels.field import Costs

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class SOpt:
    """The least variance left in the sum of labels, 1'G1: explores from the middle (Ma, Garnett & Schneider 2013)."""

    def cost(self, field: Conditioned) -> Costs:
        return field.sopt_costs()
