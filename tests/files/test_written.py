"""How a table is written is found out, and told in one sentence."""

import datetime
import zipfile
from importlib import util

import pytest
from support.sheets import ods, xlsx

from fewlabels.errors import FileError
from fewlabels.files import table
from fewlabels.files.columns import compare_columns
from fewlabels.files.numbers import days, numbers
from fewlabels.files.table import read_table
from fewlabels.tables import read_edges

GERMAN = "Name;Größe;Preis\nMüller;1,5;1.234,50\nŠkoda;12;7\n"
ENGLISH = 'name,size,note\nann,1.5,"big; red, round"\nbob,2,\n'


def told(path):
    heard = []
    found = read_table(path, [], heard.append)
    return found, [line.replace(f"{path} was read as ", "") for line in heard]


@pytest.mark.parametrize(
    ("encoding", "spoken"),
    [
        ("utf-8", "semicolons, decimal commas"),
        ("utf-8-sig", "semicolons, decimal commas"),
        ("cp1252", "Latin-1, semicolons, decimal commas"),
        ("utf-16", "UTF-16, semicolons, decimal commas"),
        ("utf-16-le", "UTF-16, semicolons, decimal commas"),
        ("utf-16-be", "UTF-16, semicolons, decimal commas"),
    ],
)
def test_every_way_of_writing_gives_the_same_table(tmp_path, encoding, spoken):
    path = tmp_path / "t.csv"
    path.write_bytes(GERMAN.encode(encoding))
    found, heard = told(path)
    assert found.to_dict("list") == {"Name": ["Müller", "Škoda"], "Größe": ["1,5", "12"], "Preis": ["1.234,50", "7"]}
    assert heard == [spoken]


@pytest.mark.parametrize(
    ("content", "columns", "spoken"),
    [
        (ENGLISH, ["name", "size", "note"], []),
        (ENGLISH.replace(",", "\t"), ["name", "size", "note"], ["tabs"]),
        ("sep=;\na;b\n1;2\n", ["a", "b"], ["semicolons"]),
        ("text\nred; round, big\nblue, flat\n", ["text"], None),  # one column of text is refused, not cut up
        ("a|b\n1|2\n", ["a", "b"], ["bars"]),
        ("id,text\n1,x; y; z\n2,u; v\n", ["id", "text"], []),
        ("a;b\n1;1,50 €\n2;1.200 €\n", ["a", "b"], ["semicolons, decimal commas"]),
        ("a;b, in cm;c\n1;1,5;2,5\n2;3,5;4,5\n", ["a", "b, in cm", "c"], ["semicolons, decimal commas"]),
    ],
)
def test_what_separates_cells_is_what_makes_rows_as_long_as_the_header(tmp_path, content, columns, spoken):
    (tmp_path / "t.csv").write_text(content)
    if spoken is None:
        with pytest.raises(FileError, match=r"cannot be read as CSV|rows with more cells"):
            told(tmp_path / "t.csv")
        return
    found, heard = told(tmp_path / "t.csv")
    assert (list(found.columns), heard) == (columns, spoken)


def test_edges_with_decimal_commas_in_latin_1(tmp_path):
    (tmp_path / "e.csv").write_bytes("source;target;weight\nKöln;Bonn;1.000,5\nBonn;Ulm;2\n".encode("latin-1"))
    heard = []
    graph = read_edges(tmp_path / "e.csv", heard.append)
    assert graph.weights[graph.position("Köln"), graph.position("Bonn")] == 1000.5
    assert "Latin-1, semicolons, decimal commas" in heard[0]


def test_thousands_are_no_decimals(tmp_path):
    (tmp_path / "e.tsv").write_text("source\ttarget\tweight\na\tb\t1,234\nb\tc\t2\n")
    with pytest.raises(FileError, match="1,234"):
        read_edges(tmp_path / "e.tsv")
    (tmp_path / "e.csv").write_text("source;target;weight\na;b;1.200\nb;c;3,5\n")
    assert read_edges(tmp_path / "e.csv").weights.data.max() == 1200
    (tmp_path / "t.csv").write_text("Preis;Flaeche\n1.200;80,5\n950;60,25\n1.350;90,0\n700;40,5\n")
    found = compare_columns("t.csv", read_table(tmp_path / "t.csv", []))
    assert found.X[:, 0].argsort().tolist() == [3, 1, 0, 2]


def test_numbers_and_dates_as_people_write_them():
    assert numbers(["0,123", "7"])[0] == 0.123
    assert numbers(["1.234,5", "-2", "1 000"]).tolist() == [1234.5, -2, 1000]
    assert numbers(["1,234", "1,000,000"]).tolist() == [1234, 1_000_000]
    assert numbers(["12%", "7.5 %", "$ 1,200", "1.50 €", "-$5", "$-5"]).tolist() == [12, 7.5, 1200, 1.5, -5, -5]
    assert numbers(["1\u202f234,5", "-€ 2\u00a0000"]).tolist() == [1234.5, -2000]
    for cells in (["1970-01-02", "", "1970-01-11 12:00"], ["02.01.1970", "?", "11.01.1970"]):
        found = days(cells)[0]
        assert found[0] == 1
        assert found[2] == pytest.approx(10, abs=0.5)
    assert days(["13/01/1970"])[1] == "dates, the day first"
    assert days(["01/13/1970"])[0] == 12
    assert days(["1.5", "2.5"]) is None
    assert days(["1-2", "x"]) is None


class TestWorkbooks:
    ROWS = (["id", "since", "ok", "x", "x", None], [1, datetime.date(2024, 2, 29), True, 0.5, "Müller & co", None])

    def test_the_first_sheet_that_holds_anything(self, tmp_path):
        found, heard = told(xlsx(tmp_path / "t.xlsx", {"Empty": [], "Data": self.ROWS}))
        assert found.iloc[0].to_dict() == {
            "id": "1",
            "since": "2024-02-29",
            "ok": "true",
            "x": "0.5",
            "x.1": "Müller & co",
        }
        assert heard == [f"{tmp_path / 't.xlsx'} has 2 sheets: only 'Data' was read"]

    def test_ods(self, tmp_path):
        cell = '<table:table-cell office:value-type="{}"{}><text:p>{}</text:p></table:table-cell>'
        value = ' office:value="1.5"'
        rows = [[("string", "", "name"), ("string", "", "size")], [("string", "", "a"), ("float", value, "1,5")]]
        inside = "".join(f"<table:table-row>{''.join(cell.format(*c) for c in row)}</table:table-row>" for row in rows)
        assert told(ods(tmp_path / "t.ods", inside))[0].to_dict("list") == {"name": ["a"], "size": ["1.5"]}

    def test_what_unpacks_without_end_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr("fewlabels.files.workbook.MEMORY", 200 * 2**20)
        far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
        with pytest.raises(FileError, match="unpacks into more than a table"):
            told(xlsx(tmp_path / "far.xlsx", {"S": far}))
        same = "".join(f'<row r="{r}">{"""<c t="s"><v>0</v></c>""" * 99}</row>' for r in range(1, 99))
        with pytest.raises(FileError, match="unpacks into more than a table"):
            told(xlsx(tmp_path / "same.xlsx", {"S": same}, ["x" * 32_000]))
        repeated = (
            '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16384"/>'
        )
        rows = f'<table:table-row table:number-rows-repeated="1048576">{repeated}</table:table-row>'
        with pytest.raises(FileError, match=r"ods (unpacks into more|cannot be read)"):
            told(ods(tmp_path / "rows.ods", rows))

    def test_a_zip_bomb_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr("fewlabels.files.workbook.MEMORY", 110 * 2**20)
        whole = zipfile.ZipFile(xlsx(tmp_path / "t.xlsx", {"S": self.ROWS}))
        with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for name in whole.namelist():
                file.writestr(name, b"<worksheet>" + bytes(10**8) if "sheet1" in name else whole.read(name))
        assert (tmp_path / "bomb.xlsx").stat().st_size < 10**6
        with pytest.raises(FileError, match=r"bomb.xlsx (unpacks into more|cannot be read)"):
            told(tmp_path / "bomb.xlsx")

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"name,size\na,1\n"])
    def test_what_is_no_workbook_gets_a_sentence(self, tmp_path, content):
        (tmp_path / "t.xlsx").write_bytes(content)
        with pytest.raises(FileError, match=r"cannot be read as a spreadsheet: .*\. Save it again"):
            told(tmp_path / "t.xlsx")

    def test_without_the_extra_the_command_that_installs_it_is_named(self, tmp_path, monkeypatch):
        path = xlsx(tmp_path / "t.xlsx", {"S": self.ROWS})
        monkeypatch.setattr("fewlabels.files.workbook.find_spec", lambda name: None)
        assert util.find_spec("python_calamine")
        with pytest.raises(FileError, match=r"pip install 'fewlabels\[tables\]'"):
            told(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('[{"a": 1, "b": "x"}, {"a": null}]', {"a": ["1", ""], "b": ["x", ""]}),
        ('{"a": [1.5, 2], "b": ["x", "y"]}', {"a": ["1.5", "2"], "b": ["x", "y"]}),
        ('{"a": {"0": 1, "1": 2}}', {"a": ["1", "2"]}),
        ('{"0": {"a": 1, "b": "x"}, "1": {"a": 2}}', {"a": ["1", "2"], "b": ["x", ""]}),  # pandas' orient="index"
        ('{"u": {"a": 1}, "v": {"a": 2}}', {"id": ["u", "v"], "a": ["1", "2"]}),
        ('{"a": {"u": 1, "v": 2}, "b": {"u": 3, "v": 4}}', {"a": ["1", "2"], "b": ["3", "4"]}),
        ('{"a": [1], "b": [1, 2]}', "it holds no list of objects"),
        ("[1, 2]", "it holds no list of objects"),
        ("[]", "is empty: give a list of objects"),
        ("{", "cannot be read as JSON"),
    ],
)
def test_json(tmp_path, content, found):
    (tmp_path / "t.json").write_text(content)
    if isinstance(found, str):
        with pytest.raises(FileError, match=found):
            read_table(tmp_path / "t.json", [])
    else:
        assert read_table(tmp_path / "t.json", []).to_dict("list") == found
    assert set(table.KINDS) >= {".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".parquet", ".tsv", ".csv"}


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("name;size, cm;weight, kg", "ann;1,5;2,5", ["name", "size, cm", "weight, kg"]),
        ("family, given;length, m", "Müller, Anna;1,5", ["family, given", "length, m"]),
        ("a\tb, c\td, e", "x, y\t1,5\t2", ["a", "b, c", "d, e"]),
    ],
)
def test_commas_in_a_header_do_not_make_commas_the_separator(tmp_path, header, row, columns):
    (tmp_path / "t.csv").write_text(f"{header}\n{row}\n{row}\n")
    found = told(tmp_path / "t.csv")[0]
    assert list(found.columns) == columns
    assert len(found.iloc[0]) == row.count(";") + row.count("\t") + 1


def test_spaces_around_the_names_of_columns_do_not_count(tmp_path):
    (tmp_path / "t.csv").write_text("node ,\tlabel , x,x \na,b,1,2\n")
    assert list(read_table(tmp_path / "t.csv", ["node", "label"]).columns) == ["node", "label", "x", "x "]
    (tmp_path / "e.csv").write_text("source , target ,weight \na,b,2\n")
    assert read_edges(tmp_path / "e.csv").weights[0, 1] == 2
