"""Fields for tests, and what the plain kernels take, read off one."""

import numpy as np
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.field.links.on_demand import OnDemand
from fewlabels.graph import Graph

COSTS = {  # verb of a field -> the plain kernel that specifies it
    "two_step_costs": "two_step_cost",
    "harmonic_costs": "harmonic_cost",
    "vopt_costs": "vopt_cost",
    "sopt_costs": "sopt_cost",
}


def covariance(graph, beta=1.0, smoothness=0.0, engine="dense", overlap=0.0):
    """What this engine has before anybody has answered."""
    return FieldSpec(beta, smoothness, overlap, engine).resolved(graph).build()


def field_of(graph, C, beta=1.0, smoothness=0.0, engine="dense", overlap=0.0):
    """The field without answers."""
    return Conditioned(covariance(graph, beta, smoothness, engine, overlap), Answers(C))


def afresh(field):
    """The same answers, without anything worked out before."""
    return Conditioned(field.covariance, field.answers, field.centring, field.opinion, field.closed)


class Life:
    """A field that is answered again and again: every verb puts another one in the place of the one before."""

    def __init__(self, field):
        self.field = field

    def __getattr__(self, name):
        return getattr(self.field, name)

    def observe(self, node, label):
        self.field = self.field.with_answer(int(node), int(label))

    def forget(self, node):
        self.field = self.field.without([int(node)])

    def attach(self, node, weights):
        self.field = self.field.with_unsure({int(node): weights})

    def add_class(self):
        self.field = self.field.with_class()


def attached(field):
    """(n, C) the weights of each node's unsure answers, by the class they name."""
    found = np.zeros((field.n_nodes, field.n_classes))
    for node, weights in field.answers.unsure.items():
        found[node] = weights
    return found


def state(field):
    """G, h and island."""
    return field.G, field.h, field.island


def plain_costs(kernels, verb, field):
    """(u,) the costs that a verb of this field must give, by these kernels."""
    if verb in ("vopt_costs", "sopt_costs"):
        return getattr(kernels, COSTS[verb])(field.G, field.island)
    return getattr(kernels, COSTS[verb])(*state(field), field.n_nodes)


def taught(W, labels, C, beta=1.0, smoothness=0.0, engine="dense"):
    """The field of these weights with these labels, {node: class}, each given after the one before."""
    field = field_of(Graph(W), C, beta, smoothness, engine)
    for node, c in labels.items():
        field = field.with_answer(node, c)
    return field


def random_field(n, C, how_many, beta=1.0, parts=None):
    """A sparse random graph of n nodes, or one in parts of these sizes, with so many random labels."""
    rng = np.random.default_rng(0)
    W = random_weights(n, rng, density=min(1, 4 / n)) if parts is None else in_pieces(parts, rng)
    return taught(W, random_labels(n, how_many, C, rng), C, beta)


def on_demand(graph, C, beta=1.0, smoothness=0.0, solver="auto", pool=None, sample=None):
    """The field without answers, on the sparse engine with this solver."""
    recipe = FieldSpec(beta, smoothness, 0.0, "sparse").resolved(graph)
    return Conditioned(OnDemand(recipe, solver, pool, sample), Answers(C))


def resistances(G):
    return np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G


def everywhere(field):
    """(n, n) G of a dense field, zero at sure answers."""
    whole = np.zeros((field.n_nodes,) * 2)
    whole[np.ix_(field.unlabelled, field.unlabelled)] = field.G
    return whole


def assert_same(ours, dense, close=1e-8, float32=False):
    """A sparse field against a dense one: h, island, variance, columns and sums of G; and what is kept at hand of it,
    some columns and the resistances along the edges, which are those of the fields before brought to this one.
    """
    ours, dense = (each.field if isinstance(each, Life) else each for each in (ours, dense))
    near = {"rtol": close, "atol": close}
    kept = 2e-3 if float32 or not ours.covariance.solver.exact else ours.covariance.budget.tolerance  # for scoring
    rough = {"rtol": kept, "atol": kept}
    np.testing.assert_array_equal(ours.unlabelled, dense.unlabelled)
    np.testing.assert_array_equal(ours.island, dense.island)
    np.testing.assert_allclose(ours.all_h, dense.all_h, **near)
    u, reached = ours.unlabelled, ours.island < 0
    np.testing.assert_allclose(ours.columns(u), dense.G, **near)
    np.testing.assert_allclose(ours.sums()[reached], dense.sums()[reached], rtol=close, atol=close * len(u))
    if ours.covariance.exact:
        np.testing.assert_allclose(ours.variance, dense.variance, **near)
    G, work = everywhere(dense), ours.workspace
    with work.lock:
        work.bring(ours)
        start, other, ties = work.edges
        ends = np.repeat(np.arange(ours.n_nodes), np.diff(start)), other
        if ours.covariance.exact:
            np.testing.assert_allclose(ties, resistances(G)[ends], **near)
        kept = np.flatnonzero(work.nodes >= 0)
        assert (work._slot[work.nodes[kept]] == kept).all()
        assert np.count_nonzero(work._slot >= 0) == len(kept)
        np.testing.assert_allclose(work.X[:, kept], _as_held(ours, G)[:, work.nodes[kept]], **rough)
        work.slots(u[:: max(1, len(u) // 12)])
        kept = np.flatnonzero(work.nodes >= 0)
        np.testing.assert_allclose(work.X[:, kept], _as_held(ours, G)[:, work.nodes[kept]], **rough)


def _as_held(field, G):
    """G, where no answer reaches less what it is at the node that the sparse engine holds there."""
    found = G.copy()
    for anchor in field.covariance._anchor:
        if not field.reached[anchor]:
            there = np.ix_(field.component == field.component[anchor], field.component == field.component[anchor])
            at = G[:, anchor]
            found[there] += G[anchor, anchor] - (at[:, None] + at)[there]
    return found
