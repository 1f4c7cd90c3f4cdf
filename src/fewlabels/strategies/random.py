from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Floats

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class Random:
    """Any node: all costs are equal, and ties are broken uniformly at random."""

    def cost(self, field: Conditioned) -> Floats:
        return np.zeros(len(field.unlabelled))
