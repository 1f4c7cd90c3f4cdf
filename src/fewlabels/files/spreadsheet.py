"""Text that a spreadsheet would take for a formula is marked as text."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def as_text(cell: T) -> T | str:
    """The cell; text that a spreadsheet would calculate has an apostrophe in front, which it hides.

    >>> as_text("=cmd()"), as_text("-5"), as_text("cat"), as_text(-0.5)
    ("'=cmd()", '-5', 'cat', -0.5)
    """
    if not isinstance(cell, str) or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
