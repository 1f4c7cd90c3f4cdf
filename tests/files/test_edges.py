"""Edges read in chunks are the edges of the whole file."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.profiles import examples

from fewlabels.errors import FewlabelsError, FileError, MemoryNeededError
from fewlabels.experiments.user_data import read_dataset
from fewlabels.files import edges
from fewlabels.files.table import column_text, read_table
from fewlabels.graph import Graph
from fewlabels.machine import memory
from fewlabels.tables import read_edges, read_labels

MANY = examples(150)
pytestmark = pytest.mark.filterwarnings("ignore:dropped")  # self-loops


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(edges, "ROWS", 3)


def whole(path):
    """The specification: the table as a whole, every cell as text, names in the order of sources, then of targets."""
    table = read_table(path, ["source", "target"])
    ends = [column_text(path, table, "source"), column_text(path, table, "target")]
    if not len(table):
        raise FileError(f"{path} holds no edges: give one line for every edge.")
    numbers, names = pd.factorize(np.array(ends[0] + ends[1], dtype=object))
    weight = None
    if "weight" in table.columns:
        weight = pd.to_numeric(table["weight"], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if len(bad):
            cell = table["weight"].iloc[bad[0]]
            raise FileError(f"{path}, row {bad[0] + 1}: the weight {cell!r} is not a number >= 0. Fix that row.")
    return Graph.from_edges(*np.split(numbers, 2), weight, n_nodes=len(names), names=list(names))


def told(read, path):
    try:
        graph = read(path)
    except FewlabelsError as error:
        return str(error)
    return graph.fingerprint()


cells = st.one_of(
    st.sampled_from(
        ["a", "b", "c", "1", "01", "1.0", "NA", "", " a", '"a"', '"a,b"', '"a""b"', "é", "a\tb", "\r", '"', ","]
    ),
    st.text(max_size=3),
)
weights = st.sampled_from(["1", "2", "1", "1", " 2", "", "1e3", "-1", "nan", "x", "0"])
lines = st.one_of(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), weights).map(",".join),
    st.lists(cells, max_size=4).map(",".join),
)
headers = st.sampled_from(
    [
        "source,target,weight",
        "source,target",
        " source, target ,weight",
        "x,source,target,weight",
        "source,source,target",
    ]
)


@MANY
@given(headers, st.lists(lines, max_size=12), st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans())
def test_csv_in_chunks_is_csv_as_a_whole(tmp_path, header, rows, end, last):
    path = tmp_path / "edges.csv"
    path.write_bytes((end.join([header, *rows]) + end * last).encode("utf-8", "surrogatepass"))
    chunked, expected = told(read_edges, path), told(whole, path)
    if "cannot be read as CSV" in expected:  # an earlier chunk may hold another reason to refuse
        assert str(path) in chunked
    else:
        assert chunked == expected


nodes = st.one_of(
    st.lists(st.sampled_from(["a", "b", " a", "1", "01", "é"]), min_size=8, max_size=8),
    st.lists(st.sampled_from(["a", "b", "c", "d", "", None]), min_size=8, max_size=8),
    st.lists(st.integers(0, 5), min_size=8, max_size=8),
    st.lists(st.integers(0, 3), min_size=8, max_size=8).map(lambda n: np.array(n, dtype=np.int16)),
    st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, 3e20]), min_size=8, max_size=8),
    st.lists(st.sampled_from([0.0, 1.0, None]), min_size=8, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.lists(st.sampled_from("abc"), min_size=8, max_size=8).map(lambda n: pd.Categorical(n, categories=list("zcba"))),
    st.lists(st.integers(0, 3), min_size=8, max_size=8).map(lambda n: pd.to_datetime(n, unit="D")),
    st.lists(st.integers(0, 3), min_size=8, max_size=8).map(lambda n: pd.array(n, dtype="Int64")),
)
amounts = st.one_of(
    st.none(),
    st.just(np.ones(8)),
    st.just(np.arange(8)),
    st.lists(st.sampled_from([1.0, 1.0, 1.0, -2.0, np.nan]), min_size=8, max_size=8),
    st.lists(st.sampled_from(["1", "2", "x"]), min_size=8, max_size=8),
)


@MANY
@given(nodes, nodes, amounts, st.sampled_from([None, "source", "other"]))
def test_parquet_in_chunks_is_parquet_as_a_whole(tmp_path, source, target, weight, index):
    table = pd.DataFrame({"source": source, "target": target} | ({} if weight is None else {"weight": weight}))
    if index == "source":
        table = table.set_index("source")
    elif index == "other":
        table.index.name = "other"
    table.to_parquet(tmp_path / "edges.parquet", row_group_size=5)
    assert told(read_edges, tmp_path / "edges.parquet") == told(whole, tmp_path / "edges.parquet")


def test_a_range_that_pandas_keeps_as_an_index_is_a_column_too(tmp_path):
    pd.DataFrame({"target": [1, 2, 3]}, index=pd.RangeIndex(3, name="source")).to_parquet(tmp_path / "e.parquet")
    assert list(read_edges(tmp_path / "e.parquet").names) == ["0", "1", "2", "3"]


def test_numbers_and_text_that_read_the_same_are_one_node(tmp_path):
    pd.DataFrame({"source": [1, 2], "target": ["2", "3"]}).to_parquet(tmp_path / "e.parquet")
    assert list(read_edges(tmp_path / "e.parquet").names) == ["1", "2", "3"]


ROWS = [f"n{k},n{k + 1},1" for k in range(10)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("row", "line", "sentence"),
    [
        (8, ",b,1", "row 8: 'source' is empty"),
        (9, "a,,1", "row 9: 'target' is empty"),
        (10, "a,b,-2", "row 10: the weight '-2' is not a number"),
        (7, "a,b,heavy", "row 7: the weight 'heavy' is not a number"),
    ],
)
def test_a_bad_row_keeps_its_number_in_a_later_chunk(tmp_path, kind, row, line, sentence):
    text = "\n".join(["source,target,weight", *ROWS[: row - 1], line, *ROWS[row - 1 :]])
    path = tmp_path / f"e.{kind}"
    if kind == "csv":
        path.write_text(text)
    else:
        pd.read_csv(io.StringIO(text), dtype=str).to_parquet(path)
    with pytest.raises(FileError, match=sentence):
        read_edges(path)


def test_a_longer_row_is_told_with_its_line(tmp_path):
    (tmp_path / "e.csv").write_text("\n".join(["source,target,weight", *ROWS, "a,b,1,2"]))
    with pytest.raises(FileError, match="Expected 3 fields in line 12, saw 4"):
        read_edges(tmp_path / "e.csv")


def test_a_parquet_file_without_the_columns_says_which_it_has(tmp_path):
    pd.DataFrame({"from": [1], "target": [2]}, index=["r"]).to_parquet(tmp_path / "e.parquet")
    with pytest.raises(FileError, match="has no column 'source': its columns are from, target"):
        read_edges(tmp_path / "e.parquet")


def test_what_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**28)
    (tmp_path / "e.csv").write_text("\n".join(["source,target,weight", *ROWS]))
    pd.read_csv(tmp_path / "e.csv").to_parquet(tmp_path / "e.parquet")
    for kind in ("csv", "parquet"):
        with pytest.raises(
            MemoryNeededError, match=r"reading about 1\d edges from .* needs 0\.5 GiB of memory and 0\.2"
        ):
            read_edges(tmp_path / f"e.{kind}")
    monkeypatch.setattr(memory, "available", lambda: 100)
    sparse.save_npz(tmp_path / "g.npz", sparse.csr_array([[0, 1], [1, 0]]))
    with pytest.raises(MemoryNeededError, match=r"g\.npz needs"):
        read_edges(tmp_path / "g.npz")


class TestAdjacency:
    W = np.array([[0, 2, 0], [2, 0, 1.5], [0, 1.5, 0]])

    @pytest.mark.parametrize(
        "kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.bsr_array, sparse.dia_array]
    )
    def test_a_matrix_of_any_kind_is_a_graph(self, tmp_path, kind):
        sparse.save_npz(tmp_path / "g.npz", kind(self.W))
        graph = read_edges(tmp_path / "g.npz")
        np.testing.assert_array_equal(graph.weights.toarray(), self.W)
        assert graph.names == range(3)

    def test_labels_in_a_table_name_its_nodes_by_number(self, tmp_path):
        sparse.save_npz(tmp_path / "g.npz", sparse.csr_array(self.W))
        (tmp_path / "l.csv").write_text("node,label\n2,x\n0,y\n")
        assert read_labels(tmp_path / "l.csv", read_edges(tmp_path / "g.npz")) == {2: "x", 0: "y"}
        assert read_dataset(tmp_path / "g.npz", tmp_path / "l.csv", "label", 10).labels.tolist() == [1, -1, 0]

    @pytest.mark.parametrize(
        ("matrix", "sentence"),
        [
            (np.ones((2, 3)), r"g\.npz: the weights have shape \(2, 3\): give a square matrix"),
            ([[0, 1], [2, 0]], r"g\.npz: weights\[0, 1\] is 1 and weights\[1, 0\] is 2: the matrix must be symmetric"),
            ([[0, -1], [-1, 0]], r"g\.npz: weights\[0, 1\] is -1"),
            ([[0, 1j], [1j, 0]], "type complex128"),
        ],
    )
    def test_a_matrix_that_is_no_graph_is_refused(self, tmp_path, matrix, sentence):
        sparse.save_npz(tmp_path / "g.npz", sparse.csr_array(matrix))
        with pytest.raises(FileError, match=sentence):
            read_edges(tmp_path / "g.npz")

    def write(self, path, content):
        good = {"format": "csr", "shape": [2, 2], "data": [1.0, 1.0], "indices": [1, 0], "indptr": [0, 1, 2]}
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            np.savez(path, **{name: np.asarray(value) for name, value in (good | content).items() if value is not None})

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"no npz at all",
            pickle.dumps({"format": "csr"}),
            {"format": None},
            {"format": "nonsense"},
            {"format": "_with_format"},
            {"shape": None},
            {"shape": [2]},
            {"data": np.array([{}, 1], dtype=object)},
            {"data": [1.0]},
            {"indices": [7, 0]},
            {"indices": [-1, 0]},
            {"indptr": [0, 9, 2]},
            {"indptr": [0, 1, 2**40]},
        ],
        ids=lambda content: str(content)[:30],
    )
    def test_what_is_no_matrix_is_refused_and_never_unpickled(self, tmp_path, content):
        self.write(tmp_path / "g.npz", content)
        with pytest.raises(FileError, match=r"g\.npz cannot be read as a sparse matrix: save one with scipy"):
            read_edges(tmp_path / "g.npz")

    def test_a_file_cut_short_is_refused(self, tmp_path):
        sparse.save_npz(tmp_path / "g.npz", sparse.csr_array(self.W))
        whole = (tmp_path / "g.npz").read_bytes()
        for length in range(1, len(whole), 97):
            (tmp_path / "g.npz").write_bytes(whole[:length])
            with pytest.raises(FileError, match="cannot be read"):
                read_edges(tmp_path / "g.npz")

    def test_no_file(self, tmp_path):
        with pytest.raises(FileError, match="there is no file"):
            read_edges(tmp_path / "g.npz")
