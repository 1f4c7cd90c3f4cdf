"""Text that a spreadsheet would take for a formula is marked as text."""

from __future__ import annotations

import re
from typing import TypeVar

T = TypeVar("T")
SEPARATORS = re.compile(r"([;|\t\r\n])")  # where programs begin another cell, whatever the file says
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"  # the last eight: full-width and small ones
BLANKS = r'[\s\x00-\x1f"\u00ad\u200b-\u200f\u2060\ufeff]*'  # passed over at the beginning of a cell
FORMULA = re.compile(f"{BLANKS}(?=[{re.escape(SIGNS)}])")


def as_text(cell: T) -> T | str:
    """The cell; what a spreadsheet would calculate in it, or in a part of it, has an apostrophe in front.

    >>> as_text("=cmd()"), as_text("a;=cmd()"), as_text("-5"), as_text("cat"), as_text(-0.5)
    ("'=cmd()", "a;'=cmd()", '-5', 'cat', -0.5)
    """
    return "".join(map(_marked, SEPARATORS.split(cell))) if isinstance(cell, str) else cell


def _marked(part: str) -> str:
    found = FORMULA.match(part)
    if found is None:
        return part
    try:
        float(part[found.end() :])
    except ValueError:
        return f"{part[: found.end()]}'{part[found.end() :]}"
    return part
