"""save and load: nothing that was answered is lost, and nothing else is read."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from support.graphs import in_pieces

import fewlabels as fl
from fewlabels.errors import FileError, GraphError
from fewlabels.graph.names import described

GRAPH = fl.Graph(in_pieces([15, 6, 1], np.random.default_rng(0)))


@pytest.fixture
def taught():
    learner = fl.ActiveLearner(GRAPH, ["x", "y"], random_state=7)
    for step in range(6):
        learner.teach(learner.query(), "xy"[step % 2])
    learner.forget(next(iter(learner.labelled)))
    learner.skip(learner.query())
    learner.add_class("z")
    learner.teach(learner.query(), "z")
    return learner


def test_replay_gives_the_same_state_and_the_same_next_question(taught, tmp_path):
    taught.save(tmp_path / "log.jsonl")
    again = fl.ActiveLearner.load(tmp_path / "log.jsonl", GRAPH)
    assert (again.labelled, again.skipped, again.classes) == (taught.labelled, taught.skipped, taught.classes)
    np.testing.assert_allclose(again.predict_proba(), taught.predict_proba(), rtol=0, atol=1e-14)  # in other steps
    assert again.query(5) == taught.query(5)


def test_a_loaded_learner_goes_on_in_the_same_file(taught, tmp_path):
    path = tmp_path / "log.jsonl"
    taught.save(path)
    again = fl.ActiveLearner.load(path, GRAPH)
    again.teach(again.query(), "x")
    again.save(path)
    assert fl.ActiveLearner.load(path, GRAPH).labelled == again.labelled


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_cut_short_by_a_power_cut_loses_only_that_line(taught, tmp_path, cut):
    path = tmp_path / "log.jsonl"
    taught.save(path)
    path.write_bytes(path.read_bytes()[: -cut - 1])
    with pytest.warns(UserWarning, match="the last, is cut short and was dropped"):
        again = fl.ActiveLearner.load(path, GRAPH)
    taught.forget(list(taught.labelled)[-1])
    assert again.labelled == taught.labelled


@pytest.mark.parametrize("smoothness", ["auto", 0.5])
def test_a_journal_from_before_lone_nodes_were_left_out_of_the_mean_keeps_its_field(smoothness, tmp_path):
    graph = fl.Graph.from_edges(range(19), range(1, 20), n_nodes=400)
    ours, path = fl.ActiveLearner(graph, ["x", "y"], smoothness=smoothness), tmp_path / "log.jsonl"
    ours.teach([2, 9], ["x", "y"])
    ours.save(path)
    header, *events = path.read_text().splitlines()
    before = json.loads(header)
    assert before.pop("lone") is False
    path.write_text("\n".join([json.dumps(before), *events]) + "\n")
    again = fl.ActiveLearner.load(path, graph)
    W = graph.weights.toarray()
    L, mean = np.diag(W.sum(axis=0)) - W, W.sum() / 400
    Q = 5 / (mean * (1 + 0.45 * 0.5)) * (L + 0.5 * L @ L / mean)  # smoothness .5 for 400 nodes, with or without an edge
    field = again._field
    np.testing.assert_allclose(field.precision.times(np.eye(400)), Q, atol=1e-9)
    again.teach(4, "x")
    again.save(path)
    assert fl.ActiveLearner.load(path, graph)._field.beta == field.beta
    assert ours._field.beta < field.beta / 10


def test_another_graph_is_refused(taught, tmp_path):
    taught.save(tmp_path / "log.jsonl")
    with pytest.raises(FileError, match="was saved on another graph, of 22 nodes; this one has 3"):
        fl.ActiveLearner.load(tmp_path / "log.jsonl", fl.Graph.from_edges([0, 1], [1, 2]))


def test_a_save_never_replaces_answers_it_does_not_hold(taught, tmp_path):
    path = tmp_path / "log.jsonl"
    taught.save(path)
    before = path.read_bytes()
    with pytest.raises(FileError, match="holds another journal, of 10 events"):
        fl.ActiveLearner(GRAPH, ["x", "y"], random_state=7).save(path)
    assert path.read_bytes() == before


def test_a_save_that_fails_leaves_the_file_as_it_was(taught, tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    taught.save(path)
    before = path.read_bytes()
    taught.teach(taught.query(), "x")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(FileError, match="No space left on device"):
        taught.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_strategy_of_ones_own_must_be_passed_again(tmp_path):
    class First:
        def cost(self, field):
            return field.unlabelled.astype(float)

    learner = fl.ActiveLearner(GRAPH, ["x", "y"], strategy=First())
    learner.teach(learner.query(), "x")
    learner.save(tmp_path / "log.jsonl")
    with pytest.raises(FileError, match="a strategy of your own: pass it"):
        fl.ActiveLearner.load(tmp_path / "log.jsonl", GRAPH)
    assert fl.ActiveLearner.load(tmp_path / "log.jsonl", GRAPH, strategy=First()).query() == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is not a fewlabels journal"),
        ("hello", "line 1 is not JSON"),
        ('{"a": 1}\n', "is not a fewlabels journal"),
        ("[1]\n", "line 1 is not JSON"),
    ],
)
def test_another_file_is_refused(tmp_path, content, sentence):
    path = tmp_path / "log.jsonl"
    path.write_text(content)
    with pytest.raises(FileError, match=sentence):
        fl.ActiveLearner.load(path, GRAPH)
    with pytest.raises(FileError, match=sentence):
        fl.ActiveLearner(GRAPH, ["x", "y"]).save(path)


@pytest.mark.parametrize(
    "event",
    [{"do": "explode", "node": 1}, {"do": "teach", "node": 99, "label": "x"}, {"do": "skip", "node": -1}, {"node": 1}],
)
def test_a_record_that_makes_no_sense_is_refused(taught, tmp_path, event):
    path = tmp_path / "log.jsonl"
    taught.save(path)
    path.write_text(path.read_text() + json.dumps(event) + "\n")
    with pytest.raises(FileError, match="cannot replay"):
        fl.ActiveLearner.load(path, GRAPH)


def test_a_broken_line_in_the_middle_is_refused(taught, tmp_path):
    path = tmp_path / "log.jsonl"
    taught.save(path)
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:-4]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(FileError, match="line 3 is not JSON"):
        fl.ActiveLearner.load(path, GRAPH)


def test_classes_a_journal_cannot_hold_are_refused(tmp_path):
    for classes, sentence in (([1, frozenset()], "Classes must be text"), ([("a", 1), "b"], "come back as")):
        with pytest.raises(FileError, match=sentence):
            fl.ActiveLearner(GRAPH, classes).save(tmp_path / "log.jsonl")
        assert not list(tmp_path.iterdir())


def test_a_save_keeps_the_files_mode_and_follows_a_link(taught, tmp_path):
    path, link = tmp_path / "log.jsonl", tmp_path / "link.jsonl"
    taught.save(path)
    path.chmod(0o600)
    link.symlink_to(path)
    taught.teach(taught.query(), "x")
    taught.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(path.read_text().splitlines()) == 12


def test_missing_files_and_folders_get_a_sentence(taught, tmp_path):
    with pytest.raises(FileError, match=r"cannot read .* No such file"):
        fl.ActiveLearner.load(tmp_path / "none.jsonl", GRAPH)
    with pytest.raises(FileError, match="there is no folder"):
        taught.save(tmp_path / "none" / "log.jsonl")


def test_of_two_saves_at_once_one_is_kept_and_the_other_is_told(tmp_path):
    """Both go on from the same journal with an answer of their own: whoever is told "saved" finds it in the file."""
    graph = fl.Graph.from_edges(range(9), range(1, 10))
    for turn in range(30):
        path = tmp_path / f"{turn}.jsonl"
        fl.ActiveLearner(graph, ["a", "b"]).save(path)
        learners = [fl.ActiveLearner.load(path, graph) for _ in range(2)]
        kept, told, ready = [], [], threading.Barrier(2)

        def save(node, learner, path=path, kept=kept, told=told, ready=ready):
            learner.teach(node, "a")
            ready.wait()
            try:
                learner.save(path)
                kept.append(node)
            except FileError as error:
                told.append(str(error))

        threads = [threading.Thread(target=save, args=pair) for pair in enumerate(learners)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(kept) == len(told) == 1
        assert "holds another journal" in told[0]
        assert list(fl.ActiveLearner.load(path, graph).labelled) == kept


def test_names_that_are_sets_are_the_same_in_another_process(tmp_path):
    code = f"""
import fewlabels as fl
nodes = [frozenset("abcdefghijklmnop"), (frozenset({{"x", "y", "z", frozenset("uvw")}}), 1), "plain"]
graph = fl.Graph.from_edges([0, 1], [1, 2], names=nodes)
path = {str(tmp_path / "log.jsonl")!r}
"""
    here = {}
    exec(code, here)
    learner = fl.ActiveLearner(here["graph"], ["a", "b"])
    learner.teach(here["nodes"][0], "b")
    learner.save(here["path"])
    code += "assert fl.ActiveLearner.load(path, graph).labelled == {nodes[0]: 'b'}"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONHASHSEED": "7"})


def test_text_and_numbers_are_hashed_as_they_always_were():
    names = ["a", 1, 2.5, ("b", (3,)), b"c", None, True + 1]
    graph = fl.Graph.from_edges(range(6), range(1, 7), names=names)
    assert described(graph.names) == repr(list(names))


def test_names_that_do_not_last_are_told_at_the_start():
    graph = fl.Graph.from_edges([0], [1], names=[object(), object()])
    with pytest.warns(UserWarning, match="has no name that lasts, so this learner cannot be saved"):
        learner = fl.ActiveLearner(graph, ["a", "b"])
    with pytest.raises(GraphError, match="nothing would find it"):
        learner.save("never.jsonl")
