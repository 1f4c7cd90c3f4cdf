"""Every kernel of the gpu engine equals its plain twin: on the card, or by Triton's interpreter where there is none."""

import numpy as np
import pytest
from support.fields import random_field
from support.gpus import DEVICE, INTERPRETED, coarse, torch

from fewlabels.kernels import reference
from fewlabels.kernels.gpu import launch as gpu

pytestmark = INTERPRETED

CLOSE = {torch.float64: 1e-12, torch.float32: 1e-5}

STATES = {
    "u=1, C=2": (3, 2, 2),
    "u=2, C=3": (4, 3, 2),
    "u=17, C=7": (19, 7, 2),
    "u=70, C=7, two unheard": (73, 7, 5),
    "many classes": (24, 18, 5),
    "in pieces": (40, 3, 3, 1.0, [20, 10, 5, 3, 1, 1]),
    "no label at all": (12, 4, 0, 1.0, [8, 3, 1]),
    "steep": (30, 3, 4, 1e4),  # 2 / v far above what one reciprocal for many classes can hold
    "some pairs steep": (30, 7, 4, 30.0),
    "some nearly steep": (30, 7, 4, 3.0),
    "flat": (30, 3, 4, 1e-4),
}


@pytest.fixture(params=STATES)
def field(request, monkeypatch):
    coarse(monkeypatch)
    return random_field(*STATES[request.param], kernels=reference)


@pytest.fixture(params=CLOSE, ids=str)
def kind(request):
    return request.param


def tensor(array, kind=torch.float64):
    return torch.tensor(array, dtype=kind, device=DEVICE)


def in_a_larger_buffer(G, kind):
    """G as the leading block of rows of the engine's length, NaN beyond it."""
    u = len(G)
    whole = gpu.buffer(u + 3, kind, DEVICE).fill_(np.nan)
    whole[:u, :u] = tensor(G, kind)
    return whole[:u, :u], whole


def test_lookahead_equals_its_twin(field, kind):
    G, _ = in_a_larger_buffer(field.G, kind)
    for name in ("two_step_cost", "harmonic_cost"):
        ours = getattr(gpu, name)(G, tensor(field.h), field.island, field.n_nodes)
        twin = getattr(reference, name)(field.G, field.h, field.island, field.n_nodes)
        np.testing.assert_allclose(ours, twin, rtol=CLOSE[kind], atol=CLOSE[kind] * 1e-2, err_msg=name)


@pytest.mark.parametrize("field", ["u=17, C=7", "in pieces", "some nearly steep"], indirect=True)
@pytest.mark.parametrize("signed", [False, True])
def test_lookahead_makes_the_change_that_waits_and_costs_are_those_after_it(field, kind, signed):
    u, scale = len(field.h), abs(field.G).max()
    z = np.where(field.island < 0, np.random.default_rng(1).uniform(0, np.sqrt(scale), u), 0)
    change = gpu.Change(tensor(z, kind), tensor(0.5, kind))
    before = (field.G + field.G.T) / 2  # symmetric to the last bit, and so it stays
    twin = before + 0.5 * np.outer(z, z)
    expected = reference.two_step_cost(twin, field.h, field.island, u)
    G, whole = in_a_larger_buffer(before, kind)
    for block in (G, tensor(before, kind)):  # also one whose rows are not padded
        ours = gpu.two_step_cost(block, tensor(field.h), field.island, u, signed=signed, change=change)
        np.testing.assert_allclose(ours, expected, rtol=10 * CLOSE[kind], atol=CLOSE[kind] * 1e-2)
        np.testing.assert_allclose(block.cpu().numpy(), twin, rtol=CLOSE[kind], atol=CLOSE[kind] * scale)
        assert torch.equal(block, block.T)
    assert whole[u:].isnan().all()
    assert whole[:, u:].isnan().all()


def test_an_answer_may_speak_against_its_own_class_where_g_is_below_zero(kind, monkeypatch):
    """A little below zero at many pairs: the tiles where this happens are not the slow ones."""
    coarse(monkeypatch)
    rng = np.random.default_rng(0)
    G = 2 * np.eye(40) + rng.uniform(-0.02, 0.01, (40, 40))
    G = np.maximum(G, G.T)
    assert (G < 0).any()
    h, reached = rng.uniform(-1, 1, (40, 3)), np.full(40, -1)
    ours = gpu.two_step_cost(tensor(G, kind), tensor(h), reached, 40, signed=True)
    np.testing.assert_allclose(ours, reference.two_step_cost(G, h, reached, 40), rtol=CLOSE[kind])


@pytest.mark.parametrize("C", [2, 16, 17])
def test_numbers_that_share_a_reciprocal_are_neither_too_large_nor_too_small(C, monkeypatch):
    """All classes very likely, or very unlikely, at once, as steep as the quick way takes."""
    coarse(monkeypatch)
    v = 2 / np.log(2) / (1.9 * gpu.BIAS[torch.float32] / (1 if C <= gpu.MANY else 2))
    G = v * (np.eye(20) + 1e-3)
    reached = np.full(20, -1)
    for h in (np.ones((20, C)), -np.ones((20, C))):
        ours = gpu.two_step_cost(tensor(G, torch.float32), tensor(h), reached, 20, signed=True)
        np.testing.assert_allclose(ours, reference.two_step_cost(G, h, reached, 20), rtol=1e-4, atol=1e-7)


def test_variance_costs_equal_their_twins(field, kind):
    G, _ = in_a_larger_buffer(field.G, kind)
    scale = max(1.0, abs(field.G).sum())
    for name in ("vopt_cost", "sopt_cost"):
        ours, twin = getattr(gpu, name)(G, field.island), getattr(reference, name)(field.G, field.island)
        np.testing.assert_allclose(ours, twin, rtol=CLOSE[kind], atol=CLOSE[kind] * scale)


def test_downdate_equals_its_twin_in_the_leading_block_only(field, kind):
    for q in range(min(3, len(field.h))):
        G, whole = in_a_larger_buffer(field.G, kind)
        h, island, u = tensor(field.h), field.island.copy(), len(field.h)
        twin = [field.G.copy(), field.h.copy(), field.island.copy()]
        gpu.downdate(G, h, island, q, 1)
        reference.downdate(*twin, q, 1)
        for ours, theirs in zip([G.cpu().numpy(), h.cpu().numpy(), island], twin, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=10 * CLOSE[kind] * max(1, abs(field.G).max()))
        assert whole[u:].isnan().all()
        assert whole[:, u:].isnan().all()


def test_shift_and_ground_equal_their_twins_in_the_leading_block_only(field, kind):
    h_q = np.linspace(-1, 1, field.h.shape[1])
    for q in range(min(3, len(field.h))):
        G, whole = in_a_larger_buffer(field.G, kind)
        h, island, u = tensor(field.h), field.island.copy(), len(field.h)
        twin = [field.G.copy(), field.h.copy(), field.island.copy()]
        if island[q] < 0:
            v = 0.3 * field.G[q, q]
            gpu.shift(G, h, q, v, tensor(h_q))
            reference.shift(*twin[:2], q, v, h_q)
        else:
            gpu.ground(G, h, island, q, 0.7, tensor(h_q))
            reference.ground(*twin, q, 0.7, h_q)
        for ours, theirs in zip([G.cpu().numpy(), h.cpu().numpy(), island], twin, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=10 * CLOSE[kind] * max(1, abs(field.G).max()))
        assert whole[u:].isnan().all()
        assert whole[:, u:].isnan().all()


def test_rows_of_any_length_are_taken():
    field = random_field(20, 3, 2, kernels=reference)
    G = tensor(field.G)
    padded, _ = in_a_larger_buffer(field.G, torch.float64)
    for name in ("two_step_cost", "harmonic_cost"):
        costs = [getattr(gpu, name)(matrix, tensor(field.h), field.island, 20) for matrix in (G, padded)]
        np.testing.assert_array_equal(*costs)
    gpu.downdate(G, tensor(field.h), field.island.copy(), 3, 0)
    gpu.downdate(padded, tensor(field.h), field.island.copy(), 3, 0)
    assert torch.equal(G, padded)


@pytest.mark.parametrize("u", [0, 1, 64])
def test_border_equals_its_twin(u, kind):
    rng = np.random.default_rng(u)
    reach, s, h_new = rng.random(u), 0.7, np.array([0.2, -0.4, -0.8])
    start = np.full((u + 1, u + 1), np.nan)
    start[:u, :u] = rng.random((u, u))
    labels = np.full((u + 1, 3), np.nan)
    labels[:u] = rng.uniform(-1, 1, (u, 3))
    G, h, G_twin, h_twin = tensor(start, kind), tensor(labels), start.copy(), labels.copy()
    gpu.border(G, h, tensor(reach), s, tensor(h_new), 2)
    reference.border(G_twin, h_twin, reach, s, h_new, 2)
    np.testing.assert_allclose(G.cpu().numpy(), G_twin, rtol=CLOSE[kind])
    np.testing.assert_allclose(h.cpu().numpy(), h_twin, atol=CLOSE[kind])


def test_center_equals_its_twin(kind):
    rng = np.random.default_rng(0)
    twin = rng.random((20, 20))
    twin += twin.T
    G = tensor(twin, kind)
    members = np.array([1, 4, 5, 11, 19])
    gpu.center(G, members)
    reference.center(twin, members)
    np.testing.assert_allclose(G.cpu().numpy(), twin, atol=CLOSE[kind])


def test_no_pair_counts_a_node_that_is_not_alive(monkeypatch, kind):
    """Two trials in one launch, each with answered nodes left in place, give what each gives with them taken out."""
    coarse(monkeypatch)
    fields = [random_field(20, 3, 4, beta, kernels=reference) for beta in (1.0, 3.0)]
    G = gpu.buffer(20, kind, DEVICE, 2)[:, :, :20].zero_()
    h = torch.zeros((2, 20, 3), dtype=torch.float64, device=DEVICE)
    alive = torch.zeros((2, 20), dtype=torch.bool, device=DEVICE)
    for t, field in enumerate(fields):
        place = torch.as_tensor(field.unlabelled, device=DEVICE)
        G[t, place[:, None], place[None, :]] = tensor(field.G, kind)
        h[t, place] = tensor(field.h)
        alive[t, place] = True
    for batch, twin in ((gpu.two_step_batch, "two_step_cost"), (gpu.harmonic_batch, "harmonic_cost")):
        costs = batch(G, h, alive=alive).cpu().numpy()
        for t, field in enumerate(fields):
            expected = getattr(reference, twin)(field.G, field.h, field.island, 1)
            np.testing.assert_allclose(costs[t, field.unlabelled], expected, rtol=CLOSE[kind], atol=CLOSE[kind])
