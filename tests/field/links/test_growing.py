"""Columns that grow: copies share what they have in common, and none sees what another adds."""

import numpy as np
import pytest

from fewlabels.field.links.growing import Growing

COLUMNS = np.random.default_rng(1).random((7, 1_000))  # of every node


def solve(nodes):
    return COLUMNS[:, nodes]


def refuse(nodes):
    raise AssertionError(f"{nodes} were solved for again")


def test_every_copy_has_its_own_life():
    """Random additions, removals and copies, against lists."""
    rng = np.random.default_rng(0)
    lives = [(Growing(7), [])]
    for _ in range(400):
        k = rng.integers(len(lives))
        growing, nodes = lives[k]
        if rng.random() < 0.2 and len(lives) < 12:
            lives.append((growing.copy(), list(nodes)))
        elif rng.random() < 0.2:
            kept = rng.random(len(nodes)) < 0.8
            growing.keep(kept)
            lives[k] = growing, [node for node, stays in zip(nodes, kept, strict=True) if stays]
        else:
            new = rng.choice(np.setdiff1d(np.arange(1_000), nodes)[:20], rng.integers(1, 4), replace=False)
            growing.add(new, solve)
            nodes += new.tolist()
        for mine, theirs in lives:
            assert mine.nodes.tolist() == theirs
            np.testing.assert_array_equal(mine.X, COLUMNS[:, theirs])


def test_what_a_copy_has_solved_for_is_not_solved_for_again():
    first = Growing(7)
    first.add(np.array([3, 1]), solve)
    second, third = first.copy(), first.copy()
    first.add(np.array([5]), solve)
    second.add(np.array([5]), refuse)
    assert np.shares_memory(first.X, second.X)
    third.add(np.array([4]), solve)
    assert not np.shares_memory(first.X, third.X)
    np.testing.assert_array_equal(second.X, COLUMNS[:, [3, 1, 5]])


@pytest.mark.parametrize("kinds", [(np.float32, np.float64), (np.float64, np.float32)])
def test_columns_are_as_precise_as_the_most_precise(kinds):
    growing = Growing(7)
    for node, kind in enumerate(kinds):
        growing.add(np.array([node]), lambda nodes, kind=kind: solve(nodes).astype(kind))
    assert growing.X.dtype == np.float64
