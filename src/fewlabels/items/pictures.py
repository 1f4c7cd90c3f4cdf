"""Images on disk: listed, looked at once, and afterwards served by number only."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import FileError, NodeError
from fewlabels.items.images import image_features

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
READ = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")  # the only Pillow readers that may open the files
MEDIA = {"JPEG": "jpeg", "MPO": "jpeg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp"}  # browsers show these
THUMBNAIL = 128  # pixels, the longer side
SHOWN = 2048  # the same of a picture in a format that browsers do not show
PIXELS = 50_000_000  # in one image
LARGE = 8_000_000  # pixels beyond which images are decoded one at a time: some 400 MB each
CACHED = 16  # pictures drawn for browsers that are kept
_one_large = threading.Lock()


@dataclass(frozen=True)
class Seen:
    """What is kept of an image once it has been read."""

    path: Path
    format: str
    sha256: str
    size: int  # bytes
    thumbnail: bytes
    features: Floats | None


class ImageFiles:
    """Pictures from files that were all opened at the start; a file that has changed since is not served."""

    def __init__(self, seen: Sequence[Seen]) -> None:
        self._files = seen
        self._drawn = lru_cache(CACHED)(self._draw)

    def full(self, item: int) -> tuple[bytes, str]:
        """The file's own bytes, or a PNG of it where browsers cannot show its format."""
        one = self._files[self._number(item)]
        if one.format in MEDIA:
            return _unchanged(one), f"image/{MEDIA[one.format]}"
        return self._drawn(item), "image/png"

    def _draw(self, item: int) -> bytes:
        from PIL import Image

        return encoded(_decoded(Image.open(io.BytesIO(_unchanged(self._files[item])), formats=READ), SHOWN), "PNG")

    def thumbnail(self, item: int) -> tuple[bytes, str]:
        """A small JPEG, made when the image was first read."""
        return self._files[self._number(item)].thumbnail, "image/jpeg"

    def original(self, item: int) -> tuple[bytes, str]:
        """The file's own bytes, whatever its format."""
        return _unchanged(self._files[self._number(item)]), self.ending(item)

    def ending(self, item: int) -> str:
        return self._files[self._number(item)].path.suffix.lower()

    def file(self, item: int) -> Path:
        return self._files[self._number(item)].path

    def _number(self, item: int) -> int:
        if not 0 <= item < len(self._files):
            raise NodeError(f"there is no item {item}: items are 0 to {len(self._files) - 1}.")
        return item


def images_in(folder: Path) -> tuple[list[Path], int]:
    """The images in a folder and its subfolders, sorted by path, and how many other files were left out.

    Hidden files and folders are not looked at.
    """
    found, others = [], 0
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if any(part.startswith(".") for part in inside.parts) or not path.is_file():
            continue
        if path.suffix.lower() in SUFFIXES:
            found.append(path)
        else:
            others += 1
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix()), others


def look_at(
    paths: Sequence[Path],
    *,
    features: bool,
    in_table: bool,
    tell: Callable[[str], None],
    within: Sequence[Path] | None = None,
) -> list[Seen]:
    """Open every image once; those that cannot be shown are refused together, in one message. Where `within` is given,
    they must lie in one of these folders, wherever links lead."""

    def one(path: Path) -> Seen | str:
        if within is not None and not any(path.resolve().is_relative_to(folder) for folder in within):
            return f"lies outside of {within[0]}: allow the folder it is in with --images-from"
        return _look(path, features)

    tell(f"Reading {len(paths):,} images")
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Pillow warns about (size, odd metadata) is handled in _look
            answers = list(counted(pool.map(one, paths), len(paths), tell))
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C does not wait for the remaining images
    broken = [(path, answer) for path, answer in zip(paths, answers, strict=True) if isinstance(answer, str)]
    if broken:
        path, reason = broken[0]
        if len(broken) == 1:
            way_out = "Repair it or remove its row" if in_table else "Repair or remove it"
        else:
            way_out = f"{len(broken):,} of {len(paths):,} images cannot be shown: " + (
                "repair them or remove their rows" if in_table else "repair or remove them"
            )
        raise FileError(f"{path} {reason}. {way_out}, then start again.")
    return [answer for answer in answers if isinstance(answer, Seen)]


def contents(seen: Sequence[Seen]) -> list[str]:
    """(n,) what tells one image's bytes from any other's."""
    return [f"{one.sha256} {one.size}" for one in seen]


def stacked(seen: Sequence[Seen]) -> Floats:
    """(n, d) the features of images that were read with `features=True`."""
    return np.stack([one.features for one in seen if one.features is not None])


def counted(
    results: Iterable[T], total: int, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic
) -> Iterator[T]:
    """The same results, reporting "600 of 1,200" every two seconds."""
    told = clock()
    for done, result in enumerate(results, start=1):
        if clock() - told >= 2 and done < total:
            told = clock()
            tell(f"{done:,} of {total:,}")
        yield result


def _unchanged(one: Seen) -> bytes:
    """The bytes that were read at the start; what has taken the file's place since is not even opened for long."""
    try:
        file = os.open(one.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            found = os.fstat(file)
            same = stat.S_ISREG(found.st_mode) and found.st_size == one.size
            content = b"".join(iter(lambda: os.read(file, 2**20), b"")) if same else b""
        finally:
            os.close(file)
    except OSError as error:
        if error.errno != errno.ELOOP:  # a link has taken its place
            raise FileError(f"{one.path} can no longer be read ({error.strerror}). Put it back.") from None
        same, content = False, b""
    if not same or hashlib.sha256(content).hexdigest() != one.sha256:
        raise FileError(f"{one.path} has changed since it was read at the start. Put it back or start again.")
    return content


def _decoded(image: Image.Image, longest: int) -> Image.Image:
    """The image upright, in RGB, and no larger than this; large ones one at a time."""
    with _one_large if image.width * image.height > LARGE else nullcontext():
        image.draft("RGB", (2 * longest, 2 * longest))  # a large JPEG is decoded at about the size needed
        small = upright(image)
        small.thumbnail((longest, longest))
        return small


def _look(path: Path, features: bool) -> Seen | str:
    """What is kept of the image, or the reason why it cannot be shown."""
    from PIL import Image, UnidentifiedImageError

    if not path.is_file():
        return "is not a plain file" if path.exists() else "does not exist"
    try:
        path = path.resolve()  # a link is followed now, and not when it may lead elsewhere
        with path.open("rb") as file:
            image = Image.open(file, formats=READ)
            if image.width * image.height > PIXELS:
                return f"has {image.width:,} x {image.height:,} pixels, over the limit of {PIXELS:,}: shrink it"
            file.seek(0)
            content = file.read()
        image = Image.open(io.BytesIO(content), formats=READ)
        kind = image.format or ""
        small = _decoded(image, THUMBNAIL)
        numbers = image_features(small) if features else None
        sha256 = hashlib.sha256(content).hexdigest()
        return Seen(path, kind, sha256, len(content), encoded(small, "JPEG"), numbers)
    except UnidentifiedImageError:
        return f"is not an image that can be read ({', '.join(READ)})"
    except Image.DecompressionBombError:
        return f"has far more pixels than the limit of {PIXELS:,}: shrink it"
    except Exception as error:  # broken files make Pillow raise almost anything, SyntaxError and struct.error included
        return f"is a broken image ({error or type(error).__name__})"


def upright(image: Image.Image) -> Image.Image:
    """The image in RGB, turned as its metadata says, on white where it is transparent."""
    from PIL import Image, ImageOps

    turned = ImageOps.exif_transpose(image)
    if turned.mode[:1] in "IF":  # 16 and 32 bits per pixel: stretch from its darkest to its lightest
        values = np.array(turned, dtype=np.float32)
        low, high = values.min(), values.max()
        values -= low
        values *= 255 / (high - low if high > low else 1.0)
        turned = Image.fromarray(values.astype(np.uint8))
    if "transparency" in turned.info or turned.mode in ("RGBA", "LA", "PA", "RGBa", "La"):
        seen = turned.convert("RGBA")
        turned = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen)
    return turned.convert("RGB")


def encoded(image: Image.Image, kind: str) -> bytes:
    """The image's bytes in a format that browsers show."""
    out = io.BytesIO()
    image.save(out, kind, **({"quality": 85} if kind == "JPEG" else {"compress_level": 1}))  # 1: a third of the time
    return out.getvalue()
