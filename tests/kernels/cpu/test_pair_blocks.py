"""Blocks of pairs worked on in vector registers, against the definitions; widths that fill no register."""

import numpy as np
import pytest
from numba import njit, types
from numba.extending import intrinsic

from fewlabels.kernels.cpu.lanes import Kind
from fewlabels.kernels.cpu.pair_blocks import ROOM, harmonic_block, two_step_block
from fewlabels.kernels.reference import answer, harmonic_error, two_step_marginals

MULTIPLICITY = np.array([1.0, 3.0, 1.0, 1.0])  # four columns of h, six classes
ROUNDING = {np.float64: 1e-14, np.float32: 2e-6}


@intrinsic
def exp2_of_all(typing, x, out):
    def generated(context, builder, signature, given):
        lanes = Kind(builder, signature.args[0].dtype)
        source, target = (context.make_array(signature.args[i])(context, builder, given[i]) for i in range(2))
        lanes.store(lanes.exp2(lanes.load(source.data)), target.data)
        return context.get_dummy_value()

    return types.void(x, out), generated


@njit
def exp2(x, out):
    for i in range(0, len(x), 16):
        for j in range(i, i + 16, 64 // x.itemsize):
            exp2_of_all(x[j:], out[j:])


@pytest.mark.parametrize(("number", "reach", "tolerance"), [(np.float64, 900, 4e-16), (np.float32, 119, 3e-7)])
def test_the_kernels_exponential_is_right_to_a_rounding_or_two(number, reach, tolerance):
    x = np.concatenate([np.linspace(-reach, reach, 20000), np.linspace(-1e-3, 1e-3, 96)]).astype(number)
    ours = np.empty_like(x)
    exp2(x, ours)
    np.testing.assert_allclose(ours, np.exp2(x.astype(float)), rtol=tolerance)


@njit
def two_step(right, t, r, h_k, h_q, chance, multiplicity, work, left, width):
    two_step_block(right, t, r, h_k, h_q, chance, multiplicity, work, left, width)


@njit
def harmonic(right, t, r, h_k, h_q, chance, multiplicity, work, left, width):
    harmonic_block(right, t, r, h_k, h_q, chance, multiplicity, work, left, width)


def chance_right(largest, v, r, h_k, h_q, chance):
    """From the definition: over the six classes that q may be of, the largest marginal at k."""
    column = np.repeat(np.arange(len(MULTIPLICITY)), MULTIPLICITY.astype(int))
    right = 0.0
    for c, own in enumerate(column):
        h = h_k[column] + r * (answer(c, len(column)) - h_q[column])
        right += chance[own] / MULTIPLICITY[own] * largest(h[None], v)
    return right


@pytest.mark.parametrize("number", ROUNDING)
@pytest.mark.parametrize("each", ["k", "q", "both"])
@pytest.mark.parametrize("width", [0, 1, 8, 15, 16, 37])
def test_a_block_of_pairs_follows_the_definition(number, each, width):
    rng, left, n = np.random.default_rng(width), 3, 40
    v, r = rng.uniform(0.3, 3, n), rng.uniform(0, 0.9, n)
    h_k, h_q = rng.uniform(-1, 1, (4, n)), rng.uniform(-1, 1, (4, n))
    chance = rng.dirichlet(np.ones(4), n).T
    if each == "k":  # one question, many nodes
        given = h_k, h_q[:, 0], chance[:, 0]
        h_q, chance = np.tile(h_q[:, :1], n), np.tile(chance[:, :1], n)
    elif each == "q":  # one node, many questions
        given = h_k[:, 0], h_q, chance
        h_k = np.tile(h_k[:, :1], n)
    else:
        given = h_k, h_q, chance
    t = 2 * np.log2(np.e) / v
    numbers = [np.ascontiguousarray(array, number) for array in (t, r, *given, MULTIPLICITY)]
    largest = {
        two_step: lambda h, v: two_step_marginals(h, np.array([v])).max(),
        harmonic: lambda h, v: 1 - harmonic_error(h)[0],
    }
    for block, of in largest.items():
        right = np.full(n, 7, number)
        block(right, *numbers, np.empty(4 * ROOM, number), left, width)
        expected = [
            chance_right(of, v[j], r[j], h_k[:, left + j], h_q[:, left + j], chance[:, left + j]) for j in range(width)
        ]
        np.testing.assert_allclose(right[:width], expected, atol=ROUNDING[number])
        assert (right[width:] == 7).all(), "a block wrote beyond its width"
