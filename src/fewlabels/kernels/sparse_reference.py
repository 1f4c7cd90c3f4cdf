"""The look-ahead on columns of G, in plain NumPy: one pair at a time, in the terms of `reference`.

The specification of `cpu.sparse_lookahead` and `cpu.neighbour_gains`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.kernels.reference import answer, harmonic_error, two_step_marginals


class NodeState(NamedTuple):
    """What is known of every node now; classes that h does not tell apart share a column."""

    h: Numbers  # (n, D)
    chance: Numbers  # (n, D) that the node is of one of the classes sharing the column
    multiplicity: Numbers  # (D,) how many those are
    diagonal: Floats  # (n,) G_kk; in a component without a label that of G held at the component's anchor
    least: Floats  # (n,) 1 / d_k: no variance at k falls below it
    island: Ints  # (n,) -1 where a label reaches the node, else the number of its component
    error_now: Floats  # (n,) the error to expect now; 0 where labelled
    harmonic: bool  # ZLG's marginals rather than TSA's
    size: Floats  # (n,) largest |h| of each node in a smooth field, which may leave [-1, 1]; else empty


def error_after(state: NodeState, near: float, q: int, k: int) -> float:
    """The error to expect at k once q is answered; near is G_qk."""
    h, chance, multiplicity, diagonal, least, island, error_now, harmonic, _ = state
    if q == k:
        return 0.0
    if island[q] < 0:
        r, v = near / diagonal[q], diagonal[k] - near**2 / diagonal[q]
        unaffected = island[k] >= 0 or r == 0
    else:
        r, v = 1.0, diagonal[k] + diagonal[q] - 2 * near
        unaffected = island[k] != island[q]
    if unaffected:
        return float(error_now[k])
    classes = np.repeat(np.arange(len(multiplicity)), multiplicity.astype(int))  # the classes, each by its column of h
    C = len(classes)
    expected = 0.0
    for c in range(C):
        h_after = h[k, classes] + r * (answer(c, C) - h[q, classes])
        if harmonic:
            wrong = harmonic_error(h_after[None])[0]
        else:
            wrong = 1 - two_step_marginals(h_after[None], np.array([max(v, least[k])])).max()
        expected += chance[q, classes[c]] / multiplicity[classes[c]] * wrong
    return expected


def sampled_gains(
    state: NodeState, X: Floats, slots: Ints, rows: Ints, sample: Ints, weight: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    gain, variance = np.zeros(len(rows)), np.zeros(len(rows))
    for i, q in enumerate(rows):
        drop = np.array(
            [
                0.0 if q == k else state.error_now[k] - error_after(state, X[q, slot], q, k)
                for k, slot in zip(sample, slots, strict=True)
            ]
        )
        gain[i] = state.error_now[q] + weight @ drop
        variance[i] = spread @ drop**2
    return gain, variance


def whole_costs(state: NodeState, X: Floats, slots: Ints, questions: Ints) -> Floats:
    everyone = np.flatnonzero((state.diagonal > 0) | (state.island >= 0))
    return np.array(
        [
            sum(error_after(state, X[k, slot], q, int(k)) for k in everyone)
            for q, slot in zip(questions, slots, strict=True)
        ]
    )
