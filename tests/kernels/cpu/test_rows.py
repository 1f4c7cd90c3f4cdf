"""The kernels on blocks of rows do together what the plain ones do to the whole matrix."""

from itertools import pairwise

import numpy as np
import pytest
from support.fields import pieces, taught
from support.graphs import in_pieces, random_labels

from fewlabels.kernels import cpu, reference
from fewlabels.kernels.cpu import rows as row_kernels
from fewlabels.kernels.cpu import updates
from fewlabels.kernels.cpu.rows import Surroundings

ROUNDING = 1e-12
SIZES = [20, 9, 4, 1, 1]
N = sum(SIZES)
CUTS = [0, 1, 13, N]  # the rows of the blocks


@pytest.fixture(params=[0, 1, 3, 12, N - 1], ids="{} labels".format)
def field(request):
    rng = np.random.default_rng(request.param)
    W = in_pieces(SIZES, rng)
    return taught(W, random_labels(N, request.param, 3, rng), 3, 0.7)


def blocks(field):
    """G by node number in blocks of rows, zero where labelled: [(first, rows)]."""
    whole = np.zeros((N, N))
    whole[np.ix_(field.unlabelled, field.unlabelled)] = field.G
    return [(a, whole[a:b].copy()) for a, b in pairwise(CUTS)]


def together(parts, field):
    whole = np.concatenate([G for _, G in parts])
    known = np.flatnonzero(field.label >= 0)
    assert not whole[known].any()
    assert not whole[:, known].any()
    return whole[np.ix_(field.unlabelled, field.unlabelled)]


def test_lookahead(field):
    view = Surroundings(field.unlabelled, field.h, np.diag(field.G).copy(), field.island, pieces(field), False)
    arguments = field.G, field.h, field.island, 1
    two_step, harmonic = np.full((2, len(field.h)), np.nan)
    for first, G in blocks(field):
        here = np.flatnonzero((field.unlabelled >= first) & (field.unlabelled < first + len(G)))
        two_step[here], _ = row_kernels.two_step_errors(G, first, view, here, False)
        harmonic[here] = row_kernels.harmonic_errors(G, first, view, here)
        rough, _ = row_kernels.two_step_errors(G, first, view, here, True)
        np.testing.assert_allclose(rough, two_step[here], atol=1e-4)
    np.testing.assert_allclose(two_step, reference.two_step_cost(*arguments), atol=ROUNDING * N)
    np.testing.assert_allclose(harmonic, reference.harmonic_cost(*arguments), atol=ROUNDING * N)


def test_an_answer_is_the_dense_one_to_the_last_bit_and_taking_it_back_its_inverse(field):
    for q, node in enumerate(field.unlabelled):
        parts, G = blocks(field), field.G.copy()
        row = np.zeros(N)
        row[field.unlabelled] = G[q]
        members = np.zeros(N, dtype=bool)
        members[field.unlabelled] = field.island == field.island[q]
        island = field.island[q] >= 0
        for first, rows in parts:
            if island:
                row_kernels.ground(rows, first, row, node, members, 0.0)
            else:
                row_kernels.downdate(rows, first, row, node)
        cpu.downdate(G, field.h.copy(), field.island.copy(), q, 0)
        after = together(parts, field)
        G[q] = G[:, q] = 0
        np.testing.assert_array_equal(after, G)
        if not island:
            for first, rows in parts:
                row_kernels.border(rows, first, np.where(np.arange(N) == node, 0, row / row[node]), 1 / row[node], node)
            np.testing.assert_allclose(together(parts, field), field.G, atol=ROUNDING * field.G.max())


def test_an_unsure_answer_is_the_dense_one_to_the_last_bit(field):
    for q, node in enumerate(field.unlabelled):
        parts, G = blocks(field), field.G.copy()
        row = np.zeros(N)
        row[field.unlabelled] = G[q]
        members = np.zeros(N, dtype=bool)
        members[field.unlabelled] = field.island == field.island[q]
        if field.island[q] >= 0:
            cpu.ground(G, field.h.copy(), field.island.copy(), q, 0.6, np.zeros(3))
        else:
            cpu.shift(G, field.h.copy(), q, 0.6 * G[q, q], np.zeros(3))
        for first, rows in parts:
            if field.island[q] >= 0:
                row_kernels.ground(rows, first, row, node, members, 0.6)
            else:
                row_kernels.shift(rows, first, row, node, 0.6 * row[node] / row[node])
        np.testing.assert_array_equal(together(parts, field), G)


def test_centering(field):
    parts, G = blocks(field), field.G.copy()
    chosen = np.arange(0, len(G), 2)
    members = np.zeros(N, dtype=bool)
    members[field.unlabelled[chosen]] = True
    mean = np.concatenate([rows[:, members].mean(axis=1) for _, rows in parts])
    for first, rows in parts:
        row_kernels.center(rows, first, members, mean, mean[members].mean())
    reference.center(G, chosen)
    np.testing.assert_allclose(together(parts, field), G, atol=ROUNDING * max(1, abs(G).max()))


def test_row_sums_and_errors_of_blocks(field):
    G, degree = field.G, np.arange(1.0, len(field.G) + 1)
    for rows in (G[:1].copy(), G[1:].copy()):
        plain, squares = updates.row_sums(rows, rows.shape[1])
        np.testing.assert_allclose(plain, rows.sum(axis=1), atol=ROUNDING * 10)
        np.testing.assert_allclose(squares, (rows**2).sum(axis=1), atol=ROUNDING * 10)
        np.testing.assert_allclose(cpu.inverse_error(rows, degree), reference.inverse_error(rows, degree))
