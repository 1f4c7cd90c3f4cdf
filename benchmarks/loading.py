"""Seconds and peak memory of loading a large graph from a file, each in a fresh process.

python benchmarks/loading.py                                # 1,000,000 nodes, 10,000,000 edges
python benchmarks/loading.py --nodes 1e5 --edges 1e6 --kinds csv npz
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

LOAD = """
import json, resource, sys, time
from fewlabels.tables import read_edges
import pandas, pyarrow.parquet, scipy.sparse
start, cpu = time.perf_counter(), time.process_time()
graph = read_edges(sys.argv[1])
print(json.dumps({
    "nodes": graph.n_nodes, "edges": graph.n_edges,
    "wall": time.perf_counter() - start, "cpu": time.process_time() - cpu,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--edges", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--folder", type=Path, default=None, help="where the files are made; a temporary one without")
    asked = parser.parse_args()
    source, target, weight = made(asked.nodes, asked.edges)
    print(f"{'file':<28}{'MB':>7}{'nodes':>11}{'edges':>12}{'wall s':>8}{'CPU s':>7}{'peak GiB':>10}   load before")
    for kind in asked.kinds:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            path = KINDS[kind](Path(folder), source, target, weight)
            load = os.getloadavg()[0]
            done = subprocess.run([sys.executable, "-c", LOAD, path], capture_output=True, text=True, check=True)
            told = json.loads(done.stdout)
            print(
                f"{kind:<28}{path.stat().st_size / 1e6:>7.0f}{told['nodes']:>11,}{told['edges']:>12,}"
                f"{told['wall']:>8.1f}{told['cpu']:>7.1f}{told['peak']:>10.2f}   {load:.1f}",
                flush=True,
            )


def made(n, m):
    """Edges between random nodes, each node in a few, each edge listed once in either direction, in no order."""
    rng = np.random.default_rng(0)
    source = rng.integers(0, n, m)
    target = (source + 1 + rng.integers(0, n - 1, m)) % n
    low, high = np.minimum(source, target), np.maximum(source, target)
    first = np.unique(low * n + high, return_index=True)[1]
    first = rng.permutation(first)
    return source[first], target[first], rng.uniform(0.5, 1.5, len(first)).round(6)


def frame(source, target, weight, named):
    name = (lambda ends: "node-" + pd.Series(ends).astype(str)) if named else pd.Series
    return pd.DataFrame({"source": name(source), "target": name(target), "weight": weight})


def parquet(folder, source, target, weight, named=False):
    frame(source, target, weight, named).to_parquet(folder / "edges.parquet")
    return folder / "edges.parquet"


def csv(folder, source, target, weight, named=False):
    import pyarrow as pa
    from pyarrow import csv

    csv.write_csv(pa.Table.from_pandas(frame(source, target, weight, named)), folder / "edges.csv")
    return folder / "edges.csv"


def npz(folder, source, target, weight):
    n = max(source.max(), target.max()) + 1
    half = sparse.csr_array((weight, (source, target)), shape=(n, n))
    sparse.save_npz(folder / "graph.npz", half + half.T, compressed=False)
    return folder / "graph.npz"


KINDS = {
    "parquet": parquet,
    "parquet, text names": lambda *edges: parquet(*edges, named=True),
    "csv": csv,
    "csv, text names": lambda *edges: csv(*edges, named=True),
    "npz": npz,
}

if __name__ == "__main__":
    main()
