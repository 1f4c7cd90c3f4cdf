"""From many answers on the covariance begins at them: what is left open is factored by itself, or solved for by
conjugate gradients. Against the dense engine.
"""

import numpy as np
import pytest
from scipy import sparse
from support.fields import Life, assert_same, field_of, on_demand
from support.graphs import clusters, in_pieces

from fewlabels.field.links import on_demand as engine
from fewlabels.field.links.solve import choose
from fewlabels.graph import Graph


@pytest.fixture(params=["factor", "gradients"])
def lives(request, monkeypatch):
    """A sparse and a dense one with the same 40 answers on 130 nodes, more than a covariance is conditioned on; some
    unsure, and a piece without any.
    """
    monkeypatch.setattr(engine, "MANY", 12)
    if request.param == "gradients":
        monkeypatch.setattr(choose, "FEW_LEFT", 0)
    rng = np.random.default_rng(1)
    parts = [clusters(100).weights, in_pieces([20, 9, 1], rng)]
    graph = Graph(sparse.block_array([[parts[0], None], [None, parts[1]]]).tocsr())
    labels = {int(k): int(c) for k, c in zip(rng.permutation(100)[:35], rng.integers(3, size=35), strict=True)}
    piece = graph.components()
    order = np.argsort(np.bincount(piece[100:], minlength=piece.max() + 1))[::-1]
    there, alone = (np.flatnonzero(piece == k).tolist() for k in order[:2])
    unsure = next(k for k in range(100) if k not in labels)
    doubts = {there[3]: np.array([0.3, 0.0, 2.0]), unsure: np.array([0.0, 5.0, 0.1])}
    made = on_demand(graph, 3, 0.5, 3.3), field_of(graph, 3, 0.5, 3.3)
    labels |= dict.fromkeys(there[:3], 1) | {alone[0]: 2}
    found = [Life(each.with_unsure(doubts).with_answers(labels)) for each in made]
    assert found[0].covariance.base is not None
    assert found[0].covariance.solver.name.startswith("PCG" if request.param == "gradients" else "Cholesky")
    return found


def test_it_is_the_dense_field_after_every_change(lives):
    ours, dense = lives
    assert_same(ours, dense)
    base = ours.covariance
    new, unsure, other = ours.unlabelled[[3, 30, 60]].tolist()
    labels, doubts = list(ours.answers.sure), list(ours.answers.unsure)
    changes = [
        (lambda f: f.with_answer(new, 1), True),
        (lambda f: f.with_unsure({unsure: np.array([0.5, 0.0, 0.0])}), True),
        (lambda f: f.with_unsure({unsure: np.zeros(3)}), True),
        (lambda f: f.without([new]), True),
        (lambda f: f.with_class(), True),
        (lambda f: f.with_answer(other, 3), True),
        (lambda f: f.with_answer(doubts[0], 2), False),  # sure now, where it was unsure
        (lambda f: f.without([labels[5]]), False),  # one that it begins at
        (lambda f: f.with_answer(labels[6], (f.answers.sure[labels[6]] + 1) % 3), False),
        (lambda f: f.with_answer(labels[5], 0), True),
        (lambda f: f.with_unsure({doubts[1]: np.array([1.0, 0.0, 0.0, 0.0])}), False),
        (lambda f: f.without(labels[10:]), False),
        (lambda f: f.with_answers(dict.fromkeys(labels[10:], 1)), False),
        (lambda f: f.without(labels).with_unsure({k: np.zeros(4) for k in doubts}), False),
    ]
    for step, (change, stays) in enumerate(changes):
        ours.field, dense.field = change(ours.field), change(dense.field)
        assert (ours.covariance is base) == stays, step
        base = ours.covariance
        assert_same(ours, dense)
    assert base.base is None


def test_questions_are_those_of_the_dense_engine(lives):
    ours, dense = lives
    for verb in ("two_step_costs", "harmonic_costs", "vopt_costs", "sopt_costs"):
        found, truth = getattr(ours, verb)().values, getattr(dense, verb)().values
        close = 1e-7 if ours.covariance.solver.exact else 1e-3
        np.testing.assert_allclose(found, truth, rtol=close, atol=close)


def test_what_the_others_say_of_answers_that_it_begins_at_is_what_taking_them_back_leaves(lives):
    ours, dense = lives
    ours.observe(int(ours.unlabelled[20]), 1)
    dense.observe(int(dense.unlabelled[20]), 1)
    sample = np.arange(0, 130, 3)
    wanted = np.array(
        [*list(ours.answers.sure)[:-1:4], list(ours.answers.sure)[-2], *ours.answers.unsure, ours.known.nodes[0]]
    )
    found, truth = ours.left_out(sample, wanted), dense.left_out(sample)
    assert set(wanted.tolist()) <= set(found.nodes.tolist())
    close = 1e-7 if ours.covariance.solver.exact else 1e-3
    row = [truth.nodes.tolist().index(node) for node in found.nodes]
    for mine, theirs in zip(found, truth, strict=True):
        np.testing.assert_allclose(mine, theirs[row], rtol=close, atol=close)


def test_two_fields_made_of_one_that_begins_at_answers(lives):
    ours, dense = (life.field for life in lives)
    q, r = ours.unlabelled[[5, 9]].tolist()
    one, two = [f.with_answer(q, 2) for f in (ours, dense)], [f.with_answer(r, 0) for f in (ours, dense)]
    back = [f.without([next(iter(f.answers.sure))]) for f in one]
    for each in (one, two, back, (ours, dense), two, back, one):
        assert_same(*each)


def test_every_node_has_an_answer(lives):
    for life in lives:
        life.field = life.with_answers({int(k): 1 for k in life.unlabelled})
    ours, dense = lives
    assert ours.variance.shape == (0,)
    np.testing.assert_array_equal(ours.all_h, dense.all_h)
    left, truth = ours.left_out(np.arange(4), np.arange(10)), dense.left_out(np.arange(4))
    row = [truth.nodes.tolist().index(node) for node in left.nodes]
    np.testing.assert_allclose(left.h, truth.h[row], atol=1e-9)
