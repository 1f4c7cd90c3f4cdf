"""What the sparse engine solves with: conjugate gradients, Cholesky factors, and diag(G) from one or sketched."""

import numpy as np
import pytest
from scipy import sparse
from support.fields import covariance, everywhere, on_demand, resistances
from support.graphs import in_pieces, random_weights

from fewlabels.field import Answers, Conditioned
from fewlabels.field.links import on_demand as engine
from fewlabels.field.links.solve import choose, diagonal
from fewlabels.field.links.solve.factor import SuperLU
from fewlabels.field.links.solve.pcg import Operator, System, matrix_of, solve, unit_columns
from fewlabels.field.precision import Precision
from fewlabels.graph import Graph


def system_of(W, held):
    W = sparse.csr_array(W)
    mask = np.zeros(W.shape[0], dtype=bool)
    mask[held] = True
    return System(
        W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, np.asarray(W.sum(axis=1)).ravel(), mask
    )


@pytest.fixture(params=[0.0, 3.3])
def operator(request):
    """Q of 700 nodes in pieces with a node of each held and two more, some with unsure answers; and its inverse."""
    rng = np.random.default_rng(3)
    graph = Graph(in_pieces([650, 30, 1, 19], rng))
    precision = Precision(graph, 1.0, request.param)
    held, unsure = np.zeros(700, dtype=bool), np.zeros(700)
    held[np.unique(graph.components(), return_index=True)[1]] = held[[5, 300]] = True
    unsure[[5, 70, 400]] = [2.0, 0.3, 5.0]
    A = np.diag(precision.diagonal + unsure) - precision.weights.toarray()
    inverse = np.zeros_like(A)
    inverse[np.ix_(~held, ~held)] = np.linalg.inv(A[np.ix_(~held, ~held)])
    return Operator.of(precision, held, unsure), inverse


@pytest.mark.parametrize("m", [1, 3, 16, 70])
def test_conjugate_gradients_meet_a_direct_solve(m, operator):
    system, inverse = operator
    B = np.random.default_rng(m).standard_normal((700, m))
    expected = inverse @ B
    X, steps = solve(system, B, 1e-11)
    np.testing.assert_allclose(X, expected, atol=1e-8 * np.abs(expected).max())
    assert 0 < steps < 1000
    assert not X[system.held].any()
    single, few = solve(system.single(), B.astype(np.float32), 1e-4)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=2e-3 * np.abs(expected).max())
    assert few < steps


def test_an_operator_is_what_it_says(operator):
    system, inverse = operator
    free = ~system.held
    X = np.where(free[:, None], np.random.default_rng(0).standard_normal((700, 5)), 0.0)
    Y = np.empty_like(X)
    np.testing.assert_allclose(system.apply(X, Y), (X * Y).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(inverse @ Y, X, atol=1e-7)
    np.testing.assert_allclose(system.residual(np.zeros_like(X), X), -Y, atol=1e-9 * np.abs(Y).max())
    ones = np.where(free[:, None], 1.0, 0.0)
    assert system.pull() == pytest.approx(float(system.apply(ones, np.empty_like(ones))[0]), rel=1e-9)


def test_takahashi_gives_the_diagonal_of_the_inverse():
    rng = np.random.default_rng(9)
    for n, density in ((1, 0.1), (2, 0.5), (80, 0.02), (150, 0.2)):
        system = system_of(random_weights(n, rng, density), [0])
        A = matrix_of(system)
        found, ties = diagonal.takahashi(SuperLU(A), system)
        G = np.linalg.inv(A.toarray())
        G[0, 0] = 0
        np.testing.assert_allclose(found, np.diag(G), rtol=1e-10)
        ends = np.repeat(np.arange(n), np.diff(system.indptr)), system.indices
        np.testing.assert_allclose(ties, resistances(G)[ends], rtol=1e-9)


def tightly_held(W):
    """As where many are held: what is put in at a node has faded a few rows on."""
    return matrix_of(system_of(W, [])._replace(diagonal=np.full(W.shape[0], 8.0)))


def test_what_has_faded_is_zero_in_float32():
    """Numbers below 1e-38 took processors ten times as long as all others together."""
    factor = SuperLU(tightly_held(sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(400, 400)).tocsr()))
    B = unit_columns(400, np.array([0, 200, 399]), np.float32)
    X = factor.narrowed(np.float32).solve(B)
    np.testing.assert_allclose(X, factor.solve(B.astype(float)), atol=1e-7)
    assert not ((X != 0) & (np.abs(X) < np.finfo(np.float32).tiny)).any()


def test_a_narrowed_factor_is_without_what_its_rounding_loses():
    line = sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(40, 40))
    factor = SuperLU(tightly_held(sparse.kronsum(line, line).tocsr()))
    narrow = factor.narrowed(np.float32)
    assert len(narrow.L) == len(narrow.indices) == narrow.indptr[-1] < 0.8 * len(factor.L)
    B = np.random.default_rng(0).standard_normal((1_600, 5))
    np.testing.assert_allclose(narrow.solve(B), factor.solve(B), atol=1e-6)


@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("answers", [0, 60])
def test_the_sketched_diagonal_is_within_two_percent(answers, smoothness, monkeypatch):
    n, rng = 1500, np.random.default_rng(10)
    graph = Graph(random_weights(n, rng, density=6 / n))
    truth = covariance(graph, 1.0, smoothness)
    made = on_demand(graph, 2, 1.0, smoothness, "gradients")
    labels = {int(k): 0 for k in rng.permutation(n)[:answers]}
    monkeypatch.setattr(diagonal, "COLUMNS_UP_TO", 0)
    monkeypatch.setattr(choose, "FEW_LEFT", 0)
    if answers:
        monkeypatch.setattr(engine, "MANY", 10)
    field, dense = made.with_answers({0: 0} | labels), Conditioned(truth, Answers(2, {0: 0} | labels))
    assert not field.covariance.exact
    off = field.variance / dense.variance - 1
    assert np.sqrt(np.mean(off**2)) < 0.02
    assert np.abs(off).max() < 0.08
    field.workspace.bring(field)
    start, other, ties = field.workspace.edges
    exact = resistances(everywhere(dense))[np.repeat(np.arange(n), np.diff(start)), other]
    assert np.sqrt(np.mean((ties[exact > 1e-12] / exact[exact > 1e-12] - 1) ** 2)) < 0.1
