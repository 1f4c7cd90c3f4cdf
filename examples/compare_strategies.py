"""Which strategy is best on data that is labelled already: the same trials for each, with standard errors.

python examples/compare_strategies.py --trials 20 --labels 40 --out compare_strategies.png
"""

import argparse
import tempfile
from pathlib import Path

from fewlabels.experiments.curves import paired
from fewlabels.experiments.datasets import jittered_box
from fewlabels.experiments.figures import draw_curves, save
from fewlabels.experiments.runner import Plan, run

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--trials", type=int, default=20)
options.add_argument("--labels", type=int, default=40)
options.add_argument("--jobs", type=int, default=-1, help="worker processes; -1 is one for every core")
options.add_argument("--out", type=Path, default=Path("compare_strategies.png"))
options = options.parse_args()

# Two squares of one class on a grid of 10 x 10, their borders drawn anew for every trial. For data of your own:
# Plan("mine", Always(Dataset(...)), ...), or `fewlabels compare` on the command line.
plan = Plan("box", jittered_box, ("tsa", "sopt", "zlg", "random"), options.labels, options.trials, beta="auto")
with tempfile.TemporaryDirectory() as folder:  # in a folder that stays, a stopped run is resumed
    rows = run(plan, folder, jobs=options.jobs)

for strategy in plan.strategies[1:]:
    gap = paired(rows, "tsa", strategy)
    print(f"tsa against {strategy}: {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), {gap.says}")
save(draw_curves(rows, "two squares on a grid"), options.out)
