"""The tables and the figure of honest.py, from its results."""

import statistics

from honest import CHECKS, IN_A_ROW, TARGETS
from honest_sets import CHOSEN_ON


def grouped(rows):
    """{set: {kind: [row]}}, the sets the rules were chosen on first."""
    found = {}
    for row in rows:
        found.setdefault(row["set"], {}).setdefault(row["kind"], []).append(row)
    return dict(sorted(found.items(), key=lambda pair: pair[0] not in CHOSEN_ON))


def coverage(rows, k):
    """Share of the runs whose interval holds the truth at the k-th number of checks, and the mean width."""
    at = [row["at"][k] for row in rows if len(row["at"]) > k]
    if not at:
        return None
    held = [low - 1e-12 <= truth <= high + 1e-12 for truth, _, low, high, _ in at]
    return statistics.mean(held), statistics.mean(high - low for _, _, low, high, _ in at)


def stops(rows, target):
    """Share of all runs that stopped, that stopped wrongly; median labels and checks of the right stops."""
    stopped = [row for row in rows if row["stopped"]]
    right = [row for row in stopped if row["wrong"] <= target]
    middle = [statistics.median(row[key] for row in right) if right else None for key in ("labels", "checks")]
    return len(stopped) / len(rows), (len(stopped) - len(right)) / len(rows), *middle


def today(rows, target):
    """{rule: (share of the runs that stop, share of all runs that stop wrongly)} of the rules of today."""
    rules = {"expected error at the target": lambda row: first(row["expected"], lambda e: e <= target)}
    for many in IN_A_ROW:
        rules[f"{many} foreseen in a row"] = lambda row, many=many: run_of(row["foreseen"], many)
    found = {}
    for name, rule in rules.items():
        at = [(rule(row), row["wrong"]) for row in rows]
        stopped = [wrong[k] for k, wrong in at if k is not None]
        found[name] = len(stopped) / len(rows), sum(e > target for e in stopped) / len(rows)
    return found


def first(values, holds):
    return next((k for k, value in enumerate(values) if holds(value)), None)


def run_of(flags, many):
    row = 0
    for k, flag in enumerate(flags):
        row = row + 1 if flag else 0
        if row == many:
            return k
    return None


def print_tables(rows):
    """One row for each set, as in docs/honest.md; then all runs together, against the rules of today."""
    sets = grouped(rows)
    print("| set | runs | interval holds | its width | stop (wrongly) at 5% | at 10% | at 20% |")
    print("|---|---|---|---|---|---|---|")
    for name, kinds in sets.items():
        found = [coverage(kinds.get("interval", []), k) for k in range(len(CHECKS))]
        held = " ".join("-" if one is None else f"{100 * one[0]:.0f}" for one in found)
        wide = " ".join("-" if one is None else f"{100 * one[1]:.0f}" for one in found)
        cells = [stop_cell(kinds.get(f"stop {target:g}", []), target) for target in TARGETS]
        print(f"| {name} | {len(kinds.get('interval', []))} | {held} | {wide} | " + " | ".join(cells) + " |")
    every = {kind: [row for kinds in sets.values() for row in kinds.get(kind, [])] for kind in kinds_of(sets)}
    if not {"today", *(f"stop {target:g}" for target in TARGETS)} <= set(every):
        return
    print("\nshare of all runs that stop, and that stop wrongly\n| rule | 5% | 10% | 20% |\n|---|---|---|---|")
    rules = {"checks": [stops(every[f"stop {target:g}"], target)[:2] for target in TARGETS]}
    for target in TARGETS:
        for name, found in today(every["today"], target).items():
            rules.setdefault(name, []).append(found)
    for name, found in rules.items():
        print(f"| {name} | " + " | ".join(f"{100 * share:.0f}, {100 * wrong:.1f}" for share, wrong in found) + " |")
    costs = {name: cost(kinds) for name, kinds in sets.items() if cost(kinds) is not None}
    worst = min(costs, key=costs.get)
    print(f"\naccuracy at 80 answers, with checks less without: mean {statistics.mean(costs.values()):+.4f}, ", end="")
    print(f"worst {costs[worst]:+.4f} ({worst})")


def stop_cell(rows, target):
    """Percent that stop (wrongly): median answers, of which checks."""
    if not rows:
        return "-"
    share, wrong, labels, checks = stops(rows, target)
    middle = "" if labels is None else f": {labels:.0f}, {checks:.0f}"
    return f"{100 * share:.0f} ({100 * wrong:.0f}){middle}"


def cost(kinds):
    """Accuracy at 80 answers, of runs with checks less that of runs without; None where a run has not as many."""
    with_checks = [row["accuracy"] for row in kinds.get("interval", []) if row["accuracy"] is not None]
    without = [1 - row["wrong"][79] for row in kinds.get("today", []) if len(row["wrong"]) > 79]
    return statistics.mean(with_checks) - statistics.mean(without) if with_checks and without else None


def kinds_of(sets):
    return {kind for kinds in sets.values() for kind in kinds}


def draw(rows, path):
    """Wrong stops by set, of the checks and of today's first rule."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sets = grouped(rows)
    names = [name for name, kinds in sets.items() if "stop 0.1" in kinds and "today" in kinds]
    figure, axes = plt.subplots(1, 2, figsize=(11, 0.28 * len(names) + 1.4), sharey=True, layout="constrained")
    places = range(len(names))[::-1]
    rule = "expected error at the target"
    axes[0].barh([y + 0.2 for y in places], [100 * today(sets[n]["today"], 0.1)[rule][1] for n in names], 0.38,
                 color="#c9553d", label="stop when the expected error is at most 10%")  # fmt: skip
    axes[0].barh([y - 0.2 for y in places], [100 * stops(sets[n]["stop 0.1"], 0.1)[1] for n in names], 0.38,
                 color="#2f7d5b", label="stop when the checks say so")  # fmt: skip
    axes[0].axvline(10, color="#888", linewidth=0.8, linestyle="--")
    axes[0].set(xlabel="runs that stop while more than 10% are wrong (%)", xlim=(0, 100))
    axes[0].set_yticks(places, names)
    axes[0].legend(frameon=False, fontsize=8, loc="lower right")
    for k, m in enumerate(CHECKS):
        found = [coverage(sets[n].get("interval", []), k) for n in names]
        axes[1].plot([None if f is None else 100 * f[0] for f in found], places, "o", markersize=4,
                     color=plt.cm.viridis(k / len(CHECKS)), label=f"{m} checks")  # fmt: skip
    axes[1].axvline(90, color="#888", linewidth=0.8, linestyle="--")
    axes[1].set(xlabel="runs whose 90% interval holds the truth (%)", xlim=(50, 101))
    axes[1].legend(frameon=False, fontsize=8, loc="lower left")
    figure.savefig(path, dpi=150)
