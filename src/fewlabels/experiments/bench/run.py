"""Run the cases and write what came out, with the machine and the commit it came from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from fewlabels.errors import SettingError, nearest
from fewlabels.experiments.bench.cases import CASES, MissingRivalError, Timing
from fewlabels.experiments.results import provenance
from fewlabels.files.atomic import atomic_file


def run_cases(names: tuple[str, ...]) -> Iterator[Timing | str]:
    """Each case's timing, or the sentence that says why there is none."""
    for name in names:
        if name not in CASES:
            raise SettingError(f"there is no case {name!r}: choose from {', '.join(CASES)}.{nearest(name, CASES)}")
    for name in names:
        try:
            yield CASES[name]()
        except MissingRivalError as error:
            yield f"{name}: {error}"


def write(path: str | os.PathLike[str], timings: list[Timing], growth: list[tuple[int, float]]) -> None:
    content = {
        **provenance(),
        "cases": [{**vars(timing), "ratio": timing.ratio} for timing in timings],
        "growth": [{"n": n, "seconds": seconds} for n, seconds in growth],
    }
    with atomic_file(path) as draft:
        draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
