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
import tempfile
from pathlib import Path

if not any(os.access(place, os.W_OK) for place in (Path(__file__).parent, Path.home())):
    os.environ.setdefault("NUMBA_CACHE_DIR", tempfile.gettempdir())  # else Numba finds no place to cache, and refuses
