"""What changes add up to is what a learner knows that heard them one by one."""

import numpy as np
import pytest

from fewlabels import ActiveLearner, Graph
from fewlabels.session.ledger import Change
from fewlabels.session.told import Told

N = 12


def some(rng, items, most=3):
    return tuple(int(item) for item in rng.permutation(sorted(items))[: rng.integers(most + 1)])


@pytest.mark.parametrize("seed", range(8))
def test_changes_add_up_to_what_a_learner_knows_that_heard_them_one_by_one(seed):
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(range(N - 1), range(1, N))
    learner, afresh = ActiveLearner(graph, range(3)), ActiveLearner(graph, range(3))
    told = Told({}, (), (), frozenset())
    for _ in range(40):
        forget = some(rng, {*told.labels, *told.skipped})
        free = set(range(N)) - ({*told.labels, *told.skipped} - set(forget))
        teach = tuple((item, int(rng.integers(3))) for item in some(rng, free))
        skip = some(rng, free - {item for item, _ in teach})
        check = some(rng, free - set(learner.drawn), most=1)
        change = Change(forget=forget, teach=teach, skip=skip, check=check)
        told.take(change)
        learner.forget(list(forget))
        learner.add_checks(check)
        learner.teach([item for item, _ in teach], [c for _, c in teach])
        for item in skip:
            learner.skip(item)
        assert told.labels == learner.labelled
        assert told.skipped == set(learner.skipped)
    for checks, labels, skipped in told.turns():
        afresh.add_checks(checks)
        afresh.teach(list(labels), list(labels.values()))
        for item in skipped:
            afresh.skip(item)
    assert (afresh.closed, afresh.checks, afresh.audit) == (learner.closed, learner.checks, learner.audit)


def test_checks_are_kept_once_in_their_order_and_what_is_set_aside_is_the_last_word():
    told = Told({}, (), (4,), frozenset({1}))
    told.take(Change(check=(7, 4)))
    told.take(Change(check=(2,), aside=frozenset({3})))
    told.take(Change(check=(7,)))
    assert list(told.checks) == [4, 7, 2]
    assert told.aside == {3}
