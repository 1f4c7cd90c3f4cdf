"""What the sparse engine does where memory is short, or the process is killed while it sets up."""

import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
from support.fields import on_demand
from support.graphs import random_weights

from fewlabels.errors import MemoryNeededError
from fewlabels.field.links.solve import choose, diagonal
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.machine import memory, progress

LIMITED = """
import resource, numpy as np, fewlabels as fl
from fewlabels.errors import MemoryNeededError
from fewlabels.field import FieldSpec

graph = fl.Graph.from_edges(np.arange(99_999), np.arange(1, 100_000))
learner = fl.ActiveLearner(fl.Graph.from_edges([0, 1, 2], [1, 2, 3]), ["a", "b"], engine="sparse")
learner.teach(0, "a")
before = learner.query()
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 2**28, resource.RLIM_INFINITY))
try:
    FieldSpec.paper("sparse").resolved(graph).build()
except MemoryNeededError as error:
    print(error)
learner.teach(3, "b")
print(before, learner.query(), learner.predict().tolist())
"""

LOADING = """
import sys, numpy as np, fewlabels as fl
graph = fl.Graph.from_edges(np.arange(39_999), np.arange(1, 40_000))
print("loading", flush=True)
fl.ActiveLearner.load(sys.argv[1], graph)
print("loaded", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v binds on Linux only")
def test_under_a_limit_of_the_process_it_is_refused_with_the_number_and_others_go_on():
    told = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True).stdout
    refusal, after = told.splitlines()
    assert refusal.startswith("the sparse engine on 100,000 nodes needs 0.9 GiB of memory and 0.2 GiB are free.")
    assert after.startswith("3 ")


def test_what_is_free_knows_the_limit_of_the_process(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (2**40, resource.RLIM_INFINITY))
    assert memory.available() < 2**40
    monkeypatch.setattr(resource, "getrlimit", lambda which: (2**20, resource.RLIM_INFINITY))
    assert memory.available() == 0


def test_a_factor_that_would_not_fit_is_refused_with_the_number_and_auto_does_without(monkeypatch):
    graph = Graph(random_weights(2000, np.random.default_rng(0), density=0.01))
    monkeypatch.setattr(memory, "available", lambda: 20 * 2**20)
    with pytest.raises(MemoryNeededError, match=r"a Cholesky factor with about \d+ entries per node needs 0\.\d GiB"):
        _ = on_demand(graph, 2, solver="superlu", pool=20, sample=64).covariance.solver
    assert on_demand(graph, 2, pool=20, sample=64).covariance.solver.name.startswith("PCG")


def test_a_factor_that_runs_out_of_memory_makes_way_for_another_solver(monkeypatch):
    def full(*given):
        raise MemoryError

    path = Graph.from_edges(np.arange(99), np.arange(1, 100))
    made = [on_demand(path, 2, smoothness=smoothness) for smoothness in (0.0, 3.3)]
    monkeypatch.setattr(choose, "Factor", full)
    for field in made:
        assert field.covariance.solver.name.startswith("PCG")
    with pytest.raises(MemoryError):
        _ = on_demand(path, 2, solver="superlu").covariance.solver


def test_a_set_up_that_is_killed_leaves_the_file_it_read_as_it_was(tmp_path):
    graph = Graph.from_edges(np.arange(39_999), np.arange(1, 40_000))
    learner = ActiveLearner(graph, ["a", "b"], engine="sparse")
    learner.teach([0, 39_999], ["a", "b"])
    learner.save(tmp_path / "kept")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    started = subprocess.Popen([sys.executable, "-c", LOADING, tmp_path / "kept"], stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "loading\n"
    started.send_signal(signal.SIGKILL)
    assert started.communicate()[0] == ""
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert ActiveLearner.load(tmp_path / "kept", graph).labelled == learner.labelled


def test_a_long_set_up_and_a_long_question_tell_the_time_left(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(diagonal, "COLUMNS_UP_TO", 100)
    rng = np.random.default_rng(0)
    i, j = np.sort(rng.integers(600, size=(2, 2_000)), axis=0)
    graph = Graph.from_edges(*np.unique(np.stack([i, j])[:, i < j], axis=1), n_nodes=600)
    field = on_demand(graph, 2, solver="gradients").with_answer(0, 0)
    assert not field.covariance.exact
    assert np.isfinite(field.variance).all()
    told = capsys.readouterr().err
    assert "fewlabels: setting up 600 nodes, about" in told
    field.two_step_costs()
    assert "fewlabels: scoring questions on 600 nodes, about" in capsys.readouterr().err
