"""The command line, run as a user runs it."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import httpx
import networkx as nx
import pandas as pd
import pytest
from scipy import sparse

from fewlabels.session.store import Event, Store

EDGES = "source,target,weight\nann,bob,1\nbob,cid,2\ncid,dan,1\ndan,eve,1\nx,y,1\n"


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "fewlabels", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


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


def test_suggest_looks_first_whether_it_can_write(tmp_path):
    done = run("suggest", "--edges", "not-read-yet.csv", "--out", "nowhere/p.csv", cwd=tmp_path)
    assert done.stderr == "fewlabels: cannot write nowhere/p.csv: there is no folder nowhere. Create it first.\n"


def test_suggest_joins_the_edges_with_the_words_of_their_nodes(folder):
    names = ["ann", "bob", "cid", "dan", "eve", "x", "y"]
    rows = [f"{name},{'purr paws' if k % 2 else 'bark bone'},{k % 2}\n" for k, name in enumerate(names)]
    (folder / "nodes.csv").write_text("node,says,weight\n" + "".join(rows))
    given = ("suggest", "--edges", "edges.csv", "--labels", "labels.csv", "-n", "1", "--features", "nodes.csv")
    for more, kind in (["--text", "says"], "words"), ([], "features"):
        done = run(*given, *more, "--neighbors", "2", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert f"Averaging the {kind} over 5 links, and finding the 2 nearest" in done.stdout
        assert "lie in parts of the graph without a label" not in done.stdout  # x and y are tied by their words
    done = run(*given[:-2], "--text", "says", cwd=folder)
    assert "--text says names a column of a table of nodes: give that table as --features" in done.stderr


def test_suggest_takes_what_a_model_thinks(folder):
    rows = "".join(
        f"{name},{label},0.9\n" for name, label in zip(["ann", "bob", "cid", "x", "y"], "ccddd", strict=True)
    )
    (folder / "model.csv").write_text("node,label,confidence\n" + rows)
    done = run("suggest", "--edges", "edges.csv", "--predictions", "model.csv", "--out", "p.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "A model's predictions for 5 of 7 nodes" in done.stdout
    assert "the model given as prior is taken to know 17% of the nodes, before the first answer" in done.stdout
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


def test_recover_says_what_it_saved(tmp_path):
    store = Store(tmp_path / "a.sqlite", {"fingerprint": "f", "title": "t", "n_items": "9"})
    store.append([Event("answer", "ann", f"key-{k}", item=k, label="cat") for k in range(5)])
    store.close()
    with sqlite3.connect(tmp_path / "a.sqlite") as db:
        db.execute("DROP TRIGGER events_stay")
        db.execute("UPDATE events SET item = 8 WHERE id = 4")
    db.close()
    done = run("recover", "a.sqlite", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Saved 4 events in a.recovered.sqlite." in done.stdout
    assert "Lost: 1, number 4." in done.stdout
    assert run("recover", "a.sqlite", cwd=tmp_path).returncode == 2  # the new file is there already


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


@pytest.mark.parametrize("command", [[], ["suggest"], ["demo"], ["reproduce"], ["compare"]])
def test_help_teaches_with_an_example(tmp_path, command):
    done = run(*command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "fewlabels " + (command[0] if command else "demo") in done.stdout.split("Usage")[1]


def test_demo_asks_with_progress_prints_a_table_and_saves_a_picture(tmp_path):
    done = run("demo", "--auto", "5", "--out", "picture.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5/5" in done.stdout
    assert "expected error" in done.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_reproduce_prints_figure_1(tmp_path):
    done = run("reproduce", "figure-1", cwd=tmp_path)
    rows = {line.split("│")[1].strip(): line.split("│")[-2].strip() for line in done.stdout.splitlines() if "│" in line}
    assert rows == {"truth": "", "zlg": "0.33", "sopt": "0.06", "bmrf": "0.00", "tsa": "0.00"}
    assert run("reproduce", "figure-9", cwd=tmp_path).returncode == 2


def test_compare_ranks_strategies_on_a_graph_and_gives_advice(tmp_path):
    path = range(20)
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in path))
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"n{k},{'ab'[k > 12]}\n" for k in range(21)))
    command = ["compare", "edges.csv", "--labels", "labels.csv", "--strategies", "tsa,random", "--trials", "6"]
    done = run(*command, "--n-labels", "6", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "21 nodes, 20 edges, 21 labels known" in done.stdout
    assert "tsa - random" in done.stdout
    assert "Use tsa" in done.stdout
    rows = pd.read_csv(tmp_path / "results" / "edges.csv")
    assert len(rows) == 2 * 6 * 6
    assert {file.name for file in (tmp_path / "results").iterdir()} >= {"edges.png", "edges.svg", "report.html"}


def test_compare_takes_rows_of_numbers_with_a_label_column(tmp_path):
    table = pd.DataFrame({"x": [k / 7 for k in range(30)], "note": "hello", "kind": ["a"] * 14 + ["b"] * 15 + [""]})
    table.to_csv(tmp_path / "points.csv", index=False)
    command = [
        "compare",
        "points.csv",
        "--label-column",
        "kind",
        "--strategies",
        "tsa",
        "--trials",
        "2",
        "--neighbors",
        "3",
    ]
    done = run(*command, "--n-labels", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "30 nodes" in done.stdout
    assert "29 labels known" in done.stdout
    assert "Compared, each scaled to mean 0 and variance 1: x (numbers)" in done.stdout
    assert "Left out: note (the same in every row)" in done.stdout


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("x,label\n1,a\n2,a\n", "holds 1 class(es): a comparison needs at least two"),
        ("x,kind\n1,a\n2,b\n", "has no column 'label'"),
        ("word,label\nu,a\nv,b\n", "has no column of numbers or categories besides 'label'"),
        ("x,label\n1,a\n2,b\nfew,a\n", "row 3: column 'x' holds 'few', not a number"),
    ],
)
def test_compare_says_what_is_wrong_with_a_table(tmp_path, content, sentence):
    (tmp_path / "t.csv").write_text(content)
    done = run("compare", "t.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_version(tmp_path):
    assert run("--version", cwd=tmp_path).stdout.startswith("fewlabels 0.")


class TestLabel:
    """`fewlabels label`, from the terminal to the page and back."""

    @pytest.fixture
    def table(self, tmp_path):
        rows = "".join(
            f"{k},{'good' if k % 2 else 'bad'} thing number {k},{'yes' if k == 3 else ''}\n" for k in range(30)
        )
        (tmp_path / "things.csv").write_text("id,review,label\n" + rows)
        return tmp_path

    @contextmanager
    def page(self, *arguments, cwd):
        """The command running: its process, and the address it printed."""
        command = [sys.executable, "-u", "-m", "fewlabels", *arguments, "--no-browser", "--port", "0"]
        with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                said = []
                for line in process.stdout:
                    said.append(line.strip())
                    if line.startswith("Page: "):
                        yield process, line.split()[1], said
                        break
                else:
                    pytest.fail(process.stderr.read())
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(30)
                said.extend(line.strip() for line in process.stdout)

    def test_it_says_what_it_understood_keeps_answers_and_goes_on(self, table):
        arguments = ["label", "things.csv", "--text", "review", "--classes", "yes,no"]
        with self.page(*arguments, cwd=table) as (process, url, said):
            about = " ".join(said)
            for part in ("30 texts from things.csv", "Neighbours:", "Components:", "1 in the data", "Engine:", "free"):
                assert part in about
            assert "things.csv.fewlabels.sqlite" in said[-2]
            body = {"who": "ann", "item": 5, "label": "no", "key": "a-key-of-its-own"}
            at, _, token = url.partition("/?token=")
            assert httpx.post(f"{at}/api/answers", json=body).status_code == 401  # other users of this machine
            assert httpx.post(f"{at}/api/answers", json=body, params={"token": token}).status_code == 200
        assert process.returncode == 0
        assert "Stopped. 2 labels are in" in said[-1]
        with self.page(*arguments, cwd=table) as (_, url, said):
            assert "1 so far" in " ".join(said)
            assert httpx.get(url.replace("/?", "/api/items/5?")).json()["label"] == "no"
            again = run(*arguments, cwd=table)
            assert (again.returncode, "is open in another fewlabels" in again.stderr) == (2, True)
        (table / "things.csv").write_text((table / "things.csv").read_text().replace("number 7", "number seven"))
        other = run(*arguments, cwd=table)
        assert (other.returncode, "holds answers about other data" in other.stderr) == (2, True)

    def test_beyond_this_machine_it_prints_a_token_and_asks_for_it(self, table):
        arguments = ["label", "things.csv", "--text", "review", "--host", "0.0.0.0", "--token", "let-me-in-please"]
        with self.page(*arguments, cwd=table) as (_, url, _said):
            assert url.endswith("/?token=let-me-in-please")
            port = url.split(":")[2].split("/")[0]
            at = f"http://127.0.0.1:{port}"
            assert httpx.get(f"{at}/api/standing").status_code == 401
            headers = {"authorization": "Bearer let-me-in-please"}
            assert httpx.get(f"{at}/api/standing", headers=headers).status_code == 200
            with httpx.Client(base_url=at) as browser:
                assert browser.get("/?token=let-me-in-please").status_code == 303
                assert browser.get("/api/standing").status_code == 200
                done = run("sign-out", "things.csv.fewlabels.sqlite", cwd=table)
                assert "Every browser is signed out." in done.stdout
                assert browser.get("/api/standing").status_code == 401
                assert browser.get("/?token=let-me-in-please").status_code == 303
                assert browser.get("/api/standing").status_code == 200
        assert not list(table.glob("*.sign-out"))
        assert "No page seems to be running" in run("sign-out", "things.csv.fewlabels.sqlite", cwd=table).stdout

    def test_host_and_token_may_be_variables_and_a_service_manager_ends_it_well(self, table, monkeypatch):
        monkeypatch.setenv("FEWLABELS_HOST", "0.0.0.0")
        monkeypatch.setenv("FEWLABELS_TOKEN", "from-the-environment")
        with self.page("label", "things.csv", "--text", "review", "--classes", "yes,no", cwd=table) as (
            process,
            url,
            said,
        ):
            assert url.endswith("/?token=from-the-environment")
            at = f"http://127.0.0.1:{url.split(':')[2].split('/')[0]}/api/answers"
            body = {"who": "ann", "item": 5, "label": "no", "key": "a-key-of-its-own"}
            assert httpx.post(at, json=body).status_code == 401
            headers = {"authorization": "Bearer from-the-environment"}
            assert httpx.post(at, json=body, headers=headers).status_code == 200
            process.terminate()
            process.wait(30)
        assert process.returncode == 0
        assert "Stopped. 2 labels are in" in said[-1]

    def test_people_get_links_of_their_own(self, table):
        (table / "people.txt").write_text("Ann\n\nBob\n")
        with self.page("label", "things.csv", "--text", "review", "--people", "people.txt", cwd=table) as (
            _,
            _url,
            said,
        ):
            links = [line.removeprefix("Link of ").split(": ") for line in said if line.startswith("Link of ")]
            assert [name for name, _ in links] == ["Ann", "Bob"]
            assert httpx.get(links[0][1]).status_code == 303
        (table / "people.txt").write_text("Ann\nAnn\n")
        done = run("label", "things.csv", "--text", "review", "--people", "people.txt", cwd=table)
        assert (done.returncode, "names 'Ann' twice" in done.stderr) == (2, True)

    def test_nothing_to_label_gets_a_sentence(self, tmp_path):
        done = run("label", cwd=tmp_path)
        assert (done.returncode, "there is nothing to label" in done.stderr) == (2, True)
        done = run("label", "missing.csv", cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_warm_up_says_when_everything_is_ready(tmp_path):
    assert "Ready, in " in run("warm-up", cwd=tmp_path).stdout
