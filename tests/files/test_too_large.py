"""Tables that are too wide, or whose cells are too long: told at once, in a sentence that a terminal can hold."""

import json
import time

import pytest

from fewlabels.errors import MOST_SAID, FewlabelsError, FileError, NodeError, nearest
from fewlabels.files.columns import compare_columns
from fewlabels.files.table import read_table
from fewlabels.graph import Graph
from fewlabels.items.read import read_items
from fewlabels.tables import read_edges


def refused(path, read=read_table, seconds=5):
    began = time.process_time()
    with pytest.raises(FewlabelsError) as caught:
        read(path, *([[]] if read is read_table else []))
    assert time.process_time() - began < seconds
    assert len(str(caught.value)) <= MOST_SAID
    return str(caught.value)


@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_rows_that_have_hardly_a_key_in_common_are_no_table(tmp_path, kind):
    rows = [{f"k{number}": number} for number in range(6_000)]
    path = tmp_path / f"t.{kind}"
    path.write_text(json.dumps(rows) if kind == "json" else "\n".join(map(json.dumps, rows)))
    assert "6,000 different keys in 6,000 rows, most of them in few rows" in refused(path)
    path.write_text("\n".join(json.dumps({f"k{number % 9}": 1}) for number in range(60)))
    assert len(read_table(tmp_path / "t.jsonl", []).columns) == 9 if kind == "jsonl" else True


def test_columns_that_are_mostly_empty_are_told_without_reading_them_as_numbers(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({f"k{number % 400}": 1, "x": number % 7}) for number in range(500)))
    began = time.process_time()
    found = compare_columns(path, read_table(path, []))
    assert time.process_time() - began < 2
    assert found.X.shape == (500, 1)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n3," + "x" * 50_000_000, "a line of more than"),
        ("a," + "b" * 2_000_000 + "\n1,2\n", "name of a column has 2,000,000 characters"),
        ("a," * 700_000 + "b\n1,2\n", "700,001 columns, and a table may have 20,000"),
        ("a," * 30_000 + "b\n" + "1," * 30_000 + "2\n", "30,001 columns"),
        ('a,"b' + "\n" * 20_000 + '"\n1,2\n', "name of a column has 20,001 characters"),
        ('a,b\n1,"' + "x\n" * 5_500_000 + '"\n', "column 'b' has a cell of 11,000,000 characters"),
    ],
)
def test_lines_headers_and_cells_without_end(tmp_path, content, sentence):
    (tmp_path / "t.csv").write_text(content)
    assert sentence in refused(tmp_path / "t.csv")


def test_a_refusal_quotes_no_cell_whole_and_lists_no_thousand_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n2\n3\n" + "y" * 3_000_000 + "\n")
    said = refused(path, read_items)
    assert "row 4: column 'x' holds 'yyy" in said
    assert said.endswith("not a number. Fill it in, or remove the row or the column (--ignore x).")
    path.write_text(",".join(f"c{k}" for k in range(2_000)) + "\n" + ",".join("1" * 2_000) + "\n")
    with pytest.raises(FileError, match="has no column 'nix': its columns are c0, c1") as caught:
        read_table(path, ["nix"])
    assert len(str(caught.value)) <= MOST_SAID
    assert str(caught.value).endswith("Name one of them, or rename it.")
    (tmp_path / "e.csv").write_text("source,target,weight\na,b," + "z" * 3_000_000 + "\n")
    assert "the weight 'zzz" in refused(tmp_path / "e.csv", read_edges)
    with pytest.raises(NodeError) as caught:
        Graph([[0, 1], [1, 0]]).position("x" * 10**6)
    assert len(str(caught.value)) <= MOST_SAID
    assert nearest("x" * 10**6, ["x" * (10**6 + k) for k in range(20)]) == ""
