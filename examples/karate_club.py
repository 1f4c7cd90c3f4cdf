"""A graph of your own: who sides with whom in Zachary's karate club, from a few answers.

python examples/karate_club.py --answers 4 --out karate_club.png
"""

import argparse

import matplotlib.pyplot as plt
import networkx as nx

import fewlabels as fl

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--answers", type=int, default=4)
options.add_argument("--out", default="karate_club.png")
options = options.parse_args()

club = nx.karate_club_graph()  # 34 members, who meets whom and how often
truth = nx.get_node_attributes(club, "club")  # the side each took when the club broke up
learner = fl.ActiveLearner(fl.Graph.from_networkx(club), classes=["Mr. Hi", "Officer"])

for _ in range(options.answers):
    member = learner.query()
    learner.teach(member, truth[member])
predicted = dict(zip(club, learner.predict(), strict=True))
chance = learner.predict_proba()[:, 0]
wrong = [member for member in club if predicted[member] != truth[member]]
print(f"asked {list(learner.labelled)}; wrong about {len(wrong)} of {len(club)}: {wrong}")

place = nx.spring_layout(club, seed=5)
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
nx.draw_networkx_edges(club, place, ax=axes, edge_color="0.8")
nx.draw_networkx_nodes(club, place, ax=axes, node_color=chance, cmap="coolwarm_r", vmin=0, vmax=1, node_size=170)
asked = list(learner.labelled)
nx.draw_networkx_nodes(club, place, asked, ax=axes, node_color="none", edgecolors="black", linewidths=2, node_size=330)
nx.draw_networkx_labels(club, place, ax=axes, font_size=7, font_color="white")
nx.draw_networkx_nodes(club, place, wrong, ax=axes, node_shape="x", node_color="yellow", node_size=90)
axes.set_title("blue: with Mr. Hi; red: with the officer; pale: in doubt; ringed: asked; crossed: wrong", fontsize=9)
axes.set_axis_off()
figure.savefig(options.out, dpi=100)
