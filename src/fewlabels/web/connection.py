"""Connections with limits on what a stranger may send, and for how long, before any rule is applied to a request."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 2**15  # bytes of a request before its body, or after it, or between two pieces of it
HEADERS = 200  # in it
PIECE = 2**13  # bytes that are read at a time: what exceeds a limit is not even looked at
PIPELINED = 8  # requests on one connection that wait for the reply to an earlier one
CONNECTIONS = 256  # at once; with one more, the one that has been idle longest is closed
HEAD_PATIENCE, PATIENCE = 20.0, 120.0  # seconds for the head of a request to arrive; for all of it, for any of a reply
UNSENT = 2**18  # bytes of replies that the system may keep for the other side; Linux doubles it


class Connection(HttpToolsProtocol):
    """uvicorn's own, with limits. All it holds of a request that is not let in are a few hundred kilobytes at most."""

    _watch: asyncio.TimerHandle | None = None
    _beside = 0  # bytes since anything began or ended: of a head, say, or of what may follow a body
    _in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.idle_since: float | None = self.loop.time()
        self._look()
        line = transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNSENT)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # on Linux; it ends what is closed here and was not read there, too
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * PATIENCE))
        if len(self.connections) > CONNECTIONS:
            idle: list[Any] = [one for one in self.connections if getattr(one, "idle_since", None) is not None]
            min(idle, key=lambda one: one.idle_since).transport.abort()  # this one is among them

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._watch is not None:
            self._watch.cancel()

    def data_received(self, data: bytes) -> None:
        for begin in range(0, len(data), PIECE):
            if not self.transport.is_closing():
                self._take(data[begin : begin + PIECE])

    def _take(self, data: bytes) -> None:
        super().data_received(data)
        self._beside += len(data)
        if self._beside > LONGEST_HEAD and not self.transport.is_closing():
            if not self._in_body:
                self.transport.write(b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._beside = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer: nobody looked at it when the request was let in
        if len(self.headers) >= HEADERS:
            raise ValueError("too many headers")  # the parser ends, and with it the connection
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._beside, self._in_body = 0, True
        if len(self.pipeline) >= PIPELINED:
            raise ValueError("too many requests at once")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._beside = 0

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._beside, self._in_body = 0, False
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._wait()

    def _wait(self) -> None:
        """Note whom the connection waits for from now on: for us, or for the other side."""
        asked = self.cycle is not None and not self.cycle.response_complete and not self._in_body
        ours = (asked or self.pipeline) and not self.flow.write_paused
        self.idle_since = None if ours else self.loop.time()

    def _look(self) -> None:
        """Close the connection if the other side has taken too long over its request, or to take a reply."""
        patience = PATIENCE if self._in_body or self.flow.write_paused else HEAD_PATIENCE
        left = patience if self.idle_since is None else self.idle_since + patience - self.loop.time()
        if left <= 0:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(max(left, 0.01), self._look)


class OnceAMinute(logging.Filter):
    """Lets the same complaint through once a minute: a log cannot be filled from outside."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[Any, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now, what = time.monotonic(), (record.name, record.msg)
        if now - self._last.get(what, -60.0) < 60:
            return False
        self._last[what] = now
        return True
