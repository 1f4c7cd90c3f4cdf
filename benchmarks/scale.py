"""The sparse engine against dense truth, and what it costs as graphs grow. Writes the tables of docs/scale.md.

    python benchmarks/scale.py truth [dblp cora citeseer digits] [--seeds 3] [--questions 60]
    python benchmarks/scale.py growth [knn2 manifold power] [--nodes 1e4 1e5] [--questions 5]
    python benchmarks/scale.py cost yours.csv [--classes 5]      # what a graph of your own costs: any file of edges
    python benchmarks/scale.py ask manifold-20000 sbm-20000 --out asked     # then scale_judge.py, on a graphics card
    python benchmarks/scale.py curves manifold power --nodes 1e5 --seeds 2 --out docs/pictures/scale.png

Truth: from one label, the sparse engine asks; at each of its questions the dense engine scores all nodes. `same` is the
share of its questions that are the dense engine's (ties counted as the same), `loss` the share of the best one-step
gain thrown away; accuracies are those of label propagation after all questions, each engine following its own.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse

import fewlabels as fl
from fewlabels.experiments.datasets import DATASETS
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.graph.read import read_edges
from fewlabels.marginals import largest
from fewlabels.risk import expected_error, two_step_lookahead
from fewlabels.strategies import cost_of, lowest, tied


def accuracy(field, labels):
    predicted = np.array(field.label)
    predicted[field.unlabelled] = largest(field.h)
    return float((predicted == labels)[labels >= 0].mean())


def unanswered(data, engine="sparse"):
    """The field of smoothness 0 before the first answer."""
    covariance = FieldSpec(smoothness=0, overlap=0, engine=engine).resolved(data.graph).build()
    return Conditioned(covariance, Answers(len(data.classes)))


def ask(field, rng):
    return lowest(two_step_lookahead(field), field.unlabelled, rng)


def pool_of(field):
    """Questions that were scored on every node; the costs of this state are known already."""
    screening = field.two_step_costs().screening
    return screening.pool if screening else field.n_nodes


def truth(names, seeds, questions):
    print(
        "| graph | n | same | mean loss | worst loss | pool | accuracy sparse | accuracy dense | s a question (CPU) |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in names:
        data = DATASETS[name]() if name in DATASETS else made(name)
        n, dense_start, sparse_start = data.graph.n_nodes, unanswered(data, "dense"), unanswered(data)
        same, losses, scores, pools, seconds = [], [], [], [], 0.0
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            first = int(rng.integers(n))
            said = int(data.labels[first])
            ours, judge = sparse_start.with_answer(first, said), dense_start.with_answer(first, said)
            rival = Conditioned(dense_start.covariance, judge.answers)  # with arrays of its own
            for _ in range(questions):
                started = time.process_time()
                node = ask(ours, rng)
                seconds += time.process_time() - started
                cost = two_step_lookahead(judge)
                chosen = cost[judge.unlabelled == node][0]
                same.append(node in tied(cost, judge.unlabelled) or chosen - cost.min() < 1e-7)
                losses.append((chosen - cost.min()) / max(expected_error(judge) - cost.min(), 1e-12))
                pools.append(pool_of(ours))
                ours, judge = (field.with_answer(node, int(data.labels[node])) for field in (ours, judge))
                rival_node = ask(rival, rng)
                rival = rival.with_answer(rival_node, int(data.labels[rival_node]))
            scores.append((accuracy(ours, data.labels), accuracy(rival, data.labels)))
        a, b = np.mean(scores, axis=0)
        print(
            f"| {name} | {n:,} | {np.mean(same):.2f} | {np.mean(losses):.4f} | {np.max(losses):.3f} | "
            f"{np.mean(pools):.0f} | {a:.3f} | {b:.3f} | {seconds / seeds / questions:.3f} |",
            flush=True,
        )


class Made:
    """A graph made here, whose classes follow from how it was made."""

    def __init__(self, weights, labels):
        self.graph, self.labels = fl.Graph(weights), labels
        self.classes = list(range(int(labels.max()) + 1))


def neighbours(X, k=10):
    """Symmetric Gaussian weights between near points."""
    n = len(X)
    if X.shape[1] < 4:
        from scipy.spatial import cKDTree

        distance, index = cKDTree(X).query(X, k + 1)
    else:
        from pynndescent import NNDescent

        index, distance = NNDescent(X.astype(np.float32), n_neighbors=k + 1, random_state=0).neighbor_graph
    width = np.median(distance[:, -1])
    w = np.exp(-((distance[:, 1:] / width) ** 2)).ravel() + 1e-6
    W = sparse.csr_array((w, (np.repeat(np.arange(n), k), index[:, 1:].ravel())), shape=(n, n))
    W = sparse.csr_array(W.maximum(W.T))
    W.setdiag(0)
    W.eliminate_zeros()
    return W


def knn2(n, rng):
    """Points in the plane, ten classes by the nearest of 40 centres."""
    X, centres = rng.random((n, 2)), rng.random((40, 2))
    labels = (
        ((X[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1) % 10 if n <= 200_000 else _by_tree(X, centres)
    )
    return Made(neighbours(X), labels)


def _by_tree(X, centres):
    from scipy.spatial import cKDTree

    return cKDTree(centres).query(X)[1] % 10


def manifold(n, rng):
    """64 dimensions: points between near digits of one class, with a little noise."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import NearestNeighbors

    pixels, digit = load_digits(return_X_y=True)
    pixels = pixels / 16
    partner = np.empty((len(pixels), 5), dtype=np.int64)
    for c in range(10):
        members = np.flatnonzero(digit == c)
        partner[members] = members[
            NearestNeighbors(n_neighbors=6).fit(pixels[members]).kneighbors(return_distance=True)[1][:, :5]
        ]
    a = rng.integers(len(pixels), size=n)
    b = partner[a, rng.integers(5, size=n)]
    t = rng.random((n, 1))
    return Made(neighbours((1 - t) * pixels[a] + t * pixels[b] + 0.05 * rng.standard_normal((n, 64))), digit[a])


def power(n, rng, classes=8, mean_degree=8, mixing=0.15):
    """A power-law graph with classes: a node's edges end by preference at frequent nodes, mostly of its own class."""
    labels = rng.integers(classes, size=n)
    appeal = (1 - rng.random(n)) ** (-1 / 1.8)  # degrees with exponent 2.8
    appeal = np.minimum(appeal, np.sqrt(n))
    edges = n * mean_degree // 2
    source = _pick(appeal, edges, rng)
    target = np.empty(edges, dtype=np.int64)
    outside = rng.random(edges) < mixing
    target[outside] = _pick(appeal, int(outside.sum()), rng)
    for c in range(classes):
        here, members = ~outside & (labels[source] == c), np.flatnonzero(labels == c)
        target[here] = members[_pick(appeal[members], int(here.sum()), rng)]
    keep = source != target
    W = sparse.csr_array((np.ones(keep.sum()), (source[keep], target[keep])), shape=(n, n))
    W = sparse.csr_array(W + W.T)
    W.data[:] = 1
    return Made(W, labels)


def sbm(n, rng, classes=4, mean_degree=20, mixing=0.001):
    """Stochastic blocks: edges between random nodes, nearly all of them of the same class.

    A walk must be likely to meet one of 60 labels before it leaves its block, or no few labels tell the classes.
    """
    labels = rng.integers(classes, size=n)
    edges = n * mean_degree // 2
    source, target = rng.integers(n, size=edges), rng.integers(n, size=edges)
    inside = rng.random(edges) >= mixing
    for c in range(classes):
        here, members = inside & (labels[source] == c), np.flatnonzero(labels == c)
        target[here] = members[rng.integers(len(members), size=int(here.sum()))]
    keep = source != target
    W = sparse.csr_array((np.ones(keep.sum()), (source[keep], target[keep])), shape=(n, n))
    W = sparse.csr_array(W + W.T)
    W.data[:] = 1
    return Made(W, labels)


def _pick(appeal, count, rng):
    cumulative = np.cumsum(appeal)
    return np.minimum(np.searchsorted(cumulative, rng.random(count) * cumulative[-1]), len(appeal) - 1)


KINDS = {"knn2": knn2, "manifold": manifold, "power": power, "sbm": sbm}
KEPT = Path("build/graphs")  # made once: a manifold of a million nodes takes half an hour


def made(name):
    """A graph by kind and size, such as knn2-20000; a large one is kept for the next time."""
    kind, size = name.split("-")
    n = int(float(size))
    path = KEPT / f"{kind}-{n}.npz"
    if path.exists():
        data = np.load(path)
        return Made(sparse.csr_array((data["w"], data["j"], data["start"]), shape=(n, n)), data["labels"])
    data = KINDS[kind](n, np.random.default_rng(0))
    if n >= 100_000:
        KEPT.mkdir(parents=True, exist_ok=True)
        W = data.graph.weights
        np.savez(path, w=W.data, j=W.indices, start=W.indptr, labels=data.labels)
    return data


def asked(names, seeds, questions, out):
    """The sparse engine's questions, to be judged by a dense G elsewhere: graph, labels and questions in one file."""
    Path(out).mkdir(exist_ok=True)
    for name in names:
        data = made(name)
        n, start = data.graph.n_nodes, unanswered(data)
        orders, pools, seconds = [], [], 0.0
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            field, order = start, [int(rng.integers(n))]
            for _ in range(questions):
                field = field.with_answer(order[-1], int(data.labels[order[-1]]))
                began = time.perf_counter()
                order.append(ask(field, rng))
                seconds += time.perf_counter() - began
                pools.append(pool_of(field))
            orders.append(order)
        print(f"{name}: pool {np.mean(pools):.0f}, {seconds / seeds / questions:.2f} s a question", flush=True)
        W = sparse.coo_array(sparse.triu(data.graph.weights))
        np.savez_compressed(
            Path(out) / f"{name}.npz", i=W.coords[0], j=W.coords[1], w=W.data, labels=data.labels, beta=start.beta,
            orders=np.array(orders), pool=np.mean(pools),
        )  # fmt: skip


def growth(kinds, sizes, questions):
    print("| graph | n | edges | set-up s (CPU) | question s (CPU) | answer s (CPU) | peak GiB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for kind in kinds:
        for n in sizes:
            data = made(f"{kind}-{n}")
            rng = np.random.default_rng(1)
            wall, cpu = time.perf_counter(), time.process_time()
            field = unanswered(data)
            set_up = time.perf_counter() - wall, time.process_time() - cpu
            node, asked, answered = int(rng.integers(n)), [], []
            for _ in range(questions + 1):
                wall, cpu = time.perf_counter(), time.process_time()
                field = field.with_answer(node, int(data.labels[node]))
                answered.append((time.perf_counter() - wall, time.process_time() - cpu))
                wall, cpu = time.perf_counter(), time.process_time()
                node = ask(field, rng)
                asked.append((time.perf_counter() - wall, time.process_time() - cpu))
            (w, c), (aw, ac) = np.mean(asked[1:], axis=0), np.mean(answered[1:], axis=0)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"| {kind} | {n:,} | {data.graph.n_edges:,} | "
                f"{set_up[0]:.1f} ({set_up[1]:.1f}) | {w:.2f} ({c:.2f}) | {aw:.2f} ({ac:.2f}) | "
                f"{peak:.1f} |",
                flush=True,
            )


def cost(files, questions, classes):
    """What graphs of one's own cost by default, answers drawn at random: time and memory do not depend on them."""
    print("| graph | n | edges | engine | set-up s | first question s | question s | answer s | peak GiB |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for file in files:
        graph, rng = read_edges(file), np.random.default_rng(0)
        clock = Stopwatch()
        learner = fl.ActiveLearner(graph, range(classes))
        set_up, asked, answered = clock.lap(), [], []
        learner.teach(graph.names[int(rng.integers(graph.n_nodes))], 0)
        for _ in range(questions + 1):
            clock.lap()
            node = learner.query()
            asked.append(clock.lap())
            learner.teach(node, int(rng.integers(classes)))
            answered.append(clock.lap())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"| {Path(file).name} | {graph.n_nodes:,} | {graph.n_edges:,} | {type(learner.covariance).__name__} | "
            f"{set_up:.1f} | {asked[0]:.2f} | {np.mean(asked[1:]):.2f} | {np.mean(answered):.2f} | {peak:.1f} |",
            flush=True,
        )


class Stopwatch:
    def __init__(self):
        self.since = time.perf_counter()

    def lap(self):
        """Seconds since the last lap."""
        before, self.since = self.since, time.perf_counter()
        return self.since - before


def curves(kinds, n, seeds, questions, out):
    """Accuracy by the number of labels, from one random label on, for TSA and what is cheaper."""
    from matplotlib.figure import Figure

    names = ["tsa", "sopt", "margin", "random"]
    figure = Figure(figsize=(4.2 * len(kinds), 3.4), layout="constrained")
    shown = [k for k in (5, 10, 20, 30, 40, 60) if k <= questions + 1]
    print("| graph | strategy | " + " | ".join(f"{k} labels" for k in shown) + " | s a question |")
    print("|---" * (len(shown) + 3) + "|", flush=True)
    for axes, kind in zip(np.atleast_1d(figure.subplots(1, len(kinds), sharey=True)), kinds, strict=True):
        data = made(f"{kind}-{n}")
        start = unanswered(data)
        for name in names:
            found, seconds = [], 0.0
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                field, node, right = start, int(rng.integers(n)), []
                strategy = fl.STRATEGIES[name]()
                for k in range(questions + 1):
                    field = field.with_answer(node, int(data.labels[node]))
                    right.append(accuracy(field, data.labels))
                    if k < questions:
                        began = time.perf_counter()
                        if name == "random":
                            node = int(rng.choice(field.unlabelled))
                        else:
                            node = lowest(cost_of(strategy, field), field.unlabelled, rng)
                        seconds += time.perf_counter() - began
                found.append(right)
            mean = np.mean(found, axis=0)
            axes.plot(np.arange(1, questions + 2), mean, label=name)
            told = " | ".join(f"{mean[k - 1]:.3f}" for k in shown)
            print(f"| {kind} | {name} | {told} | {seconds / seeds / questions:.2f} |", flush=True)
        axes.set(title=f"{kind}, {n:,} nodes", xlabel="labels", ylim=(0, 1.02))
    figure.axes[0].set_ylabel("accuracy")
    figure.axes[-1].legend(frameon=False, loc="lower right")
    figure.savefig(out, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["truth", "growth", "cost", "ask", "curves"])
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--questions", type=int)
    parser.add_argument("--nodes", type=float, nargs="+", default=[1e4, 1e5])
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--out", default="asked")
    given = parser.parse_args()
    if given.what == "truth":
        truth(given.graphs or ["dblp", "cora", "citeseer", "digits"], given.seeds, given.questions or 60)
    elif given.what == "ask":
        asked(given.graphs, given.seeds, given.questions or 60, given.out)
    elif given.what == "cost":
        cost(given.graphs, given.questions or 5, given.classes)
    elif given.what == "curves":
        curves(given.graphs, int(given.nodes[-1]), given.seeds, given.questions or 60, given.out)
    else:
        growth(given.graphs or list(KINDS), [int(n) for n in given.nodes], given.questions or 5)


if __name__ == "__main__":
    main()
