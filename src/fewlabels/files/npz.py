"""The matrix of a graph in an .npz file, as scipy.sparse.save_npz writes it; names of nodes may be stored beside it."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.errors import FewlabelsError, FileError
from fewlabels.files.atomic import atomic_file
from fewlabels.machine.memory import require

COPIES = 4  # the matrix as read, as kept, transposed, and a temporary one
BYTES_A_NODE = 100  # of a graph without an edge, whatever the form of its matrix
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
NAMES = "names.npy"  # SciPy ignores it


def read_matrix(path: Path) -> tuple[Any, list[Hashable] | None]:
    """The matrix and, where the file has them, the names of its nodes; nothing in the file is unpickled."""
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    try:
        more = "Use a machine with more memory."
        require(COPIES * _bytes_held(path), f"the matrix in {path}", more)
        matrix = sparse.load_npz(path)
        require(BYTES_A_NODE * max(matrix.shape), f"a graph of {max(matrix.shape):,} nodes, as {path} has it,", more)
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # a damaged file may name rows that do not exist
        return matrix, _read_names(path)
    except FewlabelsError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError):
        raise FileError(
            f"{path} cannot be read as a sparse matrix: save one with scipy.sparse.save_npz, or give edges as a table."
        ) from None


def write_matrix(path: Path, weights: sparse.csr_array, names: Sequence[Hashable] | None) -> None:
    """Write the matrix, whole or not at all, for `scipy.sparse.load_npz` and `read_matrix`."""
    if path.suffix.lower() != ".npz":
        raise FileError(f"{path} ends in {path.suffix!r}: give a name that ends in .npz.")
    try:
        array = None if names is None else np.array(list(names))
    except ValueError:  # tuples that are not equally long
        array = np.array(None)
    if array is not None and (array.dtype.kind not in "iU" or array.tolist() != list(names or ())):
        raise FileError(f"{path} was not written: names must be all text or all whole numbers. Rename the nodes.")
    with atomic_file(path) as draft:
        sparse.save_npz(draft, weights)
        if array is not None:
            with zipfile.ZipFile(draft, "a", zipfile.ZIP_DEFLATED) as file, file.open(NAMES, "w") as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _read_names(path: Path) -> list[Hashable] | None:
    with zipfile.ZipFile(path) as file:
        if NAMES not in file.namelist():
            return None
        with file.open(NAMES) as entry:
            return list(np.lib.format.read_array(entry, allow_pickle=False).tolist())


def _bytes_held(path: Path) -> int:
    """What the arrays in the file take when unpacked; one that claims more numbers than it holds is refused."""
    with zipfile.ZipFile(path) as file:
        for entry in file.infolist():
            with file.open(entry) as array:
                shape, _, dtype = HEADERS[np.lib.format.read_magic(array)](array)
            if math.prod(shape) * dtype.itemsize > entry.file_size:
                raise ValueError(f"{entry.filename} claims the shape {shape}")
        return sum(entry.file_size for entry in file.infolist())
