"""Photos and texts described by networks: tiny ONNX files, and a hub on this machine."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto
from PIL import Image
from support.networks import hub, mean_colour, word_vectors

import fewlabels as fl
from fewlabels.cli.inputs import Inputs
from fewlabels.errors import FileError, ModelError, SettingError
from fewlabels.experiments.user_data import read_dataset
from fewlabels.graph.read import read_edges
from fewlabels.items.describe import describe
from fewlabels.items.embedding import named, numbers_of
from fewlabels.items.embedding.chosen import compared
from fewlabels.items.embedding.onnx_file import averaged
from fewlabels.items.embedding.onnx_photos import PhotoNetwork
from fewlabels.items.network import with_node_features
from fewlabels.items.read import read_items

COLOURS = {"red": (255, 0, 0), "blue": (0, 0, 255), "dark red": (250, 0, 0), "dark blue": (0, 0, 250)}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWLABELS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (40, 30), colour).save(folder / f"{name}.png")
    return folder


def plain(path, **more):
    """The JSON beside a model: colours from 0 to 1, as they are."""
    path.with_suffix(".json").write_text(json.dumps({"mean": [0, 0, 0], "std": [1, 1, 1], **more}))


@pytest.mark.parametrize("shape", [("n", 3, "h", "w"), (1, 3, 16, 16), ("n", 16, 16, 3)])
def test_a_file_of_ones_own_sees_photos_as_it_expects_them(tmp_path, photos, shape):
    model = mean_colour(tmp_path / "m.onnx", shape)
    found = fl.embed([photos / "red.png", photos / "blue.png"], model)
    assert found == pytest.approx(
        (np.array([[1, 0, 0], [0, 0, 1]]) - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225], abs=1e-3
    )
    plain(model, size=16)
    assert fl.embed([str(photos / "red.png")], str(model)).tolist() == [[1, 0, 0]]


def test_a_network_that_takes_bytes_gets_bytes(tmp_path, photos):
    model = mean_colour(tmp_path / "m.onnx", ("n", 8, 8, 3), kind=TensorProto.UINT8)
    assert fl.embed([photos / "red.png"], model).tolist() == [[255, 0, 0]]


def test_half_precision_is_given_where_it_is_wanted_and_the_layout_where_no_shape_tells(tmp_path, photos):
    model = mean_colour(tmp_path / "m.onnx", kind=TensorProto.FLOAT16)
    plain(model)
    assert fl.embed([photos / "red.png"], model).tolist() == [[1, 0, 0]]
    model = mean_colour(tmp_path / "open.onnx", ("n", "a", "b", "c"))  # means over the last two axes
    plain(model, size=8, layout="nhwc")
    assert fl.embed([photos / "red.png"], model) == pytest.approx(1 / 3)  # of each of 8 rows, over width and colours
    plain(model, size=8)
    assert fl.embed([photos / "red.png"], model).tolist() == [[1, 0, 0]]


def test_the_middle_square_is_seen_unless_told_to_squeeze(tmp_path):
    wide = Image.new("RGB", (300, 100), "white")
    wide.paste("black", (100, 0, 200, 100))
    wide.save(tmp_path / "wide.png")
    model = mean_colour(tmp_path / "m.onnx", ("n", 3, 100, 100))
    plain(model)
    assert fl.embed([tmp_path / "wide.png"], model) == pytest.approx(0, abs=0.02)
    plain(model, crop=False)
    assert fl.embed([tmp_path / "wide.png"], model) == pytest.approx(2 / 3, abs=0.02)


def test_texts_by_a_file_of_ones_own_are_the_mean_of_their_tokens(tmp_path):
    model = word_vectors(tmp_path / "m.onnx", {"cat": [1, 0], "dog": [0, 1], "eel": [4, 4]})
    assert fl.embed(["cat", "cat dog", "eel cat dog"], model) == pytest.approx(
        np.array([[1, 0], [0.5, 0.5], [5 / 3] * 2])
    )
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(FileError, match=r"there is no .*tokenizer.json"):
        fl.embed(["cat"], model)


def test_of_a_long_text_the_first_tokens_are_read(tmp_path):
    model = word_vectors(tmp_path / "m.onnx", {"cat": [1, 0], "dog": [0, 1]})
    found = fl.embed(["cat " * 128 + "dog " * 128 + "dog " * 1000, "cat"], model)
    assert found == pytest.approx(np.array([[0.5, 0.5], [1, 0]]))


def test_texts_for_a_network_with_a_strange_input_are_refused(tmp_path):
    word_vectors(tmp_path / "m.onnx", {"cat": [1, 0]})
    model = mean_colour(tmp_path / "photos.onnx")
    with pytest.raises(FileError, match=r"photos.onnx takes the input 'x': it must take input_ids, attention_mask"):
        fl.embed(["cat"], model)


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"sise": 3}, "says 'sise': give some of size, mean"),
        ({"size": 0}, "size is 0: give 8 to 2048"),
        ({"mean": [1, 2]}, "give three numbers"),
        ({"std": [0, 1, 1]}, "std above 0"),
        ({"output": "z"}, "has no output 'z': it has y"),
    ],
)
def test_a_json_that_says_nonsense_is_refused(tmp_path, photos, beside, message):
    model = mean_colour(tmp_path / "m.onnx")
    plain(model, **beside)
    with pytest.raises(FileError, match=message):
        fl.embed([photos / "red.png"], model)


def test_a_file_that_is_no_network_for_photos_is_refused(tmp_path, photos):
    with pytest.raises(FileError, match="does not take photos"):
        fl.embed([photos / "red.png"], word_vectors(tmp_path / "w.onnx", {"a": [1, 2]}))
    (tmp_path / "broken.onnx").write_bytes(b"no network")
    with pytest.raises(FileError, match="is no network that can be run"):
        fl.embed([photos / "red.png"], tmp_path / "broken.onnx")
    (tmp_path / "folder.onnx").mkdir()
    with pytest.raises(FileError, match="cannot read"):
        fl.embed([photos / "red.png"], tmp_path / "folder.onnx")
    for things in ([photos / "red.png"], ["a text, which would need a tokenizer.json, too"]):
        with pytest.raises(FileError, match=r"there is no file .*none.onnx"):
            fl.embed(things, tmp_path / "none.onnx")


def test_items_are_tied_by_the_network_and_answers_outlast_it(tmp_path, photos):
    model = mean_colour(tmp_path / "m.onnx")
    items = read_items(photos, embed=str(model), neighbors=1)
    assert items.names == ["blue.png", "dark blue.png", "dark red.png", "red.png"]
    assert items.graph.components().tolist() == [0, 0, 1, 1]
    assert "compared by m.onnx, 3 numbers each" in describe(items)[1]
    given = Inputs(photos, neighbors=1, embed=str(model)).reader(None)()  # as on the command line
    assert given.by == items.by
    by_hand = read_items(photos, neighbors=1)
    assert by_hand.fingerprint == items.fingerprint
    assert "compared by outlines and colours; --embed auto" in describe(by_hand)[1]


def test_texts_are_tied_by_the_network_and_an_empty_one_stands_alone(tmp_path):
    vectors = {"cat": [1, 0], "kitten": [1, 0.1], "car": [0, 1], "lorry": [0.1, 1]}
    model = word_vectors(tmp_path / "m.onnx", vectors)
    (tmp_path / "t.csv").write_text("t,n\n" + "".join(f"{word},1\n" for word in vectors) + ",1\n")
    items = read_items(tmp_path / "t.csv", text="t", embed=str(model), neighbors=1)
    assert items.graph.components().tolist() == [0, 0, 1, 1, 2]


def test_without_the_extra_auto_goes_on_and_a_name_is_refused(photos, monkeypatch):
    monkeypatch.setattr(named, "find_spec", lambda name: None)
    items = read_items(photos, embed="auto", neighbors=1)
    assert items.by.startswith("compared by outlines and colours, because Qdrant/clip-ViT-B-32-vision needs packages")
    assert "pip install 'fewlabels[embed]'" in items.by
    with pytest.raises(ModelError, match="resnet50-onnx needs packages that are not installed"):
        read_items(photos, embed="Qdrant/resnet50-onnx")
    with pytest.raises(ModelError, match="pip install"):
        fl.embed(["a text"])


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """Opens a hub that offers the network "auto" takes for photos, and closes it again."""
    pytest.importorskip("fastembed")
    files = tmp_path / "files"
    files.mkdir()
    mean_colour(files / "model.onnx", ("n", 3, 8, 8))
    how = {"do_normalize": True, "image_mean": [0, 0, 0], "image_std": [1, 1, 1], "do_rescale": True, "do_resize": True,
           "rescale_factor": 1 / 255, "size": {"shortest_edge": 8}, "crop_size": {"height": 8, "width": 8},
           "do_center_crop": True, "image_processor_type": "CLIPImageProcessor", "resample": 3}  # fmt: skip
    (files / "preprocessor_config.json").write_text(json.dumps(how))
    (files / "config.json").write_text("{}")

    with hub(files, named.SUITS["image"]) as (address, fetched):
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield fetched, lambda: monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


def test_a_named_network_is_downloaded_once_and_used_offline(photos, offered, cache):
    fetched, close = offered
    said = []
    assert fl.embed([photos / "red.png"], tell=said.append) == pytest.approx(np.array([[1, 0, 0]]), abs=1e-3)
    assert fetched.count("model.onnx") == 1
    assert any(
        line.startswith(f"Downloading Qdrant/clip-ViT-B-32-vision into {cache / 'models'}, once") for line in said
    )
    close()
    assert fl.embed([photos / "blue.png"]) == pytest.approx(np.array([[0, 0, 1]]), abs=1e-3)
    assert fetched.count("model.onnx") == 1


def test_texts_go_through_a_named_network_too(tmp_path, monkeypatch):
    pytest.importorskip("fastembed")
    files = tmp_path / "files"
    files.mkdir()
    word_vectors(files / "model_optimized.onnx", {"cat": [3, 4], "dog": [0, 1]})
    (files / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (files / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 16, "pad_token": "[PAD]"}))
    (files / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))
    with hub(files, "qdrant/bge-small-en-v1.5-onnx-q") as (address, _):
        monkeypatch.setenv("HF_ENDPOINT", address)
        found = fl.embed(["cat dog", "dog"])
    assert found == pytest.approx(np.array([[0.6, 0.8], [0, 1]]), abs=1e-6)  # its first token, of length 1


def test_without_network_and_cache_auto_says_so_and_goes_on(photos, offered):
    _, close = offered
    close()
    X, by = compared([photos / "red.png"], "image", "auto", lambda sentence: None)
    assert X is None
    assert "is not in" in by
    assert "cannot be downloaded" in by
    with pytest.raises(SettingError, match=r"no network for images that fastembed knows. Did you mean"):
        fl.embed([photos / "red.png"], "Qdrant/resnet50-onx")


def test_a_network_that_arrives_damaged_is_not_used(photos, offered, monkeypatch):
    monkeypatch.setattr(named, "_sha256", lambda path: "0" * 64)
    with pytest.raises(ModelError, match="arrived damaged"):
        fl.embed([photos / "red.png"])


@pytest.mark.parametrize(
    ("things", "message"),
    [
        ("a text", "give a list"),
        ([], "nothing to embed"),
        ([Path("a.txt"), "b"], "a.txt is not an image by its ending"),
    ],
)
def test_what_is_neither_photos_nor_texts_is_refused(things, message):
    with pytest.raises(FileError, match=message):
        fl.embed(things)


def test_embed_is_refused_where_it_has_nothing_to_compare(tmp_path, photos):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    np.save(tmp_path / "x.npy", np.zeros((4, 2)))
    with pytest.raises(SettingError, match="--embed compares photos or texts"):
        read_items(tmp_path / "t.csv", embed="auto")
    with pytest.raises(SettingError, match="--embed and --features given together"):
        read_items(photos, features=tmp_path / "x.npy", embed="auto")


def test_a_photo_that_is_not_there_does_not_make_texts_of_the_others(tmp_path):
    with pytest.raises(FileError, match=r"there is no file .*gone\.png"):
        fl.embed([str(tmp_path / "gone.png")])


VECTORS = {"cat": [1, 0], "kitten": [1, 0.1], "car": [0, 1], "lorry": [0.1, 1]}


def test_beside_links_texts_and_photos_count_as_the_network_sees_them(tmp_path, photos):
    """Two links between four nodes; the joint graph is that of `with_features`, and answers outlast the network."""
    words, colours = word_vectors(tmp_path / "w.onnx", VECTORS), mean_colour(tmp_path / "m.onnx")
    plain(colours)
    edges, table = tmp_path / "e.csv", tmp_path / "n.csv"
    edges.write_text("source,target\na,b\nc,d\n")
    files = ["blue.png", "red.png", "dark blue.png", "dark red.png"]
    lines = [f"{node},{word},photos/{file}" for node, word, file in zip("abcd", VECTORS, files, strict=True)]
    table.write_text("\n".join(["id,says,file", *lines, ""]))
    links = fl.Graph.from_edges([0, 1], [2, 3])  # a, c, b, d: as in the column source, then in target
    order = [0, 2, 1, 3]
    seen = fl.embed([photos / file for file in files], colours)[order]
    read = np.array(list(VECTORS.values()))[order]
    for column, model, X in (({"text": "says"}, words, read), ({"image": "file"}, colours, seen)):
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
        expected = links.with_features(X, n_neighbors=1, words=False).fingerprint()
        items = read_items(table, edges=edges, embed=str(model), neighbors=1, **column)
        assert items.graph.fingerprint() == expected
        assert f"compared by {model.name}" in describe(items)[-3]
        by_hand = read_items(table, edges=edges, neighbors=1, **column)
        assert (by_hand.fingerprint, by_hand.kind) == (items.fingerprint, "node")
        piped = with_node_features(
            read_edges(edges), table, column.get("text"), 1, lambda sentence: None,
            image=column.get("image"), embed=str(model),
        )  # fmt: skip
        assert np.array_equal(piped.weights.toarray(), items.graph.weights.toarray())
    assert items.pictures.file(1).name == "dark blue.png"
    edges.write_text("source,target\na,b\nc,q\n")
    with pytest.raises(FileError, match=r"no row for node 'q': with --image every node needs a picture"):
        read_items(table, edges=edges, image="file")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "--embed auto: name the column that it reads"),
        ({"path": "n.csv"}, "name the column of them with --text or --image"),
        ({"path": "x.npy", "image": "file"}, "--image file names a column, and .*x.npy is an array"),
        ({"image": "file"}, "--image file names a column of a table of nodes: give that table as --features"),
        ({"path": "n.csv", "text": "t", "image": "file"}, "--text and --image given together"),
    ],
)
def test_beside_links_a_network_needs_a_column_to_read(tmp_path, given, message):
    path = tmp_path / given["path"] if "path" in given else None
    with pytest.raises(SettingError, match=message):
        with_node_features(
            fl.Graph.from_edges([0], [1]), path, given.get("text"), 1, print, image=given.get("image"), embed="auto"
        )


def test_an_output_for_every_place_or_patch_is_averaged():
    """(m, d, height, width), (m, height, width, d) and (m, patches, d): by hand."""
    places = np.arange(8.0).reshape(1, 2, 2, 2)
    assert averaged(places).tolist() == [[1.5, 5.5]]
    assert averaged(places, colours_first=False).tolist() == [[3, 4]]
    assert averaged(np.array([[[1.0, 2], [3, 6]]])).tolist() == [[2, 4]]


def test_weights_in_a_file_beside_the_network_are_part_of_what_it_is(tmp_path, photos):
    """Exporters keep large weights in net.onnx.data: other weights, other numbers. A folder is none of them."""
    model = mean_colour(tmp_path / "m.onnx")
    (tmp_path / "m.onnx_files").mkdir()
    versions = {PhotoNetwork(model).version}
    for name, content in (("m.onnx.data", b"a"), ("m.onnx.data", b"b"), ("m.json", b'{"crop": false}')):
        (tmp_path / name).write_bytes(content)
        versions.add(PhotoNetwork(model).version)
    assert len(versions) == 4


def test_what_a_network_made_of_a_photo_is_kept_until_photo_or_network_changes(tmp_path, photos):
    model = mean_colour(tmp_path / "m.onnx")
    plain(model)
    for path in photos.iterdir():
        os.utime(path, (1e9, 1e9))  # older than a moment, or it may still change
    calls = []

    def embedded():
        by = PhotoNetwork(model)
        real, by.numbers = by.numbers, lambda things: calls.extend(things) or real(things)
        return numbers_of([photos / "red.png", photos / "blue.png"], by, "image", lambda sentence: None)

    assert embedded().tolist() == embedded().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert len(calls) == 2
    Image.new("RGB", (40, 30), (0, 255, 0)).save(photos / "red.png")
    os.utime(photos / "red.png", (1.1e9, 1.1e9))
    assert embedded().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert len(calls) == 3
    plain(model, size=100)
    embedded()
    assert len(calls) == 5


def test_texts_and_sorted_photos_can_be_compared_on_without_edges(tmp_path, photos):
    model = mean_colour(tmp_path / "m.onnx")
    for name in COLOURS:
        (photos / name.split()[-1]).mkdir(exist_ok=True)
        (photos / f"{name}.png").rename(photos / name.split()[-1] / f"{name}.png")
    found = read_dataset(photos, None, "label", 1, embed=str(model))
    assert found.class_names == ("blue", "red")
    assert found.graph.names == ["blue/blue.png", "blue/dark blue.png", "red/dark red.png", "red/red.png"]
    assert found.graph.components().tolist() == found.labels.tolist() == [0, 0, 1, 1]
    (tmp_path / "t.csv").write_text("id,t,kind\na,red fox,x\nb,red fox,x\nc,blue sky,y\nd,blue sky,\n")
    told = []
    found = read_dataset(tmp_path / "t.csv", None, "kind", 1, text="t", tell=told.append)
    assert (found.graph.names, found.labels.tolist()) == (["a", "b", "c", "d"], [0, 0, 1, -1])
    assert any("Items are compared by the words" in line for line in told)
    with pytest.raises(SettingError, match="--features goes with edges"):
        read_dataset(tmp_path / "t.csv", None, "kind", 1, features=tmp_path / "x.npy")
    with pytest.raises(SettingError, match="name the column of them with --text or --image"):
        read_dataset(tmp_path / "t.csv", None, "kind", 1, embed="auto")
