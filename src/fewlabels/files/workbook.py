"""Spreadsheets (.xlsx, .xls, .ods) as tables, read within bounds: a small file can unpack into anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewlabels.errors import FileError
from fewlabels.files.limits import LESS, refuse_too_wide
from fewlabels.machine.memory import require

if TYPE_CHECKING:
    import pandas as pd

MEMORY = 2 * 2**30  # bytes that the reader may use at most
FEW, FOR_EACH = 2**28, 100  # of these for a small file, and more for each byte of the file: 60 MiB and 7 were measured
TEXT, TEXT_FOR_EACH = 2**24, 50  # bytes of cells that it may print, in the same way: 15 for each byte were measured
COPIES = 15  # of these, as rows and as columns, where cells are short
SECONDS = 300
READER = Path(__file__).with_name("sheet_reader.py")


def read_workbook(path: Path) -> tuple[pd.DataFrame, str]:
    """The first sheet that holds anything, its first row being the header, and what is to be said about the others."""
    if find_spec("python_calamine") is None:
        raise FileError(
            f"{path} is a spreadsheet, and what reads it is not installed: pip install 'fewlabels[tables]', or save "
            "the sheet as CSV."
        )
    about, *lines = _printed(path)
    rows = [row for row in lines if any(row)]
    if not rows:
        raise FileError(f"{path} is empty: its first row must name the columns.")
    more = len(about["sheets"]) - 1
    note = f"{path} has {more + 1} sheets: only {about['sheet']!r} was read" if more else ""
    refuse_too_wide(path, max(map(len, rows)))
    return _table(rows), note


def _printed(path: Path) -> list[Any]:
    size = path.stat().st_size
    memory, text = min(MEMORY, FEW + FOR_EACH * size), TEXT + TEXT_FOR_EACH * size
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as wrong:
        command = [sys.executable, "-P", str(READER), str(path.resolve()), str(memory), str(text)]
        try:
            status = subprocess.run(command, stdout=out, stderr=wrong, timeout=SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            status = None
        wrong.seek(0)
        reason = wrong.read(2**16).decode("utf-8", "replace").strip()
        if status is None or status < 0 or "MemoryError" in reason or "File too large" in reason:
            raise FileError(
                f"{path} unpacks into more than a table of its size may hold ({memory // 2**20:,} MiB, {SECONDS} s). "
                "Delete what lies far from the table, or save the sheet as CSV."
            )
        if status:
            said = reason.splitlines()[-1] if reason else "no reason given"
            raise FileError(f"{path} cannot be read as a spreadsheet: {said.rstrip('.')}. Save it again, or as CSV.")
        require(COPIES * out.seek(0, os.SEEK_END), f"the table in {path}", LESS)
        out.seek(0)
        return [json.loads(line) for line in out]


def _table(rows: list[list[str]]) -> pd.DataFrame:
    """Columns under their headers; one without a header and without cells is dropped."""
    import pandas as pd

    width = max(map(len, rows))
    header, *body = [row + [""] * (width - len(row)) for row in rows]
    columns: dict[str, list[str]] = {}
    again: Counter[str] = Counter()
    for k, title in enumerate(header):
        cells = [row[k] for row in body]
        name = title.strip() or f"Unnamed: {k}"
        if not title.strip() and not any(cells):
            continue
        unique = name
        while unique in columns:
            again[name] += 1
            unique = f"{name}.{again[name]}"
        columns[unique] = cells
    return pd.DataFrame(columns, dtype=str)
