"""People answer, undo, review and export for as long as is asked for: nothing is lost, and nothing piles up."""

import http.client
import json
import os
import random
import threading
import time
from pathlib import Path
from statistics import median

import pytest
from support.pages import Servers
from web.test_kills import Client, check_kept, copied

SECONDS = float(os.environ.get("FEWLABELS_SOAK", "4"))  # `make soak-load` asks for an hour
PAUSE = 0.05  # seconds that a person thinks, on average
READS = ["standing", "predictions", "answers?limit=20", "aside", "disagreements", "items/{item}", "items/{item}/why"]
READS += ["items/{item}/upcoming", "export.csv", "export.jsonl", "session", "map"]
PER_EVENT = 4096  # bytes of memory that an event may cost: all of them are kept in it
SLACK = 96 * 2**20


class Person(Client):
    """Sends something new, or looks at something, after each pause."""

    def __init__(self, name, port, until):
        super().__init__(name, port, f"soak-{name}")
        self.until, self.times, self.read = until, [], 0

    def _work(self):
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        looks = random.Random(self.who)
        while time.monotonic() < self.until:
            time.sleep(looks.random() * 2 * PAUSE)
            begin = time.monotonic()
            if looks.random() < 0.5:
                self._post(line, *self._next())
            else:
                line.request("GET", "/api/" + looks.choice(READS).format(item=looks.randrange(60)))
                reply = line.getresponse()
                reply.read()
                assert reply.status == 200, reply.status
                self.read += 1
            self.times.append(time.monotonic() - begin)
        line.close()


def state(pid):
    """Bytes of memory and number of files that a process has open."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE"), len(list(Path(f"/proc/{pid}/fd").iterdir()))


def look_at_everything(line):
    for path in READS:
        line.request("GET", "/api/" + path.format(item=0))
        line.getresponse().read()
    line.close()


def strangers(port, until):
    """Connections without a word, half a request, or nonsense: they must not pile up either."""
    rng = random.Random(0)
    while time.monotonic() < until:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        line.connect()
        line.sock.sendall(rng.choice([b"", b"GET / HTTP/1.1\r\nhost:", b"\0\xff\r\n\r\n"]))
        time.sleep(0.2)
        line.close()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which Linux has")
def test_nothing_is_lost_and_nothing_piles_up(tmp_path):
    store = tmp_path / "notes.sqlite"
    servers = Servers(store)
    try:
        servers.start()
        look_at_everything(servers.connect())  # what is loaded where it is used is loaded now
        begun, until = time.monotonic(), time.monotonic() + SECONDS
        people = [Person(name, servers.port, until) for name in ("ann", "bob", "cy", "dee")]
        stranger = threading.Thread(target=strangers, args=[servers.port, until])
        for one in [*people, stranger]:
            one.start()
        states = []
        while any(one.is_alive() for one in people):
            states.append((time.monotonic() - begun, *state(servers._pid)))
            time.sleep(min(1, SECONDS / 10))
        assert [one.problem for one in people] == [None] * len(people)
        stranger.join()
        line = servers.connect()
        line.request("GET", "/api/standing")
        version = json.loads(line.getresponse().read())["version"]
        line.close()
        time.sleep(0.2)
        memory, files = state(servers._pid)
        servers.kill()
    finally:
        servers.close()
    check_kept(copied(store, tmp_path / "after"), people)
    kept, times = sum(len(one.kept) for one in people), sorted(time for one in people for time in one.times)
    early = median(memory for _, memory, _ in states[len(states) // 10 :][:5])
    print(
        f"\n{SECONDS:,.0f} s: {len(times):,} requests, {kept:,} of them kept ({version:,} events), none lost. Half "
        f"within {times[len(times) // 2] * 1000:.0f} ms, 99% within {times[len(times) * 99 // 100] * 1000:.0f} ms. "
        f"Memory {early / 2**20:.0f} to {memory / 2**20:.0f} MiB; {states[0][2]} to {files} open files, at most "
        f"{max(files for *_, files in states)}."
    )
    assert kept > 0
    assert memory < early + version * PER_EVENT + SLACK
    assert files <= states[0][2] + 3
