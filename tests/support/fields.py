"""Fields for tests, and what the plain kernels take, read off one."""

import numpy as np
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.field import Answers, Conditioned, FieldSpec
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
