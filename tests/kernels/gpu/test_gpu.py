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
    "mostly known": (60, 3, 45),
}


@pytest.fixture(params=STATES)
def field(request, monkeypatch):
    coarse(monkeypatch)
    return random_field(*STATES[request.param])


@pytest.fixture(params=CLOSE, ids=str)
def kind(request):
    return request.param


def tensor(array, kind=torch.float64):
    return torch.tensor(array, dtype=kind, device=DEVICE)


def in_rows(G, kind=torch.float64, nodes=None, n=None):
    """G among these nodes of n, zero elsewhere, in rows of the engine's length, NaN beyond them."""
    nodes = np.arange(len(G)) if nodes is None else nodes
    n = len(G) if n is None else n
    whole = gpu.buffer(n + 3, kind, DEVICE).fill_(np.nan)
    whole[:n, :n] = 0
    whole[torch.as_tensor(nodes, device=DEVICE)[:, None], torch.as_tensor(nodes, device=DEVICE)] = tensor(G, kind)
    return whole[:n, :n], whole


@pytest.mark.parametrize("name", ["two_step_cost", "harmonic_cost"])
def test_lookahead_equals_its_twin_also_among_nodes_whose_label_is_known(field, kind, name):
    n, u = field.n_nodes, len(field.h)
    expected = getattr(reference, name)(field.G, field.h, field.island, n)
    for nodes, room in ((None, u), (field.unlabelled, n)):
        G, whole = in_rows(field.G, kind, nodes, room)
        ours = getattr(gpu, name)(G, field.h, field.island, n, nodes=nodes)
        np.testing.assert_allclose(ours, expected, rtol=CLOSE[kind], atol=CLOSE[kind] * 1e-2)
        assert whole[room:].isnan().all()
        assert whole[:, room:].isnan().all()


@pytest.mark.parametrize("field", ["u=17, C=7", "in pieces", "u=2, C=3"], indirect=True)
@pytest.mark.parametrize("name", ["two_step_cost", "harmonic_cost"])
def test_costs_of_those_asked_about_are_exact_and_no_other_is_lower(field, name):
    expected = getattr(reference, name)(field.G, field.h, field.island, field.n_nodes)
    G, _ = in_rows(field.G, nodes=field.unlabelled, n=field.n_nodes)
    for share in (0.0, 0.3, 0.7):
        asked = np.random.default_rng(0).random(len(expected)) < share
        ours = getattr(gpu, name)(G, field.h, field.island, field.n_nodes, nodes=field.unlabelled, asked=asked)
        np.testing.assert_allclose(ours[asked], expected[asked], rtol=1e-12)
        assert (ours[~asked] >= ours[asked].max(initial=0)).all()


@pytest.mark.parametrize("field", ["u=17, C=7", "in pieces", "some nearly steep"], indirect=True)
@pytest.mark.parametrize("signed", [False, True])
def test_lookahead_makes_the_change_that_waits_and_costs_are_those_after_it(field, kind, signed):
    n, u, scale = field.n_nodes, len(field.h), abs(field.G).max()
    z = np.where(field.island < 0, np.random.default_rng(1).uniform(0, np.sqrt(scale), u), 0)
    before = (field.G + field.G.T) / 2  # symmetric to the last bit, and so it stays
    twin = before + 0.5 * np.outer(z, z)
    expected = reference.two_step_cost(twin, field.h, field.island, u)
    G, whole = in_rows(before, kind, field.unlabelled, n)
    everywhere = np.zeros(n)
    everywhere[field.unlabelled] = z
    change = gpu.Change(tensor(everywhere, kind), 0.5)
    ours = gpu.two_step_cost(G, field.h, field.island, u, nodes=field.unlabelled, signed=signed, change=change)
    np.testing.assert_allclose(ours, expected, rtol=10 * CLOSE[kind], atol=CLOSE[kind] * 1e-2)
    inside = G.cpu().numpy()[np.ix_(field.unlabelled, field.unlabelled)]
    np.testing.assert_allclose(inside, twin, rtol=CLOSE[kind], atol=CLOSE[kind] * scale)
    assert torch.equal(G, G.T)
    assert not G[field.label >= 0].any()
    assert whole[n:].isnan().all()
    assert whole[:, n:].isnan().all()


def test_an_answer_may_speak_against_its_own_class_where_g_is_below_zero(kind, monkeypatch):
    """A little below zero at many pairs: the tiles where this happens are not the slow ones."""
    coarse(monkeypatch)
    rng = np.random.default_rng(0)
    G = 2 * np.eye(40) + rng.uniform(-0.02, 0.01, (40, 40))
    G = np.maximum(G, G.T)
    assert (G < 0).any()
    h, reached = rng.uniform(-1, 1, (40, 3)), np.full(40, -1)
    ours = gpu.two_step_cost(in_rows(G, kind)[0], h, reached, 40, signed=True)
    np.testing.assert_allclose(ours, reference.two_step_cost(G, h, reached, 40), rtol=CLOSE[kind])


@pytest.mark.parametrize("C", [2, 16, 17])
def test_numbers_that_share_a_reciprocal_are_neither_too_large_nor_too_small(C, monkeypatch):
    """All classes very likely, or very unlikely, at once, as steep as the quick way takes."""
    coarse(monkeypatch)
    v = 2 / np.log(2) / (1.9 * gpu.BIAS[torch.float32] / (1 if C <= gpu.MANY else 2))
    G = v * (np.eye(20) + 1e-3)
    reached = np.full(20, -1)
    for h in (np.ones((20, C)), -np.ones((20, C))):
        ours = gpu.two_step_cost(in_rows(G, torch.float32)[0], h, reached, 20, signed=True)
        np.testing.assert_allclose(ours, reference.two_step_cost(G, h, reached, 20), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", ["vopt_cost", "sopt_cost"])
def test_variance_costs_equal_their_twins(field, kind, name):
    expected = getattr(reference, name)(field.G, field.island)
    G, _ = in_rows(field.G, kind, field.unlabelled, field.n_nodes)
    ours = getattr(gpu, name)(G, field.island, nodes=field.unlabelled)
    np.testing.assert_allclose(ours, expected, rtol=CLOSE[kind], atol=CLOSE[kind] * max(1.0, abs(field.G).sum()))


@pytest.mark.parametrize("n", [1, 20, 70])
def test_a_change_is_made_where_g_is_and_nowhere_else(n, kind, monkeypatch):
    coarse(monkeypatch)
    rng = np.random.default_rng(n)
    A, z = rng.random((n, n)), rng.random(n)
    A += A.T
    G, whole = in_rows(A, kind)
    gpu.make(gpu.Change(tensor(z, kind), -0.3), G)
    np.testing.assert_allclose(G.cpu().numpy(), A - 0.3 * np.outer(z, z), atol=CLOSE[kind])
    assert torch.equal(G, G.T)
    assert whole[n:].isnan().all()


def test_there_may_be_nothing_left_to_ask():
    G, nothing = in_rows(np.zeros((5, 5)))[0], np.array([], dtype=np.int64)
    for name in ("two_step_cost", "harmonic_cost"):
        assert len(getattr(gpu, name)(G, np.zeros((0, 3)), nothing, 5, nodes=nothing)) == 0
    for name in ("vopt_cost", "sopt_cost"):
        assert len(getattr(gpu, name)(G, nothing, nodes=nothing)) == 0
