"""Small files that claim, or unpack into, more than there is: refused in a sentence, before the memory is taken."""

import ast
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from support.sheets import ods, xlsx

LIMIT = 6 * 2**30  # bytes of address space: what is not refused ends there, and not the machine
MOST = 400 * 2**20  # bytes that reading any of them may take
READ = r"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from pathlib import Path
import numpy, pandas, pyarrow.feather, pyarrow.parquet, scipy.sparse
from fewlabels.errors import FewlabelsError
from fewlabels.files.features import own_features
from fewlabels.tables import read_edges, read_table

def held(what):  # VmHWM is the most so far, of this process alone
    return 1024 * int(re.search(what + r":\s+(\d+)", Path("/proc/self/status").read_text()).group(1))

found = {}
for name in sys.argv[2:]:
    Path("/proc/self/clear_refs").write_text("5")
    before = held("VmRSS")
    try:
        if name.endswith("npy"):
            own_features(Path(name), 2, "the rows")
        else:
            (read_edges if name.endswith("npz") or "edges" in name else lambda path: read_table(path, []))(name)
        said = "it was read"
    except FewlabelsError as error:
        said = str(error)
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    child = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # the reader of sheets
    found[name] = said, max(held("VmHWM") - before, child if name.endswith(("xlsx", "ods")) else 0)
print(json.dumps(found))
"""


def shaped(content, shape):
    """The bytes of a .npy file whose header claims another shape."""
    length = 10 + int.from_bytes(content[8:10], "little")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, ast.literal_eval(content[10:length].decode()) | {"shape": shape})
    return header.getvalue() + content[length:]


def npz(path, matrix, claims=(), **more):
    """A matrix as SciPy saves it, with more arrays; `claims` are the shapes that some of its arrays say they have."""
    sparse.save_npz(path, matrix)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    for name, array in more.items():
        out = io.BytesIO()
        np.save(out, array)
        parts[f"{name}.npy"] = out.getvalue()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            shape = dict(claims).get(name.removesuffix(".npy"))
            file.writestr(name, content if shape is None else shaped(content, shape))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """{file: (what was said of it, the bytes that it took)}"""
    here = tmp_path_factory.mktemp("bombs")
    one = sparse.coo_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(10**9, 10**9))
    npz(here / "coo.npz", one)
    npz(here / "dia.npz", sparse.dia_array((np.ones((1, 1)), [0]), shape=(10**9, 10**9)))
    two = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    npz(here / "numbers.npz", two, {"data": (10**13,)})
    npz(here / "names.npz", two, {"names": (10**12,)}, names=np.array(["a", "b"]))
    out = io.BytesIO()
    np.save(out, np.zeros((2, 2)))
    (here / "claims.npy").write_bytes(shaped(out.getvalue(), (2, 5 * 10**12)))
    (here / "grown.npy").write_bytes(shaped(out.getvalue(), (2, 25 * 10**7)))
    with (here / "grown.npy").open("r+b") as file:
        file.truncate(128 + 4 * 10**9)  # zeros that take no place on the disk

    cells = "".join(f'<row r="{row}"><c t="s"><v>0</v></c></row>' for row in range(1, 401))
    xlsx(here / "same.xlsx", {"S": cells}, ["x" * 10**6])
    cells = '<table:table-cell office:value-type="string" table:number-columns-repeated="2000"><text:p>x</text:p>'
    rows = '<table:table-row table:number-rows-repeated="5000">{}</table:table-cell></table:table-row>'
    ods(here / "repeated.ods", rows.format(cells))

    pa.feather.write_feather(pa.table({"x": pa.nulls(150_000_000), "y": pa.nulls(150_000_000)}), here / "rows.feather")
    long = pa.array(["x" * 30_000_000], pa.large_string())
    pa.feather.write_feather(pa.table({"x": long}), here / "cell.feather", compression="zstd")
    pq.write_table(pa.table({"x": long[:1]}), here / "cell.parquet", compression="zstd")
    del long
    pq.write_table(pa.table({"x": pa.nulls(150_000_000, pa.int8())}), here / "rows.parquet")
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), pa.array(["x" * 10**6]))
    pq.write_table(pa.table({"x": same}), here / "same.parquet", store_schema=False)
    pa.feather.write_feather(pa.table({"x": same}), here / "same.feather")
    pq.write_table(pa.table({"source": same, "target": same}), here / "edges.parquet", store_schema=False)
    files = sorted(path.name for path in here.iterdir())
    assert max((here / name).stat().st_blocks for name in files) * 512 < 3 * 2**20
    command = [sys.executable, "-c", READ, str(LIMIT), *files]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True, timeout=100)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("coo.npz", "needs 93.1 GiB of memory"),
        ("dia.npz", "needs 93.1 GiB of memory"),
        ("numbers.npz", "cannot be read as a sparse matrix"),
        ("names.npz", "cannot be read as a sparse matrix"),
        ("claims.npy", "cannot be read as a .npy file of numbers"),
        ("grown.npy", "needs 7.5 GiB of memory"),
        ("same.xlsx", "same.xlsx unpacks into more than"),
        ("repeated.ods", "repeated.ods unpacks into more than"),
        ("rows.feather", "rows.feather has 300,000,000 cells, and a table may have 100,000,000"),
        ("cell.feather", "column 'x' has a cell of 30,000,000 characters, and 10,000,000 are the most"),
        ("same.feather", "needs 74.5 GiB"),
        ("rows.parquet", "rows.parquet has 150,000,000 cells, and a table may have 100,000,000"),
        ("cell.parquet", "column 'x' has a cell of 30,000,000 characters, and 10,000,000 are the most"),
        ("same.parquet", "needs 74.5 GiB"),
        ("edges.parquet", "needs 488.3 GiB"),
    ],
)
def test_a_small_file_is_refused_before_it_takes_the_memory(found, file, sentence):
    said, taken = found[file]
    assert sentence in said
    assert taken < MOST
