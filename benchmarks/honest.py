"""How wrong is it, really? Whether intervals cover and stops are right, against the rules people use today.

    FEWLABELS_DATA=folder python benchmarks/honest.py [--sets "digits;wine"] [--kinds interval] [--runs 50]
        [--labels 200] [--engine auto] [--workers 2] [--results results/honest.jsonl]
        [--graphs results/honest-graphs] [--figure honest.png]

Every finished run is a line of JSON in the file of results: a rerun skips it, and `--runs 0` only prints the tables. A
run starts from nothing; its seed decides the draws. Kinds of run:
  interval  learn 20, then one check in four up to 100 answers, then checks only up to 80 checks
  stop .05  (and .1, .2) ask what `learner.next` says until `learner.can_stop`, or the labels are spent
  today     no checks: what the rules of today would have done; 100 answers
Sets with "1 in 20" are answered wrongly one time in twenty: "told" teaches with confidence .95, and its intervals are
held against the truth; "not told" is held against what this person would have answered everywhere. In sets with "some
skipped" three items in a hundred are skipped where the prediction is right, and nine where it is wrong.
"""

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path

CHECKS = (10, 20, 40, 80)
TARGETS = (0.05, 0.1, 0.2)
KINDS = ("interval", "today", *(f"stop {target:g}" for target in TARGETS))
NOISY = {f"{name}, 1 in 20 wrong ({told})": (name, told == "told")
         for name in ("blocks, easy", "breast cancer") for told in ("told", "not told")}  # fmt: skip
SKIPPED = {f"{name}, some skipped": (name, False) for name in ("clothes", "breast cancer", "blocks, hard")}
STRATEGIES = {"20,000 points": "random"}  # no look-ahead, so that a run takes a minute; else the default
VARIANTS = NOISY | SKIPPED
IN_A_ROW = (5, 10, 20)


class Run:
    """One labelling: a learner, and a person who answers."""

    def __init__(self, field, y, seed, noise, told, skips):
        import numpy as np

        import fewlabels as fl

        rng = np.random.default_rng([seed, 99])
        self.y, self.C = y, int(y.max()) + 1
        other = (y + rng.integers(1, self.C, len(y))) % self.C
        self.said = np.where(rng.random(len(y)) < noise, other, y)  # what this person answers, asked about any node
        self.truth = self.y if told or not noise else self.said
        self.confidence = 1 - noise if told else 1.0
        graph, engine, settings = field
        self.learner = fl.ActiveLearner(graph, range(self.C), engine=engine, random_state=seed, **settings)
        self.labels, self.skips, self.rng = 0, skips, rng

    def answer(self, node):
        """Whether the person could answer."""
        if self.skips and self.rng.random() < (0.03 if self.learner.predict()[node] == self.y[node] else 0.09):
            self.learner.skip(node)
            return False
        self.learner.teach(node, int(self.said[node]), self.confidence)
        self.labels += 1
        return True

    def wrong(self):
        """Share of all nodes predicted wrongly; answered ones count as right."""
        predicted = self.learner.predict()
        bad = predicted != self.truth
        bad[[each.node for each in self.learner.answers]] = False
        return float(bad.mean())

    def interval(self, _):
        """As `learner.next` asks while the target is out of reach; the estimate only where it is wanted."""
        found, accuracy, checks = [], None, 0
        while len(found) < len(CHECKS) and self.labels < 0.9 * len(self.y):
            due = self.labels >= 100 or (self.labels >= 20 and self.labels % 4 == 0)
            answered = self.answer(self.learner.check()[0] if due else self.learner.query())
            checks += due and answered
            if self.labels == 80 and answered:
                accuracy = 1 - self.wrong()
            if checks == CHECKS[len(found)]:
                estimate = self.learner.error()
                found.append([self.wrong(), estimate.value, estimate.low, estimate.high, estimate.expected])
        return {"at": found, "accuracy": accuracy}

    def stop(self, target, most):
        while self.labels < min(most, 0.9 * len(self.y)):
            if self.learner.can_stop(target):
                break
            self.answer(self.learner.next(target).node)
        stopped = self.learner.can_stop(target)
        return {"stopped": stopped, "labels": self.labels, "checks": self.learner.error().checks, "wrong": self.wrong()}

    def today(self, _):
        expected, wrong, foreseen = [], [], []
        while self.labels < min(100, 0.9 * len(self.y)):
            node = self.learner.query()
            foreseen.append(bool(self.learner.predict()[node] == self.said[node]) and self.labels > 0)
            self.answer(node)
            heard = not self.learner.unheard
            expected.append(round(self.learner.expected_error(), 4) if heard else 1.0)
            wrong.append(round(self.wrong(), 4))
        return {"expected": expected, "wrong": wrong, "foreseen": foreseen}


def job(work):
    name, kind, seed, most, engine, graphs = work
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    begun = time.perf_counter()
    base, told = VARIANTS.get(name, (name, False))
    field, y = _set_up(base, engine, graphs)
    run = Run(field, y, seed, 0.05 if name in NOISY else 0.0, told, name in SKIPPED)
    result = run.stop(float(kind.split()[1]), most) if kind.startswith("stop") else getattr(run, kind)(most)
    return {"set": name, "kind": kind, "run": seed, **result, "seconds": round(time.perf_counter() - begun, 2)}


FIELDS = {}


def _set_up(name, engine, graphs):
    """One covariance for all runs of a set in this process."""
    if name not in FIELDS:
        from honest_sets import made

        from fewlabels.field import FieldSpec

        graph, y = made(name, graphs)
        engine = "gpu" if engine == "card" and graph.n_nodes > 1_200 else "dense" if engine == "card" else engine
        FIELDS.clear()
        settings = {"strategy": STRATEGIES.get(name, "tsa")}
        FIELDS[name] = (graph, FieldSpec(engine=engine).resolved(graph).build(), settings), y
    return FIELDS[name]


def run_all(options):
    from honest_sets import SETS, made

    names = options.sets.split(";") if options.sets else [*SETS, *VARIANTS]
    for name in names:
        made(VARIANTS.get(name, (name,))[0], options.graphs)
    path = Path(options.results)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {(row["set"], row["kind"], row["run"]) for row in read(path)}
    work = [
        (name, kind, seed, options.labels, options.engine, options.graphs)
        for name in names for seed in range(options.runs) for kind in options.kinds.split(";")
        if (name, kind, seed) not in done
    ]  # fmt: skip
    begun = time.monotonic()
    with path.open("a") as out, multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for k, row in enumerate(pool.imap_unordered(job, work, chunksize=options.chunk), start=1):
            out.write(json.dumps(row) + "\n")
            out.flush()
            if k % 50 == 0 or k == len(work):
                left = (time.monotonic() - begun) / k * (len(work) - k)
                print(f"{k:,} of {len(work):,} runs, about {left / 60:.0f} min left", flush=True)


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()] if Path(path).exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="separated by ;")
    parser.add_argument("--kinds", default=";".join(KINDS), help="of run, separated by ;")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--engine", default="auto", help='as in ActiveLearner; "card": gpu beyond 1,200 nodes')
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=5)
    parser.add_argument("--results", default="results/honest.jsonl")
    parser.add_argument("--graphs", default="results/honest-graphs")
    parser.add_argument("--figure")
    options = parser.parse_args()
    if options.runs:
        run_all(options)
    import honest_report

    rows = read(options.results)
    honest_report.print_tables(rows)
    if options.figure:
        honest_report.draw(rows, options.figure)


if __name__ == "__main__":
    main()
