"""The command line, run as a user runs it."""

import subprocess
import sys


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "fewlabels", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
