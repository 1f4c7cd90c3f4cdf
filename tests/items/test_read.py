"""Every kind of input, end to end on tiny data."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.sheets import xlsx

from fewlabels.errors import FileError
from fewlabels.graph import Graph
from fewlabels.items.read import read_items
from fewlabels.items.texts import words_of as text_rows

REVIEWS = pd.DataFrame(
    {
        "review": ["good film, good cast", "good cast", "bad plot", "bad plot and bad sound", "", "good film"],
        "year": ["1999", "2001", "", "2003", "2004", "2005"],
        "label": ["pos", "", "neg", "", "", ""],
    }
)


def written(table, path):
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix in (".jsonl", ".ndjson"):
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def painted(path, colour, size=(40, 30)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "ndjson"])
def test_texts_from_every_kind_of_table(tmp_path, kind):
    items = read_items(written(REVIEWS, tmp_path / f"reviews.{kind}"), text="review", neighbors=1)
    assert (items.title, items.kind, items.graph.n_nodes) == (f"reviews.{kind}", "text", 6)
    assert list(items.names) == [f"row {k}" for k in range(1, 7)]
    assert items.texts[2] == "bad plot"
    assert items.known == {0: "pos", 2: "neg"}
    assert items.classes == ["neg", "pos"]
    assert items.attributes[0] == {"year": "1999"}
    assert items.attributes[2] == {}  # an empty cell is not shown
    assert items.graph.weights[2, 3] > 0  # "bad plot" twice
    assert items.graph.components()[2] != items.graph.components()[0]
    assert items.graph.degrees()[4] == 0  # an empty text stands alone


def test_texts_without_spaces_are_tied_by_their_letters(tmp_path):
    texts = ["红色苹果很甜", "红色苹果很脆", "蓝色汽车很快", "蓝色汽车很慢"]
    items = read_items(written(pd.DataFrame({"t": texts}), tmp_path / "t.jsonl"), text="t", neighbors=1)
    assert items.graph.components().tolist() == [0, 0, 1, 1]


def test_the_same_text_twice_is_two_items(tmp_path):
    items = read_items(written(pd.DataFrame({"t": ["a cat", "a cat"]}), tmp_path / "t.csv"), text="t")
    assert items.graph.weights.toarray().tolist() == [[0, 1], [1, 0]]


def test_a_few_texts_unlike_all_others_stand_alone_and_the_rest_keep_their_words(tmp_path):
    texts = ["red apple", "red apple pie"] * 10 + ["!!!"]
    items = read_items(written(pd.DataFrame({"t": texts}), tmp_path / "t.csv"), text="t", neighbors=2)
    assert np.flatnonzero(items.graph.degrees() == 0).tolist() == [20]


def test_numbers_are_standardised_and_every_column_is_shown(tmp_path):
    table = pd.DataFrame(
        {"id": [30, 10, 20, 40], "height": [1.0, 1.1, 2.0, 2.1], "salary": [5, 5, 5, 5], "town": list("abcd")}
    )
    items = read_items(written(table, tmp_path / "people.csv"), neighbors=1)
    assert items.kind == "row"
    assert list(items.names) == ["30", "10", "20", "40"]
    assert items.graph.components().tolist() == [0, 0, 1, 1]  # by height; the id is a name, not a feature
    assert items.attributes[0] == {"height": "1.0", "salary": "5", "town": "a"}


def test_parquet_keeps_an_index_that_has_a_name_and_forgets_one_that_has_none(tmp_path):
    table = pd.DataFrame({"x": [1.0, 2.0, 4.0, 5.0]}, index=pd.Index(list("abcd"), name="id"))
    table.to_parquet(tmp_path / "named.parquet")
    assert list(read_items(tmp_path / "named.parquet").names) == ["a", "b", "c", "d"]
    table.reset_index(drop=True).iloc[[3, 1]].to_parquet(tmp_path / "cut.parquet")
    assert list(read_items(tmp_path / "cut.parquet").names) == ["row 1", "row 2"]


def test_a_folder_of_images_is_read_in_the_order_of_its_paths(tmp_path):
    for name in ("b.PNG", "a.jpg", "sub/c.webp", "d.gif", "e.bmp", "f.tif"):
        painted(tmp_path / "photos" / name, (10 * len(name), 90, 40))
    (tmp_path / "photos" / "notes.txt").write_text("no image")
    painted(tmp_path / "photos" / ".hidden" / "x.png", "red")
    told = []
    items = read_items(tmp_path / "photos", neighbors=50, tell=told.append)
    assert (items.title, items.kind) == ("photos", "image")
    assert list(items.names) == ["a.jpg", "b.PNG", "d.gif", "e.bmp", "f.tif", "sub/c.webp"]
    assert items.graph.n_edges == 15  # 50 neighbours of 6 items are the 5 others
    assert "Reading 6 images" in told
    assert items.notes == [f"Left out 1 file in {tmp_path / 'photos'} that is not an image"]
    kinds = [items.pictures.full(k)[1] for k in range(6)]
    assert kinds == [f"image/{kind}" for kind in ("jpeg", "png", "gif", "bmp", "png", "webp")]
    assert items.pictures.full(1)[0] == (tmp_path / "photos" / "b.PNG").read_bytes()


def test_an_image_column_is_relative_to_its_table_and_names_the_rows(tmp_path):
    painted(tmp_path / "in" / "photos" / "a.png", "red")
    painted(tmp_path / "b.png", "blue")  # outside the table's folder
    table = pd.DataFrame({"photo": ["photos/a.png", "../b.png", str(tmp_path / "b.png")], "who": list("xyz")})
    path = written(table, tmp_path / "in" / "t.csv")
    items = read_items(path, image="photo", classes=["cat", " dog ", "cat"], images_from=tmp_path)
    assert list(items.names) == list(table["photo"])
    assert items.attributes[1] == {"who": "y"}
    assert items.classes == ["cat", "dog"]
    assert items.graph.weights[1, 2] == 1  # the same picture


def test_own_features_decide_the_neighbours_of_images_and_texts(tmp_path):
    np.save(tmp_path / "emb.npy", np.array([[0, 0], [9, 9], [0, 0.1], [9, 9.1]], dtype=np.float32))
    for k in range(4):
        painted(tmp_path / "photos" / f"{k}.png", "red" if k < 2 else "blue")
    items = read_items(tmp_path / "photos", features=tmp_path / "emb.npy", neighbors=1)
    assert items.graph.components().tolist() == [0, 1, 0, 1]
    table = written(pd.DataFrame({"t": ["a b", "a b", "c d", "c d"]}), tmp_path / "t.csv")
    items = read_items(table, text="t", features=tmp_path / "emb.npy", neighbors=1)
    assert items.kind == "text"
    assert items.graph.components().tolist() == [0, 1, 0, 1]
    assert read_items(table, features=tmp_path / "emb.npy").kind == "row"


def test_edges_with_and_without_a_table_of_nodes(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target,weight\na,b,2\nb,c,1\nc,c,1\n")
    told = []
    bare = read_items(None, edges=edges, tell=told.append)
    assert (bare.title, bare.kind, list(bare.names)) == ("edges.csv", "node", ["a", "b", "c"])
    assert bare.graph.weights[0, 1] == 2
    assert "self-loop" in told[0]
    assert bare.notes == told[:1]
    table = written(
        pd.DataFrame({"id": ["c", "z", "a"], "age": [7, 8, 9], "label": ["x", "y", ""]}), tmp_path / "n.csv"
    )
    told.clear()
    items = read_items(table, edges=edges, tell=told.append)
    assert list(items.names) == ["a", "b", "c", "z"]
    assert list(items.attributes) == [{"age": "9"}, {}, {"age": "7"}, {"age": "8"}]
    assert items.known == {2: "x", 3: "y"}
    assert items.graph.degrees()[3] == 0
    assert any("1 of 3 rows" in line and "'z'" in line for line in told)
    assert any("1 of 3 nodes have no row" in line for line in told)


def test_edges_joined_with_the_words_or_the_features_of_their_nodes(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\na,b\nc,d\n")
    said = {"d": "red fox", "z": "blue sky sea", "a": "red fox runs", "c": "blue sky", "q": ""}
    table = written(pd.DataFrame({"id": list(said), "says": list(said.values())}), tmp_path / "n.csv")
    told = []
    items = read_items(table, edges=edges, text="says", neighbors=1, tell=told.append)
    assert any("Averaging the words over 2 links" in line for line in told)
    assert list(items.names) == ["a", "c", "b", "d", "z", "q"]
    assert list(items.texts) == ["red fox runs", "blue sky", "", "red fox", "blue sky sea", ""]
    words = text_rows([said.get(name, "") for name in items.names])
    links = Graph.from_edges([0, 1], [2, 3], n_nodes=6)
    assert items.graph.fingerprint() == links.with_features(words, n_neighbors=1, words=False).fingerprint()
    X = np.array([[0.0, 1], [1, 0.1], [0.2, 1], [1, 0.3], [5, 5]])  # in the order of the table
    np.save(tmp_path / "x.npy", X)
    by_numbers = read_items(table, edges=edges, features=tmp_path / "x.npy", neighbors=1)
    expected = links.with_features([X[2], X[3], [0, 0], X[0], X[1], X[4]], n_neighbors=1)
    assert by_numbers.graph.fingerprint() == expected.fingerprint()
    np.save(tmp_path / "x.npy", X[:4])
    assert read_items(None, edges=edges, features=tmp_path / "x.npy", neighbors=1).graph.n_nodes == 4
    kinds = [read_items(table, edges=edges), items, by_numbers]
    assert len({each.fingerprint for each in kinds}) == 3


def test_names_come_from_the_first_column_that_can_name(tmp_path):
    table = pd.DataFrame({"x": [1, 2, 3], "id": ["a", "a", "b"], "name": ["p", "", "q"], "file": ["1", "2", "3"]})
    assert list(read_items(written(table, tmp_path / "t.csv")).names) == ["1", "2", "3"]
    assert list(read_items(tmp_path / "t.csv", name="x").names) == ["1", "2", "3"]


def test_a_label_column_by_another_name(tmp_path):
    table = pd.DataFrame({"x": [1, 2, 3], "species": [1.0, None, 2.0], "label": ["p", "q", "r"]})
    items = read_items(written(table, tmp_path / "t.parquet"), label="species", classes=["2"])
    assert items.known == {0: "1", 2: "2"}
    assert items.classes == ["2", "1"]
    assert items.attributes[0] == {"x": "1", "label": "p"}


def test_json_lines_of_every_sort_of_value(tmp_path):
    lines = [{"t": "a b", "tags": ["u", 1], "ok": True}, {"t": "a b c", "n": 2.0}, {"t": None, "n": 10**20}]
    (tmp_path / "t.jsonl").write_text("\n\n".join(map(json.dumps, lines)) + "\n")
    items = read_items(tmp_path / "t.jsonl", text="t")
    assert list(items.attributes) == [{"tags": '["u", 1]', "ok": "true"}, {"n": "2"}, {"n": str(10**20)}]
    assert list(items.texts) == ["a b", "a b c", ""]


def test_row_numbers_written_by_pandas_are_no_feature(tmp_path):
    pd.DataFrame({"x": [1.0, 9.0, 1.1, 9.1]}).to_csv(tmp_path / "t.csv")  # with its index, under no header
    items = read_items(tmp_path / "t.csv", neighbors=1)
    assert items.graph.components().tolist() == [0, 1, 0, 1]
    assert items.attributes[0] == {"x": "1.0"}


def test_words_give_way_to_letters_where_they_leave_many_texts_alone(tmp_path):
    texts = ["red apple", "red apple", "XK-7781", "XK-7782", "红色苹果", "红色苹树"]
    items = read_items(written(pd.DataFrame({"t": texts}), tmp_path / "t.csv"), text="t", neighbors=1)
    assert (items.graph.degrees() > 0).all()


def test_texts_that_share_only_pieces_of_words_are_tied(tmp_path):
    texts = ["red apple", "red apple pie"] * 10 + ["apples"]
    items = read_items(written(pd.DataFrame({"t": texts}), tmp_path / "t.csv"), text="t", neighbors=2)
    assert items.graph.degrees()[20] > 0


def test_how_a_text_opens_counts_beside_its_words(tmp_path):
    texts = ["Who saw Rome?", "Rome: who saw it?", "Who saw it?", "Rome: saw who?"]  # the same words throughout
    items = read_items(written(pd.DataFrame({"t": texts}), tmp_path / "t.csv"), text="t", neighbors=1)
    assert items.graph.components().tolist() == [0, 1, 0, 1]


def test_file_names_that_are_no_text_can_be_sent(tmp_path):
    photos = os.fsencode(tmp_path)
    for name in (b"a.png", b"\xff.png"):
        Image.new("RGB", (5, 5)).save(os.fsdecode(photos + b"/" + name))
    items = read_items(tmp_path)
    assert list(items.names) == ["a.png", "\\xff.png"]
    json.dumps(items.names, ensure_ascii=False).encode()
    painted(tmp_path / "\\xff.png", "red")
    with pytest.raises(FileError, match=r"two items are called .* give every item a name of its own"):
        read_items(tmp_path)


def test_half_a_character_in_json_lines_can_be_sent(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"t": "a \\ud83d b"}\n{"t": "a b"}\n')
    assert read_items(tmp_path / "t.jsonl", text="t").texts[0].encode() == "a ��� b".encode()


def test_folders_are_labels_where_that_is_asked_for(tmp_path):
    for name in ("cats/1.png", "cats/2.png", "dogs/3.png", "dogs/old/4.png"):
        painted(tmp_path / name, "red" if "cats" in name else "blue")
    items = read_items(tmp_path)
    assert (items.known, items.classes) == ({}, [])
    [note] = items.notes
    assert note == "The folders look like classes (cats, dogs): --labels-from-folders takes them as known labels"
    painted(tmp_path / "5.png", "green")
    items = read_items(tmp_path, labels_from_folders=True)
    assert list(items.names) == ["5.png", "cats/1.png", "cats/2.png", "dogs/3.png", "dogs/old/4.png"]
    assert items.known == {1: "cats", 2: "cats", 3: "dogs", 4: "dogs"}
    assert (items.classes, items.notes) == (["cats", "dogs"], [])
    for k in range(6, 10):  # most lie beside the folders
        painted(tmp_path / f"{k}.png", "green")
    assert read_items(tmp_path).notes == []


def test_a_spreadsheet_is_labelled_by_columns_of_every_sort(tmp_path):
    header = ["id", "Preis", "Stadt", "class"]
    rows = [[k, 1.5 * k if k != 3 else None, "Köln" if k % 2 else "Bonn", "ab"[k % 2]] for k in range(8)]
    path = xlsx(tmp_path / "t.xlsx", {"Data": [header, *rows]})
    items = read_items(path, neighbors=2)
    assert items.notes == [
        "Rows are named by the column 'id'",
        "Compared, each scaled to mean 0 and variance 1: Preis (numbers); Stadt (categories, 0 or 1 for each value)",
        "Filled in: Preis: 1 empty cell with the median 6",
        "Left out: class (looks like labels: --label-column class takes it)",
    ]
    assert items.known == {}
    assert items.attributes[1] == {"Preis": "1.5", "Stadt": "Köln", "class": "b"}
    by_price = read_items(path, columns=["Preis"], label="class", neighbors=2)
    assert by_price.known[1] == "b"
    assert by_price.notes[0] == "Known labels come from the column 'class'"
    assert "Left out: Stadt" in by_price.notes[-1]
    assert len({items.fingerprint, by_price.fingerprint, read_items(path, ignore=["Preis", "id"]).fingerprint}) == 3


def test_a_label_column_is_told_of_and_can_be_ignored(tmp_path):
    path = written(REVIEWS, tmp_path / "r.csv")
    assert read_items(path, text="review").notes == ["Known labels come from the column 'label'"]
    ignored = read_items(path, text="review", ignore=["label"])
    assert (ignored.known, ignored.notes) == ({}, [])
    named = written(REVIEWS.rename(columns={"label": "Target"}), tmp_path / "s.csv")
    [note] = read_items(named, text="review").notes
    assert note == "Column 'Target' looks like labels: --label-column Target takes it"


def test_rows_are_named_by_a_column_in_capitals_too(tmp_path):
    (tmp_path / "t.csv").write_text("Name,x\nann,1\nbob,2\ncid,4\n")
    assert list(read_items(tmp_path / "t.csv").names) == ["ann", "bob", "cid"]
