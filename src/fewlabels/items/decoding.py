"""Pictures decoded: upright, in RGB, and no larger than asked for."""

from __future__ import annotations

import io
import threading
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.errors import FileError

if TYPE_CHECKING:
    from PIL import Image

READ = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")  # the only readers of Pillow's own that may open the files
PIXELS = 50_000_000  # in one image
LARGE = 8_000_000  # pixels beyond which images are decoded one at a time: some 400 MB each
_one_large = threading.Lock()


@cache
def readers() -> tuple[str, ...]:
    """The Pillow readers that may open the files: those of READ, and HEIF where it is installed."""
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        return READ
    register_heif_opener(thumbnails=False)
    return (*READ, "HEIF")


def opened(path: Path, longest: int) -> Image.Image:
    """The photo upright, in RGB, and no larger than this."""
    from PIL import Image

    try:
        with Image.open(path, formats=readers()) as image:
            if image.width * image.height > PIXELS:
                raise ValueError(f"{image.width:,} x {image.height:,} pixels, over the limit of {PIXELS:,}")
            return decoded(image, longest)
    except Exception as error:  # broken files make Pillow raise almost anything
        raise FileError(f"{path} is not an image that can be read ({error}). Repair or remove it.") from None


def decoded(image: Image.Image, longest: int) -> Image.Image:
    """The image upright, in RGB, and no larger than this; large ones one at a time."""
    with _one_large if image.width * image.height > LARGE else nullcontext():
        image.draft("RGB", (2 * longest, 2 * longest))  # a large JPEG is decoded at about the size needed
        small = upright(image)
        small.thumbnail((longest, longest))
        return small


def upright(image: Image.Image) -> Image.Image:
    """The image in RGB, turned as its metadata says, on white where it is transparent."""
    from PIL import Image, ImageOps

    turned = ImageOps.exif_transpose(image)
    if turned.mode[:1] in "IF":  # 16 and 32 bits per pixel: stretch from its darkest to its lightest
        values = np.array(turned, dtype=np.float32)
        there = np.isfinite(values)
        low, high = (float(values[there].min()), float(values[there].max())) if there.any() else (0.0, 0.0)
        grey = (np.where(there, values, low) - low) * (255 / (high - low if high > low else 1.0))
        turned = Image.fromarray(grey.astype(np.uint8))
    if "transparency" in turned.info or turned.mode in ("RGBA", "LA", "PA", "RGBa", "La"):
        seen = turned.convert("RGBA")
        turned = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen)
    return turned.convert("RGB")


def encoded(image: Image.Image, kind: str) -> bytes:
    """The image's bytes in a format that browsers show."""
    out = io.BytesIO()
    image.save(out, kind, **({"quality": 85} if kind == "JPEG" else {"compress_level": 1}))  # 1: a third of the time
    return out.getvalue()
