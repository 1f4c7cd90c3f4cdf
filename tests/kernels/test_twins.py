"""Every fast kernel equals its plain twin, at awkward sizes, with and without components that have no label."""

import numpy as np
import pytest
from support.fields import field_of, random_field

from fewlabels.arrays import TIE
from fewlabels.kernels import cpu, reference
from fewlabels.kernels.cpu import blocks, lookahead
from fewlabels.strategies import tied

ROUNDING = 1e-12
SIZES = [(1, 2), (2, 3), (3, 2), (63, 2), (130, 3), (257, 7)]


STATES = {f"u={u}, C={C}": (u + 2, C, 2) for u, C in SIZES} | {
    "in pieces": (40, 3, 3, 1.0, [20, 10, 5, 3, 1, 1]),
    "no label at all": (12, 4, 0, 1.0, [8, 3, 1]),
    "steep": (30, 3, 4, 1e4),  # 2 / v far above what the shared exponentials can hold
    "flat": (30, 3, 4, 1e-4),
    "some steep": (60, 4, 5, 30.0),  # beyond float32's range at some nodes, within it at others
    "most classes never heard": (50, 12, 3),
    "cut into pieces": (150, 3, 40),
}


@pytest.fixture(params=STATES)
def field(request):
    return random_field(*STATES[request.param])


def test_lookahead_equals_its_twin(field):
    arguments = field.G, field.h, field.island, field.n_nodes
    for name in ("two_step_cost", "harmonic_cost"):
        expected = getattr(reference, name)(*arguments)
        np.testing.assert_allclose(getattr(cpu, name)(*arguments), expected, atol=ROUNDING)
        np.testing.assert_allclose(getattr(cpu, name)(*arguments, piece=field.pieces()), expected, atol=ROUNDING)


@pytest.fixture
def screened(monkeypatch):
    """Every look-ahead starts with the float32 pass, however small or steep the graph."""
    monkeypatch.setattr(lookahead, "SCREEN_FROM", 0)
    monkeypatch.setattr(lookahead, "SCREEN_UP_TO", np.inf)


def test_the_float32_pass_errs_less_than_its_bound(field, monkeypatch, screened):
    seen = []
    monkeypatch.setattr(
        lookahead, "perhaps_lowest", lambda cost, error, asked: seen.append((cost.copy(), error)) or asked[:0]
    )
    arguments = field.G, field.h, field.island, field.n_nodes
    rough = cpu.two_step_cost(*arguments)
    ((_, error),) = seen
    order = np.argsort(field.island, kind="stable")  # as the kernel lays the nodes out
    assert (abs(rough - reference.two_step_cost(*arguments))[order] <= error).all()


def test_what_is_asked_is_decided_in_float64(field, screened):
    arguments = field.G, field.h, field.island, field.n_nodes
    exact = reference.two_step_cost(*arguments)
    everyone = np.arange(len(exact))
    for skipped in (np.zeros(len(exact), dtype=bool), exact <= np.median(exact) + TIE):
        if skipped.all():
            continue
        cost = cpu.two_step_cost(*arguments, piece=field.pieces(), asked=~skipped)
        ties = tied(exact[~skipped], everyone[~skipped])
        np.testing.assert_array_equal(tied(cost[~skipped], everyone[~skipped]), ties)
        np.testing.assert_allclose(cost[ties], exact[ties], atol=ROUNDING)


def test_the_same_five_questions_on_the_papers_graphs(published):
    field = field_of(published.graph, len(published.classes))
    for node in (7, 70, 700, 1001, 1313):
        field = field.with_answer(node, int(published.labels[node]))
        arguments = field.G, field.h, field.island, field.n_nodes
        cost = cpu.two_step_cost(*arguments, piece=field.pieces())
        exact = float64_cost(*arguments)
        np.testing.assert_allclose(cost, exact, atol=1e-6)
        np.testing.assert_array_equal(tied(cost, field.unlabelled), tied(exact, field.unlabelled))


def float64_cost(*arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookahead, "SCREEN_FROM", np.inf)
        return cpu.two_step_cost(*arguments)


def test_variance_costs_equal_their_twins(field):
    np.testing.assert_allclose(cpu.vopt_cost(field.G, field.island), reference.vopt_cost(field.G, field.island))
    np.testing.assert_allclose(cpu.sopt_cost(field.G, field.island), reference.sopt_cost(field.G, field.island))


def test_a_kernel_reads_only_the_rows_and_columns_of_the_nodes(field):
    u = field.unlabelled
    whole = np.full((field.n_nodes, field.n_nodes), np.nan)
    whole[np.ix_(u, u)] = field.G
    for name in ("two_step_cost", "harmonic_cost"):
        arguments = field.h, field.island, field.n_nodes
        expected = getattr(cpu, name)(field.G, *arguments)
        for kernels in (cpu, reference):
            found = getattr(kernels, name)(whole, *arguments, nodes=u)
            np.testing.assert_allclose(found, expected, atol=ROUNDING)
    whole[np.isnan(whole)] = 0
    for name in ("vopt_cost", "sopt_cost"):
        for kernels in (cpu, reference):
            np.testing.assert_allclose(
                getattr(kernels, name)(whole, field.island, nodes=u), getattr(cpu, name)(field.G, field.island)
            )


def test_a_kernel_reads_the_leading_block_only():
    field = random_field(20, 3, 2)
    buffer = np.full((30, 30), np.nan)
    buffer[:18, :18] = field.G
    np.testing.assert_array_equal(
        cpu.two_step_cost(buffer[:18, :18], field.h, field.island, 20),
        cpu.two_step_cost(field.G, field.h, field.island, 20),
    )


@pytest.mark.parametrize("n", [1, 5, 64, 257])
def test_a_change_of_rank_one_keeps_what_is_symmetric_so(n):
    rng = np.random.default_rng(n)
    X, column = rng.random((n, n)), rng.normal(size=n)
    X += X.T
    expected = X - np.outer(column, column) / 0.7
    blocks.rank_one(X, column, column * (-1 / 0.7))
    np.testing.assert_allclose(X, expected, atol=ROUNDING * abs(expected).max())
    np.testing.assert_allclose(X, X.T, atol=ROUNDING * abs(expected).max())
