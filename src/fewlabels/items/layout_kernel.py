"""The springs behind the map, compiled: neighbours pull together, random others push apart."""

from __future__ import annotations

import numpy as np
from numba import njit

from fewlabels.arrays import Floats, Ints

LONGEST = 4.0  # no single pull or push moves a point further than this times the step


@njit(cache=True, nogil=True)
def refine(
    Y: Floats,  # (n, 2) moved in place
    source: Ints,  # (e,) each edge once
    target: Ints,
    pull: Floats,  # (e,) in (0, 1]: how strong a tie is relative to the strongest at its ends
    first: Ints,  # (n,) first node of a node's component, whose nodes are consecutive
    size: Ints,  # (n,) number of nodes in it
    rounds: int,
    seed: int,
) -> None:
    """Move points along the gradient of a t-distribution's likelihood, by edges and by randomly drawn pairs.

    A tie pulls by d / (1 + d^2), so that long ties give way and islands separate; but in the first rounds by d, or a
    path would tear where it happens to be stretched. A drawn node of the same component pushes by
    d / ((c + d^2) (1 + d^2)). The step shrinks to nothing over the rounds.
    """
    pushes = 5
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x2545F4914F6CDD1D)
    for turn in range(rounds):
        step = 1.0 - turn / rounds
        for e in range(len(source)):
            i, j = source[e], target[e]
            dx, dy = Y[i, 0] - Y[j, 0], Y[i, 1] - Y[j, 1]
            d2 = dx * dx + dy * dy
            force = -2.0 * pull[e] / (1.0 + (1.0 - step) * d2)
            mx = step * min(LONGEST, max(-LONGEST, force * dx))
            my = step * min(LONGEST, max(-LONGEST, force * dy))
            Y[i, 0] += mx
            Y[i, 1] += my
            Y[j, 0] -= mx
            Y[j, 1] -= my
            for draw in range(2 * pushes):
                a = i if draw < pushes else j
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                b = first[a] + np.int64((state >> np.uint64(16)) % np.uint64(size[a]))
                if a == b:
                    continue
                dx, dy = Y[a, 0] - Y[b, 0], Y[a, 1] - Y[b, 1]
                d2 = dx * dx + dy * dy
                force = 2.0 * pull[e] / ((0.01 + d2) * (1.0 + d2))
                Y[a, 0] += step * min(LONGEST, max(-LONGEST, force * dx))
                Y[a, 1] += step * min(LONGEST, max(-LONGEST, force * dy))
