"""Strategies of all packages by name, compared in one run."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from support.graphs import random_weights
from threadpoolctl import threadpool_limits

import fewlabels as fl
from fewlabels.adapters.coordinates import spectral_coordinates
from fewlabels.adapters.graphlearning import FromGraphLearning
from fewlabels.adapters.named import check_name, strategy_named
from fewlabels.adapters.skactiveml import FromSkactiveml
from fewlabels.cli.research import compare
from fewlabels.errors import SettingError
from fewlabels.experiments.datasets import Dataset
from fewlabels.experiments.figures import draw_curves
from fewlabels.experiments.runner import Plan, run
from fewlabels.experiments.trials import Always
from fewlabels.experiments.user_data import read_dataset

NAMES = ("tsa", "skactiveml:TypiClust", "skactiveml:RandomSampling")


def blobs(n=40):
    X, labels = make_blobs(n, n_features=3, centers=3, cluster_std=3.0, random_state=0)
    return Dataset("blobs", fl.Graph.from_features(X, 5), labels.astype(np.int64), ("a", "b", "c"), features=X)


def numbers(rows):
    return rows.drop(columns="seconds")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tsb", "there is no strategy 'tsb'"),
        ("skactiveml:UncertaintySampeling", r"no strategy .* Did you mean 'UncertaintySampling'"),
        (
            "skactiveml:KLDivergenceMaximization",
            "no strategy 'KLDivergenceMaximization' for labels: choose one of Badge",
        ),
        ("graphlearning:vopt", r"no acquisition function 'vopt'.*Did you mean 'var_opt'"),
        ("skaktiveml:CoreSet", r"no package 'skaktiveml'.*skactiveml:NAME or graphlearning:NAME"),
        ("skactiveml:EpistemicUncertaintySampling", "is for two classes, and there are 3"),
    ],
)
def test_a_name_that_cannot_be_is_refused_before_anything_is_written(tmp_path, name, sentence):
    with pytest.raises(SettingError, match=sentence):
        run(Plan("blobs", Always(blobs()), ("tsa", name), 5, trials=1), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_command_refuses_a_name_before_it_reads_the_data():
    with pytest.raises(SettingError, match="no strategy 'Quire2' for labels: choose one of Badge"):
        compare(Path("not-there.csv"), strategies="tsa,skactiveml:Quire2")


def test_the_figure_tells_all_of_them_apart():
    names = ["tsa", "zlg", *(f"skactiveml:{k}" for k in range(8))]
    rows = pd.DataFrame([(name, 0, k, 0.5) for name in names for k in (1, 2)])
    rows.columns = ["strategy", "trial", "labelled", "accuracy"]
    [axes] = draw_curves(rows, "mine").axes
    assert [line.get_label() for line in axes.lines] == names
    assert len({line.get_color() for line in axes.lines}) == len(names)
    assert [line.is_dashed() for line in axes.lines] == [False] * 2 + [True] * 8


@pytest.mark.parametrize(
    ("package", "name"), [("skactiveml", "skactiveml:CoreSet"), ("graphlearning", "graphlearning:var_opt")]
)
def test_a_package_that_is_not_installed_is_named_with_the_way_to_install_it(monkeypatch, package, name):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SettingError, match=f"{name} needs .*: pip install"):
        check_name(name)


def test_one_run_compares_them_all_the_same_whatever_the_number_of_jobs_and_threads(tmp_path):
    plan = Plan("blobs", Always(blobs()), NAMES, 4, trials=2, beta="auto")
    with threadpool_limits(2):
        one = run(plan, tmp_path / "a", jobs=1)
    two = run(plan, tmp_path / "b", jobs=2)
    pd.testing.assert_frame_equal(numbers(one), numbers(two), check_exact=True)
    assert list(one["strategy"].unique()) == list(NAMES)
    assert (one.groupby(["strategy", "trial"])["node"].nunique() == 4).all()
    first = one[one["labelled"] == 1]
    assert (first.groupby("trial")["node"].nunique() == 1).all()  # all strategies of a trial start alike
    asked = one[one["strategy"] == "skactiveml:RandomSampling"].groupby("trial")["node"].apply(list)
    assert asked[0][1:] != asked[1][1:]  # every trial has a seed of its own


def test_a_worker_loads_every_package_with_its_first_trial():
    code = """
import sys
from functools import partial
from fewlabels.experiments.datasets import chain
from fewlabels.experiments.runner import Plan, _task
from fewlabels.field import FieldSpec
import numpy as np

plan = Plan("chain", partial(chain, 15), ("tsa", "skactiveml:RandomSampling"), 2)
covariance = FieldSpec(1.0, 0, 0).resolved(chain(15, np.random.default_rng()).graph).build()
assert "skactiveml" not in sys.modules
_task(plan, 2, ("tsa", 0), covariance)
assert "skactiveml" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_trial_asks_what_a_learner_with_that_strategy_asks(tmp_path):
    data = blobs()
    rows = run(Plan("blobs", Always(data), ("skactiveml:CoreSet",), 6, trials=1), tmp_path, jobs=1)
    theirs = FromSkactiveml(_made("CoreSet"), data.features)
    learner = fl.ActiveLearner(data.graph, [0, 1, 2], theirs, field="paper")
    asked = rows["node"].tolist()
    for node, follows in pairwise(asked):
        learner.teach(node, int(data.labels[node]))
        assert learner.query() == follows
    learner.teach(asked[-1], int(data.labels[asked[-1]]))
    assert rows["accuracy"].iloc[-1] == np.mean(learner.predict() == data.labels)  # label propagation predicts


def _made(name):
    from fewlabels.adapters.skactiveml.strategies import made, offered

    return made(offered()[name], 3, 0)


def test_a_table_of_numbers_brings_its_own_points(tmp_path):
    table = pd.DataFrame({"x": range(12), "label": list("aaaaaabbbbbb")})
    table.to_csv(tmp_path / "t.csv", index=False)
    data = read_dataset(tmp_path / "t.csv", None, "label", 3)
    strategy = strategy_named("skactiveml:CoreSet", data.graph, data.features, 2, 2**62)
    np.testing.assert_allclose(strategy.X[:, 0], (np.arange(12) - 5.5) / np.std(np.arange(12)))


def test_a_graph_without_points_is_given_its_spectral_coordinates():
    graph = fl.Graph(random_weights(20, np.random.default_rng(0)))
    strategy = strategy_named("skactiveml:CoreSet", graph, None, 2, 7)
    np.testing.assert_array_equal(strategy.X, spectral_coordinates(graph))
    assert strategy.query_strategy.random_state == 7
    assert strategy_named("tsa", graph, None, 2, 7) == "tsa"


def test_points_are_compared_on_edges_alone_too(tmp_path):
    bare = replace(blobs(), features=None)
    strategies = ("skactiveml:CoreSet", "skactiveml:UncertaintySampling")
    one = run(Plan("bare", Always(bare), strategies, 4, trials=1), tmp_path / "a", jobs=1)
    two = run(Plan("bare", Always(bare), strategies, 4, trials=1), tmp_path / "b", jobs=1)
    pd.testing.assert_frame_equal(numbers(one), numbers(two), check_exact=True)
    seen = spectral_coordinates(bare.graph)
    first, second = one[one["strategy"] == "skactiveml:CoreSet"]["node"].tolist()[:2]
    distance = np.linalg.norm(seen - seen[first], axis=1)
    assert distance[second] == pytest.approx(distance.max())  # CoreSet asks the farthest


def test_graphlearnings_strategies_go_by_name():
    pytest.importorskip("graphlearning", reason="GraphLearning is not installed: pip install graphlearning")
    graph = fl.Graph(random_weights(20, np.random.default_rng(0)))
    assert isinstance(strategy_named("graphlearning:sigma_opt", graph, None, 2, 7), FromGraphLearning)


@pytest.mark.parametrize("n", [40, 600])  # all eigenvectors, or the leading ones by ARPACK
def test_tied_nodes_are_near_each_other_in_spectral_coordinates(n):
    rng = np.random.default_rng(0)
    W = np.zeros((n, n))
    for half in (slice(0, n // 2), slice(n // 2, n)):
        W[half, half] = random_weights(n // 2, rng, 0.3)
    W[0, n - 1] = W[n - 1, 0] = 0.1
    X = spectral_coordinates(fl.Graph(W), 2)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    within, across = distance[: n // 2, : n // 2], distance[: n // 2, n // 2 :]
    assert np.median(within) < 0.1 < np.median(across)
    np.testing.assert_array_equal(X, spectral_coordinates(fl.Graph(W), 2))


def test_a_node_without_ties_has_coordinates_too():
    assert np.isfinite(spectral_coordinates(fl.Graph(np.zeros((3, 3))))).all()
