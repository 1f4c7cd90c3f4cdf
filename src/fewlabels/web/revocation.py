"""Sign everybody out from the shell: a file beside the store, which the server looks for at every request."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from fewlabels.errors import FileError
from fewlabels.web import links


def request_sign_out(store: Path) -> bool:
    """Have the page of this store sign everybody out before it answers another request; whether people's links end."""
    mark, secret = _mark(store), links.beside(store)
    try:
        named = secret.exists()
        secret.unlink(missing_ok=True)
        file = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.utime(file)
        finally:
            os.close(file)
    except OSError as error:
        raise FileError(
            f"cannot write {mark}: {error.strerror}. Stop the page: that signs everybody out, too."
        ) from None
    return named


class Revocation:
    """Whether somebody who may write the store has asked for it since."""

    def __init__(self, store: Callable[[], Path]) -> None:
        self._store = store
        self._seen = self._stamp()

    def asked(self) -> bool:
        """True once for each time it was asked for."""
        stamp = self._stamp()
        fresh = stamp is not None and stamp != self._seen
        self._seen = stamp
        return fresh

    def forget(self) -> None:
        """Leave no file behind."""
        _mark(self._store()).unlink(missing_ok=True)

    def _stamp(self) -> tuple[int, int] | None:
        """What changes when it is asked for; a file of another user does not count."""
        try:
            found = _mark(self._store()).lstat()
        except OSError:
            return None
        return (found.st_ino, found.st_mtime_ns) if found.st_uid in (0, os.geteuid()) else None


def _mark(store: Path) -> Path:
    store = store.resolve()
    return store.with_name(f"{store.name}.sign-out")
