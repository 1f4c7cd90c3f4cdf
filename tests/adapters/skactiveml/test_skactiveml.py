"""Our strategies as pool query strategies of scikit-activeml: its contract, its loop, its wrappers."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from skactiveml.classifier import ParzenWindowClassifier
from skactiveml.exceptions import MappingError
from skactiveml.pool import ParallelUtilityEstimationWrapper, SubSamplingWrapper
from skactiveml.pool.multiannotator import SingleAnnotatorWrapper
from skactiveml.utils import MISSING_LABEL
from sklearn.base import clone
from sklearn.datasets import make_blobs
from support.graphs import in_pieces, random_labels, random_weights

import fewlabels as fl
from fewlabels.adapters.skactiveml import GraphQuery
from fewlabels.errors import GraphError, SettingError
from fewlabels.field import Recipe

N = 24


@pytest.fixture
def graph():
    return fl.Graph(random_weights(N, np.random.default_rng(0), 0.1))


def ids(n=N):
    return np.arange(n).reshape(-1, 1)


def y_of(labels, n=N):
    y = np.full(n, np.nan)
    y[list(labels)] = list(labels.values())
    return y


@pytest.mark.parametrize("strategy", fl.STRATEGIES)
@pytest.mark.parametrize("how_many", [0, 1, 5])
def test_utilities_are_the_negative_costs_of_a_learner_that_was_taught_the_same(strategy, how_many):
    rng = np.random.default_rng(how_many)
    graph = fl.Graph(in_pieces([10, 5, 2, 1], rng))
    labels = random_labels(18, how_many, 3, rng)
    learner = fl.ActiveLearner(graph, [0, 1, 2], strategy)
    learner.teach(list(labels), list(labels.values()))
    query = GraphQuery(graph, strategy, classes=[0, 1, 2], random_state=0)
    [asked], utilities = query.query(ids(18), y_of(labels, 18), return_utilities=True)
    np.testing.assert_allclose(utilities, [-learner.costs()], rtol=1e-9, atol=1e-9)
    assert utilities[0, asked] == pytest.approx(np.nanmax(utilities), abs=1e-9)


@pytest.mark.parametrize("strategy", [name for name in fl.STRATEGIES if name not in ("random", "zlg")])  # these tie
def test_a_batch_is_the_learners_batch(strategy, graph):
    labels = random_labels(N, 4, 3, np.random.default_rng(1))
    learner = fl.ActiveLearner(graph, [0, 1, 2], strategy)
    learner.teach(list(labels), list(labels.values()))
    query = GraphQuery(graph, strategy, classes=[0, 1, 2], random_state=0)
    asked, utilities = query.query(ids(), y_of(labels), batch_size=4, return_utilities=True)
    assert asked.tolist() == learner.query(4)
    for turn in range(4):
        assert set(np.flatnonzero(np.isnan(utilities[turn]))) == {*labels, *asked[:turn].tolist()}
        assert np.nanargmax(utilities[turn]) == asked[turn]
    again = query.query(ids(), y_of(labels), batch_size=4)
    assert again.tolist() == asked.tolist()  # nothing that was supposed stays behind


def test_a_query_does_not_depend_on_the_queries_before(graph, monkeypatch):
    """Labels come, change and go, classes appear: the kept field says what one set up afresh says."""
    made = []
    build = Recipe.build
    monkeypatch.setattr(Recipe, "build", lambda recipe: made.append(recipe) or build(recipe))
    kept = GraphQuery(graph, random_state=0)
    states = [{}, {3: 7}, {3: 7, 9: 8}, {3: 8, 9: 7}, {3: 8, 9: 7, 1: 5, 2: 6}, {9: 7, 1: 5, 2: 6, 20: 8}]
    for labels in states:
        asked, utilities = kept.query(ids(), y_of(labels), batch_size=2, return_utilities=True)
        fresh = GraphQuery(graph, random_state=0).query(ids(), y_of(labels), batch_size=2, return_utilities=True)
        assert asked.tolist() == fresh[0].tolist()
        np.testing.assert_allclose(utilities, fresh[1], rtol=1e-9, atol=1e-9)
    assert len(made) == len(states) + 1  # the fresh ones', and one
    kept.query(ids(), y_of({9: 7}))  # fewer classes than before
    assert len(made) == len(states) + 1
    kept.set_params(beta=2.0).query(ids(), y_of({9: 7}))
    assert len(made) == len(states) + 2


def test_the_graph_of_x_is_made_once_and_again_when_x_changes(monkeypatch):
    made = []
    from_features = fl.Graph.from_features
    monkeypatch.setattr(fl.Graph, "from_features", lambda *given: made.append(given) or from_features(*given))
    X, truth = make_blobs(40, random_state=0)
    query = GraphQuery(n_neighbors=4, random_state=0)
    y = np.full(40, np.nan)
    for _ in range(3):
        [asked] = query.query(X, y)
        y[asked] = truth[asked]
    assert len(made) == 1
    assert made[0][1] == 4
    X[0, 0] += 1  # the same array, another content
    query.query(X, y)
    assert len(made) == 2


def test_the_graph_of_x_is_the_learners(graph):
    X, truth = make_blobs(40, random_state=0)
    learner = fl.ActiveLearner(fl.Graph.from_features(X), [0, 1, 2])
    learner.teach([0, 1, 2], truth[:3])
    asked = GraphQuery(classes=[0, 1, 2], random_state=0).query(X, y_of(dict(enumerate(truth[:3])), 40))
    assert asked.tolist() == [learner.query()]


def test_whole_numbers_are_points_when_there_is_no_graph_to_number():
    X = np.array([[3.0], [0.0], [1.0], [2.0]])  # 1 - 2 - 3 - 0 in a row, by their values
    y = ["", "a", "", ""]
    utilities = GraphQuery(n_neighbors=2, missing_label="", strategy="vopt").query(X, y, return_utilities=True)[1]
    order = np.argsort(X[:, 0])
    path = fl.ActiveLearner(fl.Graph.from_features(X[order], 2), ["a", "b"], "vopt")
    path.teach(0, "a")
    np.testing.assert_allclose(utilities[0, order], -path.costs())


def test_node_numbers_may_come_in_any_order_and_of_some_nodes_only(graph):
    labels = random_labels(N, 5, 2, np.random.default_rng(2))
    whole = GraphQuery(graph).query(ids(), y_of(labels), return_utilities=True)[1][0]
    rows = np.random.default_rng(3).permutation(N)
    part = np.array([*list(labels), *[k for k in rows.tolist() if k not in labels][:6]])
    for some in (rows, part):
        utilities = GraphQuery(graph).query(some.reshape(-1, 1), y_of(labels)[some], return_utilities=True)[1][0]
        np.testing.assert_allclose(utilities, whole[some], rtol=1e-9)


def test_beside_a_graph_x_may_hold_anything_of_the_right_length(graph):
    labels = random_labels(N, 5, 2, np.random.default_rng(2))
    features = np.random.default_rng(0).standard_normal((N, 3))
    asked = GraphQuery(graph, random_state=0).query(features, y_of(labels))
    assert asked.tolist() == GraphQuery(graph, random_state=0).query(ids(), y_of(labels)).tolist()
    with pytest.raises(GraphError, match="X has 23 rows and the graph 24 nodes"):
        GraphQuery(graph).query(features[1:], y_of(labels)[1:])


@pytest.mark.parametrize(
    ("missing", "names"), [(np.nan, [1.0, 2.0]), (None, ["a", "b"]), ("", ["a", "b"]), (-1, [1, 2]), (None, [1, 2])]
)
def test_classes_and_missing_labels_of_every_kind_give_the_same_questions(graph, missing, names):
    labels = random_labels(N, 5, 2, np.random.default_rng(2))
    expected = GraphQuery(graph, random_state=0).query(ids(), y_of(labels), batch_size=3)
    y = [names[labels[k]] if k in labels else missing for k in range(N)]
    for classes in (None, names):
        query = GraphQuery(graph, classes=classes, missing_label=missing, random_state=0)
        assert query.query(
            ids(), np.array(y, dtype=None if missing is not None else object), batch_size=3
        ).tolist() == (expected.tolist())


@pytest.mark.parametrize("missing", [np.nan, None, ""])
def test_it_starts_without_a_label_and_goes_on_with_one_class(graph, missing):
    y = np.full(N, missing, dtype=object if missing != missing or missing is None else "<U3")
    y = y.astype(float) if missing != missing else y
    query = GraphQuery(graph, missing_label=missing, random_state=0)
    learner = fl.ActiveLearner(graph, ["a", "b"])
    [first] = query.query(ids(), y)
    assert -learner.costs()[first] == pytest.approx(np.nanmax(-learner.costs()), abs=1e-9)
    y[first] = 1 if missing != missing else "a"
    learner.teach(int(first), "a")
    [second] = query.query(ids(), y)
    assert second != first
    assert learner.costs()[second] == pytest.approx(np.nanmin(learner.costs()), abs=1e-9)


def test_only_candidates_are_asked_and_have_utilities(graph):
    labels = random_labels(N, 5, 2, np.random.default_rng(2))
    whole = GraphQuery(graph).query(ids(), y_of(labels), return_utilities=True)[1][0]
    some = [k for k in range(N) if k not in labels][3:9]
    asked, utilities = GraphQuery(graph).query(ids(), y_of(labels), candidates=some, return_utilities=True)
    assert set(np.flatnonzero(~np.isnan(utilities[0]))) == set(some)
    np.testing.assert_allclose(utilities[0, some], whole[some], rtol=1e-9)
    assert asked[0] == some[np.argmax(whole[some])]


def test_candidates_given_as_points_are_found_among_the_rows(graph):
    X = np.random.default_rng(0).standard_normal((N, 2))
    X[4] = X[5] = X[6]  # three nodes, one place
    labels = {0: 0, 4: 1, 7: 1}
    whole = GraphQuery(graph).query(X, y_of(labels), return_utilities=True)[1][0]
    rows = [9, 5, 2, 6]
    asked, utilities = GraphQuery(graph).query(X, y_of(labels), candidates=X[rows], return_utilities=True)
    assert utilities.shape == (1, 4)
    np.testing.assert_allclose(utilities[0], whole[rows], rtol=1e-9)
    assert asked.tolist() == [np.argmax(utilities[0])]
    with pytest.raises(MappingError, match="candidate 1 is not a row of X"):
        GraphQuery(graph).query(X, y_of(labels), candidates=[X[9], [8.0, 8.0]])


def test_a_labelled_candidate_is_asked_only_when_nothing_else_is_left(graph):
    labels = {k: k % 2 for k in range(6)}
    asked, utilities = GraphQuery(graph, random_state=0).query(
        ids(), y_of(labels), candidates=[0, 8, 1, 9], batch_size=4, return_utilities=True
    )
    assert set(asked[:2]) == {8, 9}
    assert set(asked[2:]) == {0, 1}
    assert np.isneginf(utilities[:3, asked[3]]).all()
    assert np.isnan(utilities[3, asked[:3]]).all()


def test_a_pool_that_is_used_up_gives_an_empty_batch_and_a_warning(graph):
    with pytest.warns(UserWarning, match="larger than number of candidates"):
        asked, utilities = GraphQuery(graph).query(ids(), np.zeros(N), return_utilities=True)
    assert asked.shape == (0,)
    assert utilities.shape == (0, N)
    with pytest.warns(UserWarning, match="larger than number of candidates"):
        assert len(GraphQuery(graph).query(ids(), y_of({0: 0, 5: 1}), batch_size=40)) == N - 2


def test_ties_are_drawn_by_random_state_and_differently_in_every_round(graph):
    def draws(seed, labels):
        return GraphQuery(graph, "random", random_state=seed).query(ids(), y_of(labels), batch_size=8).tolist()

    assert draws(0, {0: 0}) == draws(0, {0: 0})
    assert draws(0, {0: 0}) != draws(1, {0: 0})
    assert draws(0, {0: 0})[:3] != draws(0, {0: 0, 23: 0})[:3]
    state = np.random.RandomState(5)
    assert draws(state, {0: 0}) == draws(state, {0: 0})  # scikit-activeml copies it


def test_wrong_settings_get_a_sentence(graph):
    with pytest.raises(SettingError, match="there is no strategy 'tsb'"):
        GraphQuery(graph, "tsb").query(ids(), y_of({}))
    with pytest.raises(SettingError, match=r"graph is a ndarray: give a fewlabels\.Graph"):
        GraphQuery(graph.weights.toarray()).query(ids(), y_of({}))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        GraphQuery(graph).query(sparse.csr_array(ids()), y_of({}))
    with pytest.raises(ValueError, match="previously unseen labels"):
        GraphQuery(graph, classes=[0, 1]).query(ids(), y_of({3: 2}))


def test_clones_copies_and_pickles_ask_the_same_and_carry_no_field(graph):
    labels = random_labels(N, 5, 2, np.random.default_rng(2))
    query = GraphQuery(graph, "sopt", beta=0.7, random_state=3)
    asked = query.query(ids(), y_of(labels), batch_size=3).tolist()
    for twin in (clone(query), copy.deepcopy(query), pickle.loads(pickle.dumps(query))):
        assert twin._held is None
        assert twin.get_params()["beta"] == 0.7
        assert twin.query(ids(), y_of(labels), batch_size=3).tolist() == asked


@pytest.mark.parametrize("exclude", [False, True])
def test_within_a_subsampling_wrapper_the_utilities_of_the_subsample_are_ours(graph, exclude):
    labels = random_labels(N, 5, 2, np.random.default_rng(2))
    wrapper = SubSamplingWrapper(
        GraphQuery(graph, random_state=0), max_candidates=6, exclude_non_subsample=exclude, random_state=0
    )
    asked, utilities = wrapper.query(ids(), y_of(labels), batch_size=2, return_utilities=True)
    whole = GraphQuery(graph).query(ids(), y_of(labels), return_utilities=True)[1][0]
    sample = np.flatnonzero(np.isfinite(utilities[0]))
    assert len(sample) == 6
    np.testing.assert_allclose(utilities[0, sample], whole[sample], rtol=1e-9)
    assert asked[0] == sample[np.argmax(whole[sample])]


def test_several_annotators_are_sent_to_the_nodes_we_would_ask(graph):
    wrapper = SingleAnnotatorWrapper(GraphQuery(graph, random_state=0), random_state=0)
    y = np.full((N, 2), np.nan)
    for turn in range(20):
        answered = ~np.isnan(y).all(axis=1)
        [[sample, annotator]] = wrapper.query(ids(), y)
        assert np.isnan(y[sample, annotator])
        assert answered.all() or not answered[sample], turn
        y[sample, annotator] = sample % 2


def test_utilities_may_be_estimated_in_parallel_chunks(graph):
    labels = random_labels(N, 5, 2, np.random.default_rng(2))
    wrapper = ParallelUtilityEstimationWrapper(
        GraphQuery(graph), n_jobs=3, parallel_dict={"backend": "sequential"}, random_state=0
    )
    utilities = wrapper.query(ids(), y_of(labels), return_utilities=True)[1]
    np.testing.assert_allclose(
        utilities, GraphQuery(graph).query(ids(), y_of(labels), return_utilities=True)[1], rtol=1e-9
    )


def test_scikit_activemls_loop_learns_three_blobs_from_three_answers():
    X, truth = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    query = GraphQuery(classes=[0, 1, 2], random_state=0)
    clf = ParzenWindowClassifier(classes=[0, 1, 2], random_state=0)
    y = np.full(90, MISSING_LABEL)
    for _ in range(3):
        asked = query.query(X, y)
        y[asked] = truth[asked]
    assert set(y[~np.isnan(y)]) == {0, 1, 2}  # one in every blob
    assert clf.fit(X, y).score(X, truth) == 1
