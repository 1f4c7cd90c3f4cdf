"""Every fast kernel equals its plain twin, at awkward sizes, with and without components that have no label."""

import numpy as np
import pytest
from support.fields import pieces, random_field
from support.graphs import random_weights

from fewlabels.arrays import TIE
from fewlabels.field.dense import DenseField
from fewlabels.graph import Graph
from fewlabels.kernels import cpu, reference
from fewlabels.kernels.cpu import lookahead
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
        np.testing.assert_allclose(getattr(cpu, name)(*arguments, piece=pieces(field)), expected, atol=ROUNDING)


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
        cost = cpu.two_step_cost(*arguments, piece=pieces(field), skipped=skipped)
        ties = tied(exact[~skipped], everyone[~skipped])
        np.testing.assert_array_equal(tied(cost[~skipped], everyone[~skipped]), ties)
        np.testing.assert_allclose(cost[ties], exact[ties], atol=ROUNDING)


def test_the_same_five_questions_on_the_papers_graphs(published):
    field = DenseField(published.graph, len(published.classes), 1.0)
    for node in (7, 70, 700, 1001, 1313):
        field.observe(node, int(published.labels[node]))
        arguments = field.G, field.h, field.island, field.n_nodes
        cost = cpu.two_step_cost(*arguments, piece=pieces(field))
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


def test_downdate_equals_its_twin(field):
    for q in range(min(3, len(field.h))):
        ours = [field.G.copy(), field.h.copy(), field.island.copy()]
        twin = [array.copy() for array in ours]
        cpu.downdate(*ours, q, 1)
        reference.downdate(*twin, q, 1)
        for a, b in zip(ours, twin, strict=True):
            np.testing.assert_allclose(a, b, atol=ROUNDING * max(1, abs(field.G).max()))


@pytest.mark.parametrize("kept", [0.0, 0.3, 2.5])
def test_shift_equals_its_twin_and_with_no_variance_left_is_a_downdate(field, kept):
    h_q = reference.answer(1, field.h.shape[1])
    for q in np.flatnonzero(field.island < 0)[:3]:
        v = kept * field.G[q, q]
        close = ROUNDING * max(1, abs(field.G).max())
        ours, twin = [[field.G.copy(), field.h.copy()] for _ in range(2)]
        cpu.shift(*ours, q, v, h_q)
        reference.shift(*twin, q, v, h_q)
        for a, b in zip(ours, twin, strict=True):
            np.testing.assert_allclose(a, b, atol=close)
        if kept == 0:
            known = [field.G.copy(), field.h.copy(), field.island.copy()]
            reference.downdate(*known, q, 1)
            for a, b in zip(twin, known, strict=False):
                np.testing.assert_allclose(a, b, atol=close)


@pytest.mark.parametrize("v", [0.0, 0.4])
def test_ground_equals_its_twin_and_with_no_variance_left_is_a_downdate(field, v):
    h_q = reference.answer(1, field.h.shape[1])
    for q in np.flatnonzero(field.island >= 0)[:3]:
        ours, twin, known = [[field.G.copy(), field.h.copy(), field.island.copy()] for _ in range(3)]
        cpu.ground(*ours, q, v, h_q)
        reference.ground(*twin, q, v, h_q)
        reference.downdate(*known, q, 1)
        known[0][np.ix_(known[2] != field.island, known[2] != field.island)] += v
        for a, b, c in zip(ours, twin, known, strict=True):
            np.testing.assert_allclose(a, b, atol=ROUNDING * max(1, abs(field.G).max()))
            np.testing.assert_allclose(b, c, atol=ROUNDING * max(1, abs(field.G).max()))


def test_a_kernel_reads_and_writes_the_leading_block_only():
    field = random_field(20, 3, 2)
    buffer = np.full((30, 30), np.nan)
    buffer[:18, :18] = field.G
    G = buffer[:18, :18]
    np.testing.assert_array_equal(
        cpu.two_step_cost(G, field.h, field.island, 20), cpu.two_step_cost(field.G.copy(), field.h, field.island, 20)
    )
    cpu.downdate(G, field.h.copy(), field.island.copy(), 3, 0)
    assert np.isfinite(buffer[:18, :18]).all()
    assert np.isnan(buffer[18:]).all()
    assert np.isnan(buffer[:, 18:]).all()


@pytest.mark.parametrize("u", [0, 1, 64])
def test_border_equals_its_twin(u):
    rng = np.random.default_rng(u)
    reach, s, h_new = rng.random(u), 0.7, np.array([0.2, -0.4, -0.8])
    start = np.full((u + 1, u + 1), np.nan)
    start[:u, :u] = rng.random((u, u))
    labels = np.full((u + 1, 3), np.nan)
    labels[:u] = rng.uniform(-1, 1, (u, 3))
    G, h, G_twin, h_twin = start.copy(), labels.copy(), start.copy(), labels.copy()
    cpu.border(G, h, reach, s, h_new, 2)
    reference.border(G_twin, h_twin, reach, s, h_new, 2)
    np.testing.assert_allclose(G, G_twin, rtol=ROUNDING)
    np.testing.assert_allclose(h, h_twin, atol=ROUNDING)


def test_center_equals_its_twin():
    rng = np.random.default_rng(0)
    G = rng.random((20, 20))
    G += G.T
    twin = G.copy()
    members = np.array([1, 4, 5, 11, 19])
    cpu.center(G, members)
    reference.center(twin, members)
    np.testing.assert_allclose(G, twin, atol=ROUNDING)


def test_bordering_and_its_twin_give_the_inverse():
    rng = np.random.default_rng(0)
    W = Graph(random_weights(40, rng)).weights
    ground = np.where(rng.random(40) < 0.2, rng.random(40), 0.0)
    expected = np.linalg.inv(np.diag(W.toarray().sum(axis=1) + ground) - W.toarray())
    for kernels in (cpu, reference):
        G = np.zeros((40, 40))
        kernels.inverse_by_bordering(G, W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, ground)
        np.testing.assert_allclose(G, expected, rtol=1e-10)
    degree = rng.random(40)
    np.testing.assert_allclose(cpu.inverse_error(G, degree), reference.inverse_error(G, degree), rtol=ROUNDING)
