from __future__ import annotations

from typing import TYPE_CHECKING

from fewlabels.field import Costs

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class ZLG:
    """The lowest expected error after the answer, by harmonic marginals: exploits (Zhu, Lafferty & Ghahramani 2003)."""

    def cost(self, field: Conditioned) -> Costs:
        return field.harmonic_costs()
