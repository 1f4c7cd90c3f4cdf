"""The arithmetic: arrays in, arrays out. `reference` is the readable specification, `cpu` and `gpu` its fast twins.

All hold the same functions with the same arguments. An argument named `island` is (u,): -1 where the node's component
has a label, else the number of its component. There G is infinite in the limit and its block holds the finite part, the
pseudo-inverse of the component's Laplacian (docs/maths.md, "Components without a label").

Two more arguments of the look-ahead only save time; `reference` does without them. `piece` (u,) numbers, from 0, the
pieces into which the labelled nodes cut the graph: G is zero between them. `skipped` (u,) marks the nodes that will not
be asked: their costs, and others that are clearly not the lowest, may carry float32's rounding error.

`sparse_reference` specifies the look-ahead of the engine that never forms G. Exact inference stands apart, in `exact`.
"""

import os
import tempfile
from pathlib import Path

if not any(os.access(place, os.W_OK) for place in (Path(__file__).parent, Path.home())):
    os.environ.setdefault("NUMBA_CACHE_DIR", tempfile.gettempdir())  # else Numba finds no place to cache, and refuses
