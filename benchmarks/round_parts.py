"""Where the time of a TSA round goes at CORA's size, and that of a first question on a smooth field, by CPU time.

NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/round_parts.py
"""

import time

import numpy as np

from fewlabels.experiments.bench.cases import cora_alike, taught_field
from fewlabels.graph import Graph
from fewlabels.kernels.cpu import lookahead
from fewlabels.kernels.cpu.layout import in_single, two_step_view
from fewlabels.learner import ActiveLearner
from fewlabels.strategies.first_questions import first_costs


def told(what, call, repeats=12):
    """The quickest of several calls, and its result."""
    found, best = call(), np.inf
    for _ in range(repeats):
        begun = time.process_time()
        found = call()
        best = min(best, time.process_time() - begun)
    print(f"{what}: {1000 * best:.2f} ms")
    return found


def a_round():
    graph, labels = cora_alike()
    field = taught_field(graph, labels)
    answers = iter(field.unlabelled.tolist())

    def answered():
        node = next(answers)
        field.with_answer(node, labels[node]).vopt_costs()
        field.vopt_costs()

    told("an answer, another each time, and G as before, with VOpt's costs of both", answered)
    told("VOpt's costs", field.vopt_costs)
    told("look-ahead", field.two_step_costs)
    G, everyone = field.G, np.arange(len(field.unlabelled))

    def view():
        return two_step_view(field.h, np.diag(G), field.island, None, field.pieces())

    layout, columns = told("  marginals, pieces, layout", view)
    single = in_single(columns)
    found, steep = told("  float32 pass", lambda: lookahead.two_step_errors(G, single, layout, everyone, 1))
    error = lookahead.screening_error(steep)
    close = lookahead.perhaps_lowest(found / field.n_nodes, error, everyone)
    again = f"  {len(close)} of {len(everyone):,} again in float64"
    told(again, lambda: lookahead.two_step_errors(G, columns, layout, close, 1))
    told("float64 pass, all pairs", lambda: lookahead.two_step_errors(G, columns, layout, everyone, 1), 4)
    pairs = float((layout.stop - layout.start).sum())
    print(f"{pairs / 1e6:.2f} million pairs, {len(columns.multiplicity)} classes")


def first_questions(n=4_000, n_classes=10):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 8)) * 3
    graph = Graph.from_features(centres[rng.integers(20, size=n)] + rng.normal(size=(n, 8)), n_neighbors=10)
    learner = ActiveLearner(graph, range(n_classes), smoothness=20.0)
    learner.teach([0, 1], [0, 1])
    print(f"{n:,} points, {n_classes} classes, 2 answers")
    told("a first question", lambda: first_costs(learner._field, learner._field.askable))
    told("an ordinary one", learner._field.two_step_costs)


if __name__ == "__main__":
    a_round()
    first_questions()
