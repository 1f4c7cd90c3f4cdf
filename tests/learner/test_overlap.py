"""Links weighed by shared neighbours: where "auto" does it, what it says, what is saved, and what it is good for."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

import fewlabels as fl
from fewlabels.adapters.sklearn import HarmonicClassifier
from fewlabels.errors import SettingError
from fewlabels.field import FieldSpec


def overlap_of(learner):
    return learner.covariance.recipe.overlap.value


def nearest(n, d=4, seed=0):
    return fl.Graph.from_features(np.random.default_rng(seed).normal(size=(n, d)), 8)


@pytest.fixture(scope="module")
def hard():
    """Eight clouds of four classes that touch in eight of twenty dimensions."""
    X, y = make_classification(900, 20, n_informative=8, n_classes=4, class_sep=1.2, random_state=3)
    return fl.Graph.from_features(X, 10), y


def test_auto_weighs_the_links_of_neighbours_and_no_others():
    rng = np.random.default_rng(0)
    ends = rng.integers(2_000, size=(2, 12_000))
    at_random = fl.Graph.from_edges(*ends[:, ends[0] < ends[1]], n_nodes=2_000)
    tree = fl.Graph.from_edges(np.arange(1, 6_000), [int(rng.integers(k)) for k in range(1, 6_000)])
    ring = fl.Graph.from_edges(range(999), range(1, 1_000))
    wide = nearest(400)
    wide = fl.Graph(wide.weights.multiply(10.0 ** ((np.arange(400)[:, None] + np.arange(400)) % 5)))
    taken = [FieldSpec(smoothness=1e-3).resolved(g).overlap.value for g in (nearest(400), at_random, tree, ring, wide)]
    assert taken == [2, 0, 0, 0, 0]


def test_the_paper_s_field_takes_the_weights_as_they_are():
    graph = nearest(400)
    paper = fl.ActiveLearner(graph, ["a", "b"], beta=1, smoothness=0, centred=False)
    assert (paper._field.precision.links != graph.weights).nnz == 0
    assert "shared neighbours" not in paper.describe()
    assert overlap_of(fl.ActiveLearner(nearest(200), ["a", "b"])) == 0  # "auto" takes that field there
    assert overlap_of(fl.ActiveLearner(graph, ["a", "b"], smoothness=0, overlap=2)) == 2


def test_it_says_what_it_took():
    ours = fl.ActiveLearner(nearest(400), ["a", "b"])
    assert ours.describe().startswith("smooth field (0.5), links weighed by shared neighbours (overlap 2), beta ")
    assert "400 nodes, about equally many edges each, many between neighbours; " in ours.describe()
    assert "smoothness 0.5, overlap 2, centred" in repr(ours)


def test_beta_makes_up_for_weaker_links():
    graph = nearest(400)
    strength = [r.beta * r.links.degrees().mean() for r in (FieldSpec(overlap=p).resolved(graph) for p in (0, 2))]
    assert strength[1] == pytest.approx(1.5 * strength[0])


@pytest.mark.parametrize("bad", [-1, 11, True, "much", float("nan"), None])
def test_what_makes_no_sense_gets_a_sentence(bad):
    with pytest.raises(SettingError, match="give a number from 0 "):
        fl.ActiveLearner(nearest(400), ["a", "b"], overlap=bad)


def test_a_learner_on_a_covariance_has_its_overlap_and_no_other():
    graph = nearest(400)
    made = FieldSpec(overlap=3).resolved(graph).build()
    assert overlap_of(fl.ActiveLearner(graph, ["a", "b"], engine=made)) == 3
    with pytest.raises(SettingError, match="smoothness or overlap"):
        fl.ActiveLearner(graph, ["a", "b"], engine=made, overlap=1)


def test_a_saved_learner_keeps_it_and_an_older_one_had_none(tmp_path):
    graph = nearest(400)
    for given in ("auto", 1.5):
        ours = fl.ActiveLearner(graph, ["a", "b"], overlap=given)
        ours.teach([0, 9], ["a", "b"])
        ours.save(tmp_path / f"{given}.jsonl")
        again = fl.ActiveLearner.load(tmp_path / f"{given}.jsonl", graph)
        assert overlap_of(again) == overlap_of(ours)
        assert again.query() == ours.query()
    text = (tmp_path / "auto.jsonl").read_text()
    assert '"overlap": "auto", ' in text
    (tmp_path / "old.jsonl").write_text(text.replace('"overlap": "auto", ', ""))
    assert overlap_of(fl.ActiveLearner.load(tmp_path / "old.jsonl", graph)) == 0


def test_unsure_answers_and_all_that_looks_back_follow_the_field(hard):
    """A check is judged by what would be predicted without it."""
    graph, y = hard
    ours = fl.ActiveLearner(graph, range(4), random_state=0)
    for node in ours.check(12):
        ours.teach(node, int(y[node]))
    ours.teach([1, 2], y[[1, 2]].tolist(), confidence=0.9)
    for check in ours.checks:
        without = fl.ActiveLearner(graph, range(4), random_state=0)
        for each in ours.answers:
            if each.node != check.node:
                without.teach(each.node, each.label, each.confidence)
        assert without.predict()[check.node] == check.prediction


def test_more_are_right_among_neighbours(hard):
    graph, y = hard

    def right(overlap):
        found = []
        for trial in range(3):
            ours, node = fl.ActiveLearner(graph, range(4), overlap=overlap, random_state=trial), 290 * trial
            for _ in range(20):
                ours.teach(node, int(y[node]))
                node = ours.query()
            found.append(np.mean(ours.predict() == y))
        return np.mean(found)

    assert right("auto") > right(0) + 0.02


def test_the_classifier_takes_it_when_asked():
    X = np.random.default_rng(2).normal(size=(400, 3))
    known = np.where(np.arange(400) % 9, -1, (X[:, 0] > 0).astype(int))
    plain, ours = (HarmonicClassifier(smoothness=3.3, overlap=o).fit(X, known) for o in (0, 2))
    assert abs(plain.label_distributions_ - ours.label_distributions_).max() > 0.01
    assert overlap_of(ours.active_learner()) == 2
