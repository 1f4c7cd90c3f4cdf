import pandas as pd
import pytest
from support.sheets import xlsx

from fewlabels.errors import FileError
from fewlabels.experiments.user_data import read_dataset
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.tables import read_edges, read_labels, write_predictions

EDGES = pd.DataFrame({"source": ["a", "b", "01"], "target": ["b", "01", "NA"], "weight": [1.0, 2.5, 1.0]})


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "json", "jsonl", "xlsx"])
def test_edges_in_every_kind_of_file(tmp_path, kind):
    path = tmp_path / f"edges.{kind}"
    if kind in ("parquet", "feather"):
        getattr(EDGES, f"to_{kind}")(path)
    elif kind.startswith("json"):
        EDGES.to_json(path, orient="records", lines=kind == "jsonl")
    elif kind == "xlsx":
        xlsx(path, {"Edges": [list(EDGES.columns), *EDGES.values.tolist()]})
    else:
        EDGES.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    graph = read_edges(path)
    assert list(graph.names) == ["a", "b", "01", "NA"]  # names are text, also those that look like something else
    assert graph.weights[graph.position("b"), graph.position("01")] == 2.5


def test_parquet_numbers_meet_csv_text(tmp_path):
    pd.DataFrame({"source": [1, 2], "target": [2, 30]}).to_parquet(tmp_path / "edges.parquet")
    (tmp_path / "labels.csv").write_text("node,label\n30,x\n1,\n")
    graph = read_edges(tmp_path / "edges.parquet")
    assert read_labels(tmp_path / "labels.csv", graph) == {"30": "x"}


def test_missing_labels_in_parquet_leave_numbers_whole(tmp_path):
    pd.DataFrame({"source": [1.0, 2.0], "target": [2, 30]}).to_parquet(tmp_path / "edges.parquet")
    graph = read_edges(tmp_path / "edges.parquet")
    for label in ([0, 1, None], pd.array([0, 1, None], dtype="Int64")):
        pd.DataFrame({"node": [1, 30, 2], "label": label}).to_parquet(tmp_path / "labels.parquet")
        assert read_labels(tmp_path / "labels.parquet", graph) == {"1": "0", "30": "1"}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("e.csv", "", "is empty: its first line must name the columns source, target"),
        ("e.csv", "source,target\n", "holds no edges"),
        ("e.csv", "source,target\na,b,1\nb,c,1\n", "rows with more cells than its header"),
        ("e.csv", "from,to\na,b\n", "has no column 'source': its columns are from, to"),
        ("e.csv", "source,target,weight\na,b,heavy\n", "row 1: the weight 'heavy' is not a number"),
        ("e.csv", "source,target,weight\na,b,1\nb,c,-2\n", "row 2: the weight '-2' is not a number >= 0"),
        ("e.csv", "source,target\na,b\n,c\n", "row 2: 'source' is empty"),
        ("e.csv", 'source,target\na,"b\n', "cannot be read as CSV"),
        ("e.parquet", "no parquet", "cannot be read as PARQUET"),
        ("e.txt", "source target", "ends in '.txt': give a .csv, .tsv, .xlsx, .ods, .json, .jsonl, .parquet or"),
    ],
)
def test_edges_that_cannot_be_read_get_a_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_edges(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("node,label\nz,x\n", "row 1: no edge names the node 'z'"),
        ("node,label\na,x\na,y\n", "row 2: node 'a' is 'y' here and 'x' above"),
        ("id,label\na,x\n", "has no column 'node'"),
    ],
)
def test_labels_that_cannot_be_used_get_a_sentence(tmp_path, content, sentence):
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    (tmp_path / "labels.csv").write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_labels(tmp_path / "labels.csv", read_edges(tmp_path / "edges.csv"))


def test_bytes_that_are_no_text_get_a_sentence(tmp_path):
    (tmp_path / "edges.csv").write_bytes(b"source,target\n\x00\x01,b\n")
    with pytest.raises(FileError, match="holds bytes that are no text"):
        read_edges(tmp_path / "edges.csv")


def test_nodes_that_only_the_labels_name_stand_alone_in_a_comparison(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "l.csv").write_text("node,label\na,x\nb,y\nlonely,x\nquiet,\n")
    told = []
    dataset = read_dataset(tmp_path / "e.csv", tmp_path / "l.csv", "label", 10, tell=told.append)
    assert dataset.graph.names == ["a", "b", "c", "lonely", "quiet"]
    assert dataset.graph.degrees().tolist() == [1, 2, 1, 0, 0]
    assert dataset.labels.tolist() == [0, 1, -1, 0, -1]
    assert told == [f"2 nodes of {tmp_path / 'l.csv'} are in no edge and stand alone, the first 'lonely'"]


def test_names_that_look_like_formulas_are_found_again_as_they_are_written(tmp_path):
    names = ["=a", "b;=c", "\u00a0@d", "'=e"]
    graph = Graph.from_pandas(pd.DataFrame({"source": names[:-1], "target": names[1:]}))
    learner = ActiveLearner(graph, ["x", "y"])
    learner.teach(names, ["x", "y", "x", "y"])
    write_predictions(tmp_path / "p.csv", learner)
    assert read_labels(tmp_path / "p.csv", graph) == learner.labelled
