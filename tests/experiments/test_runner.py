"""The runner: the same numbers whatever is killed, resumed or spread over processes."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from support.graphs import random_weights
from threadpoolctl import threadpool_limits

import fewlabels as fl
from fewlabels.errors import FileError, SettingError
from fewlabels.experiments import results
from fewlabels.experiments.datasets import Dataset, chain, jittered_box
from fewlabels.experiments.runner import Plan, run
from fewlabels.experiments.trials import Always

CHAIN = Plan("chain", partial(chain, 15), ("tsa", "random"), 10, trials=4)


def numbers(rows):
    return rows.drop(columns="seconds")


def test_a_row_for_every_trial_and_number_of_labels_in_the_promised_columns(tmp_path):
    rows = run(CHAIN, tmp_path, jobs=1)
    assert list(pd.read_csv(tmp_path / "chain.csv").columns) == results.COLUMNS
    assert len(rows) == 2 * 4 * 10
    assert rows.groupby(["strategy", "trial"])["labelled"].apply(list).map(lambda x: x == list(range(1, 11))).all()
    assert rows["accuracy"].between(0, 1).all()
    note = json.loads((tmp_path / "chain.json").read_text())
    assert note["settings"]["seed"] == 0
    assert {"version", "commit", "machine", "started", "finished"} <= set(note)


def test_strategies_of_a_trial_share_the_labels_and_the_first_node(tmp_path):
    rows = run(CHAIN, tmp_path, jobs=1)
    first = rows[rows["labelled"] == 1].pivot_table(index="trial", columns="strategy", values=["node", "accuracy"])
    assert (first["node"]["tsa"] == first["node"]["random"]).all()
    assert (first["accuracy"]["tsa"] == first["accuracy"]["random"]).all()


def test_two_runs_with_one_seed_are_identical_whatever_the_number_of_jobs(tmp_path):
    one = run(CHAIN, tmp_path / "a", jobs=1)
    two = run(CHAIN, tmp_path / "b", jobs=2)
    pd.testing.assert_frame_equal(numbers(one), numbers(two), check_exact=True)
    other = run(Plan(**{**vars(CHAIN), "seed": 1}), tmp_path / "c", jobs=1)
    assert not numbers(one).equals(numbers(other))


def test_more_trials_and_strategies_are_added_to_what_is_there(tmp_path):
    run(CHAIN, tmp_path, jobs=1)
    before = (tmp_path / "chain.csv").read_text().splitlines()
    told = []
    more = Plan(**{**vars(CHAIN), "strategies": ("tsa", "sopt"), "trials": 5})
    rows = run(more, tmp_path, jobs=1, on_trial=told.append)
    assert sorted(told) == ["sopt"] * 5 + ["tsa"] * 5
    assert len(rows) == 2 * 5 * 10
    assert set(before) <= set((tmp_path / "chain.csv").read_text().splitlines())


@pytest.mark.parametrize(
    ("change", "sentence"), [({"seed": 3}, "seed = 0, not 3"), ({"n_labels": 5}, "labels = 10, not 5")]
)
def test_results_made_otherwise_are_refused_not_mixed(tmp_path, change, sentence):
    run(CHAIN, tmp_path, jobs=1)
    before = (tmp_path / "chain.csv").read_text()
    with pytest.raises(FileError, match=sentence):
        run(Plan(**{**vars(CHAIN), **change}), tmp_path, jobs=1)
    assert (tmp_path / "chain.csv").read_text() == before


def test_a_file_cut_anywhere_is_completed_to_the_same_numbers(tmp_path):
    """A cut within the last number must not leave a shorter number behind: the whole trial is run again."""
    plan = Plan(**{**vars(CHAIN), "strategies": ("random",), "trials": 2, "n_labels": 3})
    whole = run(plan, tmp_path, jobs=1)
    path = tmp_path / "chain.csv"
    text = path.read_text()
    for cut in (*range(1, 70), 200):
        path.write_text(text[:-cut])
        again = run(plan, tmp_path, jobs=1)
        pd.testing.assert_frame_equal(numbers(again), numbers(whole), check_exact=True)
        kept = again["trial"] == 0
        pd.testing.assert_frame_equal(again[kept], whole[kept], check_exact=True)
        assert (again["seconds"][~kept] != whole["seconds"][~kept]).any()  # run again, not read back cut


def test_a_second_run_into_the_same_results_is_refused_while_the_first_goes_on(tmp_path):
    with results.Results(tmp_path, "chain", 10, {}), pytest.raises(FileError, match="another run is writing to"):
        run(CHAIN, tmp_path, jobs=1)


def test_no_workers_get_a_sentence(tmp_path):
    with pytest.raises(SettingError, match="0 worker processes"):
        run(CHAIN, tmp_path, jobs=0)


def test_a_killed_run_resumes_to_the_same_numbers_as_an_uninterrupted_one(tmp_path):
    command = [sys.executable, "-m", "fewlabels", "reproduce", "box", "--strategies", "tsa", "--trials", "40"]
    command += ["--labels", "30", "--jobs", "2"]
    started = subprocess.Popen(
        [*command, "--out", str(tmp_path / "killed")], stdout=subprocess.DEVNULL, start_new_session=True
    )
    path = tmp_path / "killed" / "box.csv"
    deadline = time.monotonic() + 120
    while not (path.exists() and len(path.read_text().splitlines()) > 60):
        assert started.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    done = len(path.read_text().splitlines())
    assert done < 40 * 30
    plan = Plan("box", jittered_box, ("tsa",), 30, trials=40)
    told = []
    resumed = run(plan, tmp_path / "killed", jobs=1, on_trial=told.append)
    whole = run(plan, tmp_path / "whole", jobs=2)
    pd.testing.assert_frame_equal(numbers(resumed), numbers(whole), check_exact=True)


def test_no_digit_depends_on_how_many_threads_lapack_has(tmp_path):
    plan = Plan("box", jittered_box, ("tsa",), 12, trials=4)
    frames = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            frames.append(numbers(run(plan, tmp_path / str(threads), jobs=1)))
    pd.testing.assert_frame_equal(*frames, check_exact=True)


def test_ctrl_c_keeps_what_is_finished_and_says_so(tmp_path):
    command = [sys.executable, "-m", "fewlabels", "reproduce", "box", "--strategies", "tsa", "--trials", "400"]
    started = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores Ctrl-C
    )
    path = tmp_path / "box.csv"
    while started.poll() is None and not (path.exists() and len(path.read_text().splitlines()) > 60):
        time.sleep(0.01)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "stopped. Finished trials are kept" in said
    assert "Traceback" not in said
    assert len(path.read_text().splitlines()) > 50


def test_trials_on_a_dask_cluster_of_two_processes_give_the_same_numbers(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        spread = run(CHAIN, tmp_path / "cluster", cluster=cluster.scheduler_address)
    pd.testing.assert_frame_equal(numbers(spread), numbers(run(CHAIN, tmp_path / "here", jobs=1)), check_exact=True)


def test_no_scheduler_gets_a_sentence(tmp_path):
    with pytest.raises(SettingError, match="no Dask scheduler answers at not-an-address"):
        run(CHAIN, tmp_path, cluster="not-an-address")


def test_a_shared_field_gives_the_same_trial_as_one_set_up_afresh(tmp_path):
    rng = np.random.default_rng(0)
    data = Dataset("made", fl.Graph(random_weights(60, rng, 0.05)), rng.integers(0, 3, 60))
    rows = run(Plan("made", Always(data), ("tsa",), 20, trials=1, beta="auto"), tmp_path, jobs=1)
    learner = fl.ActiveLearner(data.graph, data.classes)
    for asked in rows["node"].tolist():
        assert learner.labelled == {} or learner.costs()[asked] == pytest.approx(np.nanmin(learner.costs()), abs=1e-9)
        learner.teach(asked, int(data.labels[asked]))


def test_nodes_without_a_known_label_are_never_asked_and_not_counted(tmp_path):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 30)
    labels[10:] = -1
    data = Dataset("partly", fl.Graph(random_weights(30, rng)), labels, ("a", "b"))
    rows = run(Plan("partly", Always(data), ("tsa",), 50, trials=2), tmp_path, jobs=1)
    assert set(rows["node"]) == set(range(10))
    assert rows["accuracy"].iloc[-1] == 1


def test_an_unknown_strategy_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(SettingError, match="there is no strategy 'tsb'"):
        run(Plan(**{**vars(CHAIN), "strategies": ("tsb",)}), tmp_path / "none")
    assert not (tmp_path / "none").exists()
