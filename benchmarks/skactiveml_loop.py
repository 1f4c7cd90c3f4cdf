"""A question in scikit-activeml's loop on the digits: by a GraphQuery that keeps its field, and by a new one."""

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import clone

from fewlabels.adapters.skactiveml import GraphQuery
from fewlabels.experiments.datasets import digits

QUESTIONS = 20


def loop(query, ask_with, X, truth):
    """Seconds of the fastest and the median question after the first, and what was asked."""
    y = np.full(len(X), np.nan)
    seconds, asked = [], []
    for _ in range(QUESTIONS):
        start = time.perf_counter()
        [node] = ask_with(query).query(X, y)
        seconds.append(time.perf_counter() - start)
        y[node] = truth[node]
        asked.append(int(node))
    return min(seconds[1:]), float(np.median(seconds[1:])), asked


def main():
    data = digits()
    table = Table("X", "strategy", "kept, ms", "new, ms", "median kept", "median new", "same questions")
    for source, X, graph in (("pixels", data.features, None), ("ids", np.arange(1797).reshape(-1, 1), data.graph)):
        for strategy in ("tsa", "vopt"):
            query = GraphQuery(graph, strategy, classes=data.classes, random_state=0)
            query.query(X, np.full(len(X), np.nan))  # what is compiled is compiled now
            kept, new = loop(query, lambda same: same, X, data.labels), loop(query, clone, X, data.labels)
            times = [f"{1e3 * t:.0f}" for t in (kept[0], new[0], kept[1], new[1])]
            table.add_row(source, strategy, *times, str(kept[2] == new[2]))
    Console().print(table)


if __name__ == "__main__":
    main()
