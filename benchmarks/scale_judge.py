"""Judge the questions that `scale.py ask` wrote down by a dense G in float64, on a graphics card.

    python benchmarks/scale_judge.py asked/*.npz

Along the sparse engine's own questions the loss is the share of the best one-step gain thrown away; the dense engine
also asks for itself, from the same first label, and both are compared by what label propagation then gets right.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from scipy import sparse

from fewlabels.field.gpu import GpuField
from fewlabels.graph import Graph
from fewlabels.marginals import largest
from fewlabels.risk import expected_error, two_step_lookahead
from fewlabels.strategies import lowest, tied


def accuracy(field, labels):
    predicted = np.array(field.label)
    predicted[field.unlabelled] = largest(field.h)
    return float((predicted == labels).mean())


def judged(path):
    data = np.load(path)
    labels, n = data["labels"], len(data["labels"])
    W = sparse.coo_array((data["w"], (data["i"], data["j"])), shape=(n, n))
    start = GpuField(Graph(sparse.csr_array(W + W.T)), int(labels.max()) + 1, float(data["beta"]), torch.float64)
    same, losses, scores = [], [], []
    for seed, order in enumerate(data["orders"]):
        judge, rival = start.copy(), start.copy()
        rng = np.random.default_rng(seed)
        node = int(order[0])
        for _ in order[1:]:
            rival.observe(node, int(labels[node]))
            node = lowest(two_step_lookahead(rival), rival.unlabelled, rng)
        rival.observe(node, int(labels[node]))
        for answered, asked in pairwise(order):
            judge.observe(int(answered), int(labels[answered]))
            cost = two_step_lookahead(judge)
            chosen = cost[judge.unlabelled == asked][0]
            same.append(asked in tied(cost, judge.unlabelled))
            losses.append((chosen - cost.min()) / max(expected_error(judge) - cost.min(), 1e-12))
        judge.observe(int(order[-1]), int(labels[order[-1]]))
        scores.append((accuracy(judge, labels), accuracy(rival, labels)))
    ours, dense = np.mean(scores, axis=0)
    print(
        f"| {Path(path).stem} | {n:,} | {np.mean(same):.2f} | {np.mean(losses):.4f} | {np.max(losses):.3f} | "
        f"{float(data['pool']):.0f} | {ours:.3f} | {dense:.3f} |",
        flush=True,
    )


if __name__ == "__main__":
    print("| graph | n | same | mean loss | worst loss | pool | accuracy sparse | accuracy dense |")
    print("|---|---|---|---|---|---|---|---|")
    for path in sys.argv[1:]:
        judged(path)
