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
    sets = grouped(rows)
    print("\nCoverage of the 90% interval, and its mean width")
    print("| set | runs | " + " | ".join(f"{m} checks" for m in CHECKS) + " |")
    print("|---|---|" + "---|" * len(CHECKS))
    for name, kinds in sets.items():
        if runs := kinds.get("interval"):
            cells = [coverage(runs, k) for k in range(len(CHECKS))]
            cells = ["-" if cell is None else f"{cell[0]:.2f} ({cell[1]:.2f})" for cell in cells]
            print(f"| {name} | {len(runs)} | " + " | ".join(cells) + " |")
    print("\nStops: share of the runs that stop, that stop wrongly; median labels, of which checks, at a right stop")
    print("| set | " + " | ".join(f"{target:.0%}" for target in TARGETS) + " |")
    print("|---|" + "---|" * len(TARGETS))
    for name, kinds in sets.items():
        cells = []
        for target in TARGETS:
            if runs := kinds.get(f"stop {target:g}"):
                share, wrong, labels, checks = stops(runs, target)
                middle = "" if labels is None else f"; {labels:.0f}, {checks:.0f}"
                cells.append(f"{share:.0%}, {wrong:.0%} wrong{middle}")
            else:
                cells.append("-")
        print(f"| {name} | " + " | ".join(cells) + " |")
    print("\nAll runs together: share that stops, and share that stops wrongly")
    every = {kind: [row for kinds in sets.values() for row in kinds.get(kind, [])] for kind in kinds_of(sets)}
    for target in TARGETS:
        if runs := every.get(f"stop {target:g}"):
            share, wrong, *_ = stops(runs, target)
            print(f"{target:.0%}: checks {share:.0%}, {wrong:.1%}", end="")
            for name, (stopped, bad) in today(every.get("today", []), target).items() if every.get("today") else ():
                print(f"; {name} {stopped:.0%}, {bad:.0%}", end="")
            print()
    cost = [
        statistics.mean(row["accuracy"] for row in kinds["interval"] if row["accuracy"] is not None)
        - statistics.mean(1 - row["wrong"][79] for row in kinds["today"] if len(row["wrong"]) > 79)
        for kinds in sets.values()
        if any(row["accuracy"] is not None for row in kinds.get("interval", []))
        and any(len(row["wrong"]) > 79 for row in kinds.get("today", []))
    ]
    if cost:
        print("\nAccuracy at 80 answers, with checks less without:", end=" ")
        print(f"mean {statistics.mean(cost):+.4f}, worst {min(cost):+.4f}")


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
