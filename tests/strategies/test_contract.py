"""What every strategy on the menu promises, whoever wrote it."""

import numpy as np
import pytest
from support.fields import field_of, taught
from support.graphs import in_pieces, random_labels

import fewlabels as fl
from fewlabels.strategies import cost_of, make_strategy

SIZES = [10, 5, 2, 1]
N = sum(SIZES)


def by_node(strategy, field):
    """(n,) costs at their node numbers, NaN where labelled."""
    cost = np.full(field.n_nodes, np.nan)
    cost[field.unlabelled] = cost_of(make_strategy(strategy), field).values
    return cost


@pytest.fixture(params=[0, 1, 4, N - 1, N], ids="{} labels".format)
def case(request):
    rng = np.random.default_rng(request.param)
    return in_pieces(SIZES, rng), random_labels(N, request.param, 3, rng), rng


@pytest.mark.parametrize("strategy", fl.STRATEGIES)
class TestEveryStrategy:
    def test_gives_one_finite_cost_to_every_unlabelled_node(self, strategy, case):
        W, labels, _ = case
        cost = cost_of(make_strategy(strategy), taught(W, labels, 3, 0.8)).values
        assert cost.shape == (N - len(labels),)
        assert np.isfinite(cost).all()

    def test_leaves_the_field_untouched(self, strategy, case):
        W, labels, _ = case
        field = taught(W, labels, 3, 0.8)
        before = [field.G, field.h.copy(), field.island.copy(), field.unlabelled.copy()]
        make_strategy(strategy).cost(field)
        for a, b in zip(before, [field.G, field.h, field.island, field.unlabelled], strict=True):
            np.testing.assert_array_equal(a, b)

    def test_renumbering_the_nodes_renumbers_the_costs(self, strategy, case):
        W, labels, rng = case
        new = rng.permutation(N)  # node k becomes node new[k]
        W_new = np.empty_like(W)
        W_new[np.ix_(new, new)] = W
        there = by_node(strategy, taught(W_new, {int(new[k]): c for k, c in labels.items()}, 3, 0.8))
        np.testing.assert_allclose(there[new], by_node(strategy, taught(W, labels, 3, 0.8)), rtol=1e-9, atol=1e-9)

    def test_renaming_the_classes_changes_nothing(self, strategy, case):
        W, labels, _ = case
        renamed = {k: [2, 0, 1][c] for k, c in labels.items()}
        np.testing.assert_allclose(
            by_node(strategy, taught(W, renamed, 3, 0.8)), by_node(strategy, taught(W, labels, 3, 0.8)), atol=1e-9
        )

    def test_does_not_depend_on_the_order_of_the_answers(self, strategy, case):
        W, labels, rng = case
        shuffled = {int(k): labels[int(k)] for k in rng.permutation(list(labels))}
        np.testing.assert_allclose(
            by_node(strategy, taught(W, shuffled, 3, 0.8)),
            by_node(strategy, taught(W, labels, 3, 0.8)),
            atol=1e-9,
        )

    def test_the_sparse_engine_gives_the_same_costs_while_the_pool_is_everything(self, strategy, case):
        W, labels, _ = case
        field = field_of(fl.Graph(W), 3, 0.8, engine="sparse").with_answers(labels)
        before = [field.h, field.island, field.variance]
        cost = by_node(strategy, field)
        np.testing.assert_allclose(cost, by_node(strategy, taught(W, labels, 3, 0.8)), rtol=1e-9, atol=1e-9)
        for a, b in zip(before, [field.h, field.island, field.variance], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
