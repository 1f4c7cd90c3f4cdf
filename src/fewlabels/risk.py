"""The zero-one risk: the share of all nodes expected to be predicted wrongly, now and after each possible question."""

from __future__ import annotations

from fewlabels.field import Field
from fewlabels.kernels.reference import Floats
from fewlabels.marginals import markov_field, two_step_marginals


def expected_error(field: Field) -> float:
    """R: the mean over all nodes of one minus the largest TSA marginal; a labelled node is never wrong."""
    return float((1 - two_step_marginals(field).max(axis=1, initial=0)).sum() / field.n_nodes)


def two_step_lookahead(field: Field) -> Floats:
    """(u,) R+q: the expected error after asking q, over the answers q may give, by TSA marginals."""
    cost: Floats = field.kernels.two_step_cost(*field.state, field.n_nodes, **field.hints)
    return cost


def harmonic_lookahead(field: Field) -> Floats:
    """(u,) R+q by ZLG marginals."""
    cost: Floats = field.kernels.harmonic_cost(*field.state, field.n_nodes, **field.hints)
    return cost


def exact_lookahead(field: Field) -> Floats:
    """(u,) R+q by exact marginals of the binary Markov random field; for graphs of small treewidth."""
    from fewlabels.kernels import junction_tree_cpu  # loads Numba

    return junction_tree_cpu.exact_cost(*markov_field(field), field.n_nodes)
