"""A file held so that nobody else opens it, by whatever path."""

from __future__ import annotations

import errno
import os
import struct
import threading
from pathlib import Path
from typing import ClassVar

from fewlabels.errors import FileError
from fewlabels.files.atomic import sync_folder

FAR = 2**60  # the byte that is locked
HEAD = 16  # bytes that tell what kind of file it is


class Held:
    """The store's own file, held so that nobody else opens it, by whatever path: no other thread, no other process.

    The lock is on the file itself, so no link and no removed lock file leads past it, and the system releases it
    however the process ends. Nothing else in this process may open and close that file: it would end SQLite's locks.
    """

    _here: ClassVar[set[tuple[int, int]]] = set()  # files held by this process
    _guard = threading.Lock()

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        with self._guard:
            try:
                new = not path.exists()
                if not new and identity(path.stat()) in self._here:
                    raise _open_elsewhere(path)
                self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # answers are nobody else's
                self._identity = identity(os.fstat(self._file))
                self.head = os.pread(self._file, HEAD, 0)  # the first bytes, none where the file is new
                _lock(self._file)
                if new:
                    sync_folder(path.parent)
            except OSError as error:
                if self._file is not None:
                    os.close(self._file)
                if isinstance(error, BlockingIOError | PermissionError) and self._file is not None:
                    raise _open_elsewhere(path) from None
                raise FileError(
                    f"cannot keep answers in {path}: {error.strerror}. Choose another file with --store."
                ) from None
            self._here.add(self._identity)

    @property
    def in_place(self) -> bool:
        """Whether the path still leads to this file: it may have been moved, removed or replaced."""
        try:
            return identity(self._path.stat()) == self._identity
        except OSError:
            return False

    def read(self) -> bytes:
        """All of it, without opening it once more."""
        assert self._file is not None
        return os.pread(self._file, os.fstat(self._file).st_size, 0)

    def close(self) -> None:
        with self._guard:
            if self._file is not None:
                file, self._file = self._file, None
                self._here.discard(self._identity)
                os.close(file)


def is_held(path: Path) -> bool:
    """Whether a process has this file open as its store; not to be asked by that process itself."""
    try:
        file = os.open(path, os.O_RDWR)
        try:
            _lock(file)
        finally:
            os.close(file)
    except (BlockingIOError, PermissionError):
        return True
    return False


def _lock(file: int) -> None:
    """Lock a byte far beyond SQLite's own locks; BlockingIOError or PermissionError where another process has.

    With Linux's locks of an open file, which end with that file alone. Where a file system has no locks, there is none.
    """
    try:
        import fcntl  # not on every system
    except ImportError:
        return
    try:
        if hasattr(fcntl, "F_OFD_SETLK"):
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, FAR, 1, 0))
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, FAR)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS, errno.EINVAL):
            raise


def identity(status: os.stat_result) -> tuple[int, int]:
    """What tells a file from all others, whatever its name."""
    return status.st_dev, status.st_ino


def _open_elsewhere(path: Path) -> FileError:
    return FileError(f"{path} is open in another fewlabels: go to its page, stop it there, or give another --store.")
