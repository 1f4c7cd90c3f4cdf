"""A look-ahead that gives way leaves everything as it was."""

from itertools import count

import numpy as np
import pytest
from fewlabels.field.sparse import SparseField

from fewlabels.learner.outcomes import Foresight
from fewlabels.machine.giving_way import GaveWayError, giving_way
from fewlabels.strategies import make_strategy
from tests.field.sparse.test_waves import clusters


def test_given_up_at_any_point_it_can_be_begun_again():
    field = SparseField(clusters(600), 2, smoothness=3.3, solver="chebyshev", pool=30, sample=64)
    for node, label in ((5, 0), (100, 1), (300, 0)):
        field.observe(node, label)
    unharmed = Foresight(field.copy(), make_strategy("tsa"))
    interrupted = Foresight(field, make_strategy("tsa"))
    for label in (1, 0):
        unharmed.prepare(7, label)
        for turns in count():
            calls = count()
            try:
                with giving_way(lambda calls=calls, turns=turns: next(calls) >= turns):
                    interrupted.prepare(7, label)
                break
            except GaveWayError:
                assert (7, label) not in interrupted.prepared
        assert turns > 3
        expected, found = (each.prepared[7, label].values for each in (unharmed, interrupted))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(GaveWayError), giving_way(lambda: True):
        Foresight(field, make_strategy("tsa")).prepare(8, 0)
