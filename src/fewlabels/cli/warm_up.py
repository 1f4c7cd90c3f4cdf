"""fewlabels warm-up: compile now what would be compiled at the first question."""

from __future__ import annotations

import time

from fewlabels.cli.options import console, passive_threads


def warm_up() -> None:
    """Compile the kernels now, so that the first page opens in seconds: once for every version, about two minutes.

    Without it the first page does the same before it opens. Example: **fewlabels warm-up**
    """
    passive_threads()
    from fewlabels.session.warm_up import warm_up as compile_all

    started = time.perf_counter()
    with console.status("Loading the kernels") as status:
        compile_all(status.update, large=True)
    console.print(f"Ready, in {time.perf_counter() - started:.1f} s.")
