"""Whatever comes in, the answer is right or a sentence: never a bare LinAlgError, IndexError or NaN."""

import contextlib
import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import fewlabels as fl
from fewlabels.errors import FewlabelsError

MANY = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, 1e-6, 1e6, float("nan"), float("inf")]),
)
scalars = st.one_of(numbers, st.integers(-3, 12), st.booleans(), st.none(), st.text(max_size=2), st.binary(max_size=2))
things = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=16)
matrices = st.one_of(
    things,
    hnp.arrays(float, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), elements=numbers),
    hnp.arrays(float, st.integers(0, 5).map(lambda n: (n, n)), elements=numbers).map(
        lambda A: np.maximum(np.abs(A), np.abs(A).T)
    ),
    hnp.arrays(float, (4, 4), elements=numbers).map(sparse.coo_array),
)


def use(graph):
    """A short session on the graph; everything it says must be finite and consistent."""
    learner = fl.ActiveLearner(graph, ["a", "b", "c"])
    for label in "abc"[: graph.n_nodes]:
        node = learner.query()
        learner.teach(node, label)
        p = learner.predict_proba()
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert 0 <= learner.expected_error() <= 1
        assert learner.predict()[node] == label
    learner.forget(node)
    assert node not in learner.labelled


def right_or_refused(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # dropped self-loops
        with contextlib.suppress(FewlabelsError):
            use(make())


@MANY
@given(matrices)
def test_weights(weights):
    right_or_refused(lambda: fl.Graph(weights))


@MANY
@given(things, things, st.one_of(st.none(), things), st.one_of(st.none(), scalars))
def test_edges(source, target, weight, n_nodes):
    right_or_refused(lambda: fl.Graph.from_edges(source, target, weight, n_nodes))


@MANY
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0, 1e12)), max_size=12),
    st.sampled_from([None, 8]),
)
def test_plausible_edges(edges, n_nodes):
    source, target, weight = zip(*edges, strict=True) if edges else ((), (), ())
    right_or_refused(lambda: fl.Graph.from_edges(source, target, weight, n_nodes))


@MANY
@given(matrices, scalars, st.sampled_from(["gaussian", "binary", "?"]), st.sampled_from(["euclidean", "cosine", "?"]))
def test_features(X, n_neighbors, weight, metric):
    right_or_refused(lambda: fl.Graph.from_features(X, n_neighbors, weight, metric))


@MANY
@given(things, things, scalars, st.sampled_from(["teach", "forget", "skip", "add_class", "query"]))
def test_calls(node, label, k, call):
    learner = fl.ActiveLearner(fl.Graph.from_edges([0, 1, 2], [1, 2, 3]), ["a", "b"])
    learner.teach(0, "a")
    arguments = {"teach": (node, label), "query": (k,), "add_class": (label,)}.get(call, (node,))
    try:
        getattr(learner, call)(*arguments)
    except FewlabelsError:
        assert learner.labelled == {0: "a"}
    assert np.isfinite(learner.predict_proba()).all()


@MANY
@given(things, scalars, things, scalars)
def test_settings(classes, beta, strategy, seed):
    with contextlib.suppress(FewlabelsError):
        fl.ActiveLearner(fl.Graph.from_edges([0], [1]), classes, strategy, beta, random_state=seed).query()
