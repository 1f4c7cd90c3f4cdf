"""Helpers for graphs from elsewhere: what the tests of reading them share."""

import warnings

import numpy as np
from support.profiles import examples

from fewlabels.errors import FewlabelsError

SOME = examples(20)


def quietly(make, *arguments, **more):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "dropped")  # self-loops
        return make(*arguments, **more)


def told(make, *arguments):
    """The graph in a few words, or the sentence that refuses it."""
    try:
        return repr(make(*arguments))
    except FewlabelsError as error:
        return str(error)


def assert_same(graph, order, W):
    assert list(graph.names) == order
    np.testing.assert_allclose(graph.weights.toarray(), W)
