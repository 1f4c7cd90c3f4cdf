import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fewlabels.errors import GraphError
from fewlabels.graph import Graph
from fewlabels.graph.alike import averaged, tf_idf

RNG = np.random.default_rng(3)
N = 12
LINKS = np.triu(np.where(RNG.random((N, N)) < 0.25, RNG.integers(1, 4, (N, N)), 0), 1).astype(float)
LINKS = LINKS + LINKS.T
WORDS = RNG.poisson(0.6, (N, 7)).astype(float)


def average_by_definition(W, X, steps):
    """Each node's features are the mean over itself and its neighbours, weighed by 1 / sqrt(d_i d_j), written out."""
    n, links = len(W), W[W > 0]
    own = links.mean()
    degree = [own + sum(W[i]) for i in range(n)]
    for _ in range(steps):
        after = np.zeros_like(X)
        for i in range(n):
            for j in range(n):
                weight = own if i == j else W[i, j]
                after[i] += weight / np.sqrt(degree[i] * degree[j]) * X[j]
        X = after
    return X


def tf_idf_by_definition(X):
    n, d = X.shape
    rows = [
        [X[i, w] * (1 + np.log((1 + n) / (1 + sum(X[k, w] > 0 for k in range(n))))) for w in range(d)] for i in range(n)
    ]
    return np.array([np.array(row) / (np.sqrt(sum(x * x for x in row)) or 1) for row in rows])


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_features_are_averaged_as_the_definition_says(steps, kind):
    found = averaged(sparse.csr_array(LINKS), kind(WORDS), steps)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(found, average_by_definition(LINKS, WORDS, steps), atol=1e-12)
    np.testing.assert_allclose(tf_idf(WORDS).toarray(), tf_idf_by_definition(WORDS), atol=1e-12)


def test_ties_go_to_the_nearest_by_the_averages_and_weigh_as_much_as_the_links():
    graph, k = Graph(LINKS), 3
    joined = graph.with_features(WORDS, steps=2, n_neighbors=k)
    X = average_by_definition(LINKS, tf_idf_by_definition(WORDS), 2)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distance, np.inf)
    tie = np.zeros((N, N))
    for i in range(N):
        near = distance[i].argsort()[:k]
        tie[i, near] = np.exp(-((distance[i, near] / distance[i, near[-1]]) ** 2))
    tie = np.maximum(tie, tie.T)
    np.testing.assert_allclose(joined.weights.toarray(), LINKS + tie * LINKS.sum() / tie.sum(), atol=1e-9)
    scaled = Graph(7 * LINKS).with_features(WORDS, n_neighbors=k)
    np.testing.assert_allclose(scaled.weights.toarray(), 7 * joined.weights.toarray(), atol=1e-8)


def test_features_may_be_sparse_a_frame_or_a_dict_by_name_in_any_order():
    names = [f"n{i}" for i in range(N)]
    graph = Graph(LINKS, names=names)
    expected = graph.with_features(WORDS)
    assert expected.names == names
    order = RNG.permutation(N)
    frame = pd.DataFrame(WORDS[order], index=[names[i] for i in order])
    others = pd.concat([frame, pd.DataFrame(np.ones((1, 7)), index=["another"])])
    by_name = {names[i]: WORDS[i].tolist() for i in order}
    for X in (sparse.coo_array(WORDS), sparse.csr_matrix(WORDS), frame, others, by_name, WORDS.astype(int).tolist()):
        assert graph.with_features(X).fingerprint() == expected.fingerprint()


def test_nodes_without_words_keep_their_links_and_those_without_links_get_ties():
    pair_path_and_two_alone = Graph.from_edges([0, 2, 3], [1, 3, 4], n_nodes=7)
    X = np.zeros((7, 3))
    X[[2, 4, 5]] = [[1, 0, 2], [1, 0, 1], [1, 1, 0]]
    W = pair_path_and_two_alone.with_features(X, n_neighbors=2).weights.toarray()
    assert W[0, 1] == 1
    assert np.count_nonzero(W[0]) == np.count_nonzero(W[1]) == 1  # no word near: the link alone
    assert W[3, 2] > 1  # no word of its own: its neighbours'
    assert np.count_nonzero(W[5]) == 2  # no link: tied by its words
    assert not W[6].any()  # neither
    no_links = Graph(sparse.csr_array((4, 4)))
    assert no_links.with_features(np.eye(4)[[0, 0, 1, 1]], n_neighbors=1).n_edges == 2


def test_whole_numbers_are_words_unless_told_otherwise():
    graph = Graph(LINKS)
    words = graph.with_features(WORDS).fingerprint()
    assert graph.with_features(WORDS, words=True).fingerprint() == words
    assert graph.with_features(WORDS, words=False).fingerprint() != words
    numbers = graph.with_features(WORDS - 0.5).fingerprint()
    assert graph.with_features(WORDS - 0.5, words=False).fingerprint() == numbers


@pytest.mark.parametrize(
    ("X", "how", "sentence"),
    [
        (WORDS[1:], {}, "11 rows of features for 12 nodes: give one row for every node"),
        (np.where(WORDS > 2, np.nan, WORDS), {}, r"feature \[\d+, \d+\] is nan: every feature must be finite"),
        (np.zeros((N, 2)), {}, "0 of 12 nodes have a feature other than 0: at least two must"),
        (WORDS[:, 0], {}, r"the features have shape \(12,\)"),
        ([["a"]] * N, {}, "not an array of numbers"),
        (WORDS, {"steps": -1}, "steps is -1"),
        (WORDS, {"steps": 1.5}, "steps is 1.5"),
        (WORDS, {"n_neighbors": 12}, "n_neighbors is 12 for 12 nodes"),
        (-WORDS, {"words": True}, "a feature is below 0, and words are counted from 0"),
        (pd.DataFrame(WORDS).iloc[1:], {}, "no row for node 0"),
        (pd.DataFrame(WORDS, index=[0, *range(11)]), {}, "two rows for node 0"),
        (pd.DataFrame({"a": ["x"] * N}), {}, "the features are not numbers .*: keep the columns of numbers"),
        ({k: [1, 2] if k else [1] for k in range(N)}, {}, "the features have 1 to 2 numbers each"),
    ],
)  # fmt: skip
def test_features_that_do_not_fit_are_refused_in_a_sentence(X, how, sentence):
    with pytest.raises(GraphError, match=sentence):
        Graph(LINKS).with_features(X, **how)
