"""What the plain kernels take, read off a field."""

from scipy.sparse.csgraph import connected_components

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
