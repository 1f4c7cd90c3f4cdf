"""What strangers may send before any token is asked for: little, and not for ever."""

import json
import logging
import resource
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from support.items import words
from support.pages import served

from fewlabels.web import connection
from fewlabels.web.connection import OnceAMinute


@pytest.fixture
def page(tmp_path):
    with served(words(), tmp_path / "s.sqlite", token="a-token-of-its-own") as (_, client):
        yield client


def plug(client):
    return socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20)


def sent(line, chunk, how_many):
    """Send a chunk again and again, until the other side has had enough; the bytes that went."""
    gone = 0
    with suppress(ConnectionError, TimeoutError):
        for _ in range(how_many):
            line.sendall(chunk)
            gone += len(chunk)
    return gone


def closed(line):
    """Whether the other side has hung up; what it said until then."""
    said = b""
    with suppress(ConnectionError):
        while part := line.recv(2**16):
            said += part
    return said


@pytest.mark.parametrize("endless", [b"x" * 2**16, b"name: value\r\n" * 5_000, b"more\r\n " * 9_000])
def test_a_head_without_end_is_cut_off_and_takes_no_memory(page, endless):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with plug(page) as line:
        line.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nlong: ")
        sent(line, endless, 2_000)
        closed(line)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # kilobytes, of some 100 MB sent
    assert page.get("/static/page.css").status_code == 200


def test_a_long_head_is_told_so(page):
    with plug(page) as line:
        line.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nlong: " + b"x" * 20_000)
        time.sleep(0.1)
        sent(line, b"x" * 20_000, 1)
        assert b" 431 " in closed(line)


def test_many_small_headers_are_cut_off(page):
    with plug(page) as line:
        sent(line, b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 250, 1)
        assert b" 400 " in closed(line)


@pytest.fixture
def parsed(monkeypatch):
    """How many bytes of each piece reach the parser."""
    pieces, take = [], connection.HttpToolsProtocol.data_received
    monkeypatch.setattr(
        connection.HttpToolsProtocol, "data_received", lambda self, data: (pieces.append(len(data)), take(self, data))
    )
    return pieces


CHUNKED = b"POST /static/page.css HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("begun", [b"0\r\nX: ", b"1\r\nx\r\n0\r\nX: ", b"9; "])
@pytest.mark.parametrize("endless", [b"x" * 2**16, b"x\r\na: " * 9_000])
def test_a_body_s_trailer_or_chunk_without_end_is_cut_off(page, parsed, begun, endless):
    """A parser that puts pieces of one header together again and again kept the page for seconds."""
    with plug(page) as line:
        line.sendall(CHUNKED + begun)
        line.settimeout(2)
        sent(line, endless, 30)
        with suppress(TimeoutError):
            closed(line)
    assert sum(parsed) <= connection.LONGEST_HEAD + 2 * connection.PIECE


def test_trailers_are_dropped_and_a_body_in_many_chunks_is_taken(page):
    body = json.dumps({"who": "ann", "item": 3, "key": "key-00000001", "next": False}).encode() + b" " * 2**17
    chunks = b"".join(b"40\r\n%b\r\n" % body[k : k + 64].ljust(64) for k in range(0, len(body), 64))
    ask = CHUNKED.replace(b"/static/page.css", b"/api/skips").replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    token, trailer = b"authorization: Bearer a-token-of-its-own\r\n", b"content-type: application/json\r\n"
    for head, tail, status in ((token + trailer, b"x: y\r\n", 200), (b"", token, 401)):
        with plug(page) as line:
            line.sendall(ask.replace(b"host:", head + b"host:") + chunks + b"0\r\n" + tail + b"\r\n")
            assert b"HTTP/1.1 %d" % status in closed(line)


def test_nothing_is_read_beyond_a_limit(page, parsed):
    """The rest of a large piece was parsed before the limit was looked at: some seconds for a few hundred of them."""
    with plug(page) as line:
        sent(line, b"GET / HTTP/1.1\r\n" + b"name: value\r\n" * 100_000, 1)
        closed(line)
    assert sum(parsed) <= connection.LONGEST_HEAD + connection.PIECE


def test_requests_ahead_of_their_replies_are_limited(page):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with plug(page) as line:
        line.settimeout(2)
        sent(line, b"GET /api/standing HTTP/1.1\r\nhost: localhost\r\n\r\n" * 2_000, 200)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000
    assert page.get("/static/page.css").status_code == 200


def test_a_few_requests_ahead_are_answered(page):
    with plug(page) as line:
        ask = b"GET /static/page.css HTTP/1.1\r\nhost: localhost\r\n"
        line.sendall((ask + b"\r\n") * 3 + ask + b"connection: close\r\n\r\n")
        assert closed(line).count(b"HTTP/1.1 200") == 4


def test_idle_connections_shut_nobody_out(page, monkeypatch):
    monkeypatch.setattr(connection, "CONNECTIONS", 20)
    with ExitStack() as lines:
        for _ in range(60):
            lines.enter_context(plug(page))
        for _ in range(3):
            assert page.get("/static/page.css").status_code == 200


def test_bodies_that_end_after_the_reply_shut_nobody_out(page, monkeypatch):
    """It was taken for our turn, for ever."""
    monkeypatch.setattr(connection, "CONNECTIONS", 20)
    with ExitStack() as lines:
        for _ in range(30):
            line = lines.enter_context(plug(page))
            line.sendall(b"POST /static/page.css HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\n")
            with suppress(ConnectionError):
                assert b" 405 " in line.recv(2**16)
                line.sendall(b"x")
        time.sleep(0.2)
        assert page.get("/static/page.css").status_code == 200


HALF = b"POST /api/skips HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a-token-of-its-own\r\ncontent-length: 9"


@pytest.mark.parametrize("begun", [b"", b"GET / HT", HALF, HALF + b"\r\n\r\n{"])
def test_a_request_that_does_not_come_is_not_waited_for(page, monkeypatch, begun):
    monkeypatch.setattr(connection, "HEAD_PATIENCE", 0.3)
    monkeypatch.setattr(connection, "PATIENCE", 0.6)
    with plug(page) as line:
        line.sendall(begun)
        begin = time.monotonic()
        closed(line)
        assert 0.2 < time.monotonic() - begin < 5


LARGE = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a-token-of-its-own\r\n\r\n"


def test_replies_that_nobody_takes_shut_nobody_out(page, monkeypatch):
    monkeypatch.setattr(connection, "CONNECTIONS", 8)
    with ExitStack() as lines:
        for _ in range(12):
            line = lines.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", page.base_url.port))
            line.sendall(LARGE * connection.PIPELINED)
        time.sleep(1)
        assert page.get("/static/page.css").status_code == 200


def queues(port):
    """Bytes that wait in the kernel to be taken by the other sides of the connections at this port, one for each."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    here = [row for row in rows if row[1].endswith(f":{port:04X}") and row[3] != "0A"]  # 0A: it listens
    return [int(row[4].split(":")[0], 16) for row in here]


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="not on this system")
def test_replies_that_nobody_takes_are_given_up(page, monkeypatch):
    """They stayed, four megabytes of each connection in the kernel, for as long as the other side pleased."""
    monkeypatch.setattr(connection, "PATIENCE", 1.0)
    with plug(page) as line:
        most = []
        with suppress(ConnectionError):
            for _ in range(8):
                line.sendall(LARGE * connection.PIPELINED)
                time.sleep(0.3)
                most += queues(page.base_url.port)
        assert max(most) < 2**20
        until = time.monotonic() + 8
        while queues(page.base_url.port) and time.monotonic() < until:
            time.sleep(0.1)
        assert queues(page.base_url.port) == []


def test_a_refusal_comes_when_the_body_has_been_read(page):
    """A connection that is closed before is reset, and some clients then miss the refusal."""
    with plug(page) as line:
        line.sendall(b"POST /api/skips HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{")
        line.settimeout(0.3)
        with pytest.raises(TimeoutError):
            line.recv(1)
        line.settimeout(20)
        line.sendall(b"}")
        assert b" 401 " in closed(line)


def test_a_slow_answer_is_not_taken_for_a_slow_request(page, monkeypatch):
    """The page asks what may come next, and waits for the learner as long as that takes."""
    monkeypatch.setattr(connection, "HEAD_PATIENCE", 0.2)
    monkeypatch.setattr(connection, "PATIENCE", 0.2)
    headers = {"authorization": "Bearer a-token-of-its-own"}
    item = page.post("/api/question", json={"who": "ann"}, headers=headers).json()["question"]["item"]["id"]
    assert page.get(f"/api/items/{item}/upcoming", headers=headers).status_code == 200


def test_the_same_complaint_is_logged_once_a_minute(monkeypatch):
    once, now = OnceAMinute(), [0.0]
    monkeypatch.setattr(connection.time, "monotonic", lambda: now[0])
    record = logging.LogRecord("asyncio", logging.ERROR, "", 1, "out of files", (), None)
    assert [once.filter(record) for _ in range(3)] == [True, False, False]
    now[0] = 61.0
    assert once.filter(record)
