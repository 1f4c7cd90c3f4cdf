"""Which questions are worth scoring on every node: a race on growing samples of k, joined with two cheap lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.kernels.cpu.neighbour_gains import all_neighbours, neighbour_gains, packed, some_neighbours
from fewlabels.kernels.cpu.sparse_lookahead import sampled_gains
from fewlabels.kernels.sparse_reference import NodeState
from fewlabels.machine.giving_way import give_way

FIRST = 32  # nodes k on which every question is scored in the first round
SPARE = 0.02  # share of the sample's weight that goes to all nodes alike, so that none is left out for good
SLACK = 2.0  # factor by which the risk at a node may drift before the sample follows: every change is one more solve
CONFIDENCE = 2.0  # standard deviations
ABOVE = 4e-9  # an estimate stays this share above the lowest exact cost: no tie with it


class Sample(NamedTuple):
    """A priority sample: the sum of weight_j f(k_j) is an unbiased estimate of the sum of f over all nodes.

    Every node has its own uniform number u_k, and the sample is the s largest size_k / u_k (Duffield, Lund & Thorup
    2007). The numbers stay, so as the sizes drift the sample changes no more than it must; its first nodes are a
    sample, too, and the drops at different nodes are uncorrelated, which gives the variance.
    """

    nodes: Ints  # in the order of priority
    priority: Floats
    size: Floats  # (s,) what they were drawn by
    after: float  # the largest priority left out

    def first(self, s: int) -> tuple[Ints, Floats, Floats]:
        """The first s nodes, their weights, and what a squared drop at each adds to the variance."""
        if s >= len(self.nodes):
            bar, s = self.after, len(self.nodes)
        else:
            bar = float(self.priority[s])
        weight = np.maximum(1.0, bar / self.size[:s])
        return self.nodes[:s], weight, weight * (weight - 1)

    def without(self, nodes: Ints) -> Sample:
        """The sample without these; what they stand for goes uncounted."""
        kept = ~np.isin(self.nodes, nodes)
        return Sample(self.nodes[kept], self.priority[kept], self.size[kept], self.after)


def sizes(risk: Floats, before: Floats | None = None) -> Floats:
    """(n,) what to draw by: about the risk; as it was before where that is still near enough."""
    size = risk + np.where(risk > 0, SPARE * risk.sum() / max(1, np.count_nonzero(risk)), 0.0)
    return size if before is None else np.clip(before, size / SLACK, size * SLACK)


def draw(size: Floats, uniform: Floats, s: int) -> Sample:
    """s nodes by size, or all that have any if those are fewer."""
    priority = size / uniform
    s = min(s, int(np.count_nonzero(size)))
    top = np.argpartition(-priority, min(s, len(priority) - 1))[: s + 1] if s < len(priority) else np.arange(len(size))
    top = top[np.argsort(-priority[top], kind="stable")]
    after = float(priority[top[s]]) if s < len(top) else 0.0
    nodes = top[:s]
    return Sample(nodes, priority[nodes], size[nodes], after)


def race(
    state: NodeState, X: Floats, slots: Ints, sample: Sample, candidates: Ints, edges: tuple[Ints, Ints, Floats]
) -> tuple[Floats, Floats]:
    """(n,) estimated drop in the summed error for each candidate, and its standard deviation; -inf elsewhere.

    Every round keeps the better half, and scores it on twice the sample. The neighbours of a question count in full;
    the sample stands for all the others.
    """
    n = len(state.error_now)
    gain, deviation = np.full(n, -np.inf), np.zeros(n)
    running, s = candidates, min(FIRST, len(slots))
    rows = packed(state)
    at_neighbours = np.zeros(n)
    at_neighbours[running], _ = neighbour_gains(state, rows, all_neighbours(*edges, running))
    while True:
        give_way()
        nodes, weight, spread = sample.first(s)
        found, variance = sampled_gains(state, X, slots[:s], running, nodes, weight, spread)
        both = some_neighbours(*edges, nodes, weight, spread)  # neighbours that are in the sample as well
        twice, known = np.zeros(n), np.zeros(n)
        twice[both.questions], known[both.questions] = neighbour_gains(state, rows, both)
        found += (at_neighbours - twice)[running]
        gain[running], deviation[running] = found, np.sqrt(np.maximum(variance - known[running], 0))
        if s >= len(slots) or len(running) < 2 * FIRST:
            return gain, deviation
        running = running[np.argpartition(-found, len(running) // 2)[: len(running) // 2]]
        s = min(2 * s, len(slots))


def finalists(gain: Floats, risk_around: Floats, allowed: Flags, pool: int, turn: int, uniform: Floats) -> Ints:
    """At most `pool` of the nodes allowed: most by estimated gain, then by neighbours' risk, then by turns."""
    by_gain = _best(np.where(allowed, gain, -np.inf), pool - pool // 3 - pool // 10)
    rest = allowed.copy()
    rest[by_gain] = False
    by_risk = _best(np.where(rest, risk_around, -np.inf), pool // 3)
    rest[by_risk] = False
    turns = (uniform + turn * 0.6180339887498949) % 1  # every node comes up once in a while, evenly spread
    by_turn = _best(np.where(rest, turns, -np.inf), pool // 10)
    return np.concatenate([by_gain, by_risk, by_turn])


def _best(score: Floats, count: int) -> Ints:
    """The `count` largest finite scores, the best first."""
    count = min(count, int(np.isfinite(score).sum()))
    if count <= 0:
        return np.empty(0, dtype=np.int64)
    top = np.argpartition(-score, count - 1)[:count]
    return top[np.argsort(-score[top], kind="stable")]


def missed(gain: Floats, deviation: Floats, outside: Ints, best: float) -> tuple[float, float]:
    """By how much the best question outside the pool may beat the one chosen."""
    if len(outside) == 0:
        return 0.0, 0.0
    low = float((gain - CONFIDENCE * deviation)[outside].max() - best)
    high = float((gain + CONFIDENCE * deviation)[outside].max() - best)
    return max(0.0, low), max(0.0, high)
