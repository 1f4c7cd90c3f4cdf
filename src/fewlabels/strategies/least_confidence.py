from __future__ import annotations

from fewlabels.arrays import Floats
from fewlabels.field import Conditioned
from fewlabels.marginals import two_step_marginals


class LeastConfidence:
    """The lowest chance of the most probable class, by TSA marginals."""

    def cost(self, field: Conditioned) -> Floats:
        top: Floats = two_step_marginals(field).max(axis=1, initial=0)
        return top
