from __future__ import annotations

from typing import TYPE_CHECKING

from fewlabels.arrays import Floats
from fewlabels.marginals import two_step_marginals

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class LeastConfidence:
    """The lowest chance of the most probable class, by TSA marginals."""

    def cost(self, field: Conditioned) -> Floats:
        top: Floats = two_step_marginals(field).max(axis=1, initial=0)
        return top
