"""What the others say of every answer, all at once, is what the field says once that answer is really taken back."""

import numpy as np
import pytest
from support.fields import Life, covariance, field_of
from support.graphs import in_pieces

from fewlabels.field import Answers, Conditioned
from fewlabels.graph import Graph

CLOSE = 1e-9
SAMPLE = np.arange(0, 45, 4)


def answered(made, rng, unsure):
    """Sure answers in every piece but one, unsure ones at some of the same nodes and at others, several of a node."""
    n, C = made.n_nodes, 3
    labels = {int(k): int(rng.integers(C)) for k in rng.permutation(n)[:11]}
    doubts = {int(k): rng.uniform(0.05, 4, C) * (rng.random(C) < 0.7) for k in rng.permutation(n)[:9]} if unsure else {}
    alone = int(np.flatnonzero(made.piece == np.bincount(made.piece).argmin())[0])
    labels = {k: c for k, c in labels.items() if k != alone}
    return Conditioned(made, Answers(C).with_sure(labels).with_unsure({k: w for k, w in doubts.items() if w.any()}))


def without(field, node):
    """The field without any answer at this node."""
    return field.without([node]).with_unsure({node: np.zeros(field.n_classes)})


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("smoothness", [0.0, 3.3])
@pytest.mark.parametrize("unsure", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_really_taking_each_back_leaves(seed, unsure, smoothness, engine):
    rng = np.random.default_rng(seed)
    made = covariance(Graph(in_pieces([25, 12, 6, 2], rng)), 0.6, smoothness, engine)
    field = answered(made, rng, unsure)
    left = field.left_out(SAMPLE)
    assert sorted(left.nodes) == sorted(field.answers.nodes)
    lone = 0
    for row, node in enumerate(left.nodes.tolist()):
        gone = without(field, node)
        at = int(np.flatnonzero(gone.unlabelled == node)[0])
        np.testing.assert_allclose(left.h[row], gone.h[at], atol=CLOSE)
        y = field.answers.values[list(field.answers.nodes).index(node)]
        np.testing.assert_allclose(left.values[row], y)
        lone += np.isinf(gone.variance[at])
        if np.isinf(gone.variance[at]):
            assert np.isinf(left.variance[row])
        else:
            assert left.variance[row] == pytest.approx(gone.variance[at], rel=CLOSE)
    assert lone < len(left.nodes)


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("unsure", [False, True])
def test_what_each_counts_for_is_what_h_changes_by_when_it_says_something_else(unsure, engine):
    rng = np.random.default_rng(4)
    made = covariance(Graph(in_pieces([25, 12, 8], rng)), 0.6, 3.3, engine)
    field = answered(made, rng, unsure)
    left = field.left_out(SAMPLE)
    for row, node in enumerate(left.nodes.tolist()):
        if node in field.answers.sure:
            other = field.with_answer(node, (field.answers.sure[node] + 1) % 3)
        else:
            other = field.with_unsure({node: np.roll(field.answers.unsure[node], 1)})
        place = list(field.answers.nodes).index(node)
        change = (other.answers.values[place] - field.answers.values[place])[None]
        moved = other.all_h - field.all_h
        np.testing.assert_allclose(moved[SAMPLE], left.there[row][:, None] * change, atol=CLOSE)
        total = moved[~field.answered].sum(axis=0)
        np.testing.assert_allclose(total, left.total[row] * change[0], atol=CLOSE * made.n_nodes)


def test_by_hand_in_the_middle_of_a_path_it_is_the_mean_of_the_ends():
    field = field_of(Graph.from_edges([0, 1], [1, 2]), 2).with_answers({0: 0, 1: 1, 2: 0})
    left = field.left_out(np.array([1]))
    assert left.nodes.tolist() == [0, 1, 2]
    np.testing.assert_allclose(left.h, [[-1, 1], [1, -1], [-1, 1]])  # of each end, what the middle says
    np.testing.assert_allclose(left.variance, [1, 1 / 2, 1])
    np.testing.assert_allclose(left.there, [[0], [1], [0]], atol=1e-15)


def test_after_answers_one_by_one_and_taken_back_it_is_the_same():
    rng = np.random.default_rng(5)
    made = covariance(Graph(in_pieces([30, 9], rng)), 0.6, 3.3)
    life = Life(Conditioned(made, Answers(3)))
    for node in rng.permutation(39)[:15].tolist():
        life.observe(node, rng.integers(3))
        life.attach((node + 7) % 39, rng.random(3))
        life.left_out(SAMPLE[:3])
    life.forget(next(iter(life.answers.sure)))
    one, other = life.left_out(SAMPLE[:3]), Conditioned(made, life.answers).left_out(SAMPLE[:3])
    a, b = np.argsort(one.nodes), np.argsort(other.nodes)
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(mine[a], theirs[b], atol=CLOSE, rtol=CLOSE)
