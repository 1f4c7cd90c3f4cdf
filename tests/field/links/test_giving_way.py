"""A look-ahead that gives way leaves everything as it was."""

from itertools import count

import numpy as np
import pytest
from support.fields import afresh, assert_same, field_of, on_demand
from support.graphs import clusters

from fewlabels.learner.outcomes import Foresight
from fewlabels.machine.giving_way import GaveWayError, giving_way
from fewlabels.strategies import make_strategy


def test_given_up_at_any_point_it_can_be_begun_again():
    field = on_demand(clusters(600), 2, smoothness=3.3, solver="chebyshev", pool=30, sample=64)
    field = field.with_answers({5: 0, 100: 1, 300: 0})
    unharmed, interrupted = (Foresight(afresh(field), make_strategy("tsa")) for _ in range(2))
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


def test_given_up_while_a_label_is_taken_back_it_is_what_it_was():
    """Rows of nodes that had a label are solved for anew."""
    field = on_demand(clusters(600), 2, 1.0, 3.3, "chebyshev", 30, 64).with_answers({5: 0, 100: 1, 300: 0, 7: 1})
    field.two_step_costs()
    back = field.without([100])
    for turns in count():
        calls = count()
        try:
            with giving_way(lambda calls=calls, turns=turns: next(calls) >= turns):
                found = back.two_step_costs().values
            break
        except GaveWayError:
            pass
    assert turns > 3
    expected = afresh(back).two_step_costs().values
    assert found.min() == pytest.approx(expected.min(), rel=1e-3)
    assert_same(back, field_of(back.covariance.recipe.graph, 2, 1.0, 3.3).with_answers({5: 0, 300: 0, 7: 1}))
