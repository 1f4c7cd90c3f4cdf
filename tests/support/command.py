"""The command line, run in this process: to start another takes longer than most commands do."""

import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from subprocess import CompletedProcess
from unittest.mock import patch

from fewlabels.cli import main


def run(*arguments, cwd):
    """How the command ended, and what it printed."""
    out, err, code = StringIO(), StringIO(), 0
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["fewlabels", *arguments]):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
