"""What a Parquet or Feather file unpacks into, asked of the file before it is read: a small one can hold anything."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewlabels.files.limits import refuse_too_wide, require_room

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FEW = 2**28  # bytes of text that take no second look
ROWS = 2**16  # looked at together
MAGIC = b"ARROW1"  # at both ends of a Feather file; one of the first version holds nothing packed


def require_parquet(path: Path) -> None:
    """Refuse a Parquet file that unpacks into too much, by what it says of itself and by how long its texts are."""
    with open_parquet(path) as file:
        meta = file.metadata
        refuse_too_wide(path, meta.num_columns)
        parts = [meta.row_group(g).column(c) for g in range(meta.num_row_groups) for c in range(meta.num_columns)]
        cells = sum(part.num_values for part in parts)
        require_room(path, cells, sum(part.total_uncompressed_size for part in parts))
        if cells * longest_shared(file) > FEW:
            require_texts(path, cells, file.iter_batches(ROWS))


def open_parquet(path: Path) -> pq.ParquetFile:
    """The file, to be read so that a text that is in many rows is held once."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        leaves = [file.schema.column(c) for c in range(len(file.schema))]
    return pq.ParquetFile(path, read_dictionary=[leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"])


def longest_shared(file: pq.ParquetFile, columns: Sequence[str] | None = None) -> int:
    """The bytes of the longest text that many rows may share: these are listed where a group of rows begins."""
    longest = 0
    for group in range(file.metadata.num_row_groups):
        for batch in islice(file.iter_batches(1, row_groups=[group], columns=columns), 1):
            listed = (found for column in batch.columns for found in _lengths(column, shared=True))
            longest = max(longest, *(int(found.max(initial=0)) for found in listed), 0)
    return longest


def require_feather(path: Path) -> None:
    """Refuse a Feather file that unpacks into too much, by the sizes that its batches claim, then by its texts."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        content = file.read_buffer()
        if content[: len(MAGIC)] != MAGIC:
            return
        try:
            claims = list(_batches(content))
        except (struct.error, ValueError, IndexError, OverflowError):
            raise ValueError("it is damaged") from None
        with pa.ipc.open_file(content) as reader:
            refuse_too_wide(path, len(reader.schema.names))
            cells = sum(rows for rows, _ in claims) * len(reader.schema.names)
            require_room(path, cells, sum(size for _, size in claims))
            require_texts(path, cells, _whole(reader))


def _whole(reader: pa.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    """The batches, each looked through first: a damaged one would end the process."""
    for number in range(reader.num_record_batches):
        batch = reader.get_batch(number)
        batch.validate(full=True)
        yield batch


def require_texts(path: Path, cells: int, batches: Iterable[pa.RecordBatch]) -> None:
    """Refuse texts that do not fit once each row has its own."""
    text = 0
    for batch in batches:
        text += sum(int(found.sum(dtype=np.int64)) for column in batch.columns for found in _lengths(column))
        require_room(path, cells, text)


def _lengths(column: Any, shared: bool = False) -> Iterator[Any]:
    """The bytes of each text in a column, or inside what it holds; with `shared`, of each that rows may share."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        for each in _lengths(column.dictionary):
            yield each if shared else each[column.indices.drop_null().to_numpy()]
    elif pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        yield np.frombuffer(column.buffers()[1], "<i4").reshape(-1, 4)[column.offset :][: len(column), 0]
    elif pa.types.is_large_string(kind) or pa.types.is_string(kind) or pa.types.is_binary(kind):
        yield pc.fill_null(pc.binary_length(column), 0).to_numpy()
    elif pa.types.is_struct(kind):
        yield from (each for inner in column.flatten() for each in _lengths(inner, shared))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _lengths(column.flatten(), shared)


def _batches(content: pa.Buffer) -> Iterator[tuple[int, int]]:
    """For each batch of a Feather file its rows (0 for a list of different texts) and the bytes it unpacks into.

    Arrow tells these only of what it has unpacked, so they are looked up where its format keeps them.
    """
    import pyarrow as pa

    data = memoryview(content)
    (length,) = struct.unpack_from("<i", data, len(data) - len(MAGIC) - 4)
    footer = data[len(data) - len(MAGIC) - 4 - length :]
    for field in (2, 3):  # dictionaries and batches
        for (block,) in struct.iter_unpack("<q16x", _vector(footer, _root(footer), field, 24)):
            message = pa.ipc.read_message(content.slice(block))
            head, body = memoryview(message.metadata), memoryview(message.body)
            batch = _pointed(head, _field(head, _root(head), 2))
            if field == 2:
                batch = _pointed(head, _field(head, batch, 1))
            rows, packed = _field(head, batch, 0), _field(head, batch, 3)
            unpacked = 0
            for start, size in struct.iter_unpack("<qq", _vector(head, batch, 2, 16)):
                claimed = struct.unpack_from("<q", body, start)[0] if packed and size else -1
                unpacked += size if claimed < 0 else claimed
            yield struct.unpack_from("<q", head, rows)[0] if rows and field == 3 else 0, unpacked


def _root(table: memoryview) -> int:
    return _pointed(table, 0)


def _pointed(table: memoryview, at: int) -> int:
    return at + int(struct.unpack_from("<I", table, at)[0])


def _field(table: memoryview, at: int, number: int) -> int:
    """Where this field of a flatbuffer's table lies; 0 where the table has none."""
    kinds = at - struct.unpack_from("<i", table, at)[0]
    if 4 + 2 * number >= struct.unpack_from("<H", table, kinds)[0]:
        return 0
    (offset,) = struct.unpack_from("<H", table, kinds + 4 + 2 * number)
    return at + int(offset) if offset else 0


def _vector(table: memoryview, at: int, number: int, width: int) -> memoryview:
    field = _field(table, at, number)
    if not field:
        return table[:0]
    start = _pointed(table, field)
    (count,) = struct.unpack_from("<I", table, start)
    return table[start + 4 : start + 4 + count * width]
