"""Who has been let in: cookies that a token or a link was exchanged for, known only while this server runs."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

MOST = 1_000  # cookies at a time; the oldest gives way
LINK_LASTS = 120.0  # seconds until a link that nobody opened no longer works


class Visitors:
    """A restart forgets them all, and so does `sign_out` without a cookie, or whenever `revoked` says so.

    >>> visitors = Visitors()
    >>> link = visitors.link()
    >>> visitors.open(link), visitors.open(link)
    (True, False)
    >>> cookie = visitors.admit()
    >>> visitors.knows(cookie)
    True
    >>> visitors.sign_out(cookie); visitors.knows(cookie)
    False
    """

    def __init__(self, revoked: Callable[[], bool] = lambda: False) -> None:
        self._revoked = revoked
        self._lock = threading.Lock()
        self._cookies: dict[str, str | None] = {}  # -> whose it is, where people have links of their own
        self._links: dict[str, float] = {}  # until when each may be opened

    def link(self) -> str:
        """A secret that lets one browser in, once."""
        with self._lock:
            made = secrets.token_urlsafe(24)
            self._links[made] = time.monotonic() + LINK_LASTS
            return made

    def is_open(self, link: str) -> bool:
        self._look()
        with self._lock:
            return self._links.get(link, 0.0) > time.monotonic()

    def open(self, link: str) -> bool:
        """Whether this link lets somebody in, which it does once."""
        with self._lock:
            return self._links.pop(link, 0.0) > time.monotonic()

    def admit(self, person: str | None = None) -> str:
        """A new cookie, for someone who has shown the token, a token of their own or a link."""
        with self._lock:
            made = secrets.token_urlsafe(24)
            self._cookies[made] = person
            while len(self._cookies) > MOST:
                del self._cookies[next(iter(self._cookies))]
            return made

    def knows(self, cookie: str) -> bool:
        self._look()
        with self._lock:
            return cookie in self._cookies

    def person(self, cookie: str) -> str | None:
        """Whose cookie this is."""
        with self._lock:
            return self._cookies.get(cookie)

    def sign_out(self, cookie: str | None = None) -> None:
        """Forget this cookie, or all of them and every link."""
        with self._lock:
            if cookie is None:
                self._cookies.clear()
                self._links.clear()
            else:
                self._cookies.pop(cookie, None)

    def _look(self) -> None:
        if self._revoked():
            self.sign_out()
