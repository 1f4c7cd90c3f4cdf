from __future__ import annotations

from typing import TYPE_CHECKING

from fewlabels.field import Costs

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class VOpt:
    """The least variance left, tr G after the answer: explores, whatever the answers were (Ji & Han 2012)."""

    def cost(self, field: Conditioned) -> Costs:
        return field.vopt_costs()
