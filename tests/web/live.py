"""A page served for a test: the real server, on a port of its own, in a thread."""

import threading
from contextlib import contextmanager

import httpx
import uvicorn

from fewlabels.session import Session
from fewlabels.web.app import make_app
from fewlabels.web.guard import Rules
from fewlabels.web.serve import find_place


@contextmanager
def served(items, path, *, token=None, several=False, **options):
    """The session, and a client whose base_url is the page."""
    session = Session(items, path, **options)
    place = find_place(port=0, token=token)
    app = make_app(session, rules=Rules(token, f"fewlabels-{place.port}"), several=several or bool(token), person="me")
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, args=[[place.socket]])
    thread.start()
    try:
        with httpx.Client(base_url=f"http://localhost:{place.port}", timeout=30) as client:
            yield session, client
    finally:
        server.should_exit = True
        thread.join()
        place.socket.close()
        session.close()
