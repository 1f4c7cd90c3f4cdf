"""Gives a copy of the package what Numba has compiled for the original: `python compiled.py src build/wheel`.

Numba keeps kernels beside their source, and takes them for those of another file unless its size and time are the same.
It does not look at the other files that went into a kernel; we carry over only what is younger than all of them.
"""

import os
import shutil
import sys
from pathlib import Path


def carry(original, copy):
    """Carry over the kernels of files that are the same, if compiled after the last change to any; their number."""
    last_change = max(source.stat().st_mtime_ns for source in original.rglob("*.py"))
    carried = 0
    for index in original.rglob("__pycache__/*.nbi"):
        source = index.parents[1] / f"{index.name.partition('.')[0]}.py"
        same = copy / source.relative_to(original)
        compiled = list(index.parent.glob(f"{index.name.removesuffix('nbi')}*"))
        if (
            all(kept.stat().st_mtime_ns > last_change for kept in compiled)
            and same.is_file()
            and same.read_bytes() == source.read_bytes()
        ):
            beside = same.parent / "__pycache__"
            beside.mkdir(exist_ok=True)
            for kept in compiled:
                shutil.copy(kept, beside)
            os.utime(same, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
            carried += 1
    return carried


if __name__ == "__main__":
    carry(*map(Path, sys.argv[1:]))
