"""Links of people's own: the same at every start, by a secret beside the store, until all are signed out."""

from __future__ import annotations

import base64
import hmac
import logging
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

LENGTH = 32  # bytes of the secret


def tokens(store: Path, people: Sequence[str]) -> dict[str, str]:
    """{token: person}, the same for the same store and person; where no secret can be kept, while this server runs."""
    if not people:
        return {}
    try:
        secret = _secret(store)
    except OSError as error:
        secret = secrets.token_bytes(LENGTH)
        log = logging.getLogger("uvicorn.error")
        log.warning("Links end with this server: %s: %s. Remove it for lasting ones.", beside(store), error.strerror)
    return {_token(secret, person): person for person in people}


def _token(secret: bytes, person: str) -> str:
    return base64.urlsafe_b64encode(hmac.digest(secret, person.encode(), "sha256")[:24]).decode()


def _secret(store: Path) -> bytes:
    """What lies beside the store, for nobody but its owner to read; made where there is none."""
    with os.fdopen(os.open(beside(store), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+b") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise PermissionError(1, "others can read or write it")
        secret = file.read(LENGTH)
        if len(secret) < LENGTH:  # it is new, or was never written to its end
            secret = secrets.token_bytes(LENGTH)
            file.seek(0)
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        return secret


def beside(store: Path) -> Path:
    store = store.resolve()
    return store.with_name(f"{store.name}.links")
