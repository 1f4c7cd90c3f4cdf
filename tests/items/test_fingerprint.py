"""The fingerprint changes with what answers depend on, and with nothing else."""

import numpy as np
import pytest
from PIL import Image

from fewlabels.graph import Graph
from fewlabels.items.read import read_items

TABLE = "id,t,u,label\n1,a b,x,p\n2,a c,y,\n3,b c,z,q\n"


def of(path, **options):
    return read_items(path, **options).fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1,a b", "7,a b"),  # a name
        ("a b,x", "b a,x"),  # a text, though no tie changes
        ("a b,x", "a b,w"),  # what is shown beside it
        ("2,a c,y,\n3,b c,z,q\n", "3,b c,z,q\n2,a c,y,\n"),  # the order
    ],
)
def test_a_change_in_the_table_changes_it(tmp_path, old, new):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    before = of(path, text="t")
    assert TABLE.replace(old, new) != TABLE
    path.write_text(TABLE.replace(old, new))
    assert of(path, text="t") != before


def test_a_change_of_neighbours_changes_it_and_classes_or_places_do_not(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    before = of(path, text="t")
    assert of(path, text="t", neighbors=1) != before
    assert of(path, text="t", classes=["p", "new"]) == before
    path.write_text(TABLE.replace("y,\n", "y,p\n"))  # one more label is known
    assert of(path, text="t") == before
    (tmp_path / "elsewhere").mkdir()
    moved = path.rename(tmp_path / "elsewhere" / "other.csv")
    assert of(moved, text="t") == before


def test_the_bytes_of_an_image_count_and_its_date_does_not(tmp_path):
    for k in range(3):
        Image.new("RGB", (20, 20), (80 * k, 0, 0)).save(tmp_path / f"{k}.bmp")
    np.save(tmp_path.parent / "same.npy", np.arange(3.0)[:, None])  # the graph stays as it is
    options = {"features": tmp_path.parent / "same.npy"}
    before = of(tmp_path, **options)
    (tmp_path / "1.bmp").touch()
    assert of(tmp_path, **options) == before
    content = bytearray((tmp_path / "1.bmp").read_bytes())
    content[-1] ^= 1
    (tmp_path / "1.bmp").write_bytes(content)
    assert of(tmp_path, **options) != before


def test_own_features_count(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    found = []
    for column in ([1.0, 2.0, 4.0], [1.0, 2.0, 5.0]):
        np.save(tmp_path / "f.npy", np.array(column)[:, None])
        found.append(of(path, text="t", features=tmp_path / "f.npy"))
    assert len({*found, of(path, text="t")}) == 3


def test_edges_and_their_weights_count(tmp_path):
    path = tmp_path / "e.csv"
    found = set()
    for weight, node in ((1, "c"), (2, "c"), (1, "d")):
        path.write_text(f"source,target,weight\na,b,1\nb,{node},{weight}\n")
        found.add(of(None, edges=path))
    assert len(found) == 3


def test_the_last_bits_of_a_distance_do_not_count(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n2\n4\n")
    before = read_items(path)
    exact = Graph.from_features
    monkeypatch.setattr(Graph, "from_features", lambda X, k: Graph(exact(X, k).weights * (1 + 1e-15)))
    on_another_processor = read_items(path)
    assert on_another_processor.graph.fingerprint() != before.graph.fingerprint()
    assert on_another_processor.fingerprint == before.fingerprint
