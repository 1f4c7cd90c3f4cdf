from __future__ import annotations

from typing import TYPE_CHECKING

from fewlabels.arrays import Floats
from fewlabels.risk import exact_lookahead

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


class BMRF:
    """The lowest expected error after the answer, by exact marginals of the binary Markov field; small treewidth only.

    What the other look-ahead strategies approximate (Jun & Nowak 2016, row BMRF of Figure 1). Labelled nodes drop out
    of the graph, so its treewidth falls as answers come in.
    """

    def cost(self, field: Conditioned) -> Floats:
        return exact_lookahead(field)
