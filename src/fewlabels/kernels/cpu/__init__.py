"""The kernels on the CPU, by Numba: the names of `reference`, for a G in one array.

`updates` changes G and h, `lookahead` scores every question, from what `layout` lays out. `rows` does the same to
some of the rows of a G held in blocks; `blocks`, `sparse_lookahead`, `neighbour_gains` and `sparse_marginals` serve the
engine that never forms G. `pairs` and `exponential` are the arithmetic they all share, `prefetch` a hint to the memory.
"""

from fewlabels.kernels.cpu.lookahead import harmonic_cost, two_step_cost
from fewlabels.kernels.cpu.updates import (
    border,
    center,
    downdate,
    ground,
    inverse_by_bordering,
    inverse_error,
    shift,
    sopt_cost,
    vopt_cost,
)

__all__ = [
    "border",
    "center",
    "downdate",
    "ground",
    "harmonic_cost",
    "inverse_by_bordering",
    "inverse_error",
    "shift",
    "sopt_cost",
    "two_step_cost",
    "vopt_cost",
]
