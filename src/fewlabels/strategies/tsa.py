from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewlabels.field import Costs
from fewlabels.risk import by_shares

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class TSA:
    """The lowest expected error after the answer, by two-step marginals: explores and exploits (Jun & Nowak 2016)."""

    def cost(self, field: Conditioned) -> Costs:
        from fewlabels.strategies.first_questions import finding_classes, first_costs  # loads SciPy
        from fewlabels.strategies.telling import telling

        tell = telling(field)
        costs = first_costs(field, tell) if finding_classes(field) else field.two_step_costs(tell)
        values, screening = by_shares(field, costs)
        return Costs(np.where(tell, values, 1.0), screening)  # the others come after them: costs are below 1
