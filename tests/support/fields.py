"""What the plain kernels take, read off a field."""

import numpy as np
from scipy.sparse.csgraph import connected_components
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.field.dense import DenseField
from fewlabels.graph import Graph

COSTS = {  # verb of a field -> the plain kernel that specifies it
    "two_step_costs": "two_step_cost",
    "harmonic_costs": "harmonic_cost",
    "vopt_costs": "vopt_cost",
    "sopt_costs": "sopt_cost",
}


def state(field):
    """G, h and island."""
    return field.G, field.h, field.island


def pieces(field):
    """(u,) which piece each node is in once the labelled ones are taken out."""
    return connected_components(field.weights[field.unlabelled][:, field.unlabelled], directed=False)[1].astype(int)


def plain_costs(kernels, verb, field):
    """(u,) the costs that a verb of this field must give, by these kernels."""
    if verb in ("vopt_costs", "sopt_costs"):
        return getattr(kernels, COSTS[verb])(field.G, field.island)
    return getattr(kernels, COSTS[verb])(*state(field), field.n_nodes)


def taught(W, labels, C, beta=1.0, kernels=None):
    """The dense field of these weights once these labels, {node: class}, were heard."""
    field = DenseField(Graph(W), C, beta, kernels)
    for node, c in labels.items():
        field.observe(node, c)
    return field


def random_field(n, C, how_many, beta=1.0, parts=None, kernels=None):
    """A sparse random graph of n nodes, or one in parts of these sizes, with so many random labels."""
    rng = np.random.default_rng(0)
    W = random_weights(n, rng, density=min(1, 4 / n)) if parts is None else in_pieces(parts, rng)
    return taught(W, random_labels(n, how_many, C, rng), C, beta, kernels)
