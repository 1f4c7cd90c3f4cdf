from __future__ import annotations

from fewlabels.field import Field
from fewlabels.kernels.reference import Floats
from fewlabels.risk import harmonic_lookahead


class ZLG:
    """The lowest expected error after the answer, by harmonic marginals: exploits (Zhu, Lafferty & Ghahramani 2003)."""

    def cost(self, field: Field) -> Floats:
        return harmonic_lookahead(field)
