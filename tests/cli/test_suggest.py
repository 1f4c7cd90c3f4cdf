"""`fewlabels suggest`: one step of a pipeline."""

import json
import re
from io import StringIO

import networkx as nx
import pandas as pd
import pytest
from scipy import sparse
from support.command import run
from support.networks import word_vectors

from fewlabels.cli import options
from fewlabels.machine.progress import say

EDGES = "source,target,weight\nann,bob,1\nbob,cid,2\ncid,dan,1\ndan,eve,1\nx,y,1\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "labels.csv").write_text("node,label\nann,cat\neve,dog\n")
    return tmp_path


def test_suggest_names_the_next_nodes_and_writes_predictions(folder):
    done = run("suggest", "--edges", "edges.csv", "--labels", "labels.csv", "-n", "3", "--out", "p.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "7 nodes, 5 edges, 2 labelled" in done.stdout
    assert "2 nodes lie in parts of the graph without a label" in done.stdout
    table = pd.read_csv(folder / "p.csv", index_col="node")
    assert list(table.columns) == ["label", "prediction", "chance", "reached", "skipped", "check", "p_cat", "p_dog"]
    assert table.loc["ann"].drop("check").tolist() == ["cat", "cat", 1, True, False, 1, 0]
    assert pd.isna(table.loc["dan", "label"])  # what nobody taught has no label
    assert table.loc["dan", "prediction"] == "dog"
    assert table.loc["x", ["p_cat", "p_dog", "reached"]].tolist() == [0.5, 0.5, False]


def test_suggest_takes_the_paper_s_field_and_refuses_what_contradicts_it(folder):
    command = "suggest", "--edges", "edges.csv", "--labels", "labels.csv", "--field", "paper"
    said = " ".join(run(*command, cwd=folder).stdout.split())
    assert "field of the paper (smoothness 0), beta 1:" in said
    assert "predictions as label propagation has them" in said
    for option in (("--smoothness", "3.3"), ("--centred",)):
        done = run(*command, *option, cwd=folder)
        assert done.returncode != 0
        assert 'in the field "paper" it is' in " ".join(done.stderr.split())


def test_suggest_looks_first_whether_it_can_write(tmp_path):
    done = run("suggest", "--edges", "not-read-yet.csv", "--out", "nowhere/p.csv", cwd=tmp_path)
    assert done.stderr == "fewlabels: cannot write nowhere/p.csv: there is no folder nowhere. Create it first.\n"
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    done = run("suggest", "--edges", "e.csv", "--out", "./e.csv", cwd=tmp_path)
    assert done.stderr == "fewlabels: e.csv is read here, and would be overwritten: name another to write to.\n"


def test_suggest_joins_the_edges_with_the_words_of_their_nodes(folder):
    names = ["ann", "bob", "cid", "dan", "eve", "x", "y"]
    rows = [f"{k},Mx {name},{name},{'purr paws' if k % 2 else 'bark bone'},{k % 2}\n" for k, name in enumerate(names)]
    (folder / "nodes.csv").write_text("id,Name,node,says,weight\n" + "".join(rows))  # node is what the edges name
    given = ("suggest", "--edges", "edges.csv", "--labels", "labels.csv", "-n", "1", "--features", "nodes.csv")
    for more, kind in (["--text", "says"], "words"), ([], "features"):
        done = run(*given, *more, "--neighbors", "2", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert f"Averaging the {kind} over 5 links, and finding the 2 nearest" in done.stdout
        assert "lie in parts of the graph without a label" not in done.stdout  # x and y are tied by their words
    done = run(*given[:-2], "--text", "says", cwd=folder)
    assert "--text says names a column of a table of nodes: give that table as --features" in done.stderr
    (folder / "nodes.csv").write_text("id,says\n1,a b\n2,a c\n")
    done = run(*given, "--text", "says", cwd=folder)
    assert "'id' names none of the nodes, such as 'ann'. Name them in a column called node" in done.stderr


def test_suggest_compares_texts_by_a_network_and_prints_no_bar(folder):
    word_vectors(folder / "w.onnx", {"cat": [1, 0], "car": [0, 1]})
    (folder / "nodes.csv").write_text("node,says\n" + "".join(f"{n},cat\n" for n in ("ann", "x")) + "bob,car\ny,car\n")
    given = ("suggest", "--edges", "edges.csv", "--labels", "labels.csv", "--features", "nodes.csv", "--text", "says")
    done = run(*given, "--embed", "w.onnx", "-n", "1", cwd=folder)
    assert "Nodes are compared by w.onnx, 2 numbers each" in done.stdout, done.stderr
    assert "Averaging the texts over 5 links" in done.stdout
    assert "of 4" not in done.stdout


def test_suggest_takes_what_a_model_thinks(folder):
    rows = "".join(
        f"{name},{label},0.9\n" for name, label in zip(["ann", "bob", "cid", "x", "y"], "ccddd", strict=True)
    )
    (folder / "model.csv").write_text("node,label,confidence\n" + rows)
    done = run("suggest", "--edges", "edges.csv", "--predictions", "model.csv", "--out", "p.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "A model's predictions for 5 of 7 nodes" in done.stdout
    assert re.search(r"the model given as prior is taken to know 1\d% of the nodes, before the first", done.stdout)
    table = pd.read_csv(folder / "p.csv", index_col="node")
    assert table.loc[["ann", "x"], "prediction"].tolist() == ["c", "d"]
    given = ("suggest", "--edges", "edges.csv", "--predictions", "model.csv")
    done = run(*given, "--labels", "labels.csv", "--classes", "cat,dog", cwd=folder)
    assert "model.csv predicts 'c', which is no class: name all of them with --classes" in done.stderr
    assert "Leave one out" in run(*given, "--prior", "c=0.5,d=0.5", cwd=folder).stderr


def test_suggest_draws_checks_and_says_what_they_found(tmp_path):
    """A ring of 60 in two halves: six checks are drawn, answered, and read back from the table of predictions."""
    (tmp_path / "ring.csv").write_text("source,target\n" + "".join(f"{k},{(k + 1) % 60}\n" for k in range(60)))
    labels = {0: "a", 15: "a", 30: "b", 45: "b"}

    def suggest(*more):
        rows = "".join(f"{node},{label}\n" for node, label in labels.items())
        (tmp_path / "labels.csv").write_text("node,label\n" + rows)
        given = ("suggest", "--edges", "ring.csv", "--labels", "labels.csv", "-n", "1", "--out", "p.csv", *more)
        done = run(*given, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = suggest("--check", "6")
    drawn = [int(line.split("│")[1]) for line in said.splitlines() if "check" in line and "│" in line]
    assert len(drawn) == 6
    assert "error:" not in said
    table = pd.read_csv(tmp_path / "p.csv", index_col="node")
    assert table["check"].dropna().sort_values().index.tolist() == drawn
    again = suggest("--check", "6", "--checked", "p.csv")  # none is answered: the same six wait
    assert [int(line.split("│")[1]) for line in again.splitlines() if "check" in line and "│" in line] == drawn
    assert "error: nothing is checked yet: still learning" in again
    assert not any("question" in line and line.split("│")[1].strip() in map(str, drawn) for line in again.splitlines())
    labels |= {node: "a" if node > 52 or node < 22 else "b" for node in drawn}
    assert "6 checks, none wrong: probably below 20%" in suggest("--checked", "p.csv", "--target", "0.2")
    labels |= {drawn[0]: "b" if labels[drawn[0]] == "a" else "a"}
    assert "6 checks, 2 wrong" in suggest("--checked", "p.csv")
    del labels[drawn[2]]  # nobody could tell
    said = suggest("--checked", "p.csv")
    assert "5 checks, 1 wrong, 1 skipped" in said
    assert "1 checks before the last answered one have no answer" in said


def test_names_that_look_like_formulas_are_text_and_are_read_back(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n=a,-b\n-b,c\nc,d\n")
    (tmp_path / "l.csv").write_text("node,label\n=a,@x\nd,y\n")
    given = ("suggest", "--edges", "e.csv", "--labels", "l.csv", "--check", "2", "--out", "p.csv")
    assert run(*given, cwd=tmp_path).returncode == 0
    assert (tmp_path / "p.csv").read_text().splitlines()[1].startswith("'=a,'@x,'@x,")
    assert run(*given, "--checked", "p.csv", cwd=tmp_path).returncode == 0


def test_suggest_takes_a_matrix_whose_nodes_are_numbered(tmp_path):
    path = sparse.diags_array([1.0, 1.0, 1.0, 1.0], offsets=1, shape=(5, 5))
    sparse.save_npz(tmp_path / "graph.npz", sparse.csr_array(path + path.T))
    (tmp_path / "labels.csv").write_text("node,label\n0,cat\n4,dog\n")
    done = run("suggest", "--edges", "graph.npz", "--labels", "labels.csv", "--out", "p.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5 nodes, 4 edges, 2 labelled" in done.stdout
    assert pd.read_csv(tmp_path / "p.csv", index_col="node").loc[[0, 1, 3], "prediction"].tolist() == [
        "cat",
        "cat",
        "dog",
    ]


def test_suggest_takes_graphml_whose_lone_nodes_stay(tmp_path):
    g = nx.path_graph(["ann b.", "bob", "cid"])
    g.add_node("zoé")
    nx.write_graphml_xml(g, tmp_path / "g.graphml")
    (tmp_path / "labels.csv").write_text("node,label\nann b.,cat\ncid,dog\n", encoding="utf-8")
    done = run("suggest", "--edges", "g.graphml", "--labels", "labels.csv", "--out", "p.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4 nodes, 2 edges, 2 labelled" in done.stdout
    assert pd.read_csv(tmp_path / "p.csv", index_col="node")["reached"].to_dict()["zoé"] is False


def test_suggest_prints_any_node_name_whole_and_as_it_is(tmp_path):
    names = ["[red]x", "[/b]y", "https://example.org/" + "a/very/long/path/" * 8, "Zoë, “quoted”"]
    table = pd.DataFrame({"source": names[:-1], "target": names[1:]})
    table.to_csv(tmp_path / "edges.csv", index=False)
    done = run("suggest", "--edges", "edges.csv", "--classes", "[a],[/b]", "-n", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in names:
        assert f" {name} " in done.stdout


def test_suggest_starts_from_no_label_at_all(folder):
    (folder / "labels.csv").write_text("node,label\n")
    for labels in ([], ["--labels", "labels.csv"]):
        done = run("suggest", "--edges", "edges.csv", *labels, "--classes", "cat,dog", "-n", "1", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "cid" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--edges", "none.csv"], "there is no file none.csv"),
        (["--edges", "labels.csv"], "has no column 'source'"),
        (["--edges", "edges.csv", "--labels", "edges.csv"], "has no column 'node'"),
        (["--edges", "edges.csv"], "name all of them with --classes a,b,c"),
        (["--edges", "edges.csv", "--classes", "cat,dog", "--strategy", "tsb"], "Did you mean 'tsa'"),
        (["--edges", "edges.csv", "--classes", "cat,dog", "--beta", "-1"], "beta is -1"),
        (["--edges", "edges.csv", "--classes", "cat,dog", "--out", "none/p.csv"], "there is no folder none"),
        (["--edges", "edges.csv", "--labels", "labels.csv", "--classes", "cat,owl"], "'dog' is not one of the classes"),
    ],
)
def test_mistakes_get_one_sentence_exit_code_2_and_no_traceback(folder, arguments, sentence):
    done = run("suggest", *arguments, cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


ESCAPES = "\x1b]52;c;aGk=\x07", "a\nfewlabels: all is well", "\x9b31m", "back\x08\r", "\u202e right", "[/bold]"


def obeyed(text):
    """What a terminal would take for a command, or for a line of its own."""
    return re.search(r"[^\n -~\xa0-\u200a\u2010-\u2027\u202f-\uffff]|^fewlabels: all is well", text, re.MULTILINE)


@pytest.mark.parametrize("word", ESCAPES)
def test_no_word_of_others_reaches_the_terminal_as_a_command(tmp_path, word):
    rows = [["source", "target"], [word, "b"], ["b", "c"], ["c", word]]
    (tmp_path / "e.jsonl").write_text("\n".join(json.dumps(dict(zip(rows[0], row, strict=True))) for row in rows[1:]))
    table = [{"node": node, word: k % 2, "size": k * k} for k, node in enumerate([word, "b", "c"])]
    (tmp_path / "f.json").write_text(json.dumps(table))
    done = run("suggest", "--edges", "e.jsonl", "--features", "f.json", "--classes", f"{word},y", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Compared, each scaled" in done.stdout
    assert not obeyed(done.stdout)
    assert not obeyed(done.stderr)
    done = run("suggest", "--edges", "f.json", cwd=tmp_path)
    assert "has no column 'source': its columns are node, " in done.stderr
    assert not obeyed(done.stderr)


def test_what_goes_on_the_line_of_progress_is_no_command_either():
    out = StringIO()
    shown = options.Terminal(file=out, force_terminal=True, markup=False, highlight=False, width=200)
    with shown.status("Reading") as status:
        for word in ESCAPES:
            status.update(word)
            shown.print(status.renderable)
    assert not obeyed(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", out.getvalue()))
    assert "[/bold]" in out.getvalue()
    assert r"\x1b]52;c;aGk=\x07" in out.getvalue()


def test_what_is_said_on_standard_error_is_no_command_either(capsys):
    say("\x1b[2J" + "x" * 10_000)
    said = capsys.readouterr().err
    assert said.startswith(r"fewlabels: \x1b[2Jxxx")
    assert len(said) < 2_100
