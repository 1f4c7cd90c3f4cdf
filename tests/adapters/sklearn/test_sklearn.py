"""HarmonicClassifier: the harmonic function, old points and new."""

import numpy as np
import oracle
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.semi_supervised import LabelPropagation
from support.graphs import in_pieces, random_weights
from support.points import ENDS, LINE, blobs

import fewlabels as fl
from fewlabels.adapters.sklearn import affinity
from fewlabels.errors import LabelError, SettingError


def by_definition(W, y):
    """(n, C) one-hot labels spread by a dense solve of (D_uu - W_uu) f_u = W_ul f_l."""
    W = np.array(W, dtype=float)
    np.fill_diagonal(W, 0)
    L = np.diag(W.sum(axis=1)) - W
    known, unknown = y >= 0, y < 0
    f = np.eye(y.max() + 1)[np.where(known, y, 0)]
    f[unknown] = np.linalg.solve(L[np.ix_(unknown, unknown)], W[np.ix_(unknown, known)] @ f[known])
    return f


@pytest.mark.parametrize("C", [2, 3, 7])
@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_label_distributions_are_the_harmonic_function_by_its_definition(C, engine):
    X, _, y = blobs(80, C, 10)
    ours = fl.HarmonicClassifier(engine=engine).fit(X, y)
    expected = by_definition(fl.Graph.from_features(X, 7).weights.toarray(), y)
    np.testing.assert_allclose(ours.label_distributions_, expected, atol=1e-9)
    assert (ours.transduction_ == expected.argmax(axis=1)).all()


@pytest.mark.parametrize("C", [2, 3, 7])
def test_it_is_the_limit_of_label_propagation_on_the_rbf_kernel(C):
    X, _, y = blobs(50, C, 20)
    theirs = LabelPropagation(gamma=0.05, max_iter=100_000, tol=1e-11).fit(X, y)
    ours = fl.HarmonicClassifier("rbf", gamma=0.05).fit(X, y)
    np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-8)
    assert (ours.transduction_ == theirs.transduction_).all()
    new = X[:20] + 0.3
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-8)


def test_it_is_the_limit_of_label_propagation_on_any_symmetric_kernel():
    X, _, y = blobs(50)
    W = fl.Graph.from_features(X, 7).weights.toarray()
    theirs = LabelPropagation(kernel=lambda a, b: W.copy(), max_iter=100_000, tol=1e-11).fit(X, y)
    for given in (W, sparse.csr_matrix(W), sparse.coo_array(W)):
        ours = fl.HarmonicClassifier("precomputed").fit(given, y)
        np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-8)


def test_a_line_by_hand():
    ours = fl.HarmonicClassifier(n_neighbors=1).fit(LINE, ENDS)
    np.testing.assert_allclose(ours.label_distributions_[:, 1], [0, 0.25, 0.5, 0.75, 1])
    assert ours.transduction_.tolist() == [0, 0, 0, 1, 1]  # the middle is a tie: the class listed first


def test_a_new_point_takes_the_weighted_mean_of_its_neighbours():
    ours = fl.HarmonicClassifier(n_neighbors=2).fit(LINE, ENDS)
    near, far = np.exp(-((0.4 / 0.6) ** 2)), np.exp(-1)  # of 1.4: points 1 and 2, at .4 and .6
    at = ours.label_distributions_
    np.testing.assert_allclose(ours.predict_proba([[1.4]])[0], (near * at[1] + far * at[2]) / (near + far))
    wide = fl.HarmonicClassifier("rbf", gamma=0.5).fit(LINE, ENDS)
    tie = np.exp(-0.5 * (1.4 - LINE[:, 0]) ** 2)
    np.testing.assert_allclose(wide.predict_proba([[1.4]])[0], tie @ wide.label_distributions_ / tie.sum())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_new_points_by_a_plain_loop_over_their_neighbours(form):
    X, _, y = blobs()
    new = X[:15] + np.random.default_rng(3).normal(size=(15, 3))
    ours = fl.HarmonicClassifier(n_neighbors=4).fit(form(X), y)
    for row, found in zip(new, ours.predict_proba(form(new)), strict=True):
        distance = np.sqrt(((X - row) ** 2).sum(axis=1))
        four = np.argsort(distance)[:4]
        tie = np.exp(-((distance[four] / distance[four[-1]]) ** 2))
        np.testing.assert_allclose(found, tie @ ours.label_distributions_[four] / tie.sum(), atol=1e-10)


@pytest.mark.parametrize("rule", ["knn", "rbf"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_training_points_get_their_own_chances_back(rule, form):
    X, _, y = blobs()
    X[::2, 1] = 0.0
    again = X.copy()
    again[::2, 1] = -0.0
    ours = fl.HarmonicClassifier(rule).fit(form(X), y)
    np.testing.assert_array_equal(ours.predict_proba(form(again)), ours.label_distributions_)


def test_a_point_equal_to_several_training_points_takes_their_mean():
    X = np.array([[0.0], [0.0], [5.0], [6.0]])
    ours = fl.HarmonicClassifier(n_neighbors=1).fit(X, [0, 1, 1, 1])
    np.testing.assert_allclose(ours.predict_proba([[-0.0], [5.0]]), [[0.5, 0.5], [0, 1]])


def test_a_precomputed_row_is_taken_as_it_is():
    """A training point's own row says what its neighbours think: for an unlabelled one that is what it is."""
    W = random_weights(12, np.random.default_rng(0))
    y = np.array([0, 1, *[-1] * 10])
    ours = fl.HarmonicClassifier("precomputed").fit(W, y)
    np.testing.assert_allclose(ours.predict_proba(W)[2:], ours.label_distributions_[2:], atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(W)[0], W[0] @ ours.label_distributions_ / W[0].sum())


@pytest.mark.parametrize("rule", ["knn", "rbf"])
def test_sparse_features_give_what_dense_ones_give(rule):
    X, _, y = blobs()
    X[::2, 1] = X[1::2, 2] = 0
    dense = fl.HarmonicClassifier(rule).fit(X[:50], y[:50])
    for form in (sparse.csr_matrix, sparse.csc_array):
        ours = fl.HarmonicClassifier(rule).fit(form(X[:50]), y[:50])
        np.testing.assert_allclose(ours.label_distributions_, dense.label_distributions_, atol=1e-7)
        np.testing.assert_allclose(ours.predict_proba(form(X)), dense.predict_proba(X), atol=1e-7)
        np.testing.assert_allclose(ours.predict_proba(X), dense.predict_proba(form(X)), atol=1e-7)


def test_precomputed_neighbours_give_what_knn_gives_and_a_kernel_what_rbf_gives():
    X, _, y = blobs()
    knn, rbf = fl.HarmonicClassifier().fit(X, y), fl.HarmonicClassifier("rbf", gamma=2.0).fit(X, y)
    given = fl.HarmonicClassifier("precomputed")
    np.testing.assert_array_equal(given.fit(knn.graph_.weights, y).label_distributions_, knn.label_distributions_)
    K = rbf_kernel(X, gamma=2.0)  # with ones on its diagonal, and weights over more than 13 decades
    np.testing.assert_allclose(given.fit(K, y).label_distributions_, rbf.label_distributions_, atol=1e-9)


def test_gamma_follows_the_scale_of_the_points():
    X, _, y = blobs()
    small, large = (fl.HarmonicClassifier("rbf").fit(scale * X, y) for scale in (1e-3, 1e3))
    np.testing.assert_allclose(small.label_distributions_, large.label_distributions_, atol=1e-9)
    same = fl.HarmonicClassifier("rbf", n_neighbors=1, gamma=4.5).fit(LINE, ENDS)  # neighbours are 1 apart
    given = fl.HarmonicClassifier("rbf", n_neighbors=1).fit(LINE, ENDS)
    np.testing.assert_array_equal(given.label_distributions_, same.label_distributions_)


def test_many_new_points_are_the_same_in_blocks(monkeypatch):
    X, _, y = blobs()
    ours = fl.HarmonicClassifier("rbf").fit(X, y)
    at_once = ours.predict_proba(X + 0.1)
    monkeypatch.setattr(affinity, "AT_ONCE", 7 * len(X))
    np.testing.assert_allclose(ours.predict_proba(X + 0.1), at_once, rtol=1e-12)


def test_a_new_point_far_from_all_is_like_the_nearest():
    ours = fl.HarmonicClassifier("rbf", gamma=1.0).fit(LINE, ENDS)
    np.testing.assert_allclose(ours.predict_proba([[1e6]]), [[0, 1]], atol=1e-12)


IN_TWO = [[0.0], [1.0], [2.0], [100.0], [101.0]]  # the last two hear of no label


def test_unreached_uniform_gives_equal_chances():
    ours = fl.HarmonicClassifier(n_neighbors=1, classes=["a", "b", "c"]).fit(IN_TWO, ["b", None, "c", None, None])
    np.testing.assert_allclose(ours.label_distributions_[3:], 1 / 3)
    assert ours.transduction_.tolist() == ["b", "b", "c", "a", "a"]
    np.testing.assert_allclose(ours.predict_proba([[100.4]]), 1 / 3)


@pytest.mark.parametrize(
    ("y", "missing_label", "expected", "kind"),
    [
        ([0, -1, 1, -1, -1], -1, [0, 0, 1, -1, -1], "i"),
        ([0, np.nan, 1, np.nan, np.nan], np.nan, [0, 0, 1, np.nan, np.nan], "f"),
        (["a", None, "b", None, None], None, ["a", "a", "b", None, None], "O"),
        (["a", "", "bb", "", ""], "", ["a", "a", "bb", "", ""], "U"),
        (["a", "none", "b", "none", "none"], "none", ["a", "a", "b", "none", "none"], "U"),
        ([True, None, False, None, None], -1, [True, False, False, -1, -1], "O"),
    ],
)
def test_unreached_missing_gives_the_missing_label_and_nan(y, missing_label, expected, kind):
    ours = fl.HarmonicClassifier(n_neighbors=1, missing_label=missing_label, unreached="missing").fit(IN_TWO, y)
    assert ours.transduction_.dtype.kind == kind
    np.testing.assert_array_equal(ours.transduction_, np.array(expected, dtype=object if kind == "O" else None))
    assert np.isnan(ours.label_distributions_[3:]).all()
    assert np.isnan(ours.predict_proba([[0.4], [100.4]])).any(axis=1).tolist() == [False, True]


def test_unreached_error_names_the_first_row():
    ours = fl.HarmonicClassifier(n_neighbors=1, unreached="error")
    with pytest.raises(LabelError, match="no label reaches 2 of 5 points, the first in row 3"):
        ours.fit(IN_TWO, [0, -1, 1, -1, -1])
    given = fl.HarmonicClassifier("precomputed", unreached="error").fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(LabelError, match="1 of 1 points, the first in row 0"):
        given.predict([[0.0, 0.0]])


def test_neighbours_without_news_do_not_count_for_a_new_point():
    """The mean over those a label reaches: what the harmonic function is once the point ties the pieces together."""
    W = in_pieces([6, 4], np.random.default_rng(1))
    component = fl.Graph(W).components()
    lost = component == component[-1] if (component == component[-1]).sum() == 4 else component != component[-1]
    first, second = np.flatnonzero(~lost)[:2]
    y = np.full(10, -1)
    y[first], y[second] = 0, 1
    tie = np.ones(10)
    ours = fl.HarmonicClassifier("precomputed").fit(W, y)
    np.testing.assert_allclose(ours.predict_proba([tie])[0], ours.label_distributions_[~lost].mean(axis=0))


def test_class_mass_normalisation_by_hand():
    """On the line the harmonic function is .75, .5, .25 of class 0, in all 1.5 of each class."""
    ours = fl.HarmonicClassifier(n_neighbors=1, class_prior=[0.8, 0.2]).fit(LINE, ENDS)
    np.testing.assert_allclose(ours.label_distributions_[1:4, 0], [12 / 13, 4 / 5, 4 / 7])
    np.testing.assert_allclose(ours.label_distributions_[[0, 4]], [[1, 0], [0, 1]])
    assert ours.transduction_.tolist() == [0, 0, 0, 0, 1]
    between = fl.HarmonicClassifier(n_neighbors=1).fit(LINE, ENDS).predict_proba([[2.9]]) * [0.8, 0.2]
    np.testing.assert_allclose(ours.predict_proba([[2.9]]), between / between.sum())


def test_class_prior_of_the_labels_and_of_classes_nobody_named():
    X, _, y = blobs()
    share = np.bincount(y[y >= 0]) / (y >= 0).sum()
    counted = fl.HarmonicClassifier(class_prior="labels").fit(X, y)
    given = fl.HarmonicClassifier(class_prior=share).fit(X, y)
    np.testing.assert_allclose(counted.label_distributions_, given.label_distributions_, rtol=1e-12)
    plain = by_definition(counted.graph_.weights.toarray(), y)
    scaled = plain * share / plain[y < 0].sum(axis=0)
    np.testing.assert_allclose(counted.label_distributions_, scaled / scaled.sum(axis=1, keepdims=True), atol=1e-9)
    more = fl.HarmonicClassifier(class_prior="labels", classes=range(4)).fit(X, y)
    np.testing.assert_allclose(more.label_distributions_[:, :3], counted.label_distributions_, atol=1e-12)
    assert (more.label_distributions_[:, 3] == 0).all()


def test_expected_error_is_the_active_learners_and_by_the_oracle():
    X, _, y = blobs()
    ours = fl.HarmonicClassifier(beta=2.0).fit(X, y)
    L = oracle.laplacian(ours.graph_.weights.toarray(), 2.0)
    labels = {int(k): int(y[k]) for k in np.flatnonzero(y >= 0)}
    assert ours.expected_error_ == pytest.approx(oracle.risk(oracle.two_step(L, labels, 3), len(y)), abs=1e-9)
    learner = ours.active_learner()
    assert ours.expected_error_ == pytest.approx(learner.expected_error(), abs=1e-12)
    assert learner.labelled == labels
    assert (learner.predict() == ours.transduction_).all()
    assert learner.query() not in labels


class TestChecks:
    @staticmethod
    def fitted(**settings):
        X, y = load_iris(return_X_y=True)
        rng = np.random.default_rng(0)
        drawn = rng.choice(len(y), 30, replace=False)
        known = np.union1d(drawn, [0, 60, 120])
        given = np.full(len(y), -1)
        given[known] = y[known]
        return fl.HarmonicClassifier(**settings).fit(X, given), drawn, y

    def test_the_error_is_judged_by_what_the_other_labels_predict(self):
        model, drawn, y = self.fitted()
        wrong = 0
        for k in drawn:
            other = fl.HarmonicClassifier().fit(model._X, np.where(np.arange(len(y)) == k, -1, known_of(model)))
            wrong += other.transduction_[k] != y[k]
        found = model.error(drawn)
        assert (found.checks, found.wrong) == (30, wrong)
        assert found.low <= np.mean(model.transduction_ != y) <= found.high

    def test_a_check_without_a_label_and_a_class_prior_are_refused(self):
        model, drawn, _ = self.fitted()
        missing = next(k for k in range(150) if k not in {*drawn, 0, 60, 120})
        with pytest.raises(LabelError, match=f"row {missing} was drawn as a check and has no label"):
            model.error([missing])
        mask = np.isin(np.arange(150), drawn)
        assert model.error(mask).checks == 30
        with pytest.raises(LabelError, match="checks are of type float64"):
            model.error(drawn.astype(float))
        with pytest.raises(SettingError, match="unreached"):
            self.fitted(unreached="missing")[0].error(drawn)
        with pytest.raises(SettingError, match="class_prior"):
            self.fitted(class_prior="labels")[0].error(drawn)


def known_of(model):
    """The labels a model was fitted with, -1 where there was none."""
    return np.where(model._number >= 0, model.classes_[model._number], -1)


def test_where_no_label_reaches_a_prior_still_speaks():
    """Two pairs of points, one labelled: the other is what the model says, and one it says nothing of stays unknown."""
    W = np.kron(np.eye(3), [[0, 1], [1, 0]])
    prior = np.array([[0.8, 0.1, 0.1]] * 2 + [[0.1, 0.8, 0.1]] * 2 + [[1 / 3] * 3] * 2)
    ours = fl.HarmonicClassifier("precomputed", classes=range(3), unreached="missing", prior=prior)
    ours.fit(W, [0, -1, -1, -1, -1, -1])
    assert (ours.label_distributions_[2:4, 1] > 0.5).all()
    assert np.isnan(ours.label_distributions_[4:]).all()
