"""A learner on a path of seven nodes, to try things on."""

import fewlabels as fl

PATH = fl.Graph.from_edges(range(6), range(1, 7))


def learner(graph=PATH, classes=("a", "b"), **options):
    return fl.ActiveLearner(graph, classes, **options)
