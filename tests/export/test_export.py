"""Exports read back: the data as it was given, with what people said and what is predicted."""

import csv
import io
import json
import zipfile
from inspect import signature
from pathlib import PurePosixPath

import pandas as pd
import pytest
from PIL import Image
from typer.testing import CliRunner

from fewlabels.cli import app
from fewlabels.cli.export import export
from fewlabels.cli.label import label
from fewlabels.errors import FewlabelsError, FileError, SettingError
from fewlabels.export import tables
from fewlabels.export.content import Choice, choose
from fewlabels.export.formats import FORMATS, told_by
from fewlabels.export.names import safe
from fewlabels.export.trees import images_by_class, write_folder
from fewlabels.files.spreadsheet import as_text
from fewlabels.items.read import read_items
from fewlabels.labelstudio.format import task_format
from fewlabels.session import Session

ROWS = "id,zip,size,note,label\n" + "".join(
    f"r{k},0{k:02},{k}.5,{'=1+1' if k == 3 else f'note {k}'},{'small' if k == 0 else ''}\n" for k in range(12)
)


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    items = read_items(tmp_path / "rows.csv", classes=["small", "large", "=cmd()"])
    session = Session(items, tmp_path / "rows.csv.fewlabels.sqlite")
    session.answer("ann", 11, "large", "key-00001")
    session.answer("=ann", 10, "=cmd()", "key-00002")
    yield session
    session.close()


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "photos" / "inner"
    folder.mkdir(parents=True)
    for k in range(8):
        Image.new("RGB", (20 + k, 10), (30 * k, 0, 255 - 30 * k)).save(folder / f"p{k}.{'tiff' if k == 7 else 'png'}")
    session = Session(read_items(tmp_path / "photos", classes=["../x", "CON"]), tmp_path / "photos.fewlabels.sqlite")
    session.answer("ann", 0, "../x", "key-00001")
    session.answer("ann", 7, "CON", "key-00002")
    yield session
    session.close()


def written(session, name, path, choice=Choice()):  # noqa: B008  # it never changes
    one = {**FORMATS, "label-studio": task_format()}[name]
    content = choose(session, choice, by_class=one.by_class)
    one.write(content, path)
    return content


def test_a_table_comes_back_as_it_was_given_with_what_is_known(rows, tmp_path):
    content = written(rows, "csv", tmp_path / "out.csv")
    assert content.said == "12 items: 3 labelled, 9 predicted."
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert [row["zip"] for row in found] == [f"0{k:02}" for k in range(12)]
    assert found[0]["given_label"] == found[0]["label"] == "small"
    assert found[1]["given_label"] == found[1]["label"] == ""
    assert (found[11]["label"], found[11]["who"], found[11]["status"]) == ("large", "ann", "labelled")
    assert found[11]["when"].startswith("20")
    assert (found[3]["note"], found[10]["label"], found[10]["who"]) == ("'=1+1", "'=cmd()", "'=ann")
    assert found[5]["prediction"] in ("small", "large", "'=cmd()")
    assert 0 < float(found[5]["chance"]) < 1

    written(rows, "parquet", tmp_path / "out.parquet")
    table = pd.read_parquet(tmp_path / "out.parquet")
    assert table["size"].tolist() == [k + 0.5 for k in range(12)]
    assert table["zip"].tolist()[1] == "001"  # a name, not a number
    assert table["note"].tolist()[3] == "=1+1"
    assert table["label"].dropna().tolist() == ["small", "=cmd()", "large"]

    written(rows, "jsonl", tmp_path / "out.jsonl", Choice("labelled"))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["r0", "r10", "r11"]
    assert lines[0]["size"] == 0.5


def test_columns_of_the_names_that_given_ones_get_are_kept_and_an_export_can_be_labelled_and_exported_again(tmp_path):
    (tmp_path / "t0.csv").write_text(
        "id,size,label,given_label,given_given_label\n"
        + "".join(f"r{k},{k}.5,{'small' if k < 3 else ''},old {k},older {k}\n" for k in range(12))
    )
    for turn in range(3):
        path = tmp_path / f"t{turn}.csv"
        session = Session(read_items(path, classes=["small", "large"]), tmp_path / f"t{turn}.sqlite")
        session.answer("ann", 11 - turn, "large", "key-00001")
        written(session, "csv", tmp_path / f"t{turn + 1}.csv")
        written(session, "jsonl", tmp_path / "t.jsonl")
        written(session, "parquet", tmp_path / "t.parquet")
        written(session, "hugging-face", tmp_path / "t.zip")
        session.close()
        columns = (tmp_path / f"t{turn + 1}.csv").read_text().splitlines()[0].split(",")
        assert len(set(columns)) == len(columns)
        assert {"given_label", "given_given_label", "given_given_given_label"} <= set(columns)
        assert list(json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])) == columns
        assert list(pd.read_parquet(tmp_path / "t.parquet").columns) == columns
    found = pd.read_parquet(tmp_path / "t.parquet")
    assert "old 5" in found.iloc[5].tolist()
    assert "older 5" in found.iloc[5].tolist()
    assert found["label"].dropna().tolist() == ["small"] * 3 + ["large"] * 3


def test_no_class_takes_the_place_of_what_is_written_about_them(images, tmp_path):
    classes = ["contents.csv", "about.txt", "ABOUT.TXT"]
    session = Session(read_items(tmp_path / "photos", classes=classes), tmp_path / "p.sqlite")
    for number, name in enumerate(classes):
        session.answer("ann", number, name, f"key-0000{number}")
    content = choose(session, Choice("labelled"), by_class=True)
    write_folder(images_by_class, content, tmp_path / "sorted", links=False, tell=print)
    session.close()
    listed = list(csv.DictReader(io.StringIO((tmp_path / "sorted" / "contents.csv").read_text())))
    assert [row["class"] for row in listed] == classes
    assert all((tmp_path / "sorted" / row["file"]).is_file() for row in listed)
    assert "3 labelled" in (tmp_path / "sorted" / "about.txt").read_text()


def test_a_given_column_called_file_name_goes_into_a_dataset_of_images(tmp_path):
    for k in range(3):
        Image.new("RGB", (9, 9), (90 * k, 0, 0)).save(tmp_path / f"{k}.png")
    (tmp_path / "t.csv").write_text("image,file_name\n0.png,first\n1.png,second\n2.png,third\n")
    items = read_items(tmp_path / "t.csv", image="image", classes=["a", "b"])
    session = Session(items, tmp_path / "t.sqlite")
    written(session, "hugging-face", tmp_path / "t.zip")
    session.close()
    with zipfile.ZipFile(tmp_path / "t.zip") as zipped:
        [line, *_] = map(json.loads, zipped.read("train/metadata.jsonl").decode().splitlines())
    assert line["file_name"].startswith("images/")
    assert line["given_file_name"] == "first"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("a;=1+1", "a;'=1+1"),
        ("a\t=1+1|@x", "a\t'=1+1|'@x"),
        ("a|-cmd", "a|'-cmd"),
        ("a\n+cmd", "a\n'+cmd"),
        ('a; "=1+1"', 'a; "\'=1+1"'),
        ("\u00a0=1+1", "\u00a0'=1+1"),
        ("\ufeff\u200b=1+1", "\ufeff\u200b'=1+1"),
        ("\x00=1+1", "\x00'=1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff0b1", "'\uff0b1"),
        ("\uff0dcmd", "'\uff0dcmd"),
        ("\uff20cmd", "'\uff20cmd"),
        ("-5", "-5"),
        (" +1.5e3", " +1.5e3"),
        ("1;-5|+2", "1;-5|+2"),
        ("a=b, c-d; e@f", "a=b, c-d; e@f"),
        ("", ""),
    ],
)
def test_whatever_separates_cells_no_part_of_one_is_a_formula(cell, written):
    assert as_text(cell) == written


def test_a_workbook_calculates_nothing(rows, tmp_path):
    pytest.importorskip("xlsxwriter")
    written(rows, "excel", tmp_path / "out.xlsx")
    with zipfile.ZipFile(tmp_path / "out.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        assert "<f>" not in sheet
        assert "<t>=1+1</t>" in sheet
        assert "<v>3.5</v>" in sheet


def test_without_the_package_for_workbooks_there_is_a_sentence(rows, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(SettingError, match=r"pip install .fewlabels\[tables\]"):
        tables.write_excel(choose(rows, Choice(), by_class=False), tmp_path / "x.xlsx")


def test_what_is_too_doubtful_or_disputed_is_left_out(rows):
    content = choose(rows, Choice(at_least=2.0), by_class=False)
    assert (content.labelled, content.predicted, content.left_out) == (3, 0, 9)
    rows.answer("bob", 11, "small", "key-00003")
    content = choose(rows, Choice(), by_class=True)
    assert 11 not in content.items
    assert content.said.endswith("1 left out.")


def test_images_lie_in_folders_and_no_class_leads_out_of_them(images, tmp_path):
    content = written(images, "folders", tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as made:
        names = made.namelist()
        assert all(".." not in PurePosixPath(name).parts and not name.startswith("/") for name in names)
        assert {name.split("/")[0] for name in names if "/" in name} == {"x", "_CON"}
        assert "x/inner_p0.png" in names
        assert made.read("_CON/inner_p7.tiff") == (tmp_path / "photos/inner/p7.tiff").read_bytes()
        listed = list(csv.DictReader(io.StringIO(made.read("contents.csv").decode())))
        assert {row["class"] for row in listed} == {"../x", "CON"}
    write_folder(images_by_class, content, tmp_path / "sorted", links=True, tell=print)
    link = tmp_path / "sorted" / "x" / "inner_p0.png"
    assert link.is_symlink()
    assert link.resolve() == (tmp_path / "photos/inner/p0.png").resolve()
    with pytest.raises(FileError, match="is there already"):
        write_folder(images_by_class, content, tmp_path / "sorted", links=False, tell=print)
    (tmp_path / "photos/inner/p1.png").write_bytes(b"gone")
    with pytest.raises(FewlabelsError, match="has changed"):
        write_folder(images_by_class, content, tmp_path / "again", links=False, tell=print)
    assert not (tmp_path / "again").exists()
    assert not list(tmp_path.glob(".again*"))


def test_coco_and_label_studio_and_hugging_face(images, rows, tmp_path):
    written(images, "coco", tmp_path / "coco.json")
    made = json.loads((tmp_path / "coco.json").read_text())
    assert made["images"][3] == {"id": 3, "file_name": "inner/p3.png", "width": 23, "height": 10}
    names = {one["id"]: one["name"] for one in made["categories"]}
    first = made["annotations"][0]
    assert (names[first["category_id"]], first["source"]) == ("../x", "label")
    assert 0 < made["annotations"][2]["score"] <= 1
    written(rows, "label-studio", tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert sum(bool(task["annotations"]) for task in tasks) == 3
    written(rows, "hugging-face", tmp_path / "hf.zip")
    written(images, "hugging-face", tmp_path / "hfi.zip")
    with zipfile.ZipFile(tmp_path / "hf.zip") as zipped:
        assert len(pd.read_parquet(io.BytesIO(zipped.read("data/train-00000-of-00001.parquet")))) == 12
    with zipfile.ZipFile(tmp_path / "hfi.zip") as zipped:
        lines = [json.loads(line) for line in zipped.read("train/metadata.jsonl").decode().splitlines()]
        assert lines[0]["file_name"] == "images/inner_p0.png"
        assert lines[0]["label"] == "../x"
        assert {f"train/{line['file_name']}" for line in lines} < set(zipped.namelist())
    assert "images only" in FORMATS["coco"].missing(rows.items)


def test_the_command_line_says_what_is_in_it_and_saves_it(rows, images, tmp_path):
    assert told_by(tmp_path / "a.parquet", rows.items) == "parquet"
    assert told_by(tmp_path / "sorted", images.items) == "folders"
    with pytest.raises(SettingError, match="--format"):
        told_by(tmp_path / "a.doc", rows.items)
    rows.close()
    classes = ["--classes", "small,large,=cmd()"]
    done = CliRunner().invoke(app, ["export", str(tmp_path / "rows.csv"), "--to", str(tmp_path / "o.csv"), *classes])
    assert done.exit_code == 0, done.output
    assert "12 items: 3 labelled, 9 predicted." in done.output
    assert "Still learning" in done.output
    assert "r11" in (tmp_path / "o.csv").read_text()
    given = (tmp_path / "rows.csv").read_text()
    done = CliRunner().invoke(app, ["export", str(tmp_path / "rows.csv"), "--to", str(tmp_path / "rows.csv"), *classes])
    assert "would be overwritten" in str(done.exception)
    assert (tmp_path / "rows.csv").read_text() == given


@pytest.mark.parametrize(
    "name", ["..", "../../etc/passwd", "a\\b", "c:/x", "\0", "", "  ", "." * 300, "nul.txt", "ü" * 200]
)
def test_no_name_leads_anywhere(name):
    made = safe(name)
    assert made
    assert made == PurePosixPath(made).name
    assert not set(made) & set('/\\:\0*?"<>|')
    assert len(made.encode()) <= 120
    assert made.split(".")[0].casefold() != "nul"


def test_the_command_line_takes_every_option_that_says_what_was_labelled():
    page = {"host", "port", "token", "people", "overlap", "no_browser", "trusted_host", "guidelines", "left_out"}
    assert set(signature(label).parameters) - page <= set(signature(export).parameters)
