"""Whatever comes in, the answer is right or a sentence: never a bare LinAlgError, IndexError or NaN.

Each test also says that some of what comes in is taken, and some refused: a Graph that refuses everything would fail.
"""

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from support.profiles import examples

import fewlabels as fl
from fewlabels.errors import FewlabelsError

MANY = examples(100)
GRAPH = fl.Graph.from_edges([0, 1, 2], [1, 2, 3])

numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, 1e-6, 1e6, float("nan"), float("inf")]),
)
scalars = st.one_of(numbers, st.integers(-3, 12), st.booleans(), st.none(), st.text(max_size=2), st.binary(max_size=2))
things = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=16)
tame = st.floats(0, 1e6).map(lambda x: 0.0 if x < 1e-6 else x)
matrices = st.one_of(
    things,
    hnp.arrays(float, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), elements=numbers),
    hnp.arrays(float, st.integers(0, 5).map(lambda n: (n, n)), elements=st.one_of(tame, numbers)).map(
        lambda A: np.maximum(np.abs(A), np.abs(A).T)
    ),
    hnp.arrays(float, (4, 4), elements=numbers).map(sparse.coo_array),
)
tame_matrices = hnp.arrays(float, st.integers(2, 5).map(lambda n: (n, n)), elements=tame).map(
    lambda A: np.maximum(A, A.T)
)


class Tally:
    """How often something was taken and how often refused."""

    def __init__(self):
        self.taken = self.refused = 0

    def try_to(self, do, *arguments):
        """What comes of it, None where it is refused in a sentence; any other exception is a failure."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # dropped self-loops
                done = do(*arguments)
        except FewlabelsError:
            self.refused += 1
            return None
        self.taken += 1
        return done

    def assert_both_happened(self):
        assert self.taken
        assert self.refused


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


def spans_too_far(graph):
    """float64 cannot hold weights that far apart, which only the field refuses."""
    W = graph.weights.data
    return len(W) and W.max() > 1e13 * W.min()


def right_or_refused(tally, make, *arguments):
    graph = tally.try_to(make, *arguments)
    if graph is not None and not spans_too_far(graph):
        use(graph)


def test_weights():
    tally = Tally()

    @MANY
    @given(st.one_of(matrices, tame_matrices))
    def check(weights):
        right_or_refused(tally, fl.Graph, weights)

    check()
    tally.assert_both_happened()


def test_edges():
    tally = Tally()
    ends = st.lists(st.integers(0, 4), min_size=2, max_size=2)

    @MANY
    @given(
        st.one_of(things, ends), st.one_of(things, ends), st.one_of(st.none(), things), st.one_of(st.none(), scalars)
    )
    def check(source, target, weight, n_nodes):
        right_or_refused(tally, fl.Graph.from_edges, source, target, weight, n_nodes)

    check()
    tally.assert_both_happened()


def test_plausible_edges():
    tally = Tally()

    @MANY
    @given(
        st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0, 1e12)), max_size=12),
        st.sampled_from([None, 8]),
    )
    def check(edges, n_nodes):
        source, target, weight = zip(*edges, strict=True) if edges else ((), (), ())
        right_or_refused(tally, fl.Graph.from_edges, list(source), list(target), list(weight), n_nodes)

    check()
    tally.assert_both_happened()


def test_features():
    tally = Tally()
    points = hnp.arrays(float, (5, 2), elements=st.floats(-1e6, 1e6))

    weights, metrics = st.sampled_from(["gaussian", "binary", "?"]), st.sampled_from(["euclidean", "cosine", "?"])
    wild = st.tuples(matrices, scalars, weights, metrics)

    @MANY
    @given(st.one_of(wild, st.tuples(points, st.integers(1, 3), st.just("gaussian"), st.just("euclidean"))))
    def check(arguments):
        right_or_refused(tally, fl.Graph.from_features, *arguments)

    check()
    tally.assert_both_happened()


def test_calls():
    tally = Tally()

    @MANY
    @given(
        st.one_of(things, st.integers(0, 3)),
        st.one_of(things, st.sampled_from(["a", "b", "c"])),
        st.one_of(scalars, st.integers(1, 3)),
        st.sampled_from(["teach", "forget", "skip", "add_class", "query"]),
    )
    def check(node, label, k, call):
        learner = fl.ActiveLearner(GRAPH, ["a", "b"])
        learner.teach(0, "a")
        arguments = {"teach": (node, label), "query": (k,), "add_class": (label,)}.get(call, (node,))
        refused = tally.refused
        tally.try_to(getattr(learner, call), *arguments)
        if tally.refused > refused:
            assert learner.labelled == {0: "a"}
        assert np.isfinite(learner.predict_proba()).all()

    check()
    tally.assert_both_happened()


def test_settings():
    tally = Tally()

    @MANY
    @given(
        st.one_of(things, st.just(["a", "b"])),
        st.one_of(scalars, st.just("auto")),
        st.one_of(things, st.sampled_from(["tsa", "random"])),
        st.one_of(scalars, st.integers(0, 9)),
    )
    def check(classes, beta, strategy, seed):
        learner = tally.try_to(
            lambda: fl.ActiveLearner(fl.Graph.from_edges([0], [1]), classes, strategy, beta, random_state=seed)
        )
        if learner is not None:
            assert learner.query() in (0, 1)

    check()
    tally.assert_both_happened()
