"""The zero-one risk: the share of all nodes expected to be predicted wrongly, now and after each possible question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.field import Costs
from fewlabels.field.opinion import asking_h
from fewlabels.kernels import reference
from fewlabels.marginals import markov_field, two_step_marginals

if TYPE_CHECKING:
    from fewlabels.field import Conditioned


def expected_error(field: Conditioned) -> float:
    """R: the mean over all nodes of one minus the largest TSA marginal; a labelled node is never wrong."""
    return zero_one_risk(two_step_marginals(field), field.n_nodes)


def uncentred_risk(field: Conditioned) -> float:
    """R of the field as it asks: the look-ahead of TSA is about this one."""
    p, lost = reference.two_step_marginals(asking_h(field), field.variance), (field.island >= 0).sum()
    return zero_one_risk(p, field.n_nodes) - _surer(field) * float(lost) / field.n_nodes


def by_shares(field: Conditioned, costs: Costs) -> Costs:
    """Costs of questions with the nodes that no label reaches as wrong as the known shares of the classes say, where an
    engine takes them for equal. The question's own component is reached then.
    """
    surer, lost, component = _surer(field), field.island >= 0, field.component[field.unlabelled]
    if surer == 0 or not lost.any():
        return costs
    size = np.bincount(component[lost], minlength=int(component.max()) + 1)[component]  # of the question's, if lost
    return Costs(costs.values - surer * (lost.sum() - size) / field.n_nodes, costs.screening)


def _surer(field: Conditioned) -> float:
    """By how much the known shares make a node surer that no label reaches."""
    shares = None if field.centring is None else field.centring.shares
    return 0.0 if shares is None else float(shares.max()) - 1 / field.n_classes


def zero_one_risk(p: Floats, n: int) -> float:
    """The mean over n nodes of one minus the largest chance; those not in (u, C) p are never wrong."""
    return float((1 - p.max(axis=1, initial=0)).sum() / n)


def two_step_lookahead(field: Conditioned) -> Floats:
    """(u,) R+q: the expected error after asking q, over the answers q may give, by TSA marginals."""
    return field.two_step_costs().values


def harmonic_lookahead(field: Conditioned) -> Floats:
    """(u,) R+q by ZLG marginals."""
    return field.harmonic_costs().values


def exact_lookahead(field: Conditioned) -> Floats:
    """(u,) R+q by exact marginals of the binary Markov random field; for graphs of small treewidth."""
    from fewlabels.kernels.exact import junction_tree_cpu  # loads Numba

    return junction_tree_cpu.exact_cost(*markov_field(field), field.n_nodes)
