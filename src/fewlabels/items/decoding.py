"""Pictures decoded: upright, in RGB, no larger than asked for, and within limits that no file can talk its way around.

The limit of time is one of computing, so that waiting for others does not count. It is kept where the file is read:
most decoders come back for more; those of WebP, HEIC and TIFF take all at once, and are bounded by the pixels alone.
"""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Numbers
from fewlabels.errors import FileError

if TYPE_CHECKING:
    from PIL import Image

READ = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")  # the only readers of Pillow's own that may open the files
BYTES = 200_000_000  # of one file
PIXELS = 50_000_000  # in one image; half of them in a WebP, which its decoder holds four times
ROWS = 1_000_000  # in one image: each costs Pillow eight bytes, however short it is
SECONDS = 5.0  # of computing for one image
LARGE = 8_000_000  # pixels beyond which images are decoded one at a time: some 400 MB each
STEP = 4096  # bytes of a JPEG decoded at a time: a hundred of them can hold a scan of all its pixels
BAND = 1_000_000  # pixels of many bits that are stretched at a time
HEIC = (".heic", ".heif")  # photos of phones
_one_large = threading.Lock()


class RefusedError(Exception):
    """A picture over a limit; the sentence lacks its subject, the file."""


class _Reading(io.BytesIO):
    """A file in memory that is read on as long as decoding it has not taken too long."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._until = time.thread_time() + SECONDS

    def read(self, size: int | None = -1) -> bytes:
        if time.thread_time() > self._until:
            raise RefusedError(f"takes more than {SECONDS:g} s to decode: save it anew")
        return super().read(size)


@cache
def readers() -> tuple[str, ...]:
    """The Pillow readers that may open the files: those of READ, and HEIF where it is installed."""
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        return READ
    register_heif_opener(thumbnails=False)
    return (*READ, "HEIF")


def file_content(path: Path) -> bytes:
    """The bytes of a picture's file."""
    with path.open("rb") as file:
        if (size := os.fstat(file.fileno()).st_size) > BYTES:
            raise RefusedError(f"has {size:,} bytes, over the limit of {BYTES:,}: shrink it")
        return file.read(BYTES)  # it may be growing


def open_image(content: bytes) -> Image.Image:
    """The picture, not yet decoded."""
    from PIL import Image

    image = Image.open(_Reading(content), formats=readers())
    most = PIXELS // 2 if image.format == "WEBP" else PIXELS
    if image.width * image.height > most:
        raise RefusedError(f"has {image.width:,} x {image.height:,} pixels, over the limit of {most:,}: shrink it")
    if image.height > ROWS:
        raise RefusedError(f"has {image.height:,} rows of pixels, over the limit of {ROWS:,}: turn or shrink it")
    if image.format in ("JPEG", "MPO"):
        image.decodermaxblock = STEP
    return image


def decoded(image: Image.Image, longest: int) -> Image.Image:
    """The image upright, in RGB, and no larger than this; large ones one at a time, and held once or twice."""
    from PIL import ImageOps

    with _one_large if image.width * image.height > LARGE else nullcontext():
        image.draft("RGB", (2 * longest, 2 * longest))  # a large JPEG is decoded at about the size needed
        ImageOps.exif_transpose(image, in_place=True)
        small = _smooth(image)
        small.thumbnail((longest, longest))
        return in_colours(small)


def opened(path: Path, longest: int) -> Image.Image:
    """The photo upright, in RGB, and no larger than this."""
    try:
        return decoded(open_image(file_content(path)), longest)
    except Exception as error:  # broken files make Pillow raise almost anything
        raise FileError(f"{path} {fault(error, path)}. Repair or remove it.") from None


def fault(error: Exception, path: Path) -> str:
    """What is wrong with this file: a sentence without its subject."""
    from PIL import Image, UnidentifiedImageError

    if isinstance(error, RefusedError):
        return str(error)
    if isinstance(error, UnidentifiedImageError):
        if path.suffix.lower() in HEIC and "HEIF" not in readers():
            return "is a HEIC photo, and what reads it is not installed: pip install 'fewlabels[heic]'"
        return f"is not an image that can be read ({', '.join(readers())})"
    if isinstance(error, Image.DecompressionBombError):
        return f"has far more pixels than the limit of {PIXELS:,}: shrink it"
    return f"is a broken image ({error or type(error).__name__})"


def _smooth(image: Image.Image) -> Image.Image:
    """The image in a mode that can be shrunk: without a palette, with 8 bits a colour, transparency in a channel."""
    if image.mode[:1] in "IF":
        return _stretched(image)
    if "transparency" in image.info or image.mode == "PA":
        return image.convert("RGBA")
    return image.convert("RGB") if image.mode in ("1", "P") else image


def _stretched(image: Image.Image) -> Image.Image:
    """16 and 32 bits per pixel: grey from its darkest to its lightest."""
    from PIL import Image

    low, high = np.inf, -np.inf
    for _, band in _bands(image):
        there = np.isfinite(band)
        low, high = float(band.min(where=there, initial=low)), float(band.max(where=there, initial=high))
    if not low < high:
        return Image.new("L", image.size)
    grey = np.zeros((image.height, image.width), dtype=np.uint8)
    for top, band in _bands(image):
        grey[top : top + len(band)] = (np.where(np.isfinite(band), band, low) - low) * (255 / (high - low))
    return Image.fromarray(grey)


def _bands(image: Image.Image) -> Iterator[tuple[int, Numbers]]:
    """Some rows at a time, with the number of the first."""
    step = max(BAND // image.width, 1)
    for top in range(0, image.height, step):
        part = image.crop((0, top, image.width, min(top + step, image.height)))
        yield top, np.array(part, dtype=np.float32)


def in_colours(image: Image.Image) -> Image.Image:
    """The image in RGB, on white where it is transparent."""
    from PIL import Image

    if image.mode in ("RGBA", "LA", "RGBa", "La"):
        seen = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen)
    return image.convert("RGB")


def encoded(image: Image.Image, kind: str) -> bytes:
    """The image's bytes in a format that browsers show."""
    out = io.BytesIO()
    image.save(out, kind, **({"quality": 85} if kind == "JPEG" else {"compress_level": 1}))  # 1: a third of the time
    return out.getvalue()
