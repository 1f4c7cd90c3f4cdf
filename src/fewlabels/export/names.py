"""Names of folders and files made from other people's words: none leads anywhere else, none is there twice."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

LONGEST = 100  # bytes of a name: every file system takes 255
RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{k}" for name in ("com", "lpt") for k in range(1, 10))}  # on Windows


def safe(name: str, instead: str = "unnamed") -> str:
    """A name for one folder or file: letters, digits, spaces, and - _ . inside.

    >>> safe("../x"), safe("a/b"), safe("CON"), safe(" .. "), safe("grün & blau")
    ('x', 'a_b', '_CON', 'unnamed', 'grün _ blau')
    """
    kept = "".join(c if c.isalnum() or c in " -_." else "_" for c in unicodedata.normalize("NFC", name))
    kept = kept.encode()[:LONGEST].decode(errors="ignore").strip(" ._") or instead
    return f"_{kept}" if kept.split(".")[0].casefold() in RESERVED else kept


def distinct(names: Iterable[str]) -> list[str]:
    """The same names, those that a file system may take for one another with a number.

    >>> distinct(["a.png", "A.png", "b"])
    ['a.png', 'A-2.png', 'b']
    """
    seen: set[str] = set()
    made = []
    for name in names:
        path, number, one = PurePosixPath(name), 1, name
        while one.casefold() in seen:
            number += 1
            one = f"{path.stem}-{number}{path.suffix}"
        seen.add(one.casefold())
        made.append(one)
    return made
