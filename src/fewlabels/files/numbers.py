"""Cells as numbers and as dates, the ways people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Flags, Floats

if TYPE_CHECKING:
    import pandas as pd

NONE = "none"  # nothing among numbers or dates, a category among words
MISSING = ("", "na", "n/a", "#n/a", "nan", "nat", "null", NONE, "-", "?", ".")  # in lower case
GROUPS = r"[.\u00a0\u202f' ]"  # between the thousands
COMMA = rf"[+-]?(?:\d+|\d{{1,3}}(?:{GROUPS}\d{{3}})+)(?:,\d+)?(?:[eE][+-]?\d+)?"  # 1.234,5
POINT = r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"  # 1,234.5
UNIT = r"^\s*([+-]?)\s*[€$£¥]\s*|[%€$£¥]\s*$"  # -$5 is minus five
DATES = ("ISO8601", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")
DECIMAL_COMMAS = "decimal commas"  # in the attrs of a table: whether the file was found to use them
DAY = 86_400  # seconds


def missing(cells: Sequence[str], *, words: bool = False) -> Flags:
    """(n,) whether a cell says that there is nothing in it; among words “none” is an answer like any other."""
    said = [cell.strip().lower() for cell in cells]
    return np.array([cell in MISSING and not (words and cell == NONE) for cell in said], dtype=bool)


def numbers(cells: Sequence[str], decimal_commas: bool = False) -> Floats:
    """(n,) the cells as numbers, NaN where one is missing or none; 1.234 is 1234 among decimal commas.

    A sign of percent or money before or after does not count.

    >>> numbers(["1,5", "2", "?"]), numbers(["1,234", "1,000.5", "7"]), numbers(["1.5 %", "x"])
    (array([1.5, 2. , nan]), array([1234. , 1000.5,    7. ]), array([1.5, nan]))
    """
    import pandas as pd

    text = pd.Series(list(cells), dtype=object).str.replace(UNIT, r"\1", regex=True).str.strip()
    there = ~missing(cells)
    if decimal_commas and text[there].str.fullmatch(COMMA).all():
        return _with_commas(text.where(there))
    x = pd.to_numeric(text.where(there), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    unread = text[there & np.isnan(x)]
    if not unread.str.contains(",").any():
        return np.asarray(x)
    said = text[there]
    if (said.str.fullmatch(POINT) | ~np.isnan(x[there])).all():
        plain = text.str.replace(",", "")
    elif said.str.fullmatch(COMMA).all():
        return _with_commas(text.where(there))
    else:
        return np.asarray(x)
    return np.asarray(pd.to_numeric(plain.where(there), errors="coerce").to_numpy(dtype=float, na_value=np.nan))


def _with_commas(text: pd.Series) -> Floats:
    import pandas as pd

    plain = text.str.replace(GROUPS, "", regex=True).str.replace(",", ".")
    return np.asarray(pd.to_numeric(plain, errors="coerce").to_numpy(dtype=float, na_value=np.nan))


def with_points(cells: pd.Series) -> pd.Series:
    """Text cells with decimal points in the place of decimal commas, where that is how they are written."""
    plain = cells.str.replace(GROUPS, "", regex=True).str.replace(",", ".")
    return plain.where(cells.str.strip().str.fullmatch(COMMA).fillna(False).astype(bool), cells)


def days(cells: Sequence[str]) -> tuple[Floats, str] | None:
    """(n,) dates as days since 1970, NaN where missing, and the way they are written; None where they are no dates."""
    import pandas as pd

    there = ~missing(cells)
    text = pd.Series(list(cells), dtype=object)[there].str.strip()
    if not len(text) or not text.str.contains(r"\d[-./]\d").all():
        return None
    for way in DATES:
        found = pd.to_datetime(text, format=way, errors="coerce", utc=True)
        if found.notna().all():
            x = np.full(len(cells), np.nan)
            x[there] = found.dt.tz_convert(None).to_numpy().astype("datetime64[s]").astype(np.int64) / DAY
            return x, "dates, the day first" if way.startswith("%d/") else "dates"
    return None
