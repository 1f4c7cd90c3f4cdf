"""Pages served for a test: in a thread, or in processes that start within a blink, to be killed.

`python pages.py PORT STORE` imports everything once and then forks a server for every line it reads; a second line
waits for that server's end. Numba's layer of threads must be one that survives a fork, which OpenMP's does not; one
thread does, as threads that wait for each other on a busy machine take twelve times as long over so few items.
"""

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from support.items import CLASSES, notes

from fewlabels.session import Session
from fewlabels.web.app import make_app
from fewlabels.web.guard import Rules
from fewlabels.web.serve import Place, configured, find_place, serve


class Servers:
    """One server after the other on the same port and store."""

    def __init__(self, store):
        self._reserved = _bound(0)  # keeps the port from others while no server is up
        self.port = self._reserved.getsockname()[1]
        self._nursery = subprocess.Popen(
            [sys.executable, __file__, str(self.port), str(store)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "NUMBA_THREADING_LAYER": "forksafe",
                "NUMBA_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",  # as where the state is replayed: the last bits depend on it
            },
        )

    def start(self):
        self._pid = int(self._ask())

    def kill(self):
        """SIGKILL, and not a moment's grace; back when the process is gone. How it ended."""
        os.kill(self._pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(int(self._ask()))

    def _ask(self):
        self._nursery.stdin.write("\n")
        self._nursery.stdin.flush()
        return self._nursery.stdout.readline()

    def connect(self):
        """A connection, as soon as the server takes any."""
        until = time.monotonic() + 120  # on a busy machine
        while True:
            line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                line.connect()
                return line
            except ConnectionRefusedError:
                assert time.monotonic() < until, "the server does not start"
                time.sleep(0.002)

    def close(self):
        self._nursery.communicate(timeout=30)
        self._reserved.close()


@contextmanager
def page_of(session, wrap=lambda app: app, **options):
    """A server thread of the session's page, seen through what wraps it; its port."""
    with running(wrap(make_app(session, **options))) as port:
        yield port


@contextmanager
def running(app, port=0):
    """A server thread; its port."""
    place = find_place(port=port)
    server = uvicorn.Server(configured(app, "critical", grace=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place.socket]})
    thread.start()
    try:
        yield place.port
    finally:
        server.should_exit = True
        thread.join()
        place.socket.close()


@contextmanager
def served(items, path, *, token=None, several=False, **options):
    """A session and a client whose base_url is its page; both end with the block."""
    session = Session(items, path, **options)
    try:
        with (
            page_of(session, rules=Rules(token), several=several or bool(token), person="me") as port,
            httpx.Client(base_url=f"http://localhost:{port}", timeout=30) as client,
        ):
            yield session, client
    finally:
        session.close()


def _bound(port):
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    place.bind(("127.0.0.1", port))
    return place


def _serve(port, store):
    session = Session(notes(), store, overlap=2)
    place = _bound(port)
    place.listen(64)
    serve(session, Place(place, "127.0.0.1", None))


def _warm_up():
    """Load the compiled kernels: a session that asks, hears and explains calls them all."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(notes(), Path(folder) / "store.sqlite")
        for k in range(4):
            session.answer("ann", k, CLASSES[k % 3], f"key-{k:05}")
        session.explain(session.question("ann").item)
        session.undo("ann", "key-undo")
        session.close()


def _nursery(port, store):
    _warm_up()
    for _ in sys.stdin:
        pid = os.fork()
        if not pid:
            _serve(port, store)
            os._exit(0)
        print(pid, flush=True)
        if not sys.stdin.readline():  # whoever started this is gone
            os.kill(pid, signal.SIGKILL)
        print(os.waitpid(pid, 0)[1], flush=True)


if __name__ == "__main__":
    _nursery(int(sys.argv[1]), Path(sys.argv[2]))
