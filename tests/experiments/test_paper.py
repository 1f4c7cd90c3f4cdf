import numpy as np
import pandas as pd
import pytest

from fewlabels.experiments import paper, report
from fewlabels.experiments.curves import curve, paired
from fewlabels.experiments.datasets import chain, jittered_box
from fewlabels.experiments.runner import run


def rows_of(accuracy):
    """Rows of two labels from {strategy: [accuracy at label 1 and 2 of every trial]}."""
    return pd.DataFrame(
        [
            {"dataset": "made", "strategy": s, "trial": t, "labelled": k + 1, "accuracy": a}
            for s, trials in accuracy.items()
            for t, both in enumerate(trials)
            for k, a in enumerate(both)
        ]
    )


def test_published_curves_are_the_papers():
    assert {name: len(paper.published(name)) for name in paper.LABELS} == {
        "chain": 6, "box": 5, "dblp": 5, "cora": 5, "citeseer": 5,
    }  # fmt: skip
    labelled, accuracy = paper.published("cora")["tsa"]
    assert (labelled[0], labelled[-1], accuracy[-1]) == (3, 70, 0.7988)
    assert paper.published("digits") == {}


def test_the_chain_is_cut_once_and_the_box_jittered_only_beside_the_boxes():
    cuts = set()
    for seed in range(200):
        labels = chain(15, np.random.default_rng(seed)).labels
        assert abs(np.diff(labels)).sum() == 1
        cuts.add((int(np.argmax(np.diff(labels) != 0)), int(labels[0])))
    assert len(cuts) == 28
    mean = np.mean([jittered_box(np.random.default_rng(s)).labels.reshape(10, 10) for s in range(400)], axis=0)
    assert (mean[7:, :3] == 1).all()
    assert (mean[:3, 7:] == 1).all()
    beside = (mean > 0) & (mean < 1)
    assert beside.sum() == 12
    assert abs(mean[beside] - 0.5).max() < 0.1
    assert jittered_box(np.random.default_rng(0)).graph.n_edges == 180


def test_a_curve_is_the_mean_and_its_standard_error():
    ours = curve(rows_of({"tsa": [[0.2, 0.5], [0.4, 0.7]]}), "tsa")
    np.testing.assert_allclose(ours.mean, [0.3, 0.6])
    np.testing.assert_allclose(ours.error, [0.1, 0.1])  # std .1414 / sqrt(2)


def test_paired_differences_use_the_same_trials():
    rows = rows_of({"a": [[0.2, 0.4], [0.8, 1.0], [0.5, 0.7]], "b": [[0.1, 0.3], [0.7, 0.9], [0.4, 0.6]]})
    gap = paired(rows, "a", "b")
    assert gap.mean == pytest.approx(0.1)
    assert gap.low == pytest.approx(0.1)
    assert gap.says == "better"
    assert "better than every other" in report.advice(rows)


@pytest.mark.parametrize(("shift", "agrees"), [(0.0, True), (0.007, True), (0.009, False), (-0.05, False)])
def test_a_verdict_on_a_graph_is_the_mean_difference(shift, agrees):
    labelled, accuracy = paper.published("cora")["tsa"]
    made = paper.Comparison("cora", "tsa", labelled, accuracy + shift, accuracy, np.full(len(labelled), 0.01))
    assert made.verdict[0] is agrees


@pytest.mark.parametrize(("wrong", "agrees"), [(4, True), (5, False)])
def test_a_verdict_on_a_toy_counts_the_points_beyond_two_errors(wrong, agrees):
    labelled, accuracy = paper.published("box")["tsa"]
    ours = accuracy.copy()
    ours[:wrong] += 0.05
    made = paper.Comparison("box", "tsa", labelled, ours, accuracy, np.full(len(labelled), 0.01))
    assert made.verdict[0] is agrees


def test_the_combined_error_holds_the_papers_fifty_trials_and_however_many_are_ours():
    trials = [[0.5, 0.5 + 0.1 * (-1) ** t] for t in range(200)]
    rows = rows_of({"tsa": trials})
    [comparison] = paper.compare("chain", rows)  # published from 2 labels on
    spread = np.std([both[1] for both in trials], ddof=1)
    np.testing.assert_allclose(comparison.error, [spread * np.sqrt(1 / 200 + 1 / 50)])


def test_the_chain_bears_the_papers_sentence_out_and_the_report_says_so(tmp_path):
    rows = run(paper.plan("chain", trials=20), tmp_path)
    [claim] = paper.claims("chain", rows)
    assert claim.holds, claim.figures
    page = report.paper_report({"chain": rows}, jittered_box(np.random.default_rng(0)))
    assert claim.sentence in page
    assert page.count("data:image/png;base64,") == 1
    assert "http" not in page.split("<body")[0].replace("http-equiv", "")  # nothing is fetched
    for strategy in paper.STRATEGIES["chain"]:
        assert f"{strategy}: every number" in page


def test_tsa_on_the_published_graphs_follows_the_papers_curve_from_a_few_trials(published, tmp_path):
    """The full bar, 50 trials, is `make reproduce`; six trials of 20 labels must already lie close."""
    rows = run(paper.plan(published.name, trials=6, labels=20, strategies=("tsa",)), tmp_path)
    [comparison] = paper.compare(published.name, rows)
    late = comparison.labelled >= 10
    assert abs((comparison.ours - comparison.theirs)[late].mean()) < 0.05
