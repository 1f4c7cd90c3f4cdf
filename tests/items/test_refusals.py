"""Each bad input gets one sentence that names the fact, the value and the way out."""

import io
import pickle
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fewlabels.errors import FewlabelsError
from fewlabels.items.read import read_items


def refused(*sentences, **options):
    """The refusal of read_items, which must hold each of these, in one line."""
    with pytest.raises(FewlabelsError) as caught:
        read_items(options.pop("data", None), **options)
    message = str(caught.value)
    assert "\n" not in message
    assert re.search(r"[.!?]$", message)
    for sentence in sentences:
        assert sentence in message
    return message


@pytest.fixture
def two_images(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(2):
        Image.new("RGB", (9, 9), (90 * k, 0, 0)).save(folder / f"{k}.png")
    return folder


@pytest.mark.parametrize(
    ("content", "options", "sentences"),
    [
        ("", {}, ["t.csv is empty", "first line must name the columns."]),
        ("x,label\n", {}, ["t.csv holds no rows", "one row for every item"]),
        ("x\n1\n", {}, ["holds 1 row", "at least two"]),
        ("x,y\n1,2\n3,4\n", {"text": "revew"}, ["no column 'revew'", "its columns are x, y"]),
        ("x,y\n1,2\n3,4\n", {"label": "kind"}, ["no column 'kind'"]),
        ("x\n1\n2\nthree\n", {}, ["row 3", "'x' holds 'three', not a number", "remove the row or the column"]),
        ("x\n1\n2\n3\ninf\n", {}, ["row 4", "holds 'inf'"]),
        ("a,b\nu,v\nw,x\n", {}, ["no column of numbers or categories", "a (an id), b (an id)", "--text or --image"]),
        ("source,target\na,b\nb,c\n", {}, ["source and target", "--edges"]),
        ('t,n\n"",1\n"",2\n', {"text": "t"}, ["0 of 2 rows hold a text", "another column"]),
        ("t\nab\ncd\n", {"text": "t"}, ["no two of the 2 texts share", "--features"]),
        ("x,k\n1,a\n2,a\n", {"name": "k"}, ["row 2", "'a' is already in row 1", "--name"]),
        ("x,k\n1,a\n2,\n", {"name": "k"}, ["row 2", "'k' is empty"]),
        ("t,u\na b,1\na c,2\n", {"text": "t", "label": "t"}, ["'t' cannot be the label and something else"]),
        ("t,p\na,b\nc,d\n", {"text": "t", "image": "p"}, ["--text and --image given together", "Leave one out"]),
        ("p,q\na.png,1\n,2\n", {"image": "p"}, ["row 2", "'p' is empty"]),
        (f"p\n{'a' * 5000}.png\nb.png\n", {"image": "p"}, ["aaa", "cannot be opened (File name too long)"]),
        (",\n,\n,\n", {}, ["no column of numbers or categories to find neighbours by. Name columns"]),
        ("p\na.png\nb.png\n", {"image": "p"}, ["a.png does not exist", "2 of 2 images", "remove their rows"]),
        ("p\n/etc/passwd\n/etc/passwd\n", {"image": "p"}, ["/etc/passwd lies outside of", "--images-from"]),
        ("p\n/etc/passwd\n/etc/passwd\n", {"image": "p", "images_from": Path("/")}, ["/etc/passwd is not an image"]),
        ("p\n/dev/zero\n/dev/zero\n", {"image": "p", "images_from": Path("/")}, ["/dev/zero is not a plain file"]),
        ("x\n1\n2\n", {"neighbors": 0}, ["0 neighbours", "at least 1"]),
    ],
)
def test_tables(tmp_path, content, options, sentences):
    (tmp_path / "t.csv").write_text(content)
    refused(*sentences, data=tmp_path / "t.csv", **options)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"a": 1}\n{"a": \n', "line 2"),
        ('{"a": 1}\n[1, 2]\n', "line 2 is '[1, 2]', not an object"),
        ("\n\n", "is empty: give one JSON object per line, with the columns a"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_json_lines(tmp_path, content, sentence):
    (tmp_path / "t.jsonl").write_text(content)
    refused(sentence, data=tmp_path / "t.jsonl", text="a")


def test_an_image_whose_name_no_file_can_have(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"image": "a\\u0000b.png"}\n{"image": "b.png"}\n')
    refused("cannot be opened (embedded null byte)", "2 of 2 images", data=tmp_path / "t.jsonl", image="image")


def test_paths_and_options_that_lead_nowhere(tmp_path, two_images):
    refused("nothing to label", "--edges")
    refused("there is no file or folder", "nowhere", data=tmp_path / "nowhere")
    (tmp_path / "t.txt").touch()
    refused("'.txt'", ".jsonl", data=tmp_path / "t.txt")
    (tmp_path / "empty").mkdir()
    refused("holds no images", ".jpg .jpeg .png .webp .gif .bmp .tif .tiff", data=tmp_path / "empty")
    refused("folder of images", "--text", data=two_images, text="t")
    (two_images / "1.png").unlink()
    refused("holds 1 image:", "at least two", data=two_images)


def test_edges_and_what_does_not_go_with_them(tmp_path):
    edges, table = tmp_path / "e.csv", tmp_path / "n.csv"
    edges.write_text("source,target\na,b\nb,c\n")
    refused("--image names a column of a table", edges=edges, image="x")
    refused("--text names a column of a table", edges=edges, text="x")
    np.save(tmp_path / "x.npy", np.ones((2, 4)))
    refused("3 items", "order of the nodes", edges=edges, features=tmp_path / "x.npy")
    refused("--label-column names a column of a table", edges=edges, label="x")
    table.write_text("person,age\na,1\nb,2\n")
    refused("no column that names the nodes", "id, name, node, file", "--name", data=table, edges=edges)
    table.write_text("id,age\n1,1\n2,2\n")
    refused("no node of", "'id'", "'a'", "'1'", "--name", data=table, edges=edges)
    table.write_text("Name,node,age\nAnna,a,1\nBert,b,2\n")
    assert read_items(table, edges=edges).names == ["a", "b", "c"]
    refused("no row for node 'c'", "Add its row, or leave --image out", data=table, edges=edges, image="age")
    edges.write_text("source,target\na,a\n")
    refused("names 1 node", "at least two", edges=edges)


@pytest.mark.parametrize(
    ("saved", "sentences"),
    [
        (np.zeros((3, 2)), ["shape (3, 2)", "2 items", "order of the sorted paths"]),
        (np.zeros(2), ["shape (2,)", "2 rows"]),
        (np.zeros((2, 0)), ["shape (2, 0)"]),
        (np.array([[0.0, 1.0], [np.nan, 2.0]]), ["nan at [1, 0]", "finite"]),
        (np.array([["a"], ["b"]]), ["type <U1", "real numbers"]),
        (np.array([[1 + 2j], [0]]), ["type complex128"]),
    ],
)
def test_features_that_do_not_fit(tmp_path, two_images, saved, sentences):
    np.save(tmp_path / "f.npy", saved)
    refused(*sentences, data=two_images, features=tmp_path / "f.npy")


@pytest.mark.parametrize("content", [b"", b"no array", pickle.dumps([1, 2])])
def test_features_that_are_no_arrays(tmp_path, two_images, content):
    (tmp_path / "f.npy").write_bytes(content)
    refused("cannot be read as a .npy file", "np.save", data=two_images, features=tmp_path / "f.npy")
    refused("there is no file", data=two_images, features=tmp_path / "none.npy")


def test_features_are_never_unpickled_or_unpacked(tmp_path, two_images):
    np.save(tmp_path / "f.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    refused("cannot be read as a .npy file", data=two_images, features=tmp_path / "f.npy")
    np.savez(tmp_path / "f.npz", a=np.zeros((2, 2)))
    refused("cannot be read as a .npy file", data=two_images, features=tmp_path / "f.npz")


def left_out(folder):
    """What is said of the images that cannot be shown; the others can be labelled."""
    items = read_items(folder)
    assert len(items.names) == 2
    [note] = items.notes
    return note


def png_header(width, height):
    """A PNG that claims this size and ends there."""
    out = io.BytesIO()
    Image.new("L", (1, 1)).save(out, "PNG")
    content = bytearray(out.getvalue())
    content[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")

    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.png", b"", "x.png is not an image"),
        ("x.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "x.png is not an image"),
        ("x.jpg", b"\xff\xd8\xff\xe0 cut short", "x.jpg is"),
        ("x.png", png_header(10_000, 10_000), "10,000 x 10,000 pixels, over the limit of"),
        ("x.png", png_header(60_000, 60_000), "far more pixels than the limit"),
    ],
)
def test_images_that_cannot_be_shown(two_images, name, content, sentence):
    (two_images / name).write_bytes(content)
    assert sentence in left_out(two_images)
    (two_images / "0.png").unlink()  # too few are left
    refused(sentence, "remove it, then start again", data=two_images)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_an_image_cut_in_half_is_broken(two_images, suffix):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    path = two_images / f"x.{suffix}"
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert f"x.{suffix} is" in left_out(two_images)


def test_the_first_of_many_broken_images_are_named_and_all_are_listed(two_images):
    for name in "edcba":
        (two_images / f"{name}.png").write_bytes(b"nothing")
    note = left_out(two_images)
    assert note.startswith("Left out 5 of 7 images: a.png is not an image that can be read (JPEG")
    assert note.endswith("and 2 more. --left-out FILE lists them all")
    items = read_items(two_images)
    assert [name for name, _ in items.left_out] == [f"{name}.png" for name in "abcde"]
    assert list(items.names) == ["0.png", "1.png"]
    (two_images / "0.png").unlink()
    refused("a.png is not", "5 of 6 images cannot be shown", "remove them", data=two_images)


def test_the_features_of_an_image_that_is_left_out_are_left_out_too(tmp_path, two_images):
    (two_images / "00.png").write_bytes(b"nothing")
    Image.new("RGB", (9, 9), "blue").save(two_images / "2.png")
    np.save(tmp_path / "f.npy", np.array([[0.0], [99.0], [5.0], [0.1]]))  # 0, 00, 1, 2
    items = read_items(two_images, features=tmp_path / "f.npy", neighbors=1)
    assert items.graph.weights[[0], [1, 2]].tolist() == [0, pytest.approx(np.exp(-1))]


def test_features_that_claim_more_numbers_than_there_can_be(tmp_path, two_images):
    np.save(tmp_path / "f.npy", np.zeros((2, 2)))
    content = (tmp_path / "f.npy").read_bytes()
    claim = b"(2, 9000000000000)"
    (tmp_path / "f.npy").write_bytes(content.replace(b"(2, 2), }".ljust(len(claim) + 3), claim + b", }"))
    refused("f.npy cannot be read", data=two_images, features=tmp_path / "f.npy")
