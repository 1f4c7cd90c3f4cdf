"""The page under load: 500 requests a second for 30 seconds, nine in ten of them reads, on the 1,797 digits.

The generator is open-loop: requests go out at their times whether or not earlier ones came back, and a reply's time
counts from when its request was due. It is a process of its own, on one core; what it costs itself is printed.
"""

import argparse
import asyncio
import http.client
import json
import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PEOPLE = [f"person {k}" for k in range(1, 9)]
READS = {  # how often, in parts
    "standing": 20,
    "item": 20,
    "thumbnail": 20,
    "image": 10,
    "recent": 10,
    "predictions": 8,
    "review": 8,
    "why": 0.25,  # about one a second
}
WORKERS = 128  # connections kept open
TOKEN = "of-the-benchmark"


class Load:
    def __init__(self, port, truth, seed):
        self.port, self.truth, self.rng = port, truth, random.Random(seed)
        self.left = list(range(len(truth)))
        self.rng.shuffle(self.left)
        self.times = {}  # kind -> seconds of each reply
        self.errors, self.kept, self.late = [], {}, []

    def request(self, number, share):
        """Kind, method, path and body of the next request."""
        rng = self.rng
        if number % round(1 / share) == 0:
            who, key = PEOPLE[rng.randrange(len(PEOPLE))], f"key-{number:08}"
            if not self.left:
                return "undo", "POST", "/api/undo", {"who": who, "key": key}
            item = self.left.pop()
            body = {"who": who, "item": item, "label": str(self.truth[item]), "key": key, "next": rng.random() < 0.5}
            return ("answer, next" if body["next"] else "answer"), "POST", "/api/answers", body
        kind = rng.choices(list(READS), READS.values())[0]
        item = rng.randrange(len(self.truth))
        path = {
            "standing": "/api/standing",
            "item": f"/api/items/{item}",
            "thumbnail": f"/api/items/{item}/thumbnail",
            "image": f"/api/items/{item}/image",
            "recent": "/api/answers?limit=20",
            "predictions": "/api/predictions",
            "review": f"/api/review?prediction={rng.randrange(10)}&limit=60",
            "why": f"/api/items/{item}/why",
        }[kind]
        return kind, "GET", path, None

    async def run(self, rate, seconds, share):
        due = asyncio.Queue()
        workers = [asyncio.create_task(self._worker(due)) for _ in range(WORKERS)]
        start = time.perf_counter()
        for number in range(int(rate * seconds)):
            at = start + number / rate
            wait = at - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            self.late.append(time.perf_counter() - at)
            due.put_nowait((at, *self.request(number, share)))
        for _ in workers:
            due.put_nowait(None)
        await asyncio.gather(*workers)

    async def _worker(self, due):
        reader = writer = None
        while job := await due.get():
            at, kind, method, path, body = job
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                status, text = await exchange(reader, writer, method, path, body)
            except (OSError, asyncio.IncompleteReadError) as error:
                status, text, writer = 0, repr(error), None
            self.times.setdefault(kind, []).append(time.perf_counter() - at)
            if status != 200:
                self.errors.append((kind, status, text[:200]))
            elif body:
                self.kept[body["key"]] = json.loads(text)["event"]
        if writer:
            writer.close()


async def exchange(reader, writer, method, path, body):
    """One request and its reply, on a connection kept open."""
    content = json.dumps(body).encode() if body else b""
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n"
    head += "content-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.split("content-length: ")[1].split("\r\n")[0])
    return int(head[9:12]), await reader.readexactly(length)


def served(store):
    """A server of the digits as a process of its own, and its port, once it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "fewlabels", "demo", "--no-browser", "--port", str(port), "--store", str(store)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "FEWLABELS_TOKEN": TOKEN})
    until = time.monotonic() + 120
    while time.monotonic() < until:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            line.request("GET", "/api/standing", headers={"host": "localhost"})
            line.getresponse().read()
            return server, port
        except ConnectionRefusedError:
            time.sleep(0.05)
        finally:
            line.close()
    raise SystemExit("the server does not start")


def report(name, seconds):
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99]) * 1000
    print(f"{name:14} {len(seconds):6,}  {p50:8.1f} {p95:8.1f} {p99:8.1f} {max(seconds) * 1000:8.1f}")


def missing(store, kept):
    """The confirmed answers that are not in the store under their number."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
        found = dict(db.execute("SELECT key, max(id) FROM events GROUP BY key"))
    return [key for key, number in kept.items() if found.get(key) != number]


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--rate", type=float, default=500, help="requests a second")
    parse.add_argument("--seconds", type=float, default=30)
    parse.add_argument("--answers", type=float, default=0.1, help="the share of answers among the requests")
    options = parse.parse_args()
    from fewlabels.items.digits import load

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "digits.sqlite"
        server, port = served(store)
        try:
            run = Load(port, load()[1].tolist(), seed=0)
            before = time.process_time()
            asyncio.run(run.run(options.rate, options.seconds, options.answers))
            busy = time.process_time() - before
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
        lost = missing(store, run.kept)
    print(f"{options.rate:g} requests/s for {options.seconds:g} s; load average {os.getloadavg()[0]:.1f}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"server: {used.ru_utime + used.ru_stime:.1f} s of CPU, its start included")
    print(f"generator: {busy:.1f} s of CPU, sent late by p99 {np.percentile(run.late, 99) * 1000:.1f} ms")
    print(f"{'':14} {'n':>6}  {'p50':>8} {'p95':>8} {'p99':>8} {'max':>8}  ms")
    for kind, seconds in sorted(run.times.items()):
        report(kind, seconds)
    reads = [t for kind, seconds in run.times.items() if kind in READS for t in seconds]
    writes = [t for kind, seconds in run.times.items() if kind not in READS for t in seconds]
    report("all reads", reads)
    report("all answers", writes)
    print(f"errors: {len(run.errors)} {run.errors[:3]}")
    print(f"confirmed: {len(run.kept):,}, of these lost: {len(lost)}")
    return bool(run.errors or lost or np.percentile(reads, 99) > 0.1)


if __name__ == "__main__":
    sys.exit(main())
