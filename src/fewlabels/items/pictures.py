"""Images on disk: listed, looked at once, and afterwards served by number only."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import FileError, NodeError
from fewlabels.items.decoding import HEIC, decoded, encoded, fault, file_content, open_image
from fewlabels.items.feature_cache import far_along
from fewlabels.items.images import image_features
from fewlabels.items.remembered import Remembered
from fewlabels.items.seen import Seen

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", *HEIC)
MEDIA = {"JPEG": "jpeg", "MPO": "jpeg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp"}  # browsers show these
THUMBNAIL = 128  # pixels, the longer side
SHOWN = 2048  # the same of a picture in a format that browsers do not show
ORIENTATION = 0x0112  # the tag of the metadata that tells how a photo was held; browsers heed it in JPEGs
CACHED = 16  # pictures drawn for browsers that are kept
SLOW = 0.3  # seconds of computing; the page draws one picture at a time that takes longer


class ImageFiles:
    """Pictures from files that were all opened at the start; a file that has changed since is not served."""

    def __init__(self, seen: Sequence[Seen]) -> None:
        self._files = seen
        self._drawn = lru_cache(CACHED)(self._draw)

    def full(self, item: int) -> tuple[bytes, str]:
        """The file's own bytes, or a picture of it where browsers do not show it as it is."""
        one = self._files[self._number(item)]
        if not one.drawn:
            return _unchanged(one), f"image/{MEDIA[one.format]}"
        return self._drawn(item), f"image/{one.drawn.lower()}"

    def _draw(self, item: int) -> bytes:
        one = self._files[item]
        return encoded(decoded(open_image(_unchanged(one)), SHOWN), one.drawn)

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

    def slow(self, item: int) -> bool:
        """Whether it must be drawn, and that takes long."""
        one = self._files[self._number(item)]
        return bool(one.drawn) and one.slow

    def _number(self, item: int) -> int:
        if not 0 <= item < len(self._files):
            raise NodeError(f"there is no item {item}: items are 0 to {len(self._files) - 1}.")
        return item


def images_in(folder: Path) -> tuple[list[Path], int]:
    """The images in a folder and its subfolders, sorted by path, and how many other files were left out.

    Hidden files and folders are not looked at.
    """
    found, others = [], 0
    waiting = [(folder, "")]
    while waiting:
        here, inside = waiting.pop()
        for entry in _entries(here):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append((Path(entry.path), f"{inside}{entry.name}/"))
            elif not (Path(entry.path) if entry.is_symlink() else entry).is_file():  # a link may lead to itself
                continue
            elif entry.name.lower().endswith(SUFFIXES):
                found.append(inside + entry.name)
            else:
                others += 1
    return [folder / name for name in sorted(found)], others


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder; nothing in one that may not be opened."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except PermissionError:
        return []


def look_at(
    paths: Sequence[Path],
    *,
    features: bool,
    tell: Callable[[str], None],
    within: Sequence[Path] | None = None,
) -> list[Seen | str]:
    """(n,) every image, opened once unless it is remembered, or the reason why it cannot be shown. Where `within` is
    given, they must lie in one of these folders, wherever links lead."""

    def lies_within(real: Path) -> bool:
        return within is None or any(real.is_relative_to(folder) for folder in within)

    def one(path: Path) -> Seen | str:
        try:
            if within is not None and not lies_within(path.resolve()):
                return f"lies outside of {within[0]}: allow the folder it is in with --images-from"
            return _look(path, features)
        except (OSError, ValueError) as error:  # a name that no file can have
            return f"cannot be opened ({getattr(error, 'strerror', None) or error})"

    tell(f"Reading {len(paths):,} images")
    remembered = Remembered(paths, features)
    allowed = {k: seen for k, seen in remembered.known.items() if lies_within(seen.path)}
    new = [k for k in range(len(paths)) if k not in allowed]
    with warnings.catch_warnings(), closing(_in_threads(one, [paths[k] for k in new])) as looked:
        warnings.simplefilter("ignore")  # what Pillow warns about (size, odd metadata) is handled in _look
        kept = remembered.keeping(zip(new, looked, strict=True))
        answers = allowed | dict(counted(kept, len(new), tell))
    return [answers[k] for k in range(len(paths))]


def _in_threads(work: Callable[[Path], T], paths: Sequence[Path]) -> Generator[T, None, None]:
    """The results in order. Nobody waits for these threads: Ctrl-C ends the program while they still decode."""
    results: list[Future[T]] = [Future() for _ in paths]
    left = deque(zip(paths, results, strict=True))

    def take() -> None:
        while True:
            try:
                path, result = left.popleft()
            except IndexError:
                return
            try:
                result.set_result(work(path))
            except BaseException as error:
                result.set_exception(error)

    for _ in range(min(os.cpu_count() or 1, len(paths))):
        threading.Thread(target=take, daemon=True).start()
    try:
        for result in results:
            yield result.result()
    finally:
        left.clear()


def whole(paths: Sequence[Path], answers: Sequence[Seen | str], *, in_table: bool) -> list[Seen]:
    """All images; if some cannot be shown, all are refused together, in one message."""
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
    """The same results, reporting every two seconds how far they are."""
    started = told = clock()
    for done, result in enumerate(results, start=1):
        now = clock()
        if now - told >= 2 and done < total:
            told = now
            tell(far_along(done, total, now - started))
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


def _look(path: Path, features: bool) -> Seen | str:
    """What is kept of the image, or the reason why it cannot be shown."""
    if not path.is_file():
        return "is not a plain file" if path.exists() else "does not exist"
    try:
        path = path.resolve()  # a link is followed now, and not when it may lead elsewhere
        content = file_content(path)
        started = time.thread_time()
        image = open_image(content)
        kind, drawn = image.format or "", _drawn_as(image)
        small = decoded(image, THUMBNAIL)
        del image  # with the canvases of its decoder
        slow = time.thread_time() - started > SLOW
        numbers = image_features(small).astype(np.float32).astype(float) if features else None  # as it is remembered
        sha256 = hashlib.sha256(content).hexdigest()
        return Seen(path, kind, sha256, len(content), encoded(small, "JPEG"), numbers, drawn, slow)
    except Exception as error:  # broken files make Pillow raise almost anything, SyntaxError and struct.error included
        return fault(error, path)


def _drawn_as(image: Image.Image) -> str:
    """The format to draw this image in for browsers; "" where they show the file itself, and the right way up."""
    if image.mode[:1] in "IF":
        return "PNG"  # 16 bits and more, which browsers do not stretch
    if image.mode == "CMYK" or image.format == "HEIF":
        return "JPEG"
    turned = image.getexif().get(ORIENTATION, 1) != 1
    return "" if image.format in MEDIA and (not turned or MEDIA[image.format] == "jpeg") else "PNG"
