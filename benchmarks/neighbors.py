"""CPU seconds and recall of the search for 10 nearest neighbours, exact and approximate.

    python benchmarks/neighbors.py                    # 100,000 points
    python benchmarks/neighbors.py --points 1e6 --dimensions 2 5

Exact search is timed on some of the points and multiplied. "even": a Gaussian cloud, the hardest case; "sheet": a bent
four-dimensional sheet with a little noise, as data usually are.
"""

import argparse
import os
import time

import numpy as np

from fewlabels.graph.neighbor_search import _finder, exact_is_quick, find_neighbors

ASKED = 4000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=lambda text: int(float(text)), default=100_000)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 16, 64])
    asked = parser.parse_args()
    n = asked.points
    start = time.process_time()
    find_neighbors(np.random.default_rng(0).normal(size=(2000, 16)), 10, "approximate")
    print(f"load {os.getloadavg()[0]:.1f}; compiling pynndescent: {time.process_time() - start:.0f} s of CPU")
    print("| points | dimensions | cloud | exact, CPU s | approximate, CPU s (wall) | recall@10 | auto takes |")
    print("|---|---|---|---|---|---|---|")
    for d in asked.dimensions:
        for cloud in (even, sheet) if d > 4 else (even,):
            X = cloud(n, d)
            start = time.process_time()
            _finder(X, 10).kneighbors(X[:ASKED], 11)
            exact = (time.process_time() - start) * n / ASKED
            start, wall = time.process_time(), time.perf_counter()
            found = find_neighbors(X, 10, "approximate")
            spent, wall = time.process_time() - start, time.perf_counter() - wall
            choice = "exact" if exact_is_quick(n, d, False) else "approximate"
            cells = [f"{n:,}", d, cloud.__name__, f"{exact:.0f}", f"{spent:.0f} ({wall:.0f})", f"{found.recall:.3f}"]
            print("|", " | ".join(map(str, [*cells, choice])), "|", flush=True)


def even(n, d):
    return np.random.default_rng(1).normal(size=(n, d))


def sheet(n, d):
    rng = np.random.default_rng(1)
    return np.tanh(rng.normal(size=(n, 4)) @ rng.normal(size=(4, d))) + 0.01 * rng.normal(size=(n, d))


if __name__ == "__main__":
    main()
