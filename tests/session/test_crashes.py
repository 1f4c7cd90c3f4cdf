"""A store on a disk that is full, breaks, or loses its last writes: what was confirmed is there, and nothing else."""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support import disk, power

EVERY = bool(os.environ.get("FEWLABELS_CRASHES"))  # `make soak`: at every write, in many ways
SAMPLE = 12  # of about a hundred


@pytest.fixture(scope="module")
def folder():
    """In memory where there is such a place: what is synced there takes no time."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def failing(folder):
    """Runs disk.py with the disk that fails."""
    library = disk.compiled(folder)
    if library is None:
        pytest.skip("no C compiler, which the disk that fails is made with: apt-get install gcc")

    def run(what, where, *more):
        env = os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            [sys.executable, disk.__file__, what, str(where), *more], env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("what", ["refuse", "kill"])
def test_a_disk_that_refuses_a_write_or_a_death_at_one_costs_nothing_confirmed(failing, folder, what):
    count = int(failing("deeds", folder / f"deeds-{what}"))
    assert count > 80
    chosen = range(count) if EVERY else sorted(random.Random(1).sample(range(count), SAMPLE))
    failing(what, folder / what, json.dumps(list(chosen)))


@pytest.mark.parametrize("rescued", ["", "rescued"])
def test_a_power_cut_costs_nothing_confirmed(failing, folder, rescued):
    """With `rescued`, the file is removed and written anew in between."""
    root = folder / f"cut-{rescued}"
    failing("record", root, rescued)
    trace, after = f"{root}.trace", folder / f"after-{rescued}"
    count = len(list(power.deeds(trace)))
    points = None if EVERY else set(random.Random(2).sample(range(count), 4 * SAMPLE))
    after.mkdir()
    kept = set()
    for confirmed, files in power.cuts(trace, str(root), points, rounds=20 if EVERY else 2):
        for left in after.iterdir():
            left.unlink()
        for name, content in files.items():
            (after / Path(name).name).write_bytes(content)
        found = disk.read(after / "s.sqlite")
        assert found == list(range(len(found))), found
        assert len(found) >= len(confirmed), (confirmed, found)
        kept.add(len(found))
    assert len(kept) > 4
