"""A strategy of your own beside TSA: what each asks about two half-moons.

python examples/own_strategy.py --points 600 --answers 12 --out own_strategy.png
"""

import argparse

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import fewlabels as fl


class LeastKnown:
    """The node farthest from all labels, by the variance left there; before the first label, the best-connected one."""

    def cost(self, field):
        degree = field.weights.sum(axis=1)[field.unlabelled]
        return -degree if (field.island >= 0).all() else -field.variance.clip(max=1e6)


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--points", type=int, default=600)
options.add_argument("--answers", type=int, default=12)
options.add_argument("--out", default="own_strategy.png")
options = options.parse_args()

X, truth = make_moons(options.points, noise=0.12, random_state=0)
graph = fl.Graph.from_features(X, n_neighbors=10)

figure, panels = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
for axes, strategy, name in ((panels[0], LeastKnown(), "LeastKnown"), (panels[1], "tsa", "tsa")):
    learner = fl.ActiveLearner(graph, classes=[0, 1], strategy=strategy)
    for _ in range(options.answers):
        node = learner.query()
        learner.teach(node, truth[node])
    right = (learner.predict() == truth).mean()
    print(f"{name}: {right:.1%} right after {options.answers} answers")
    axes.scatter(*X.T, s=8, c=learner.predict_proba()[:, 1], cmap="coolwarm", vmin=0, vmax=1)
    for order, node in enumerate(learner.labelled, start=1):
        axes.annotate(str(order), X[node], ha="center", va="center", fontsize=8, bbox={"boxstyle": "circle", "fc": "w"})
    axes.set(title=f"{name}: {right:.1%} right", xticks=[], yticks=[])
figure.savefig(options.out, dpi=100)
