"""The arithmetic: arrays in, arrays out. `reference` is the readable specification, `cpu` and `gpu` its fast twins.

All hold the same functions with the same arguments. An argument named `island` is (u,): -1 where the node's component
has a label, else the number of its component. There G is infinite in the limit and its block holds the finite part, the
pseudo-inverse of the component's Laplacian (docs/maths.md, "Components without a label").

G may be of all nodes, not of the u unlabelled ones only: `nodes` (u,) are then the rows and columns of these.

Two more arguments of the look-ahead only save time; `reference` does without them. `piece` (u,) numbers, from 0, the
pieces into which the labelled nodes cut the graph: G is zero between them. `asked` (u,) marks the nodes that may be
asked about: the costs of the others, and those that are clearly not the lowest, may carry float32's rounding error.

`sparse_reference` specifies the look-ahead of the engine that never forms G. Exact inference stands apart, in `exact`.
"""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def _is_ours(place: Path) -> bool:
    """Whether we may write there, and not everybody else, too."""
    return os.access(place, os.W_OK) and not place.stat().st_mode & stat.S_IWOTH


def _own_folder() -> Path:
    """A folder in the shared temporary one that nobody else can write; a fresh one where another has taken its name."""
    folder = Path(tempfile.gettempdir(), f"fewlabels-{os.geteuid()}")
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix="fewlabels-"))


# Else Numba finds no place to cache, and refuses. It unpickles what it finds there.
if "NUMBA_CACHE_DIR" not in os.environ and not (os.access(Path(__file__).parent, os.W_OK) or _is_ours(Path.home())):
    os.environ["NUMBA_CACHE_DIR"] = str(_own_folder())
