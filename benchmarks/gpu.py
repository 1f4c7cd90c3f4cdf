"""The gpu engine on this machine's card: equality, then time beside the floor.

    PYTHONPATH=src python3 benchmarks/gpu.py --out gpu.json

`--quick` leaves out the search for tiles and the three largest sizes; `--sizes 100000:float32` measures those named.
`--lookahead N` only launches the look-ahead on N made-up nodes, for a profiler: ncu --clock-control none --set full
-k regex:two_step python3 benchmarks/gpu.py ...
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
import triton

import fewlabels as fl
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.field.links.in_memory import InMemory
from fewlabels.field.links.on_card import OnCard
from fewlabels.kernels import reference
from fewlabels.kernels.gpu import launch as gpu
from fewlabels.strategies import lowest, make_strategy

CLASSES, LABELS, SMOOTH = 7, 50, 3.3
SIZES = "2484:float64 2484:float32 20000:float64 20000:float32 50000:float64 50000:float32 78000:float64 100000:float32"
QUICK = "2484:float64 2484:float32 20000:float64 20000:float32"
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


def field_of(graph, kind=torch.float64, beta=1.0, smoothness=0.0):
    """The field on the card, without answers."""
    return Conditioned(OnCard(FieldSpec(beta, smoothness, 0.0, "gpu").resolved(graph), kind), Answers(CLASSES))


def some_labels(n, rng, how_many=LABELS):
    return {int(node): int(rng.integers(CLASSES)) for node in rng.permutation(n)[:how_many]}


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
            field = field_of(graph, beta=beta)
            asked = [int(node) for node in rng.permutation(n // pieces)[:6]]  # in the first piece only
            for node in asked:
                field = field.with_answer(node, node % 5)
                field.two_step_costs()
            field = field.without(asked[2:3])
            twin = Conditioned(InMemory(field.covariance.recipe), field.answers)
            G, island = twin.G, twin.island
            expected = {
                "two_step_costs": reference.two_step_cost(G, twin.h, island, n),
                "harmonic_costs": reference.harmonic_cost(G, twin.h, island, n),
                "sopt_costs": reference.sopt_cost(G, island),
                "vopt_costs": reference.vopt_cost(G, island),
            }
            for name, b in expected.items():
                gap = float(abs(getattr(field, name)().values - b).max() / max(1.0, abs(b).max()))
                worst = max(worst, gap)
                assert gap < 1e-9, f"{name} on {n} nodes, {pieces} pieces, beta {beta}: costs differ by {gap:.1e}"
    print(f"float64 against NumPy: costs within {worst:.1e}")
    graph, labels = random_graph(2000, rng), some_labels(2000, np.random.default_rng(1))
    fields = [field_of(graph, kind).with_answers(labels) for kind in (torch.float64, torch.float32)]
    gaps = {}
    for name in ("tsa", "zlg", "sopt", "vopt"):
        a, b = (make_strategy(name).cost(field).values for field in fields)
        gaps[name] = float(abs(a - b).max() / abs(a).max())
        assert gaps[name] < 1e-4, f"{name}: float32 differs from float64 by {gaps[name]:.1e}"
    print("float32 against float64 at 2,000 nodes:", ", ".join(f"{name} {gap:.1e}" for name, gap in gaps.items()))
    report["checks"] = {"float64_against_numpy": worst, "float32_against_float64": gaps}


def same_questions(report, n=3_000, questions=30):
    """Learners on the card and in memory ask the same, in the paper's field and in the default one; some answers are
    taken back or changed on the way.
    """
    rng = np.random.default_rng(4)
    graph, truth = random_graph(n, rng), rng.integers(0, CLASSES, n)
    for settings in ({"smoothness": 0.0, "centred": False, "beta": 1.0}, {}, {"smoothness": SMOOTH}):
        learners = [fl.ActiveLearner(graph, range(CLASSES), engine=engine, **settings) for engine in ("gpu", "dense")]
        gap = 0.0
        for step in range(questions):
            costs = [learner.costs() for learner in learners]
            gap = max(gap, float(np.nanmax(abs(costs[0] - costs[1]))))
            asked = [learner.query() for learner in learners]
            assert asked[0] == asked[1], f"question {step} with {settings}: {asked}, costs within {gap:.1e}"
            for learner in learners:
                learner.teach(asked[0], int(truth[asked[0]]), 0.9 if step % 7 == 3 else 1.0)
                if step % 10 == 9:
                    learner.forget(asked[0])
        print(f"{questions} questions on {n:,} nodes as in memory: {settings or 'default'}, costs within {gap:.1e}")
        report["checks"][f"questions {settings}"] = gap


def made_up(n, kind=torch.float32):
    """G and h that cost what real ones cost, without a set-up."""
    G = gpu.buffer(n, kind, "cuda")[:, :n]
    for start in range(0, n, 4096):
        G[start : start + 4096] = torch.rand((min(4096, n - start), n), device="cuda") * 0.02
    G.diagonal().copy_(torch.rand(n, device="cuda") + 0.4)
    return G, np.random.default_rng(0).uniform(-1, 1, (n, CLASSES)), np.full(n, -1)


def tune(report, n=40_000):
    """Time every tile of the look-ahead in float32, and go on with the fastest."""
    state = made_up(n)
    found = {}
    for tile in TILES:
        gpu.TILES["two_step", torch.float32] = tile
        try:
            found[tile] = median_ms(lambda: gpu.two_step_cost(*state, n), 0.3)
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
    field = field_of(graph, kind, "auto" if smoothness else 1.0, smoothness)
    torch.cuda.synchronize()
    row = {"n": n, "dtype": str(kind).removeprefix("torch."), "smoothness": smoothness}
    row["set_up_s"] = time.perf_counter() - start
    row["set_up_in"] = str(field.covariance.computed_in).removeprefix("torch.")
    row["waves"] = field.covariance.levels.F.shape[1]
    torch.cuda.empty_cache()
    field = field.with_answers(some_labels(n, rng))
    row["fill_ms"] = 1e3 * seconds(lambda: field.two_step_costs())
    row["residual"] = residual(field, rng)
    with field.workspace.at(field) as G:
        row |= kernel_times(G, field, rng)
    size = n * n * kind.itemsize
    row["read_floor_ms"], row["change_floor_ms"] = 1e3 * size / BANDWIDTH, 2e3 * size / BANDWIDTH
    if kind == torch.float32:  # in float64 exponentials take many plain operations, which were not counted
        row["special_floor_ms"] = 1e3 * SPECIAL * n * n / (16 * clocks())
        row["tsa_floor_ms"] = 1e3 * INSTRUCTIONS * n * n / (128 * clocks())
    times = []
    for _ in range(12):
        node, *took = question(field, rng)
        times.append((sum(took), *took[:2]))
        field = field.with_answer(node, int(rng.integers(CLASSES)))
    row["question_ms"], row["host_ms"], row["costs_ms"] = (1e3 * np.median(times[1:], axis=0)).tolist()
    row["slowest_ms"] = 1e3 * max(times[1:])[0]
    row["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
    print({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
    report["sizes"].append(row)


def kernel_times(G, field, rng):
    """Milliseconds, what is sent to the card for each of them included."""
    nodes, island, signed = field.unlabelled, field.island, field.smoothness > 0
    change, tenth = gpu.Change(G[int(nodes[0])].clone(), 0.0), rng.random(len(nodes)) < 0.1

    def two_step(**more):
        return median_ms(lambda: gpu.two_step_cost(G, h, island, len(G), nodes=nodes, signed=signed, **more))

    h = field.h
    return {
        "tsa_ms": two_step(),
        "tsa_with_change_ms": two_step(change=change),
        "tsa_of_a_tenth_ms": two_step(asked=tenth),
        "change_ms": median_ms(lambda: gpu.make(change, G)),
        "zlg_ms": median_ms(lambda: gpu.harmonic_cost(G, h, island, len(G), nodes=nodes, signed=signed)),
        "sums_ms": median_ms(lambda: gpu.vopt_cost(G, island, nodes=nodes)),
    }


def question(field, rng):
    """The node asked about, and the seconds spent on h and variances, on costs, and on choosing the lowest."""
    host = seconds(lambda: (field.all_h, field.variance))
    cost, costs = timed(lambda: make_strategy("tsa").cost(field).values)
    node, choice = timed(lambda: lowest(cost, field.unlabelled, rng))
    return node, host, costs, choice


def timed(call):
    """What it gives, and the seconds it takes."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    found = call()
    torch.cuda.synchronize()
    return found, time.perf_counter() - start


def seconds(call):
    return timed(call)[1]


def residual(field, rng):
    """Largest error of L_uu G = 1 in eight random columns."""
    unlabelled, places = field.unlabelled, rng.integers(0, len(field.unlabelled), 8)
    columns = field.columns(unlabelled[places])
    degree = np.asarray(field.weights.sum(axis=1)).ravel()
    product = degree[unlabelled, None] * columns - field.weights[unlabelled][:, unlabelled] @ columns
    product[places, np.arange(8)] -= 1
    return float(abs(product).max())


def table(report):
    """One line for each size, type and field."""
    head = ["n", "dtype", "smoothness", "look-ahead", "and change", "floor", "prototype", "change", "floor", "ZLG"]
    head += ["of a tenth", "question", "slowest", "host", "set-up s", "peak GiB", "residual"]
    print(f"\n{report['machine']}; ms; {CLASSES} classes, {LABELS} labels")
    print(" ".join(f"{name:>10}" for name in head))
    for row in report["sizes"]:
        plain = row["dtype"] == "float32" and not row["smoothness"]
        cells = [row["n"], row["dtype"], row["smoothness"], row["tsa_ms"], row["tsa_with_change_ms"]]
        cells += [row.get("tsa_floor_ms", ""), PROTOTYPE.get(row["n"], "") if plain else "", row["change_ms"]]
        cells += [row["change_floor_ms"], row["zlg_ms"], row["tsa_of_a_tenth_ms"], row["question_ms"]]
        cells += [row["slowest_ms"], row["host_ms"], row["set_up_s"], row["peak_gib"]]
        shown = [f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells] + [f"{row['residual']:.1e}"]
        print(" ".join(f"{cell:>10}" for cell in shown))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", nargs="+", metavar="N:DTYPE")
    parser.add_argument("--lookahead", type=int, metavar="N")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.lookahead:
        state = made_up(options.lookahead)
        took = median_ms(lambda: gpu.two_step_cost(*state, options.lookahead), 0.0)
        print(f"{took:.3f} ms at {options.lookahead:,} nodes")
        return
    report = {"machine": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
    report["sizes"] = []
    try:
        check(report)
        same_questions(report)
        if not (options.quick or options.sizes):
            tune(report)
        for size in options.sizes or (QUICK if options.quick else SIZES).split():
            n, kind = size.split(":")
            for smoothness in (0.0, SMOOTH):
                measure(int(n), getattr(torch, kind), smoothness, report)
        table(report)
    finally:
        if options.out:
            options.out.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
