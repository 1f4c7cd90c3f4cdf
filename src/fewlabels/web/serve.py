"""Run the page until it is stopped: a socket, a token where others can reach it, a browser."""

from __future__ import annotations

import contextlib
import errno
import getpass
import html
import logging
import os
import secrets
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from fewlabels.errors import SettingError
from fewlabels.export.formats import FORMATS, Format
from fewlabels.session import Session
from fewlabels.session.store import StoreError
from fewlabels.web import links
from fewlabels.web.app import make_app
from fewlabels.web.connection import Connection, OnceAMinute
from fewlabels.web.guard import LOOPBACK, Rules
from fewlabels.web.rescue import rescue
from fewlabels.web.revocation import Revocation
from fewlabels.web.visitors import LINK_LASTS, Visitors

PORT = 8765
SWITCH = 0.001  # seconds the learner's thread may keep the interpreter from a reader; Python's own 5 ms add up
TRIES = 20  # ports to try, from the usual one on


@dataclass(frozen=True)
class Place:
    """Where the page is: an open socket, and the token it asks for."""

    socket: socket.socket
    host: str
    token: str | None
    several: bool = False  # whether others than whoever started it may come

    def invitation(self, token: str) -> str:
        """The address with a token of one's own."""
        return f"{self.address}/?token={quote(token, safe='')}"

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def address(self) -> str:
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def url(self) -> str:
        """The address with its token, for a browser."""
        return self.invitation(self.token) if self.token else self.address


def find_place(
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    *,
    several: bool = False,
    open_here: bool = False,
) -> Place:
    """Take the port, or the first free one from the usual one on.

    There is always a token: on this machine, too, other users could come (`open_here`: there they may). `several`
    people are expected anyway where the token is given, or where the host lies open to others.
    """
    several = several or token is not None or host not in LOOPBACK
    if token is None and not (open_here and host in LOOPBACK):
        token = secrets.token_urlsafe(24)
    if token is not None and len(token) < 8:
        raise SettingError(f"the token has {len(token)} characters: give at least 8, or leave it out to have one made.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [port] if port is not None else range(PORT, PORT + TRIES):
        place = socket.socket(family, socket.SOCK_STREAM)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            place.bind((host, candidate))
            place.listen(128)
        except OSError as error:
            place.close()
            if error.errno == errno.EADDRINUSE and port is None:
                continue
            raise SettingError(
                f"cannot listen on {host} port {candidate}: {error.strerror}. Give another --port or --host."
            ) from None
        return Place(place, host, token, several)
    raise SettingError(f"ports {PORT} to {PORT + TRIES - 1} are all taken: give another --port.")


def serve(
    session: Session,
    place: Place,
    *,
    browser: bool = False,
    people: Sequence[str] = (),
    tell: Callable[[str], None] = print,
    trusted: Iterable[str] = (),
    started: Callable[[], None] = lambda: None,
    formats: Mapping[str, Format] = FORMATS,
    guidelines: str | None = None,
) -> None:
    """Serve the session's page until Ctrl-C or a termination signal; `trusted` are hosts a proxy offers it under.
    Each of the people has a link of their own, which `tell` tells.
    """
    revocation, named = Revocation(lambda: session.path), dict[str, str]()

    def invite() -> None:
        before, fresh = set(named), links.tokens(session.path, people)
        named.update(fresh)  # first: where there is none, anybody may answer under any name
        for token in before - fresh.keys():
            del named[token]
        for token, one in fresh.items():
            tell(f"Link of {one}: {place.invitation(token)}")

    def revoked() -> bool:
        asked = revocation.asked()
        if asked:
            invite()
        return asked

    invite()
    visitors, cookie = Visitors(revoked), f"fewlabels-{place.port}"
    rules = Rules(place.token, cookie, visitors=visitors, people=named, trusted=frozenset(trusted))
    person = "" if place.several else _user()
    app = make_app(session, rules=rules, several=place.several, person=person, formats=formats, guidelines=guidelines)

    def begun() -> None:
        started()
        if browser:
            link = f"{place.address}/?link={rules.visitors.link()}" if place.token else place.address
            threading.Thread(target=_show, args=[link], daemon=True).start()

    run(app, place, begun)
    revocation.forget()
    close(session)


def close(session: Session) -> None:
    """End the session; where its file is gone, all answers are written into a new one first."""
    try:
        rescue(session)
    except StoreError as error:
        logging.getLogger("uvicorn.error").error("%s", error)
    session.close()


def run(app: ASGIApp, place: Place, started: Callable[[], None]) -> None:
    """Serve until Ctrl-C or a termination signal."""
    server = _Server(configured(app), started)
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(OnceAMinute())
    sys.setswitchinterval(SWITCH)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[place.socket])


def configured(app: ASGIApp, log_level: str = "warning", grace: int | None = 2) -> uvicorn.Config:
    """`grace`: seconds that requests have to end in once the server is stopped."""
    return uvicorn.Config(
        app, http=Connection, log_level=log_level, access_log=False, lifespan="off", ws="none",
        timeout_graceful_shutdown=grace,
    )  # fmt: skip


class _Server(uvicorn.Server):
    """Says when it has started."""

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begun()


def _show(link: str) -> None:
    """Open a browser by way of a file that only this user can read: what a program is started with, all users can."""
    handle, name = tempfile.mkstemp(prefix="fewlabels-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        address = html.escape(link)
        file.write(f'<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">fewlabels</a>')
    webbrowser.open(Path(name).as_uri())
    time.sleep(LINK_LASTS)
    Path(name).unlink(missing_ok=True)


def _user() -> str:
    """The name of whoever started this, for their answers."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "me"
