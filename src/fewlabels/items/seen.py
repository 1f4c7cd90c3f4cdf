"""What is kept of an image once it has been read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fewlabels.arrays import Floats


@dataclass(frozen=True)
class Seen:
    """An image file: what identifies its bytes, how small it looks, and how a browser is shown it."""

    path: Path
    format: str
    sha256: str
    size: int  # bytes
    thumbnail: bytes
    features: Floats | None
    drawn: str = ""  # the format in which it is drawn for browsers, "" where they show the file itself
    slow: bool = False  # decoding it takes long
