"""The race of questions: its sample, its kernels against their plain twins, and what is at the neighbours."""

import numpy as np
import pytest
from support.fields import on_demand
from support.graphs import in_pieces, random_labels, random_weights

from fewlabels.field.links import racing
from fewlabels.field.links.lookahead import _Lookahead
from fewlabels.graph import Graph
from fewlabels.kernels import sparse_reference
from fewlabels.kernels.cpu import neighbour_gains as beside
from fewlabels.kernels.cpu import sparse_lookahead


def columns(field, nodes):
    """(n, m) of G, where no answer reaches of K."""
    return field.covariance.conditioned_columns(field, nodes, rough=False, centred=False)


@pytest.mark.parametrize("harmonic", [False, True])
@pytest.mark.parametrize(("n", "C"), [(2, 3), (70, 2), (90, 7)])
def test_the_gain_at_the_neighbours_is_that_of_their_columns(n, C, harmonic):
    rng = np.random.default_rng(n + C)
    graph = Graph(in_pieces([n - n // 4, n // 4] if n > 3 else [n], rng))
    field = on_demand(graph, C, 2.0).with_answers(random_labels(n, n // 5, min(C, 3), rng))
    view, questions = _Lookahead(field.covariance, field, harmonic).state, field.unlabelled
    edges = field.workspace.edges
    rows, weight, spread = beside.packed(view), rng.random(n), rng.random(n)
    some = np.flatnonzero(rng.random(n) < 0.4)
    everyone, _ = beside.neighbour_gains(view, rows, beside.all_neighbours(*edges, questions))
    few = beside.some_neighbours(*edges, some, weight[some], spread[some])
    gain, variance = (np.zeros(n) for _ in range(2))
    gain[few.questions], variance[few.questions] = beside.neighbour_gains(view, rows, few)
    for i, q in enumerate(questions):
        around = graph.weights[[q]].indices
        around = around[field.label[around] < 0]
        for nodes, w, v, found in (
            (around, np.ones(n), np.zeros(n), (everyone[i], 0.0)),
            (np.intersect1d(around, some), weight, spread, (gain[q], variance[q])),
        ):
            X, slots = columns(field, nodes), np.arange(len(nodes))
            one = sparse_reference.sampled_gains(view, X, slots, np.array([q]), nodes, w[nodes], v[nodes])
            np.testing.assert_allclose(found, (one[0][0] - view.error_now[q], one[1][0]), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("harmonic", [False, True])
@pytest.mark.parametrize(("n", "s", "C"), [(1, 1, 2), (2, 1, 3), (65, 64, 2), (131, 65, 7)])
def test_kernels_meet_their_plain_twins(n, s, C, harmonic):
    rng = np.random.default_rng(n + C)
    graph = Graph(in_pieces([n - n // 4, n // 4] if n > 3 else [n], rng))
    field = on_demand(graph, C, 3.0).with_answers(random_labels(n, n // 5, min(C, 3), rng))
    view = _Lookahead(field.covariance, field, harmonic).state
    nodes = rng.permutation(field.unlabelled)[:s]
    X = np.ascontiguousarray(columns(field, nodes))
    slots = np.arange(len(nodes))
    weight, spread = rng.random(len(nodes)), rng.random(len(nodes))
    found = sparse_lookahead.sampled_gains(view, X, slots, field.unlabelled, nodes, weight, spread)
    truth = sparse_reference.sampled_gains(view, X, slots, field.unlabelled, nodes, weight, spread)
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-9)
    ours, theirs = (k.whole_costs(view, X, slots, nodes) for k in (sparse_lookahead, sparse_reference))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_steep_pairs_are_worked_out_in_logarithms():
    rng = np.random.default_rng(8)
    graph = Graph(random_weights(30, rng))
    field = on_demand(graph, 3, 5e3).with_answers(random_labels(30, 8, 3, rng))
    view, nodes = _Lookahead(field.covariance, field, False).state, field.unlabelled
    X = columns(field, nodes)
    ours, theirs = (k.whole_costs(view, X, np.arange(len(nodes)), nodes) for k in (sparse_lookahead, sparse_reference))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_the_sample_is_unbiased_also_its_first_part_and_tells_its_variance():
    rng = np.random.default_rng(11)
    risk, f = rng.random(300) ** 3, rng.standard_normal(300)
    f *= risk
    for s in (20, 60):
        estimates, variances = [], []
        for _ in range(4000):
            nodes, weight, spread = racing.draw(racing.sizes(risk), 1 - rng.random(300), 60).first(s)
            assert len(nodes) == s
            estimates.append(weight @ f[nodes])
            variances.append(spread @ f[nodes] ** 2)
        deviation = np.std(estimates)
        assert abs(np.mean(estimates) - f.sum()) < 4 * deviation / np.sqrt(4000)
        assert np.sqrt(np.mean(variances)) == pytest.approx(deviation, rel=0.1)


def test_the_sample_stays_while_the_risk_drifts_and_follows_where_it_leaps():
    rng = np.random.default_rng(11)
    risk, uniform = 0.1 + rng.random(300), 1 - rng.random(300)
    sizes = racing.sizes(risk)
    first = racing.draw(sizes, uniform, 60)
    drifted = racing.sizes(risk * rng.uniform(0.7, 1.4, 300), sizes)
    np.testing.assert_array_equal(racing.draw(drifted, uniform, 60).nodes, first.nodes)
    gone = risk.copy()
    gone[first.nodes[:30]] = 0
    assert not np.isin(first.nodes[:30], racing.draw(racing.sizes(gone, sizes), uniform, 60).nodes).any()
