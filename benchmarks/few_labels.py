"""How far few labels go: accuracy after 5 to 100 answers, against Poisson learning with its own questions.

    FEWLABELS_DATA=folder python benchmarks/few_labels.py [--only ours|paper|fields|poisson] [--graphs cora,digits]
        [--trials 5] [--labels 100] [--engine auto] [--results results/few_labels.jsonl] [--figure few_labels.png]

Every trial starts from one random label, the same for all learners. Each finished trial is a line of JSON in the file
of results: a rerun skips it (delete those that new code makes stale), and `--trials 0` only prints the tables. `ours`
is ActiveLearner as it comes, `paper` the same with the paper's field and prediction, `fields` the others it chooses
from. The rivals are GraphLearning's
Poisson learning, solved to the end by conjugate gradients (`cg`, its default) or by its gradient descent, which stops
early (`gd`), each with that package's questions. They predict among the classes heard; an answered node is right.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from few_labels_graphs import GRAPHS, made
from scipy import sparse

import fewlabels as fl

COUNTS, SHOWN, GOAL = (5, 10, 20, 30, 40, 60, 100), (10, 20, 40), 0.9
EIGENVECTORS = 50  # as in GraphLearning's examples
OURS = {"ours": {}, "paper": {"smoothness": 0, "centred": False}}
FIELDS = {  # what "auto" chooses from
    "rough centred": {"smoothness": 0, "centred": True},
    "smooth": {"smoothness": 3.3, "centred": False},
    "smooth centred": {"smoothness": 3.3, "centred": True},
}
ASKING = ("random", "margin", "vopt", "sopt", "mended", "mcvopt")
SOLVERS = {
    "cg": {"solver": "conjugate_gradient", "tol": 1e-5},  # at the default of 1e-3, up to 4% of the predictions differ
    "gd": {"solver": "gradient_descent"},
}
RIVALS = tuple(f"{solver}:{asking}" for solver in SOLVERS for asking in ASKING)


class Poisson:
    """GraphLearning's Poisson learning with one of its acquisition functions, used like an ActiveLearner."""

    def __init__(self, model, asking, rng):
        import graphlearning.active_learning as gl

        self.model, self.asking, self.rng = model, asking, rng
        self.answers, self.scores, self.acquisition = {}, None, gl.unc_sampling()  # its default: the smallest margin
        if asking not in ("random", "margin"):
            values, V = model.graph.eigen_decomp(normalization="normalized", k=EIGENVECTORS)
            V = V * np.sign(V[abs(V).argmax(axis=0), range(EIGENVECTORS)]) * rng.choice([-1, 1], EIGENVECTORS)
            kinds = {"vopt": gl.var_opt, "mcvopt": gl.model_change_var_opt}
            self.acquisition = kinds.get(asking, gl.sigma_opt)(C=np.diag(1 / (values + 1e-11)), V=V)
        if asking == "mended":
            self.acquisition.compute = self.sopt

    def sopt(self, _, left):
        """Sigma-optimality over nodes; GraphLearning's own sums over eigenvectors, whose signs are arbitrary."""
        C, V, noise = self.acquisition.C, self.acquisition.V, self.acquisition.gamma2
        CV = C @ V[left].T  # (EIGENVECTORS, left)
        return (V.sum(axis=0) @ CV) ** 2 / (noise + (V[left].T * CV).sum(axis=0))

    def teach(self, node, label):
        self.answers[node] = label
        self.acquisition.update([node], [label])
        self.scores = None

    def fit(self):
        """(n, classes heard) scores; with one class heard, nothing tells nodes apart."""
        if self.scores is None:
            self.heard, number = np.unique(list(self.answers.values()), return_inverse=True)
            if len(self.heard) == 1:
                self.scores = np.zeros((self.model.graph.num_nodes, 2))
            else:
                self.scores = self.model.fit(np.array(list(self.answers)), number)
        return self.scores

    def query(self):
        left = np.setdiff1d(np.arange(self.model.graph.num_nodes), list(self.answers))
        if self.asking == "random":
            return int(self.rng.choice(left))
        value = self.acquisition.compute(self.fit() if self.asking in ("margin", "mcvopt") else None, left)
        return int(self.rng.choice(left[value == value.max()]))

    def predict(self):
        best = self.fit().argmax(axis=1)
        predicted = self.heard[best]
        predicted[list(self.answers)] = list(self.answers.values())
        return predicted


def start(name, graph, labels, trial, engine):
    if name not in RIVALS:
        options = (OURS | FIELDS)[name]
        return fl.ActiveLearner(graph, range(labels.max() + 1), engine=engine, random_state=trial, **options)
    import graphlearning

    solver, asking = name.split(":")
    model = graphlearning.ssl.poisson(sparse.csr_matrix(graph.weights), **SOLVERS[solver])
    return Poisson(model, asking, np.random.default_rng([2, trial]))


def run(name, graph, labels, trial, n_answers, engine):
    """Accuracy by number of answers: after each, unless it would be computed for that alone."""
    learner = start(name, graph, labels, trial, engine)
    always = name not in RIVALS or name.endswith(("margin", "mcvopt"))
    node, asked, accuracy, stated = int(np.random.default_rng([1, trial]).integers(len(labels))), [], {}, {}
    for k in range(1, n_answers + 1):
        learner.teach(node, int(labels[node]))
        asked.append(int(node))
        if always or k in COUNTS:
            accuracy[k] = round(float((learner.predict() == labels).mean()), 5)
        if name not in RIVALS and k in COUNTS:
            stated[k] = round(float(learner.expected_error()), 5)
        if k < n_answers:
            node = learner.query()
    return {"answers": n_answers, "accuracy": accuracy, "stated": stated, "asked": asked}


def finished(path):
    """{(graph, learner, trial): row}: the latest of each, on the graph as it was made last."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    latest = {row["graph"]: row["fingerprint"] for row in rows}
    return {(r["graph"], r["learner"], r["trial"]): r for r in rows if r["fingerprint"] == latest[r["graph"]]}


def run_all(names, learners, given):
    given.results.parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        graph, labels = made(name)
        print(f"{name}: {graph}, {labels.max() + 1} classes", flush=True)
        known = {"n": graph.n_nodes, "fingerprint": graph.fingerprint(), "version": fl.__version__}
        for learner, trial in ((learner, trial) for learner in learners for trial in range(given.trials)):
            row = finished(given.results).get((name, learner, trial))
            if row and row["fingerprint"] == known["fingerprint"] and row["answers"] >= given.labels:
                continue
            began = time.perf_counter()
            found = run(learner, graph, labels, trial, given.labels, given.engine)
            seconds = round(time.perf_counter() - began, 2)
            row = {"graph": name, "learner": learner, "trial": trial, "seconds": seconds, "engine": given.engine}
            with given.results.open("a") as file:
                file.write(json.dumps(row | known | found) + "\n")
            told = " ".join(f"{found['accuracy'][k]:.3f}" for k in COUNTS if k <= given.labels)
            print(f"  {learner} {trial}: {told}, {seconds} s", flush=True)


def curves(rows, what="accuracy"):
    """{graph: {learner: {answers: mean over the trials}}}, in the order of the menus."""
    found = {}
    for name, learner in ((name, learner) for name in GRAPHS for learner in (*OURS, *FIELDS, *RIVALS)):
        trials = [row[what] for key, row in rows.items() if key[:2] == (name, learner)]
        counts = sorted(map(int, set.intersection(*map(set, trials)))) if trials else []
        if counts:
            curve = {k: float(np.mean([trial[str(k)] for trial in trials])) for k in counts}
            found.setdefault(name, {})[learner] = curve
    return found


def answers_until(curve):
    """Answers until the mean accuracy reaches the goal, on a straight line between those where it was measured."""
    counts, values = list(curve), list(curve.values())
    at = next((i for i, value in enumerate(values) if value >= GOAL), None)
    if at is None:
        return f"> {counts[-1]}" if counts else "-"
    if at == 0:
        return str(counts[0]) if counts[0] == 1 else f"≤ {counts[0]}"
    return str(int(np.ceil(np.interp(GOAL, values[at - 1 : at + 1], counts[at - 1 : at + 1]))))


def percent(curve):
    return " ".join(f"{100 * curve[k]:.0f}" if k in curve else "-" for k in SHOWN)


def table(title, cells, columns):
    print(f"\n{title}\n\n| graph | " + " | ".join(map(str, columns)) + " |\n|" + "---|" * (len(columns) + 1))
    for name, row in cells.items():
        print(f"| {name} | " + " | ".join(row.get(column, "-") for column in columns) + " |")


def areas(found):
    """Ours beside the fields it chooses from, by the mean accuracy over the answers that all of them have."""
    cells, learners = {}, (*OURS, *FIELDS)
    for name, curves in found.items():
        if all(each in curves for each in learners):
            last = min(max(curves[each]) for each in learners)
            mean = {each: np.mean([v for k, v in curves[each].items() if k <= last]) for each in learners}
            best = max(value for each, value in mean.items() if each != "ours")
            cells[name] = {each: f"{value:.3f}" for each, value in mean.items()} | {
                "lost": f"{best - mean['ours']:+.3f}"
            }
    if cells:
        table("Area under the curve", cells, (*learners, "lost"))


def report(found, stated):
    shown = " / ".join(map(str, SHOWN))
    areas(found)
    learners = [each for each in (*OURS, *RIVALS) if any(each in curve for curve in found.values())]
    for title, cell in ((f"Percent right after {shown} answers", percent), (f"Answers to {GOAL:.0%}", answers_until)):
        table(title, {name: {each: cell(c) for each, c in by.items()} for name, by in found.items()}, learners)
    wrong, ahead = {}, {}
    for name in (name for name in stated if "ours" in stated[name]):
        ours = found[name]["ours"]
        wrong[name] = {"stated": percent(stated[name]["ours"]), "true": percent({k: 1 - v for k, v in ours.items()})}
        for k in SHOWN:
            theirs = [curve[k] for rival, curve in found[name].items() if rival in RIVALS and k in curve]
            if theirs and k in ours:
                ahead.setdefault(name, {})[k] = 100 * (ours[k] - max(theirs))
    if not wrong:
        return
    table(f"Percent wrong after {shown} answers, ours", wrong, ("stated", "true"))
    signed = {name: {k: f"{points:+.1f}" for k, points in row.items()} for name, row in ahead.items()}
    table("Points ahead of the best rival", signed, SHOWN)
    if ahead:
        points = {(name, k): value for name, row in ahead.items() for k, value in row.items()}
        name, k = min(points, key=points.get)
        print(f"\nworst {points[name, k]:+.1f} ({name}, {k} answers), mean {np.mean(list(points.values())):+.1f}")
        leads(found, list(points))


def leads(found, cells):
    """Each rival taken by itself: how far ours are ahead of it, on the mean of all cells that it has, and at worst."""
    rows = {}
    for rival in RIVALS:
        ahead = {
            (name, k): 100 * (found[name]["ours"][k] - found[name][rival][k])
            for name, k in cells
            if k in found[name].get(rival, ())
        }
        if ahead:
            (name, k), worst = min(ahead.items(), key=lambda each: each[1])
            rows[rival] = {
                "mean": f"{np.mean(list(ahead.values())):+.1f}",
                "at worst": f"{worst:+.1f} ({name}, {k})",
                "cells": str(len(ahead)),
            }
    table("Points ahead of each rival", rows, ("mean", "at worst", "cells"))


def draw(found, path):
    from matplotlib.figure import Figure

    height = len(found) // 4 + 1  # room for the legend
    figure = Figure(figsize=(13, 2.6 * height), layout="constrained")
    panels = figure.subplots(height, 4, sharey=True, squeeze=False).ravel()
    colors = dict(zip(ASKING, ("gray", "tab:purple", "tab:orange", "tab:olive", "tab:green", "tab:blue"), strict=True))
    looks = {"ours": {"color": "tab:red", "lw": 2}, "paper": {"color": "black", "lw": 1.3}}
    looks |= {f"cg:{asking}": {"color": colors[asking], "lw": 1} for asking in ASKING}
    looks |= {f"gd:{asking}": {"color": colors[asking], "lw": 1, "ls": ":"} for asking in ASKING}
    for axes, (name, by_learner) in zip(panels, found.items(), strict=False):
        for learner, curve in reversed([each for each in by_learner.items() if each[0] in looks]):  # ours on top
            axes.plot(list(curve), list(curve.values()), **looks[learner])
        axes.set(title=name, xscale="log", ylim=(0, 1.02), xticks=(1, *COUNTS), xticklabels=(1, *COUNTS))
        axes.minorticks_off()
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.3)
    for axes in panels[len(found) :]:
        axes.axis("off")
    handles = [panels[-1].plot([], [], **look, label=learner)[0] for learner, look in looks.items()]
    panels[-1].legend(handles=handles, frameon=False, loc="center", ncols=2, fontsize=8)
    figure.supxlabel("answers")
    figure.supylabel("accuracy")
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["ours", "paper", "fields", "poisson"])
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="in the order to run them")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--labels", type=int, default=COUNTS[-1], help="answers in each trial")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--results", type=Path, default=Path("results/few_labels.jsonl"))
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    if given.trials:
        learners = {None: (*OURS, *FIELDS, *RIVALS), "fields": tuple(FIELDS), "poisson": RIVALS}.get(
            given.only, (given.only,)
        )
        run_all(given.graphs.split(","), learners, given)
    rows = finished(given.results)
    report(curves(rows), curves(rows, "stated"))
    if given.figure:
        draw(curves(rows), given.figure)


if __name__ == "__main__":
    main()
