"""Who may speak to the server: the checks every request passes before anything else is done."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fewlabels.web.guesses import Guesses
from fewlabels.web.visitors import Visitors

LARGEST_BODY = 2**20  # bytes
MOST_VALUES = 1_000_000  # in a body, and commas in its texts: three bytes of JSON can take a hundred in memory
DRAINED = 16 * LARGEST_BODY  # of a refused body this much is read and dropped: a client still sending misses the reply
LONGEST = 200  # characters in the path of one of the page's files
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
HEADERS = [
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; "
     b"base-uri 'none'; form-action 'self'; object-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]  # fmt: skip


@dataclass(frozen=True)
class Rules:
    """With a token: it must be shown, or a cookie or a link that stands for it. Without: the server must have been
    addressed by one of this machine's names.

    The second keeps out a foreign page whose name was made to point here (DNS rebinding): its Host differs.
    """

    token: str | None = None
    cookie: str = "fewlabels"
    largest: int = LARGEST_BODY
    challenge: bytes | None = None  # sent as WWW-Authenticate: how to show the token
    visitors: Visitors = field(default_factory=Visitors)
    people: Mapping[str, str] = field(default_factory=dict)  # token -> person: nobody else answers under that name
    trusted: frozenset[str] = frozenset()  # names of hosts under which a proxy offers the page

    def lets_in(self, headers: Headers, query: bytes) -> bool:
        if self.token is None or self.visitors.knows(self.cookie_in(headers)):
            return True
        links = parse_qs(query.decode("latin-1")).get("link", [])
        return any(map(self.visitors.is_open, links)) or self._token_in(headers, query) is not None

    def person(self, headers: Headers, query: bytes) -> str | None:
        """Who is speaking, where people have tokens of their own; None where it is not one of them."""
        own = self.visitors.person(self.cookie_in(headers))
        return own or self.people.get(self._token_in(headers, query) or "")

    def admit(self, headers: Headers, query: bytes) -> str | None:
        """A cookie for the token or the link in the address; None where it is neither, or the browser has a cookie that
        says as much. Nothing else gives out cookies.
        """
        token, held = self._token_in(Headers(), query), self.cookie_in(headers)
        opened = [link for link in parse_qs(query.decode("latin-1")).get("link", []) if self.visitors.open(link)]
        person = self.people.get(token or "")
        if not (token or opened) or (self.visitors.knows(held) and person in (None, self.visitors.person(held))):
            return None
        self.visitors.sign_out(held)
        return self.visitors.admit(person)

    def _token_in(self, headers: Headers, query: bytes) -> str | None:
        """The token that was shown, if it is one."""
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        shown = [credentials.strip()] if scheme.lower() == "bearer" else []
        shown += parse_qs(query.decode("latin-1")).get("token", [])
        known = [*([] if self.token is None else [self.token]), *self.people]
        return next((one for one in known for text in shown if hmac.compare_digest(text.encode(), one.encode())), None)

    def cookie_in(self, headers: Headers) -> str:
        return cookie_parser(headers.get("cookie", "")).get(self.cookie, "")

    def tried(self, headers: Headers, query: bytes) -> bool:
        """Whether a token was shown by somebody who has not been let in before: a guess, if it is wrong.

        Cookies and links are too long to be guessed, and old ones are no offence.
        """
        shown = "token" in parse_qs(query.decode("latin-1")) or "authorization" in headers
        return shown and not self.visitors.knows(self.cookie_in(headers))

    def refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Status and sentence, or None where the request is fine."""
        host = headers.get("host", "")
        if self.token is None and _name(host) not in LOOPBACK:
            return 403, f"This server answers to localhost, not to {host!r}: open it as http://localhost."
        origin, own = headers.get("origin"), f"{scope['scheme']}://{host}"
        if origin not in (None, own) and not self._trusts(origin):
            return 403, f"The page {origin!r} is not {own!r}: a proxy's own page is let in by --trusted-host."
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and scope["path"] != "/":
            return 403, "The request comes from another site's page: only this server's own page may send it."
        if not self.lets_in(headers, scope["query_string"]) and not scope["path"].startswith("/static/"):
            return 401, "This page needs its token: open the address that was printed where fewlabels was started."
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > self.largest:
            return 413, f"The request has {length} bytes: the limit is {self.largest:,}."
        if scope["path"].startswith("/static/") and ("\0" in scope["path"] or len(scope["path"]) > LONGEST):
            return 404, "There is no such file."  # no file system could hold its name, and some raise an exception
        return None

    def _trusts(self, origin: str) -> bool:
        """Whether it is a page of an announced proxy."""
        scheme, _, place = origin.partition("://")
        return scheme in ("http", "https") and _name(place) in self.trusted

    def address(self, scope: Scope, headers: Headers) -> str:
        """Where a request comes from. A proxy says whom it speaks for; but so can any program on this machine, and by a
        new address at each guess it would never wait, so that is believed only of a proxy that was announced.
        """
        if "x-forwarded-for" in headers and not self.trusted:
            return "a proxy"
        return str((scope.get("client") or ("somebody",))[0])


class Guard:
    """ASGI middleware: refuse by the rules, count the body, and put the security headers on every reply."""

    def __init__(self, app: ASGIApp, rules: Rules, sign_in: Callable[[bool], str]) -> None:
        self._app, self._rules, self._sign_in = app, rules, sign_in
        self._guesses = Guesses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_caution(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = b"no-cache" if scope["path"].startswith("/static/") else b"no-store"  # nothing once signed out
                message["headers"] = [*message["headers"], *HEADERS, (b"cache-control", kept)]
            await send(message)

        headers = Headers(scope=scope)
        address = self._rules.address(scope, headers)
        tried = self._rules.token is not None and self._rules.tried(headers, scope["query_string"])
        if tried and not await self._guesses.may_try(address):
            await self._refuse(send_with_caution, 429, "Too many wrong tokens came from your address: wait a minute.")
            return
        refusal = self._rules.refusal(scope, headers)
        if refusal:
            await _drain(receive)
            if refusal[0] == 401 and tried:
                self._guesses.note(address)
            as_page = refusal[0] == 401 and scope["path"] == "/" and scope["method"] == "GET"
            await self._refuse(
                send_with_caution, *refusal, page=self._sign_in(b"token=" in scope["query_string"]) if as_page else None
            )
            return
        taken = values = 0

        async def receive_within_limits() -> Message:
            nonlocal taken, values
            message = await receive()
            body = message.get("body", b"")
            taken += len(body)
            values += sum(map(body.count, (b",", b"[", b"{")))
            if taken > self._rules.largest or values > MOST_VALUES:
                if message.get("more_body", False):
                    await _drain(receive)
                over = f"{self._rules.largest:,} bytes" if taken > self._rules.largest else f"{MOST_VALUES:,} values"
                raise HTTPException(413, f"more than the limit of {over}")
            return message

        await self._app(scope, receive_within_limits, send_with_caution)

    async def _refuse(self, send: Send, status: int, sentence: str, page: str | None = None) -> None:
        kind, text = (b"text/html; charset=utf-8", page) if page else (b"application/json", _problem(sentence))
        headers = [(b"content-type", kind), (b"connection", b"close")]
        if status == 401 and self._rules.challenge is not None:
            headers.append((b"www-authenticate", self._rules.challenge))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text.encode()})


async def _drain(receive: Receive) -> None:
    taken, more = 0, True
    while more and taken < DRAINED:
        message = await receive()
        taken += len(message.get("body", b""))
        more = message.get("more_body", False)


def _name(host: str) -> str:
    """The host without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _problem(sentence: str) -> str:
    return json.dumps({"detail": sentence})
