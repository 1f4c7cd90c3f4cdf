"""A table of edges, read a chunk at a time: columns source, target and, optionally, weight."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewlabels.errors import FileError
from fewlabels.files.dialect import dialect_of
from fewlabels.files.edge_list import WEIGHT, EdgeList
from fewlabels.files.numbers import with_points
from fewlabels.files.table import (
    Tell,
    explain_read_errors,
    kind_of,
    quietly,
    read_table,
    refuse_ragged,
    require_columns,
    stripped,
    texts,
)
from fewlabels.files.unpacked import longest_shared, open_parquet
from fewlabels.machine.memory import require

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ENDS = ["source", "target"]
ROWS = 2**19  # rows of a chunk
BYTES_AN_EDGE = 110  # at the peak, measured by benchmarks/loading.py: all edges, and the graph made of them
BYTES_A_NAME = 300  # as text, in a list and a dictionary, while names of both ends are compared
BYTES_A_CHUNK = 2**29
LESS = "Leave out edges, or use a machine with more memory."


def read_edge_list(path: str | os.PathLike[str], tell: Tell = quietly) -> EdgeList:
    """The edges of a table; nodes keep their names, as text, so 1 and "1" are one node.

    `tell` hears what is unusual about how the file is written.
    """
    import pandas as pd

    path = Path(path)
    kind_of(path)
    ends = [_End(name) for name in ENDS]
    weights = _Weights()
    for chunk in _chunks(path, tell):
        for end in ends:
            end.add(chunk.column(end.column))
        if WEIGHT in chunk.schema.names:
            weights.add(chunk.column(WEIGHT))
    (source, sources), (target, targets) = (end.numbered(path) for end in ends)
    if not len(source):
        raise FileError(f"{path} holds no edges: give one line for every edge.")
    numbers, names = pd.factorize(np.array(sources + targets, dtype=object))
    node = numbers.astype(np.int32)
    low, high = node[: len(sources)][source], node[len(sources) :][target]
    return EdgeList(low, high, weights.checked(path), len(names), names.tolist())


class _End:
    """One end of all edges: the distinct values, and for every row the number of its value."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._parts: list[pa.DictionaryArray] = []

    def add(self, cells: pa.Array) -> None:
        self._parts.append(_comparable(cells).dictionary_encode())

    def numbered(self, path: Path) -> tuple[NDArray[np.int32], list[str]]:
        """(m,) the number of each row's value and the values as text; an empty cell is refused."""
        import pyarrow as pa

        if not self._parts:
            return np.empty(0, np.int32), []
        column = pa.chunked_array(self._parts).unify_dictionaries()
        self._parts = []
        distinct = column.chunk(0).dictionary
        require(BYTES_A_NAME * len(distinct), f"naming the {len(distinct):,} nodes of {path}", LESS)
        values = texts(distinct.to_pandas())
        number = np.concatenate([part.indices.fill_null(-1).to_numpy() for part in column.chunks])
        empty = [-1, *(k for k, value in enumerate(values) if not value)]
        rows = np.flatnonzero(np.isin(number, empty))
        if len(rows):
            raise FileError(f"{path}, row {rows[0] + 1}: {self.column!r} is empty. Fill it in or remove the row.")
        return number, values


class _Weights:
    """The weights, and the first cell that is not a valid one."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.float64]] = []
        self._rows = 0
        self._bad: tuple[int, object] | None = None

    def add(self, cells: pa.Array) -> None:
        import pandas as pd

        series = cells.to_pandas()
        weight = pd.to_numeric(series, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if len(bad) and self._bad is None:
            self._bad = self._rows + int(bad[0]) + 1, series.iloc[bad[0]]
        self._parts.append(weight)
        self._rows += len(weight)

    def checked(self, path: Path) -> NDArray[np.float64] | None:
        """(m,) the weights, None where the file gives none."""
        if self._bad is not None:
            row, cell = self._bad
            raise FileError(f"{path}, row {row}: the weight {cell!r} is not a number >= 0. Fix that row.")
        return np.concatenate(self._parts) if self._parts else None


def _chunks(path: Path, tell: Tell) -> Iterator[pa.RecordBatch]:
    """The columns that matter, some rows at a time."""
    import pandas as pd

    kind = kind_of(path)
    with explain_read_errors(path, ENDS):
        if kind == "PARQUET":
            yield from _parquet_chunks(path)
        elif kind not in ("CSV", "TSV"):
            yield from _batches(read_table(path, ENDS, tell))
        else:
            _require_for(path, _rows_of_text(path))
            dialect = dialect_of(path)
            if note := dialect.told(path):
                tell(note)
            with pd.read_csv(path, **dialect.options(), chunksize=ROWS) as reader:
                for frame in reader:
                    refuse_ragged(path, frame)
                    frame.columns = stripped(frame.columns)
                    require_columns(path, frame.columns, ENDS)
                    if dialect.decimal_commas and WEIGHT in frame:
                        frame[WEIGHT] = with_points(frame[WEIGHT])
                    yield from _batches(frame)


def _parquet_chunks(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with open_parquet(path) as file:
        schema = file.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        if any(isinstance(part, dict) and part.get("name") in (*ENDS, WEIGHT) for part in index):
            yield from _batches(read_table(path, ENDS))  # pandas stored a range's description, not a column
            return
        require_columns(path, [name for name in schema.names if name not in index or name[:2] != "__"], ENDS)
        _require_for(path, file.metadata.num_rows)
        wanted = [name for name in (*ENDS, WEIGHT) if name in schema.names]
        require(longest_shared(file, wanted) * ROWS, f"reading edges from {path}", "Use shorter names of nodes.")
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(ROWS, columns=wanted)


def _batches(frame: pd.DataFrame) -> list[pa.RecordBatch]:
    import pyarrow as pa

    wanted = [name for name in (*ENDS, WEIGHT) if name in frame.columns]
    return pa.Table.from_pandas(frame[wanted], preserve_index=False).combine_chunks().to_batches()


def _comparable(cells: pa.Array) -> pa.Array:
    """Cells that Arrow can number: numbers and text as they are, anything else as text."""
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_dictionary(kind):
        return _comparable(cells.dictionary_decode())
    number = pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64())
    if number or kind in (pa.string(), pa.large_string()):
        return cells
    return pa.array(texts(cells.to_pandas()), pa.large_string())


def _require_for(path: Path, rows: int) -> None:
    """Refuse, before reading it, a file that would not fit; the number of nodes is not known yet."""
    if rows > ROWS:
        require(BYTES_A_CHUNK + BYTES_AN_EDGE * rows, f"reading about {rows:,} edges from {path}", LESS)


def _rows_of_text(path: Path) -> int:
    """About how many lines a file has, judging by its first 64 KiB."""
    with path.open("rb") as file:
        start = file.read(2**16)
    return path.stat().st_size * start.count(b"\n") // max(len(start), 1)
