"""How a CSV file is written, found out from the file: its encoding, what separates its cells, and decimal commas."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from fewlabels.errors import FileError
from fewlabels.files.limits import LONGEST_LINE, refuse_too_wide

BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SPOKEN = {"utf-8-sig": "UTF-8", "cp1252": "Latin-1", "latin-1": "Latin-1"}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE = 2**16  # bytes that the separator is told from
ROWS = 200  # of the sample, at most
PIECE = 2**20  # bytes decoded at a time
CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\x1a\x1b"))  # in no text that people write
MEANINGLESS = b"\x81\x8d\x8f\x90\x9d"  # in Windows' Latin-1
TOLD = re.compile(r"sep=(.)\s*$", re.IGNORECASE)  # a first line for Excel
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
DECIMAL_COMMA = re.compile(r"[+-]?\d[\d.]*,\d+")


@dataclass(frozen=True)
class Dialect:
    """How to read a CSV or TSV file."""

    encoding: str
    separator: str
    skip: int = 0  # lines above the header
    decimal_commas: bool = False

    def options(self) -> dict[str, Any]:
        """How pandas reads it: every cell is text, even one that looks like a number or a missing value."""
        return {
            "sep": self.separator,
            "skiprows": self.skip,
            "dtype": str,
            "keep_default_na": False,
            "skipinitialspace": self.separator != "\t",
            "encoding": self.encoding,
        }

    def told(self, path: Path) -> str:
        """What is unusual about it, as a sentence; "" where nothing is."""
        usual = "\t" if path.suffix.lower() == ".tsv" else ","
        spoken = SPOKEN.get(self.encoding, "UTF-16")
        found = [
            *([spoken] if spoken != "UTF-8" else []),
            *([SEPARATORS.get(self.separator, repr(self.separator))] if self.separator != usual else []),
            *(["decimal commas"] if self.decimal_commas else []),
        ]
        return f"{path} was read as {', '.join(found)}" if found else ""


def dialect_of(path: Path) -> Dialect:
    """How this file is written; bytes that are no text are refused."""
    _refuse_long_lines(path)
    encoding = _encoding(path)
    with path.open("rb") as file:
        start = file.read(SAMPLE)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(start)
    lines = text.splitlines()
    if len(start) == SAMPLE and len(lines) > 1:
        lines.pop()  # cut off
    hint = TOLD.match(lines[0]) if lines else None
    lines = lines[1:] if hint else lines
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    separator = hint.group(1) if hint else _separator(lines, usual)
    skip = 1 if hint else 0
    with path.open("rb") as file:
        header = b"".join(file.readline() for _ in range(skip + 1)).decode(encoding, "replace")
    refuse_too_wide(path, header.count(separator) + 1)
    cells = (cell.strip(" \u00a0\u202f€$£¥%") for row in _rows(lines[1:], separator) for cell in row)
    found = {cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)}
    thousands = separator != ";" and all(THOUSANDS.fullmatch(cell) for cell in found)  # 1,234 between tabs or bars
    commas = bool(found) and separator != "," and not thousands
    return Dialect(encoding, separator, skip, commas)


def _refuse_long_lines(path: Path) -> None:
    """Refuse a line that is longer than any cell may be."""
    run = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            after = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
            run = len(piece) - after + (0 if after else run)
            if run > LONGEST_LINE:
                raise FileError(f"{path} has a line of more than {LONGEST_LINE:,} bytes: cut it, or save it again.")


def _separator(lines: list[str], usual: str) -> str:
    """The separator by which the rows are as long as the header; of several, that which names most columns.

    Commas come last: they also lie in numbers and in names such as "size, cm"; the others hardly do, in all rows alike.
    """
    best, rank = usual, (0.0, False, 0, False)
    for separator in SEPARATORS:
        rows = _rows(lines, separator)
        if not rows or len(rows[0]) < 2:
            continue
        alike = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        found = (round(alike, 1), separator != ",", len(rows[0]), separator == usual)
        if found > rank:
            best, rank = separator, found
    return best


def _rows(lines: list[str], separator: str) -> list[list[str]]:
    try:
        return [row for row in islice(csv.reader(lines, delimiter=separator, skipinitialspace=True), ROWS) if row]
    except csv.Error:  # a cell longer than the csv module takes
        return []


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(SAMPLE)
        for bom, name in BOMS.items():
            if start.startswith(bom):
                return name
        if start.count(0) > len(start) / 4:
            return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
        if start.translate(None, CONTROL) != start:
            raise FileError(f"{path} holds bytes that are no text, so it is no table: save it again as CSV or Excel.")
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while piece := file.read(PIECE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return _single_byte(path)
    return "utf-8-sig"


def _single_byte(path: Path) -> str:
    """Windows' Latin-1, which most programs mean; the plain one where five bytes without a meaning there occur."""
    with path.open("rb") as file:
        odd = any(piece.translate(None, MEANINGLESS) != piece for piece in iter(lambda: file.read(PIECE), b""))
    return "latin-1" if odd else "cp1252"
