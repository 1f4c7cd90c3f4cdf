"""A model's opinion as prior: against a plain oracle, and what it must and must not do."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fewlabels.errors import FileError, SettingError
from fewlabels.field.opinion import Opinion
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner

RNG = np.random.default_rng(5)
N, C = 14, 3
W = np.triu(np.where(RNG.random((N, N)) < 0.3, 0.1 + RNG.random((N, N)), 0), 1)
W[np.arange(N - 1), np.arange(1, N)] += 0.3
W = W + W.T
P = RNG.dirichlet(np.ones(C) * 0.7, N).astype(np.float32).astype(float)
ANSWERS = {3: 0, 9: 2, 11: 2}


def averages_by_definition():
    links = W[W > 0]
    found = P
    for _ in range(3):
        after = np.zeros_like(found)
        for k in range(N):
            weights = [W[k, j] + (links.mean() if j == k else 0) for j in range(N)]
            after[k] = sum(w * found[j] for j, w in enumerate(weights)) / sum(weights)
        found = after
    return found


def agreement_by_definition(links, chances):
    """Moran's I of the chances over the links, and its spread if the rows lay anywhere, by shuffling them."""
    beyond = chances - chances.mean(axis=0)
    own = (beyond**2).sum() / len(beyond)

    def agreement(rows):
        return (links * (beyond[rows] @ beyond[rows].T)).sum() / links.sum() / own

    n, rng = len(beyond), np.random.default_rng(0)
    shuffled = [agreement(rng.permutation(n)) for _ in range(400)]
    return agreement(np.arange(n)) - np.mean(shuffled), np.std(shuffled)


def follows_by_definition(links, chances):
    """How much likelier the agreement is if anything from 0 to 1 is expected than if 0 is: Gauss curves on a grid."""
    beyond = chances - chances.mean(axis=0)
    covariance, n = beyond.T @ beyond / len(beyond), len(beyond)
    own = np.trace(covariance)
    agreement = (links * (beyond @ beyond.T)).sum() / links.sum() / own + 1 / (n - 1)
    spread = np.sqrt(2 * (links**2).sum() * (covariance**2).sum()) / links.sum() / own
    expected = (np.arange(20_000) + 0.5) / 20_000
    guess, knows = (np.exp(-(((agreement - value) / spread) ** 2) / 2) for value in (0.0, expected))
    return min(1, np.mean(knows) / guess)


def pull_by_definition(answers):
    """Mixtures of the model and of equal chances: how likely each makes the answers, by numbers on a fine grid."""
    shares = (np.arange(40) + 0.5) / 40
    likelihood = [np.prod([1 - s + s * C * P[k, c] for k, c in answers.items()]) for s in shares]
    for_model = follows_by_definition(W, P) * np.mean(likelihood)
    odds = 0.5 * for_model
    share = odds / (1 + odds) * np.average(shares, weights=likelihood)
    weight = 1 + 2 * min(1, C / max(1, len(answers)))
    p = share * averages_by_definition() + (1 - share) / C
    return weight * (np.log(p / (1 - p)) - np.log(1 / C / (1 - 1 / C))), share


def log_odds_by_definition(answers):
    """2 h / G of the unlabelled nodes from the inverse of L_uu, plus the pull."""
    L = np.diag(W.sum(axis=0)) - W
    u, labelled = [k for k in range(N) if k not in answers], list(answers)
    G = np.linalg.inv(L[np.ix_(u, u)])
    Y = np.array([[1 if c == answers[k] else -1 for c in range(C)] for k in labelled])
    h = -G @ L[np.ix_(u, labelled)] @ Y
    return u, 2 * h / np.diag(G)[:, None] + pull_by_definition(answers)[0][u]


def made(prior=P, **settings):
    return ActiveLearner(Graph(W), range(C), prior=prior, **{"beta": 1, "smoothness": 0, "centred": False} | settings)


@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_chances_and_predictions_are_what_the_definition_says(engine):
    learner = made(engine=engine)
    learner.teach(list(ANSWERS), list(ANSWERS.values()))
    u, f = log_odds_by_definition(ANSWERS)
    sigmoid = 1 / (1 + np.exp(-f))
    np.testing.assert_allclose(learner.predict_proba()[u], sigmoid / sigmoid.sum(axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_array_equal(learner.predict()[u], f.argmax(axis=1))
    share = pull_by_definition(ANSWERS)[1]
    assert f"taken to know {share:.0%} of the nodes, after 3 answers" in learner.describe()


def test_without_an_answer_the_model_alone_is_asked_for_its_opinion():
    learner = made(centred="auto")
    np.testing.assert_array_equal(learner.predict(), averages_by_definition().argmax(axis=1))
    assert "before the first answer" in learner.describe()
    learner.teach(3, 0)
    learner.forget(3)
    np.testing.assert_array_equal(learner.predict(), averages_by_definition().argmax(axis=1))


@pytest.mark.parametrize("settings", [{}, {"centred": "auto"}, {"smoothness": 3.3, "centred": "auto"}])
def test_equal_chances_change_nothing(settings):
    plain, equal = made(None, **settings), made(np.full((N, C), 1 / C), **settings)
    for learner in (plain, equal):
        learner.teach(list(ANSWERS)[:2], list(ANSWERS.values())[:2])
    np.testing.assert_array_equal(equal.predict(), plain.predict())
    np.testing.assert_allclose(equal.predict_proba(), plain.predict_proba(), atol=1e-7)
    np.testing.assert_allclose(equal.costs(), plain.costs(), atol=1e-7)
    assert equal.expected_error() == pytest.approx(plain.expected_error(), abs=1e-7)


def test_the_spread_of_agreement_is_that_of_shuffled_chances():
    graph = Graph.from_features(np.random.default_rng(1).random((150, 2)), 6)
    chances = np.random.default_rng(2).dirichlet(np.full(4, 0.3), 150)
    links = graph.weights.toarray()
    agreement, spread = agreement_by_definition(links, chances)
    beyond = chances - chances.mean(axis=0)
    covariance = beyond.T @ beyond / 150
    stated = np.sqrt(2 * (links**2).sum() * (covariance**2).sum()) / links.sum() / np.trace(covariance)
    assert stated == pytest.approx(spread, rel=0.1)
    assert abs(agreement) < 3 * spread


def test_a_model_that_guesses_is_found_out_before_the_first_answer_and_one_that_knows_is_not():
    """Said alike of linked nodes no more than of any two: classes that no answer has named are not predicted by it."""
    rng = np.random.default_rng(3)
    places = rng.random((600, 2))
    graph, truth = Graph.from_features(places, 8), (3 * places[:, 0]).astype(int)
    guess = rng.integers(3, size=600)
    for said, believed in ((guess, False), (np.where(rng.random(600) < 0.6, truth, guess), True)):
        opinion = Opinion(graph.weights, np.where(said[:, None] == np.arange(3), 0.9, 0.05))
        assert (opinion.follows_links == 1) == believed
        learner = ActiveLearner(graph, range(3), prior=opinion.chances)
        learner.teach(0, truth[0])
        assert (len(set(learner.predict())) == 3) == believed
        assert ("no more alike of linked nodes than a guess" in learner.describe()) == (not believed)
    half = np.where(places[:, :1] < 0.5, np.eye(3)[guess], 1 / 3)  # where it says nothing, it agrees on nothing
    assert Opinion(graph.weights, half).follows_links < 0.5
    assert Opinion(graph.weights, np.tile([0.5, 0.3, 0.2], (600, 1))).follows_links == 1  # nothing to agree about
    assert Opinion(sparse.csr_array((600, 600)), np.eye(3)[truth]).follows_links == 1


def test_a_model_that_is_surest_where_most_links_are_is_no_guess():
    """Two cliques told apart with certainty, each with a tail told by a hair: Moran's I is far beyond 1."""
    links = sparse.block_diag([np.ones((20, 20)) - np.eye(20)] * 2 + [sparse.eye_array(200, k=1)] * 2).tolil()
    links[0, 40] = links[20, 240] = 1
    links = (links + links.T).tocsr()
    first = np.r_[np.full(20, 0.97), np.full(20, 0.03), np.full(200, 0.53), np.full(200, 0.47)]
    opinion = Opinion(links, np.stack([first, 1 - first], axis=1))
    assert opinion.follows_links == 1
    learner = ActiveLearner(Graph(links), [0, 1], prior=opinion.chances)
    assert (learner.predict() == (first < 0.5)).all()


@pytest.mark.parametrize("settings", [{}, {"smoothness": 3.3, "centred": "auto"}])
def test_answers_overrule_a_model_that_is_sure_and_wrong(settings):
    """A ring in two halves, and a model that has them the wrong way round: it is refuted within a few answers."""
    ring = Graph.from_edges(np.arange(40), np.roll(np.arange(40), -1))
    truth = np.arange(40) // 20
    wrong = np.where(truth[:, None] == np.arange(2), 0.01, 0.99)
    learner = ActiveLearner(ring, range(2), prior=wrong, **settings)
    np.testing.assert_array_equal(learner.predict(), 1 - truth)
    learner.teach([5, 15, 25, 35], truth[[5, 15, 25, 35]])
    assert (learner.predict() == truth).mean() > 0.9
    right = ActiveLearner(ring, range(2), prior=1 - wrong, **settings)
    right.teach(5, 0)
    np.testing.assert_array_equal(right.predict(), truth)  # a class that no answer has named, too


@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton.runtime.interpreter")
@pytest.mark.parametrize("other", ["sparse", "gpu"])
def test_engines_ask_the_same_questions(other, monkeypatch):
    if other == "gpu":
        pytest.importorskip("support.gpus").anywhere(monkeypatch)
    costs = []
    for engine in ("dense", other):
        learner = made(engine=engine, smoothness=3.3, centred="auto", beta="auto")
        learner.teach(list(ANSWERS), list(ANSWERS.values()))
        costs.append(learner.costs())
    np.testing.assert_allclose(*costs, atol=1e-6)
    plain = made(None, smoothness=3.3, centred="auto", beta="auto")
    plain.teach(list(ANSWERS), list(ANSWERS.values()))
    assert np.nanmax(np.abs(costs[0] - plain.costs())) > 1e-4  # the opinion counts in them


def test_costs_are_the_look_ahead_of_the_definition():
    learner = made()
    learner.teach(list(ANSWERS), list(ANSWERS.values()))
    L = np.diag(W.sum(axis=0)) - W
    u = [k for k in range(N) if k not in ANSWERS]
    G = np.linalg.inv(L[np.ix_(u, u)])
    Y = np.array([[1 if c == ANSWERS[k] else -1 for c in range(C)] for k in ANSWERS])
    h = -G @ L[np.ix_(u, list(ANSWERS))] @ Y
    h += np.tanh(pull_by_definition(ANSWERS)[0][u] * np.diag(G)[:, None] / 2) * (1 - abs(h))

    def chances(h, variance):
        p = 1 / (1 + np.exp(-2 * h / variance[:, None]))
        return p / p.sum(axis=1, keepdims=True)

    now = chances(h, np.diag(G))
    for q in range(len(u)):
        r, others = G[q] / G[q, q], np.arange(len(u)) != q
        after = np.diag(G) - G[q] ** 2 / G[q, q]
        cost = 0
        for c in range(C):
            y = np.where(np.arange(C) == c, 1, -1)
            p = chances((h + np.outer(r, y - h[q]))[others], after[others])
            cost += now[q, c] * (1 - p.max(axis=1)).sum() / N
        assert learner.costs()[u[q]] == pytest.approx(cost, abs=1e-6)


def test_a_frame_is_read_by_the_names_of_its_nodes_and_classes():
    names, classes = [f"n{k}" for k in range(N)], ["ape", "bee", "cow"]
    graph = Graph(W, names=names)
    order = RNG.permutation(N)
    frame = pd.DataFrame(P[order][:, [2, 0, 1]], index=[names[k] for k in order], columns=["cow", "ape", "bee"])
    by_name, by_place = (ActiveLearner(graph, classes, prior=prior) for prior in (frame, P))
    np.testing.assert_array_equal(by_name.predict_proba(), by_place.predict_proba())


def test_it_is_saved_and_comes_back_as_it_was(tmp_path):
    learner = made(centred="auto")
    learner.teach(list(ANSWERS), list(ANSWERS.values()))
    learner.add_class("new")
    learner.teach(0, "new", 0.9)
    learner.save(tmp_path / "j.jsonl")
    again = ActiveLearner.load(tmp_path / "j.jsonl", Graph(W))
    np.testing.assert_array_equal(again._field.opinion.chances, learner._field.opinion.chances)
    np.testing.assert_allclose(again.predict_proba(), learner.predict_proba(), atol=1e-14)
    assert again.describe() == learner.describe()
    again.save(tmp_path / "j.jsonl")
    text = (tmp_path / "j.jsonl").read_text().replace('"float32": "', '"float32": "AAAA')
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(FileError, match="cannot replay"):
        ActiveLearner.load(tmp_path / "bad.jsonl", Graph(W))


def test_the_first_questions_find_the_classes_whatever_a_model_says():
    """On a large even graph fewer answers than classes are asked by what tells nodes apart, model or not."""
    rng = np.random.default_rng(2)
    graph = Graph.from_features(rng.random((1200, 3)), 6)
    model = rng.dirichlet(np.full(6, 0.1), 1200)
    plain, told = (ActiveLearner(graph, range(6), prior=prior) for prior in (None, model))
    for label in range(5):
        node = plain.query()
        assert told.query() == node
        for learner in (plain, told):
            learner.teach(node, label)


def test_what_is_known_in_hindsight_includes_the_opinion():
    """The prediction at an answered node, had it no answer, is that of a learner that was never told."""
    learner = made(centred="auto")
    learner.teach(list(ANSWERS), list(ANSWERS.values()))
    nodes = np.array(list(ANSWERS))
    found = learner._hindsight.predictions(nodes)
    for node, predicted in zip(nodes, found, strict=True):
        others = made(centred="auto")
        others.teach([k for k in ANSWERS if k != node], [c for k, c in ANSWERS.items() if k != node])
        trusted_alike = learner._field.opinion.pull(learner._field)
        others._field.opinion.pull = lambda field, pull=trusted_alike: pull
        assert others.predict()[node] == predicted


def bad(k, row):
    found = P.copy()
    found[k] = row
    return found


FRAME = pd.DataFrame(P, columns=range(C))


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        (bad(2, [0.5, 0.2, 0.2]), "the chances that prior gives node 2 add up to 0.9: they must add up to 1"),
        (bad(4, [1.5, -0.5, 0]), "prior gives node 4 the chance 1.5 of being 0: chances are from 0 to 1"),
        (bad(4, [0.5, -0.1, 0.6]), "prior gives node 4 the chance -0.1 of being 1"),
        (bad(1, [np.nan, 0.5, 0.5]), "prior gives node 1 the chance nan"),
        (P[1:], r"prior has shape \(13, 3\) for 14 nodes and 3 classes: give a row for every node"),
        (P[:, :2], r"prior has shape \(14, 2\)"),
        ("cat", "prior is neither .* nor an array of numbers"),
        ([["a"] * C] * N, "prior is neither .* nor an array of numbers"),
        (FRAME.iloc[1:], "prior has no row for node 0. .*where the model says nothing, give 0.333 to each class"),
        (FRAME.rename(columns={2: 7}), "prior has no column for .*2"),
        (FRAME.assign(more=0.0), "prior has a column 'more', which is no class"),
        (pd.concat([FRAME, FRAME.iloc[:1]]), "prior names a node or a class twice"),
        ({0: 1.0}, "prior has no share for class 1"),
    ],
)
def test_a_prior_that_cannot_be_one_is_refused_in_a_sentence(prior, sentence):
    with pytest.raises(SettingError, match=sentence):
        made(prior, centred="auto")
