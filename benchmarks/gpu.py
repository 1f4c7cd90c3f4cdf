"""The gpu engine on this machine's card: equality, then time beside the floor, then the paper's trials as a batch.

    PYTHONPATH=src python3 benchmarks/gpu.py --out gpu.json

`--quick` leaves out the search for tiles and the two largest sizes. `--lookahead N` only launches the look-ahead on N
made-up nodes, for a profiler: ncu --clock-control none --set full -k regex:two_step python3 benchmarks/gpu.py ...
The trials need the paper's graphs in the folder FEWLABELS_DATA. Needs torch and triton, but not Numba.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import torch
import triton

import fewlabels as fl
from fewlabels.experiments.gpu_trials import COSTS, run_trials
from fewlabels.field.dense import DenseField
from fewlabels.field.gpu import GpuField
from fewlabels.kernels import reference
from fewlabels.kernels.gpu import launch as gpu
from fewlabels.learner.settings import resolve_beta
from fewlabels.strategies import lowest, make_strategy

CLASSES, LABELS, SMOOTH = 7, 50, 3.3
SIZES = [2_484, 20_000, 50_000, 100_000]
PROTOTYPE = {2_484: 0.11, 20_000: 5.5, 50_000: 33, 100_000: 129}  # ms of a plain look-ahead on an H200
TILES = [
    (1, 128, 1),
    (2, 64, 1),
    (4, 64, 1),
    (2, 128, 1),
    (4, 64, 2),
    (4, 128, 4),
    (8, 64, 4),
    (8, 128, 8),
    (2, 256, 4),
]
SPECIAL = 2 + CLASSES + 2 * -(-CLASSES // 2)  # ex2 and rcp for a pair (q, k): the code's own count
INSTRUCTIONS = 137  # for a pair in all, counted in the machine code; a multiprocessor issues 128 a clock (4 warps)
BANDWIDTH = 4.3e12  # bytes/s, a device-to-device copy on the H200


def random_graph(n, rng, extra=3):
    """A path with extra random edges for each node: mean degree 2 (1 + extra)."""
    i = np.concatenate([np.arange(n - 1), rng.integers(0, n, extra * n)])
    j = np.concatenate([np.arange(1, n), rng.integers(0, n, extra * n)])
    code = np.unique((np.minimum(i, j) * n + np.maximum(i, j))[i != j])
    return fl.Graph.from_edges(code // n, code % n, n_nodes=n)


def labelled(field, rng, how_many=LABELS):
    for node in rng.permutation(field.n_nodes)[:how_many]:
        field.observe(int(node), int(rng.integers(field.n_classes)))
    return field


def median_ms(call, budget=2.0):
    """Median over repeats by CUDA events, after a warm-up."""
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    repeats = int(np.clip(budget / max(time.perf_counter() - start, 1e-4), 5, 100))
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for begin, end in events:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return float(np.median([begin.elapsed_time(end) for begin, end in events]))


def check(report):
    """Stop at the first disagreement with the plain twins, or between float32 and float64."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for n, pieces in ((40, 1), (150, 1), (60, 3)):
        i = np.concatenate([np.arange(n - 1), rng.integers(0, n, n)])
        j = np.concatenate([np.arange(1, n), rng.integers(0, n, n)])
        keep = (i != j) & (i * pieces // n == j * pieces // n)
        code = np.unique((np.minimum(i, j) * n + np.maximum(i, j))[keep])
        weights = 10 ** rng.uniform(-1, 1, len(code))
        graph = fl.Graph.from_edges(code // n, code % n, weights, n_nodes=n)
        for beta in (1e-3, 1.0, 40.0, 1e4):
            ours, twin = GpuField(graph, CLASSES, beta), DenseField(graph, CLASSES, beta, reference)
            asked = rng.permutation(n // pieces)[:6]  # in the first piece only
            for node in asked:
                for field in (ours, twin):
                    field.observe(int(node), int(node) % 5)
            for field in (ours, twin):
                field.forget(int(asked[2]))
            assert (ours.unlabelled == twin.unlabelled).all(), "the fields keep their nodes in different places"
            for name in ("tsa", "zlg", "sopt", "vopt"):
                a, b = (make_strategy(name).cost(field).values for field in (ours, twin))
                gap = float(abs(a - b).max() / max(1.0, abs(b).max()))
                worst = max(worst, gap)
                assert gap < 1e-9, f"{name} on {n} nodes, {pieces} pieces, beta {beta}: costs differ by {gap:.1e}"
    print(f"float64 against NumPy: costs within {worst:.1e}")
    graph = random_graph(2000, rng)
    fields = [GpuField(graph, CLASSES, 1.0, kind) for kind in (torch.float64, torch.float32)]
    for field in fields:
        labelled(field, np.random.default_rng(1))
    gaps = {}
    for name in ("tsa", "zlg", "sopt", "vopt"):
        a, b = (make_strategy(name).cost(field).values for field in fields)
        gaps[name] = float(abs(a - b).max() / abs(a).max())
        assert gaps[name] < 1e-4, f"{name}: float32 differs from float64 by {gaps[name]:.1e}"
    print("float32 against float64 at 2,000 nodes:", ", ".join(f"{name} {gap:.1e}" for name, gap in gaps.items()))
    report["checks"] = {"float64_against_numpy": worst, "float32_against_float64": gaps}


def made_up(n, kind=torch.float32):
    """G and h that cost what real ones cost, without a set-up."""
    G = gpu.buffer(n, kind, "cuda")[:, :n]
    for start in range(0, n, 4096):
        G[start : start + 4096] = torch.rand((min(4096, n - start), n), device="cuda") * 0.02
    G.diagonal().copy_(torch.rand(n, device="cuda") + 0.4)
    h = torch.rand((n, CLASSES), dtype=torch.float64, device="cuda") * 2 - 1
    return G[None], h[None]


def tune(report, n=40_000):
    """Time every tile of the look-ahead in float32, and go on with the fastest."""
    G, h = made_up(n)
    found = {}
    for tile in TILES:
        gpu.TILES["two_step", torch.float32] = tile
        try:
            found[tile] = median_ms(lambda: gpu.two_step_batch(G, h), 0.3)
        except Exception as error:
            print(f"tile {tile}: {type(error).__name__} {error}")
    best = min(found, key=found.__getitem__)
    gpu.TILES["two_step", torch.float32] = best
    print(f"tiles at {n:,}:", ", ".join(f"{'x'.join(map(str, tile))} {ms:.2f}" for tile, ms in found.items()), "ms")
    report["tiles"] = {"n": n, "ms": {str(tile): ms for tile, ms in found.items()}, "fastest": best}


def clocks():
    """Clock ticks a second, over all multiprocessors."""
    card = torch.cuda.get_device_properties(0)
    return card.multi_processor_count * 1e3 * getattr(card, "clock_rate", 1.98e6)


def measure(n, kind, smoothness, report):
    """Set-up, look-ahead, change of G and a whole question at one size: the paper's field, or the smooth one."""
    rng = np.random.default_rng(n)
    graph = random_graph(n, rng)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    beta = resolve_beta(graph, "auto", smoothness) if smoothness else 1.0
    field = GpuField(graph, CLASSES, beta, kind, smoothness=smoothness)
    torch.cuda.synchronize()
    row = {"n": n, "dtype": str(kind).removeprefix("torch."), "smoothness": smoothness}
    row["set_up_s"] = time.perf_counter() - start
    row["set_up_in"] = str(field._work).removeprefix("torch.")
    row["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
    torch.cuda.empty_cache()
    labelled(field, rng)
    row["residual"] = residual(field, rng)
    G, h, _ = field.state
    u, signed = len(h), smoothness > 0
    z, nothing = G[:1].clone(), torch.zeros(1, dtype=kind, device="cuda")
    row["tsa_ms"] = median_ms(lambda: gpu.two_step_batch(G[None], h[None], signed=signed))
    change = gpu.Change(z, nothing)
    row["tsa_with_change_ms"] = median_ms(lambda: gpu.two_step_batch(G[None], h[None], signed=signed, change=change))
    row["change_ms"] = median_ms(lambda: gpu.rank_one_batch(G[None], z, nothing))
    row["zlg_ms"] = median_ms(lambda: gpu.harmonic_batch(G[None], h[None], signed=signed))
    row["sums_ms"] = median_ms(lambda: gpu.row_sums_batch(G[None]))
    size = u * u * kind.itemsize
    row["read_floor_ms"], row["change_floor_ms"] = 1e3 * size / BANDWIDTH, 2e3 * size / BANDWIDTH
    if kind == torch.float32:  # in float64 exponentials take many plain operations, which were not counted
        row["special_floor_ms"] = 1e3 * SPECIAL * u * u / (16 * clocks())
        row["tsa_floor_ms"] = 1e3 * INSTRUCTIONS * u * u / (128 * clocks())
    strategy, seconds = make_strategy("tsa"), []
    for _ in range(8):
        torch.cuda.synchronize()
        start = time.perf_counter()
        node = lowest(strategy.cost(field).values, field.unlabelled, rng)
        field.observe(node, int(rng.integers(CLASSES)))
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    row["question_ms"] = 1e3 * float(np.median(seconds[1:]))
    print({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
    report["sizes"].append(row)


def residual(field, rng):
    """Largest error of L_uu G = 1 in eight random columns."""
    G, places = field.state[0], rng.integers(0, len(field.unlabelled), 8)
    columns = G[:, torch.as_tensor(places, device=G.device)].double().cpu().numpy()
    degree = np.asarray(field.weights.sum(axis=1)).ravel()
    unlabelled = field.unlabelled
    product = degree[unlabelled, None] * columns - field.weights[unlabelled][:, unlabelled] @ columns
    product[places, np.arange(8)] -= 1
    return float(abs(product).max())


def trials(report):
    """DBLP, CORA and CITESEER, 50 trials of each strategy to 70 labels."""
    from fewlabels.experiments.datasets import DATASETS

    start = time.perf_counter()
    report["trials"] = {"accuracy": {}, "asked": {}, "seconds": {}}
    for name in ("dblp", "cora", "citeseer"):
        data = DATASETS[name]()
        for strategy in COSTS:
            begin = time.perf_counter()
            rows = run_trials(lambda rng, data=data: data, strategy, 70, range(50), 0, 1.0)
            seconds = time.perf_counter() - begin
            accuracy = np.array([[row.accuracy for row in trial] for trial in rows]).mean(axis=0)
            key = f"{name} {strategy}"
            report["trials"]["accuracy"][key] = accuracy.tolist()
            report["trials"]["asked"][key] = [[row.node for row in trial] for trial in rows]
            report["trials"]["seconds"][key] = seconds
            print(f"{key:16} {seconds:5.2f} s ", " ".join(f"{a:.3f}" for a in accuracy[9::10]), flush=True)
    report["trials"]["total_seconds"] = time.perf_counter() - start
    print(f"15 runs of 50 trials, 70 labels: {report['trials']['total_seconds']:.1f} s (accuracy at 10, 20, ... 70)")


def table(report):
    """One line for each size, type and field."""
    head = ["n", "dtype", "smoothness", "look-ahead", "and change", "floor", "prototype", "change", "floor", "ZLG"]
    head += ["question", "set-up s", "peak GiB", "residual"]
    print(f"\n{report['machine']}; ms; {CLASSES} classes, {LABELS} labels")
    print(" ".join(f"{name:>10}" for name in head))
    for row in report["sizes"]:
        plain = row["dtype"] == "float32" and not row["smoothness"]
        cells = [row["n"], row["dtype"], row["smoothness"], row["tsa_ms"], row["tsa_with_change_ms"]]
        cells += [row.get("tsa_floor_ms", ""), PROTOTYPE[row["n"]] if plain else "", row["change_ms"]]
        cells += [row["change_floor_ms"], row["zlg_ms"], row["question_ms"], row["set_up_s"], row["peak_gib"]]
        shown = [f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells] + [f"{row['residual']:.1e}"]
        print(" ".join(f"{cell:>10}" for cell in shown))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--lookahead", type=int, metavar="N")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.lookahead:
        G, h = made_up(options.lookahead)
        print(f"{median_ms(lambda: gpu.two_step_batch(G, h), 0.0):.3f} ms at {options.lookahead:,} nodes")
        return
    report = {"machine": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
    report["sizes"] = []
    try:
        check(report)
        if not options.quick:
            tune(report)
        for n in SIZES[:2] if options.quick else SIZES:
            for kind in (torch.float64, torch.float32) if n <= 50_000 else (torch.float32,):
                for smoothness in (0.0, SMOOTH):
                    measure(n, kind, smoothness, report)
        if os.environ.get("FEWLABELS_DATA"):
            trials(report)
        table(report)
    finally:
        if options.out:
            options.out.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
