"""Judge the questions that `scale.py ask` wrote down by a dense G on a graphics card.

    python benchmarks/scale_judge.py asked/*.npz

Along the sparse engine's own questions the loss is the share of the best one-step gain thrown away; the dense engine
also asks for itself, from the same first label, and both are compared by what label propagation then gets right.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.graph import Graph
from fewlabels.marginals import largest
from fewlabels.risk import expected_error, two_step_lookahead
from fewlabels.strategies import lowest, tied


def accuracy(field, labels):
    predicted = np.array(field.label)
    predicted[field.unlabelled] = largest(field.h)
    return float((predicted == labels).mean())


def by_itself(field, first, questions, labels, rng):
    """The accuracy that the dense engine reaches by its own questions."""
    node = first
    for _ in range(questions):
        field = field.with_answer(node, int(labels[node]))
        node = lowest(two_step_lookahead(field), field.unlabelled, rng)
    return accuracy(field.with_answer(node, int(labels[node])), labels)


def along(field, order, labels):
    """(same, loss) at each of these questions, and the accuracy after all of them."""
    found = []
    for answered, asked in pairwise(order):
        field = field.with_answer(int(answered), int(labels[answered]))
        cost = two_step_lookahead(field)
        chosen = cost[field.unlabelled == asked][0]
        loss = (chosen - cost.min()) / max(expected_error(field) - cost.min(), 1e-12)
        found.append((asked in tied(cost, field.unlabelled), loss))
    return found, accuracy(field.with_answer(int(order[-1]), int(labels[order[-1]])), labels)


def judged(path):
    data = np.load(path)
    labels, n = data["labels"], len(data["labels"])
    W = sparse.coo_array((data["w"], (data["i"], data["j"])), shape=(n, n))
    covariance = FieldSpec(float(data["beta"]), 0, 0, "gpu").resolved(Graph(sparse.csr_array(W + W.T))).build()
    empty = Conditioned(covariance, Answers(int(labels.max()) + 1))
    found, scores = [], []
    for seed, order in enumerate(data["orders"]):
        told, ours = along(empty, order, labels)
        found += told
        dense = by_itself(empty, int(order[0]), len(order) - 1, labels, np.random.default_rng(seed))
        scores.append((ours, dense))
    same, loss = np.array(found, dtype=float).T
    ours, dense = np.mean(scores, axis=0)
    print(
        f"| {Path(path).stem} | {n:,} | {same.mean():.2f} | {loss.mean():.4f} | {loss.max():.3f} | "
        f"{float(data['pool']):.0f} | {ours:.3f} | {dense:.3f} |",
        flush=True,
    )


if __name__ == "__main__":
    print("| graph | n | same | mean loss | worst loss | pool | accuracy sparse | accuracy dense |")
    print("|---|---|---|---|---|---|---|---|")
    for path in sys.argv[1:]:
        judged(path)
