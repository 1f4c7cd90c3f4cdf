"""A graph from the .npz file of a matrix, as scipy.sparse.save_npz writes it."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from scipy import sparse

from fewlabels.errors import FewlabelsError, FileError, GraphError
from fewlabels.graph import Graph
from fewlabels.memory import require

COPIES = 4  # the matrix as it is read, as it is kept, turned round, and a passing one


def read_adjacency(path: Path) -> Graph:
    """The graph whose weights the matrix holds, nodes numbered from 0; nothing in the file is unpickled."""
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    try:
        require(COPIES * _bytes_held(path), f"the matrix in {path}", "Use a machine with more memory.")
        matrix = sparse.load_npz(path)
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # a damaged file may name rows that are not there
    except FewlabelsError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError):
        raise FileError(
            f"{path} cannot be read as a sparse matrix: save one with scipy.sparse.save_npz, or give edges as a table."
        ) from None
    try:
        return Graph(matrix)
    except GraphError as error:
        raise FileError(f"{path}: {error}") from None


def _bytes_held(path: Path) -> int:
    """What the arrays in the file take when unpacked, from their headers."""
    with zipfile.ZipFile(path) as file:
        return sum(entry.file_size for entry in file.infolist())
