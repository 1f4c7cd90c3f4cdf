"""The most telling nodes, among which TSA chooses on a centred field.

TSA asks by what it believes, and while labels are few that is often wrong. How much variance an answer takes from the
other nodes, sum_k G_kq^2 / G_qq without k = q, depends on no belief: it is VOpt without the node's own variance, which
is largest where a node tells nothing about others, at the end of a single edge. Nodes that tell little are left out,
fewer and fewer as answers come in (docs/few-labels.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import TIE, Flags

if TYPE_CHECKING:
    from fewlabels.field import Conditioned

SHARE = 0.1  # of the nodes of a component that are chosen among while answers are few
FEW = 2.0  # answers per class up to which they are; beyond, the share grows with the square of their number
LEAST = 100  # nodes of a component, however large a share that is
MOST = 100_000  # nodes of a graph: beyond it nothing was measured, and other candidates at each question cost columns


def telling(field: Conditioned) -> Flags:
    """(u,) the nodes whose answers leave the others with the least variance, component by component; also those that
    are skipped, and all where no label reaches; everywhere if the field is not centred or the graph is very large.
    """
    u = field.unlabelled
    if field.centring is None or field.n_nodes > MOST:
        return np.ones(len(u), dtype=bool)
    found = (field.island >= 0) | ~field.askable
    groups = int(field.component.max()) + 1
    group = field.component[u]
    there = np.bincount(group[~found], minlength=groups)
    answers = np.bincount(field.component[field.answers.nodes], minlength=groups)
    share = SHARE * np.maximum(1.0, answers / (FEW * field.n_classes)) ** 2
    wanted = np.maximum(LEAST, np.ceil(share * there)).astype(np.int64)
    large = there > wanted  # components
    if not large.any():
        return np.ones(len(u), dtype=bool)
    cost = field.vopt_costs(rough=True).values + np.where(found, 0.0, field.variance)
    found |= ~large[group]
    for component in np.flatnonzero(large):
        here = np.flatnonzero((group == component) & ~found)
        last = np.sort(cost[here])[wanted[component] - 1]
        found[here] = cost[here] <= last + TIE * max(1.0, abs(last))
    return found
