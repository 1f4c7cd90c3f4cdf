"""A server killed at any moment loses no answer it confirmed, and starts again in the same state."""

import csv
import http.client
import io
import json
import math
import os
import random
import shutil
import sqlite3
import threading
import time
from contextlib import suppress
from itertools import groupby

import numba
import pytest
from support.items import CLASSES, notes
from support.pages import Servers
from threadpoolctl import threadpool_limits

from fewlabels.export.content import Choice, choose
from fewlabels.export.tables import write_csv, write_json_lines
from fewlabels.session import Session
from fewlabels.session.store import Event
from fewlabels.web import present

KILLS = int(os.environ.get("FEWLABELS_KILLS", "12"))  # `make soak` asks for 1,000
CLIENTS, MOST_CLASSES = 4, 9
SEED = 5


class Client(threading.Thread):
    """Posts as many requests as are left, one after another; then, or when the server dies, it reports and waits. One
    that was not answered is sent again."""

    def __init__(self, name, port, seed):
        super().__init__(daemon=True)
        self.who, self.port, self.rng = name, port, random.Random(seed)
        self.sent, self.kept, self.refused = {}, {}, set()  # by key: request, number of its event; keys refused
        self.go, self.down, self.over, self.left = threading.Event(), threading.Event(), False, math.inf
        self.problem = None

    def run(self):
        try:
            self._work()
        except BaseException as error:  # reported by the test, not by this thread
            self.problem = error
        self.down.set()

    def _work(self):
        request = None
        while True:
            self.go.wait()
            self.go.clear()
            if self.over:
                return
            line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            with suppress(OSError, http.client.HTTPException):
                while self.left > 0:
                    request = request or self._next()
                    self._post(line, *request)
                    request = None
                    self.left -= 1
            line.close()
            self.down.set()

    def _post(self, line, path, body):
        line.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        reply = line.getresponse()
        text = reply.read()
        if reply.status == 200:
            self.kept[body["key"]] = json.loads(text).get("event")  # a new class is confirmed without a number
        else:
            assert reply.status == 409, (path, body, reply.status, text)
            self.refused.add(body["key"])

    def _next(self):
        """A random request and its key; the same seed makes the same requests."""
        rng, body = self.rng, {"who": self.who, "key": f"{self.who}-{len(self.sent):06}"}
        item, label, then = rng.randrange(60), rng.choice(CLASSES), rng.random() < 0.3
        path, more = rng.choices(
            [
                ("/api/answers", {"item": item, "label": label, "next": then}),
                ("/api/skips", {"item": item, "unsure": rng.random() < 0.5, "next": then}),
                ("/api/undo", {}),
                ("/api/classes", {"name": f"class {rng.randrange(MOST_CLASSES)}"}),
                ("/api/accept", {"answers": [{"item": k, "label": label} for k in rng.sample(range(60), 3)]}),
                ("/api/decisions", {"item": item, "label": label}),
            ],
            weights=[10, 3, 4, 1, 1, 1],
        )[0]
        self.sent[body["key"]] = path, body | more
        return self.sent[body["key"]]


def expected(path, body):
    """The events a request leaves, but for an undo, where it depends on what there was."""
    who, key = body["who"], body["key"]
    return {
        "/api/answers": lambda: [Event("answer", who, key, body["item"], body["label"])],
        "/api/skips": lambda: [Event("unsure" if body["unsure"] else "skip", who, key, body["item"])],
        "/api/classes": lambda: [Event("class", who, key, label=body["name"])],
        "/api/accept": lambda: [Event("answer", who, key, a["item"], a["label"]) for a in body["answers"]],
        "/api/decisions": lambda: [Event("decide", who, key, body["item"], body["label"])],
    }[path]()


def check_kept(store, clients):
    """Every confirmed request is in the store once and whole, no refused one is, and none that was never sent."""
    with sqlite3.connect(store) as db:
        rows = db.execute("SELECT do, who, key, item, label, undone, id, at FROM events ORDER BY id").fetchall()
    db.close()
    runs = [(key, list(run)) for key, run in groupby([Event(*row) for row in rows], key=lambda event: event.key)]
    found = dict(runs)
    assert len(found) == len(runs), "the events of a request lie apart, or it counted twice"
    for client in clients:
        for key, number in client.kept.items():
            assert key in found, f"{client.sent[key]} was confirmed and is lost"
            assert number in (None, found[key][-1].id)
        assert not client.refused & found.keys()
    sent = {key: request for client in clients for key, request in client.sent.items()}
    drawn = {key for key, events in runs if events[0].do == "check"}  # by the server itself, for whoever is asked
    for key in found.keys() - {"begin|0"} - drawn:
        path, body = sent[key]
        events = found[key]
        if path == "/api/undo":
            assert all(e.do == "undo" and found_by_id(rows, e.undone).who == body["who"] for e in events)
        else:
            assert [(e.do, e.who, e.item, e.label) for e in events] == [
                (e.do, e.who, e.item, e.label) for e in expected(path, body)
            ]
    items = [event.item for key in drawn for event in found[key]]
    assert len(items) == len(set(items)), "an item was drawn twice"
    undone = [row[5] for row in rows if row[5] is not None]
    assert len(undone) == len(set(undone)), "an answer was taken back twice"


def found_by_id(rows, number):
    return Event(*rows[number - 1])


def served_state(line):
    """All that the server shows of its state."""

    def get(path):
        line.request("GET", path)
        reply = line.getresponse()
        assert reply.status == 200
        return reply.read().decode()

    paths = {"standing", "predictions", "answers?limit=200", "aside", "disagreements"}
    state = {path: json.loads(get(f"/api/{path}")) for path in paths}
    state["classes"] = json.loads(get("/api/session"))["classes"]
    state["csv"] = rows_of_csv(get("/api/export.csv"))
    state["jsonl"] = [json.loads(row) for row in get("/api/export.jsonl").splitlines()]
    line.close()
    return state


def rows_of_csv(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def replayed_state(items, store):
    """The same of a session that reads the store afresh."""
    session = Session(items, store, overlap=2)
    try:
        shot = session.snapshot()
        content, beside = choose(session, Choice(), by_class=False), store.parent
        write_csv(content, beside / "export.csv")
        write_json_lines(content, beside / "export.jsonl")
        unsure, skipped = ([plain(present.item(shot, k, brief=True)) for k in found] for found in shot.aside())
        return {
            "standing": plain(present.standing(shot.standing)),
            "predictions": plain(present.predictions(shot)),
            "answers?limit=200": {"answers": [plain(present.answer(shot, e)) for e in shot.recent(200)]},
            "aside": {"unsure": unsure, "skipped": skipped},
            "disagreements": {"items": [plain(present.disagreement(shot, *found)) for found in shot.disagreements()]},
            "classes": plain(present.classes(shot))["classes"],
            "csv": rows_of_csv((beside / "export.csv").read_bytes().decode()),
            "jsonl": [json.loads(row) for row in (beside / "export.jsonl").read_text().splitlines()],
        }
    finally:
        session.close()


def plain(shape):
    return json.loads(shape.model_dump_json())


def copied(store, folder):
    """The store as the dead server left it, with the log of what is not in the main file yet."""
    folder.mkdir()
    for ending in ("", "-wal"):
        source = store.with_name(store.name + ending)
        if source.exists():
            shutil.copy(source, folder / source.name)
    return folder / store.name


@pytest.fixture
def one_thread():
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)


def test_kills_lose_no_confirmed_answer_and_start_again_in_the_same_state(tmp_path, one_thread):
    rng, store, items = random.Random(SEED), tmp_path / "notes.sqlite", notes()
    before = None  # a copy of the store as the last server left it
    servers = Servers(store)
    clients = [Client(name, servers.port, f"{SEED}-{name}") for name in ("ann", "bob", "cy", "dee")[:CLIENTS]]
    for client in clients:
        client.start()
    try:
        for kill in range(KILLS):
            servers.start()
            early = rng.random() < 0.1  # a tenth of the kills come while the server starts
            if not early:
                state = served_state(servers.connect())
                with threadpool_limits(1, user_api="blas"):
                    assert before is None or state == replayed_state(items, before)
            goal = sum(len(c.kept) for c in clients) + rng.randint(1, 4)
            idle = not early and rng.random() < 0.5  # half the others when all is confirmed, and nothing follows it
            for client in clients:
                client.left = rng.randint(1, 3) if idle else math.inf
                client.down.clear()
                client.go.set()
            while not early and sum(len(c.kept) for c in clients) < goal:
                assert not any(client.problem for client in clients), [client.problem for client in clients]
                if idle and all(client.down.wait(30) for client in clients):
                    break
                time.sleep(0.001)
            time.sleep(0 if idle else rng.random() * (0.2 if early else 0.01))  # in whatever it is doing by then
            assert servers.kill() == -9
            for client in clients:
                assert client.down.wait(30), "a client neither got a reply nor noticed the kill"
                assert client.problem is None, client.problem
            before = copied(store, tmp_path / f"after-{kill}")
            check_kept(copied(store, tmp_path / f"checked-{kill}"), clients)
        with sqlite3.connect(before) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        db.close()
    except BaseException:
        print(f"seed {SEED}, kill {kill}")
        raise
    finally:
        for client in clients:
            client.over = True
            client.go.set()
        servers.close()
