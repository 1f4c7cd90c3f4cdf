"""How much memory a computation needs, checked before it starts."""

from __future__ import annotations

import os
from pathlib import Path

from fewlabels.errors import MemoryNeededError

GIB = 2**30


def available() -> int:
    """Bytes this process may still take: the machine's free memory, or its own or a container's limit if lower."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    free = min(free, _left_of_own_limit(free))
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return free
    return min(free, limit - used)


def _left_of_own_limit(otherwise: int) -> int:
    """Bytes of address space that ulimit -v leaves this process; `otherwise` without a limit or a way to tell."""
    try:
        import resource  # not on every system

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return otherwise
    return otherwise if most == resource.RLIM_INFINITY else max(0, most - taken)


def size(count: int) -> str:
    """A number of bytes for people to read."""
    if count < 2**20 / 10:
        return f"{count:,} bytes"
    return f"{count / GIB:.1f} GiB" if count >= GIB / 10 else f"{count / 2**20:.1f} MiB"


def require(need: int, what: str, way_out: str) -> None:
    """Refuse, with the numbers, a computation that would not fit."""
    free = available()
    if need > free:
        raise MemoryNeededError(
            f"{what} needs {need / GIB:.1f} GiB of memory and {free / GIB:.1f} GiB are free. {way_out}"
        )
