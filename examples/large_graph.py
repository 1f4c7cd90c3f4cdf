"""20,000 points and the sparse engine: two spirals, told apart by a few answers.

python examples/large_graph.py --points 20000 --answers 20 --out large_graph.png
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np

import fewlabels as fl

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--points", type=int, default=20_000)
options.add_argument("--answers", type=int, default=20)
options.add_argument("--out", default="large_graph.png")
options = options.parse_args()

rng = np.random.default_rng(0)
truth = rng.integers(2, size=options.points)
turn = np.sqrt(rng.uniform(0.05, 1, options.points)) * 3 * np.pi
angle = turn + np.pi * truth
X = turn[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1) + rng.normal(scale=0.35, size=(options.points, 2))

start = time.perf_counter()
graph = fl.Graph.from_features(X, n_neighbors=10)
learner = fl.ActiveLearner(graph, classes=[0, 1], engine="sparse")
print(f"{graph}: ready after {time.perf_counter() - start:.1f} s")
start = time.perf_counter()
for _ in range(options.answers):
    node = learner.query()
    learner.teach(node, truth[node])
seconds = (time.perf_counter() - start) / options.answers
right = (learner.predict() == truth).mean()
how = learner.last_question
print(f"{right:.1%} right after {options.answers} answers, {seconds:.2f} s each")
if how is not None:  # on small graphs all questions are scored
    print(f"the last: {how.pool} questions scored on every point, the others on {how.sample}")

asked = np.array(list(learner.labelled))
figure, axes = plt.subplots(figsize=(4.6, 4.6), layout="constrained")
axes.scatter(*X.T, s=1, c=learner.predict(), cmap="coolwarm", alpha=0.4, linewidths=0)
axes.scatter(*X[asked].T, s=55, c=truth[asked], cmap="coolwarm", edgecolors="black", zorder=2)
axes.set(title=f"{options.points:,} points, {options.answers} answers: {right:.1%} right", xticks=[], yticks=[])
figure.savefig(options.out, dpi=100)
