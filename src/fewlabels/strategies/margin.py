from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.marginals import two_step_marginals

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class Margin:
    """The smallest gap between the two most probable classes, by TSA marginals."""

    def cost(self, field: Conditioned) -> Floats:
        p = np.sort(two_step_marginals(field), axis=1)  # (u, C)
        return p[:, -1] - p[:, -2]
