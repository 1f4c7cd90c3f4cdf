"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fewlabels.errors import FileError


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path` to write to; if the block succeeds, it is synced to disk and renamed to `path`."""
    shown, path = Path(path), Path(path).resolve()  # a link is followed to the file it names
    draft = _draft(shown, path)
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.chmod(path.stat().st_mode & 0o777 if path.exists() else usual_mode(0o666))
        draft.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise FileError(f"cannot write {shown}: {error.strerror or error}. What was there before is kept.") from None
    finally:
        draft.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk, where the system knows how: a new or renamed file is found after a crash."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that nothing can be written to, before there is anything to write."""
    _draft(Path(path), Path(path).resolve()).unlink()


def refuse_overwriting(path: Path, given: Iterable[Path | None]) -> None:
    """Refuse a path to write to that is one of the files, or the folder, that were given to be read."""
    if path.exists() and any(one is not None and one.exists() and path.samefile(one) for one in given):
        raise FileError(f"{path} is read here, and would be overwritten: name another to write to.")


@contextmanager
def one_at_a_time(path: str | os.PathLike[str]) -> Iterator[None]:
    """Around reading a file and replacing it: nobody else who asks does so in the same folder meanwhile.

    The folder itself is locked, because a file that is replaced takes its lock along. The system lets go of the lock
    however the process ends; where there are no such locks, nothing is locked.
    """
    folder = Path(path).resolve().parent
    try:
        import fcntl  # not on every system

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _draft(shown: Path, path: Path) -> Path:
    """A new empty file beside the path, which is called `shown` where it is refused."""
    if not path.parent.is_dir():
        raise FileError(f"cannot write {shown}: there is no folder {shown.parent}. Create it first.")
    if path.is_dir():
        raise FileError(f"cannot write {shown}: it is a folder. Give a file name inside it.")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    except OSError as error:
        raise FileError(f"cannot write {shown}: {error.strerror}. Choose another folder.") from None
    os.close(handle)
    return Path(name)


def usual_mode(mode: int) -> int:
    """The mode a new file has here: this one, without what the umask of the process takes away."""
    try:
        status = Path("/proc/self/status").read_text()
        mask = next(line.split()[1] for line in status.splitlines() if line.startswith("Umask:"))
        return mode & ~int(mask, 8)
    except (OSError, StopIteration, ValueError):  # not on Linux: for a moment other threads have a stricter one
        before = os.umask(0o077)
        os.umask(before)
        return mode & ~before
