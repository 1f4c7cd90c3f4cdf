"""What the sparse field solves with: conjugate gradients, plain and fused, and diag(G) from a factor or a sketch."""

import numpy as np
import pytest
from fewlabels.field.sparse.solve import diagonal, jacobi
from fewlabels.field.sparse.solve.choose import make_solver
from fewlabels.field.sparse.solve.factor import Factor, SuperLU
from fewlabels.field.sparse.solve.pcg import Aggregates, Diagonal, System, matrix_of, solve, unit_columns
from fewlabels.field.sparse.solve.sketch import sketched
from scipy import sparse
from scipy.sparse.linalg import spsolve
from support.graphs import in_pieces, random_weights

from fewlabels.field.precision import Precision
from fewlabels.graph import Graph


def system_of(W, held):
    W = sparse.csr_array(W)
    mask = np.zeros(W.shape[0], dtype=bool)
    mask[held] = True
    return System(
        W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, np.asarray(W.sum(axis=1)).ravel(), mask
    )


def resistances(G):
    return np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G


@pytest.mark.parametrize("inverse", ["jacobi", "plain", "amg"])
@pytest.mark.parametrize("m", [1, 3, 16])
def test_conjugate_gradients_meet_a_direct_solve(inverse, m):
    rng = np.random.default_rng(m)
    system = system_of(random_weights(700, rng, density=0.01), [0, 5, 300])
    made = Diagonal() if inverse == "jacobi" else Aggregates(system, inverse == "amg")
    system.held[[7, 8]] = True  # labels that came after the hierarchy
    B = rng.standard_normal((700, m))
    B[system.held] = 0
    X, steps = solve(system, B, made, 1e-10)
    expected = spsolve(sparse.csc_matrix(matrix_of(system)), B).reshape(700, m)
    np.testing.assert_allclose(X, expected, atol=1e-8 * np.abs(expected).max())
    assert 0 < steps < 400


@pytest.mark.parametrize("m", [1, 3, 16, 70])
def test_fused_conjugate_gradients_are_the_plain_ones(m):
    rng = np.random.default_rng(m)
    W = in_pieces([650, 30, 1, 19], rng)
    system = system_of(W, np.unique(Graph(W).components(), return_index=True)[1])
    system.held[[5, 300]] = True
    system.diagonal[system.diagonal == 0] = 1  # a node without edges
    B = rng.standard_normal((700, m))
    truth, steps = solve(system, B, Diagonal(), 1e-8)
    X, fused = jacobi.solve(jacobi.scaled(system, np.float64), B, 1e-8)
    np.testing.assert_allclose(X, truth, atol=1e-9 * np.abs(truth).max())
    assert abs(fused - steps) <= 1
    again, few = jacobi.solve(jacobi.scaled(system, np.float64), B, 1e-8, truth + 1e-7 * rng.standard_normal((700, m)))
    np.testing.assert_allclose(again, truth, atol=1e-7 * np.abs(truth).max())
    assert few < fused
    single, _ = jacobi.solve(jacobi.scaled(system, np.float32), B, 1e-4)
    np.testing.assert_allclose(single, truth, atol=2e-3 * np.abs(truth).max())


def test_columns_are_the_same_whether_few_rows_are_alive_or_all():
    rng = np.random.default_rng(3)
    ring = np.roll(np.eye(400), 1, axis=1) * rng.uniform(0.5, 2, (400, 1))
    system = system_of(ring + ring.T, [0, 7])
    nodes = np.array([3, 200, 201])
    B = unit_columns(400, nodes)
    X, steps = jacobi.solve(jacobi.scaled(system, np.float64), B, 1e-9)  # 50 steps reach a quarter of the ring
    assert steps > 100
    expected = spsolve(sparse.csc_matrix(matrix_of(system)), B)
    np.testing.assert_allclose(X, expected, atol=1e-7 * expected.max())
    few = jacobi._apply_few(*jacobi.scaled(system, np.float64)[:3], B, np.empty_like(B), B.any(axis=1))
    assert set(np.flatnonzero(few)) == {2, 3, 4, 199, 200, 201, 202}


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


def test_the_sketched_diagonal_is_within_three_percent():
    rng = np.random.default_rng(10)
    n = 1500
    W = random_weights(n, rng, density=6 / n)
    for held in ([0], rng.permutation(n)[:60]):
        system = system_of(W, held)
        solver = make_solver(system, "jacobi")
        precision = Precision(Graph(W), 1.0)
        sums = solver.solve(system, np.ones((n, 1)), 1e-9)[:, 0]
        found, ties = sketched(system, solver, precision, np.zeros(n, dtype=np.int64), lambda sums=sums: sums, rng)
        free = ~system.held
        truth, exact = diagonal.by_columns(system, Factor(system, SuperLU))
        assert np.sqrt(np.mean((ties[exact > 0] / exact[exact > 0] - 1) ** 2)) < 0.1
        assert np.sqrt(np.mean((found[free] / truth[free] - 1) ** 2)) < 0.03
