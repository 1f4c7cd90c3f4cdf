"""What to label, as the command line understands it."""

import json
from pathlib import Path

import pytest
from PIL import Image

from fewlabels.cli.inputs import Inputs
from fewlabels.cli.label import listing
from fewlabels.errors import FileError, SettingError
from fewlabels.items.read import read_items


@pytest.mark.parametrize(
    ("content", "table"),
    [
        ([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 4, "b": "x"}], True),
        ({"a": [1, 2, 4], "b": ["x", "y", "x"]}, True),
        ([{"data": {"text": "a b"}}, {"data": {"text": "a c"}}], False),
        ([{"text": "a b", "n": 1}, {"text": "a c", "n": 2}], False),
        ([{"words": "a b"}, {"words": "a c"}], False),
        ({"data": {"text": "a b"}}, False),
    ],
)
def test_json_is_a_table_where_nothing_in_it_is_a_task(tmp_path, content, table):
    path = tmp_path / "things.json"
    path.write_text(json.dumps(content))
    found = Inputs(path).tasks(None, None)
    assert (found is None) == table
    if table:
        assert Inputs(path).reader(None)().attributes[0] == {"a": "1", "b": "x"}


def test_all_images_that_are_left_out_are_listed_in_a_file(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for k in range(2):
        Image.new("RGB", (9, 9), (90 * k, 0, 0)).save(photos / f"{k}.png")
    for name in ("x.png", "=y.png"):
        (photos / name).write_bytes(b"nothing")
    listing(tmp_path / "out.csv", Inputs(photos).reader(None))()
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "image,reason"
    assert lines[1].startswith("'=y.png,\"is not an image")
    assert lines[2].startswith("x.png,")
    with pytest.raises(FileError, match=r"cannot write nowhere/out\.csv"):
        listing(Path("nowhere/out.csv"), Inputs(photos).reader(None))


def test_options_that_do_not_go_together(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(SettingError, match="--columns and --text given together"):
        read_items(tmp_path / "t.csv", text="a", columns=["b"])
    with pytest.raises(SettingError, match="--labels-from-folders goes with a folder of images"):
        read_items(tmp_path / "t.csv", labels_from_folders=True)
    with pytest.raises(SettingError, match="no use for --columns"):
        read_items(tmp_path, columns=["b"])
