"""Seconds until Python has imported fewlabels, said its help, completed a word; the least of several processes each.

The compiled files (.pyc) are there; what the first import after an installation costs more is in the last column.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

RUNS = 15
CASES = {
    "python, nothing imported": (["-c", "pass"], {}),
    "import numpy": (["-c", "import numpy"], {}),
    "import scipy.sparse": (["-c", "import scipy.sparse"], {}),
    "import fewlabels": (["-c", "import fewlabels"], {}),
    "from fewlabels import ActiveLearner": (["-c", "from fewlabels import ActiveLearner"], {}),
    "fewlabels --help": (["-m", "fewlabels", "--help"], {}),
    "Tab: fewlabels demo --strategy": (
        ["-m", "fewlabels"],
        {"_FEWLABELS_COMPLETE": "complete_bash", "COMP_WORDS": "fewlabels\ndemo\n--strategy\n", "COMP_CWORD": "3"},
    ),
}


def seconds(arguments, environment):
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start


print(f"{'':38} least  first")
with tempfile.TemporaryDirectory() as folder:
    for name, (arguments, environment) in CASES.items():
        fresh = {**environment, "PYTHONPYCACHEPREFIX": folder}  # an empty folder: nothing is compiled yet
        first = seconds(arguments, fresh)
        shutil.rmtree(folder)
        seconds(arguments, environment)
        print(f"{name:38} {min(seconds(arguments, environment) for _ in range(RUNS)):5.2f}  {first:5.2f}", flush=True)
