"""Columns are solved for by blocks: what may wait does, rather than begin another one."""

from types import SimpleNamespace

import numpy as np
import pytest

from fewlabels.field.links.lookahead import LATE, _Lookahead
from fewlabels.field.links.racing import draw
from fewlabels.kernels.cpu.wide_rows import WIDE

N = 1_000


def knowing(nodes):
    """A look-ahead that has the columns of these nodes at hand."""
    here = np.isin(np.arange(N), nodes)
    looking = object.__new__(_Lookahead)
    looking.work = SimpleNamespace(has=lambda asked: here[asked])
    return looking


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    return draw(rng.random(N), 1 - rng.random(N), 107)


def test_a_few_new_ones_wait(sample):
    few = int(LATE * 107)
    np.testing.assert_array_equal(knowing(sample.nodes[:-few])._may_wait(sample), sample.nodes[-few:])


@pytest.mark.parametrize(("new", "waiting"), [(107, 107 % WIDE), (2 * WIDE, 0), (WIDE - 1, 0), (WIDE + 5, 5)])
def test_of_many_new_ones_those_that_would_begin_a_block_wait_if_they_are_few(sample, new, waiting):
    assert waiting <= LATE * 107
    found = knowing(sample.nodes[: 107 - new])._may_wait(sample)
    np.testing.assert_array_equal(found, sample.nodes[107 - waiting :])


@pytest.mark.parametrize(
    ("pool", "late", "together"),
    [(20, 5, 25), (20, 12, 32), (20, 17, 32), (28, 11, 32), (40, 10, 50), (32, 3, 32), (0, 13, 13), (0, 40, 32)],
)
def test_late_ones_fill_the_last_block_of_the_pool(pool, late, together):
    nodes = np.arange(pool + late)
    fitting = knowing([])._that_fit(nodes[:pool], nodes[pool:])
    assert pool + len(fitting) == together
    np.testing.assert_array_equal(fitting, nodes[pool : pool + len(fitting)])  # in their order
