from __future__ import annotations

from fewlabels.arrays import Floats
from fewlabels.field import Conditioned
from fewlabels.marginals import two_step_marginals


class Entropy:
    """The most uncertain class, by the entropy of the TSA marginals."""

    def cost(self, field: Conditioned) -> Floats:
        from scipy.special import xlogy

        p = two_step_marginals(field)  # (u, C)
        negative_entropy: Floats = xlogy(p, p).sum(axis=1)
        return negative_entropy
