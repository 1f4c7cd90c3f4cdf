"""Label 1,797 handwritten digits by answering a few questions: what was asked, and how accurate it became.

python examples/label_digits.py --answers 30 --out label_digits.png
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import fewlabels as fl

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--answers", type=int, default=30)
options.add_argument("--out", default="label_digits.png")
options = options.parse_args()

digits = load_digits()
graph = fl.Graph.from_features(digits.data, n_neighbors=7)
learner = fl.ActiveLearner(graph, classes=range(10))

expected, true = [], []
for _ in range(options.answers):
    node = learner.query()
    learner.teach(node, digits.target[node])  # with a person, their answer
    expected.append(learner.expected_error())
    true.append((learner.predict() != digits.target).mean())
print(f"{options.answers} answers: {1 - true[-1]:.1%} of {graph.n_nodes} digits are right")

sheet = np.zeros((50, 60))  # the digits asked, side by side
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for place, (node, label) in enumerate(list(learner.labelled.items())[:30]):
    y, x = 10 * (place // 6), 10 * (place % 6)
    sheet[y + 1 : y + 9, x + 1 : x + 9] = digits.images[node]
    left.text(x + 9.5, y + 9, str(label), color="tab:blue", fontsize=9, ha="right")
left.imshow(sheet, cmap="gray_r")
left.set(title="asked, in this order", xticks=[], yticks=[])
answers = range(1, options.answers + 1)
right.plot(answers, expected, label="expected error")
right.plot(answers, true, label="true error")
right.set(xlabel="answers", ylabel="share of digits", ylim=(0, 1))
right.grid(alpha=0.3)
right.legend()
figure.savefig(options.out, dpi=100)
