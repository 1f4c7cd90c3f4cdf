from __future__ import annotations

from typing import TYPE_CHECKING

from fewlabels.arrays import Floats
from fewlabels.marginals import two_step_marginals

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class Entropy:
    """The most uncertain class, by the entropy of the TSA marginals."""

    def cost(self, field: Conditioned) -> Floats:
        from scipy.special import xlogy

        p = two_step_marginals(field)  # (u, C)
        negative_entropy: Floats = xlogy(p, p).sum(axis=1)
        return negative_entropy
