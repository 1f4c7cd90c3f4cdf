"""The covariance in memory: the pseudo-inverse, in as much memory as was said, or refused with a sentence."""

import re
import tracemalloc

import numpy as np
import oracle
import pytest
from support.fields import covariance, field_of
from support.graphs import in_pieces, random_weights

from fewlabels.errors import GraphError, MemoryNeededError
from fewlabels.field import conditioned
from fewlabels.field.links import inverse
from fewlabels.graph import Graph
from fewlabels.machine import memory, progress


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("sizes", [[1], [2], [40], [9, 4, 2, 1], [60, 30, 5]])
def test_with_its_levels_it_is_the_pseudo_inverse(sizes, smoothness):
    W = in_pieces(sizes, np.random.default_rng(len(sizes)))
    made = covariance(Graph(W), 0.7, smoothness)
    truth = np.linalg.pinv(oracle.smooth_laplacian(W, 0.7, smoothness), hermitian=True)
    F, S = made.levels.F, made.levels.S
    np.testing.assert_allclose(made.K + F @ np.linalg.solve(S, F.T), truth, atol=1e-12 * abs(truth).max())
    np.testing.assert_allclose(made.diagonal, np.diag(made.K))
    np.testing.assert_allclose(made.sums(), made.K.sum(axis=1))


def test_slow_waves_are_kept_apart_and_told_apart_by_the_answers():
    """Clusters of 20 in a row, bridges of 1e-9: the two waves between them, which are zero at the answers they see."""
    rng = np.random.default_rng(0)
    W = np.zeros((60, 60))
    for left in (0, 20, 40):
        W[left : left + 20, left : left + 20] = random_weights(20, rng)
    W[0, 20] = W[20, 0] = W[21, 40] = W[40, 21] = 1e-9
    field = field_of(Graph(W), 2)
    levels = field.covariance.levels
    slow = np.flatnonzero(levels.reach > 1e6)
    assert len(slow) == 2
    assert abs(field.covariance.K).max() < 100
    one, two = field.with_answer(3, 0), field.with_answers({3: 0, 44: 1})
    assert abs(one.core.levels.F[:20][:, slow]).max() < 1e-8
    free = abs(two.core.levels.F[:, slow]).max(axis=0) > 0
    zero = [abs(two.core.levels.F[part][:, slow]).max(axis=0) < 1e-8 for part in (slice(20), slice(40, 60))]
    assert (free & zero[0] & zero[1]).sum() == 1  # what nobody has answered: the cluster in the middle


def test_setting_up_takes_one_matrix():
    n = 1500
    graph = Graph.from_features(np.random.default_rng(0).normal(size=(n, 3)), 6)
    covariance(Graph.from_edges([0], [1]))  # kernels loaded
    tracemalloc.start()
    try:
        made = covariance(graph, 1.0, 3.3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made.K.shape == (n, n)
    assert peak < 1.2 * 8 * n * n


def test_an_answer_and_one_taken_back_take_no_further_matrix(monkeypatch):
    monkeypatch.setattr(conditioned, "STRETCH", 2**14)
    n = 600
    field = field_of(Graph(random_weights(n, np.random.default_rng(7), density=0.01)), 3).with_answers({0: 0, 5: 1})
    field.vopt_costs()
    tracemalloc.start()
    try:
        field.with_answer(1, 1).vopt_costs()
        field.vopt_costs()
        field.without([0]).vopt_costs()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.15 * 8 * n * n


@pytest.mark.parametrize("m", [1, 5, 64, 130])
def test_blocks_give_the_inverse_also_when_the_last_one_is_short(m):
    rng = np.random.default_rng(m)
    A = np.diag(random_weights(m, rng).sum(axis=1) + rng.random(m)) - 0.1
    A = A @ A.T + np.eye(m)
    expected = np.linalg.inv(A)
    assert inverse._inverse_by_blocks(A, block=64)
    np.testing.assert_allclose(np.tril(A), np.tril(expected), rtol=1e-9, atol=1e-12)
    assert not inverse._inverse_by_blocks(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_a_long_set_up_tells_the_time_left(capsys, monkeypatch):
    monkeypatch.setattr(inverse, "BLOCKS_FROM", 1)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    n = 2100  # three blocks, each taken up three times
    covariance(Graph(random_weights(n, np.random.default_rng(0), 0.01)))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 8
    assert re.fullmatch(r"fewlabels: setting up 2,100 nodes, about \d+ s left", lines[0])


def test_a_graph_too_large_for_the_memory_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**30)
    graph = Graph.from_edges([0], [1], n_nodes=20_000)
    with pytest.raises(MemoryNeededError, match=r"20,000 nodes needs 6\.0 GiB of memory and 1\.0 GiB are free"):
        covariance(graph)


def test_weights_that_float64_cannot_hold_together_are_refused():
    with pytest.raises(GraphError, match="more than a factor 1e\\+13"):
        covariance(Graph.from_edges([0, 1], [1, 2], [1e-9, 1e9]))
    with pytest.raises(GraphError, match="must stay within"):
        covariance(Graph.from_edges([0], [1], [1e-60]))
