from __future__ import annotations

from fewlabels.field import Conditioned, Costs


class ZLG:
    """The lowest expected error after the answer, by harmonic marginals: exploits (Zhu, Lafferty & Ghahramani 2003)."""

    def cost(self, field: Conditioned) -> Costs:
        return field.harmonic_costs()
