"""The plain twin of `lookahead`: one pair at a time, in the words of `kernels.reference`."""

from __future__ import annotations

import numpy as np

from fewlabels.field.sparse.lookahead import Present
from fewlabels.kernels.reference import Floats, Ints, answer, harmonic_marginals, two_step_marginals


def error_after(present: Present, near: float, q: int, k: int) -> float:
    """The error to expect at k once q is answered; near is G_qk."""
    h, chance, many, diagonal, least, island, wrong, harmonic = present
    if q == k:
        return 0.0
    if island[q] < 0:
        r, v = near / diagonal[q], diagonal[k] - near**2 / diagonal[q]
        unaffected = island[k] >= 0 or r == 0
    else:
        r, v = 1.0, diagonal[k] + diagonal[q] - 2 * near
        unaffected = island[k] != island[q]
    if unaffected:
        return float(wrong[k])
    classes = np.repeat(np.arange(len(many)), many.astype(int))  # the classes, each by its column of h
    C = len(classes)
    expected = 0.0
    for c in range(C):
        h_after = h[k, classes] + r * (answer(c, C) - h[q, classes])
        if harmonic:
            p = harmonic_marginals(h_after[None])[0]
        else:
            p = two_step_marginals(h_after[None], np.array([max(v, least[k])]))[0]
        expected += chance[q, classes[c]] / many[classes[c]] * (1 - p.max())
    return expected


def sampled_gains(
    present: Present, X: Floats, slots: Ints, rows: Ints, sample: Ints, weight: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    gain, variance = np.zeros(len(rows)), np.zeros(len(rows))
    for i, q in enumerate(rows):
        drop = np.array(
            [
                0.0 if q == k else present.wrong[k] - error_after(present, X[q, slot], q, k)
                for k, slot in zip(sample, slots, strict=True)
            ]
        )
        gain[i] = present.wrong[q] + weight @ drop
        variance[i] = spread @ drop**2
    return gain, variance


def whole_costs(present: Present, X: Floats, slots: Ints, questions: Ints) -> Floats:
    everyone = np.flatnonzero((present.diagonal > 0) | (present.island >= 0))
    return np.array(
        [
            sum(error_after(present, X[k, slot], q, int(k)) for k in everyone)
            for q, slot in zip(questions, slots, strict=True)
        ]
    )
