"""The kernels on the CPU, by Numba: the names of `reference`, for a G in one array.

`lookahead` scores every question, from what `layout` lays out, `sums` by the variance that is left; `blocks` has the
products and updates of wide arrays; `sparse_lookahead`, `neighbour_gains` and `sparse_marginals` serve the engine that
never forms G. `pairs` and `lanes` are the arithmetic they all share, `prefetch` a hint to the memory.
"""

from fewlabels.kernels.cpu.lookahead import harmonic_cost, two_step_cost
from fewlabels.kernels.cpu.sums import sopt_cost, vopt_cost

__all__ = ["harmonic_cost", "sopt_cost", "two_step_cost", "vopt_cost"]
