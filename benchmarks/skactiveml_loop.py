"""A question in scikit-activeml's loop on the digits: by a GraphQuery that keeps its field, and by a new one.

Seconds of the processor, so that what else the machine does counts little.
Run: NUMBA_NUM_THREADS=1 python benchmarks/skactiveml_loop.py
"""

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from fewlabels.adapters.skactiveml import GraphQuery
from fewlabels.experiments.datasets import digits

QUESTIONS = 8


def loop(query, ask_with, X, truth):
    """Seconds of the median question after the first, and what was asked."""
    y = np.full(len(X), np.nan)
    seconds, asked = [], []
    for _ in range(QUESTIONS):
        start = time.process_time()
        [node] = ask_with(query).query(X, y)
        seconds.append(time.process_time() - start)
        y[node] = truth[node]
        asked.append(int(node))
    return float(np.median(seconds[1:])), asked


def main():
    data = digits()
    table = Table("X", "strategy", "kept, ms", "new, ms", "same questions")
    for source, X, graph in (("pixels", data.features, None), ("ids", np.arange(1797).reshape(-1, 1), data.graph)):
        for strategy in ("tsa", "vopt"):
            query = GraphQuery(graph, strategy, classes=data.classes, random_state=0)
            query.query(X, np.full(len(X), np.nan))  # what is compiled is compiled now
            kept, new = loop(query, lambda same: same, X, data.labels), loop(query, clone, X, data.labels)
            table.add_row(source, strategy, f"{1e3 * kept[0]:.0f}", f"{1e3 * new[0]:.0f}", str(kept[1] == new[1]))
    Console().print(table)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
