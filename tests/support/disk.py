"""Sessions of a store on a disk that fails, by `disk.c`; run with it preloaded: `python disk.py WHAT FOLDER ...`.

`record` writes down all that was done to the disk, `refuse` has the chosen deeds refused, `kill` dies at them.
"""

import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from fewlabels.errors import FewlabelsError
from fewlabels.session.anew import write_anew
from fewlabels.session.store import Event, Store

ABOUT = {"fingerprint": "af01", "title": "photos", "n_items": "12"}
GROUPS = [1, 1, 2, 40, 1, 3, 1, 1]  # events in each request; 40 fill several pages
LABEL = "cat " * 20


def compiled(folder):
    """The disk that fails, as a library to preload; None where there is no compiler."""
    library = folder / "disk.so"
    source = Path(__file__).with_name("disk.c")
    try:
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return library


def request(k):
    """The events of request k."""
    return [Event("answer", "ann", f"key-{k}", item=n % 12, label=LABEL, at="2026-01-01") for n in range(GROUPS[k])]


def read(path):
    """The keys of the requests that a store holds, each of them whole."""
    with closing(Store(path, ABOUT)) as store:
        keys = [event.key for event in store.events()]
    requests = [int(key.removeprefix("key-")) for key in dict.fromkeys(keys)]
    assert keys == [f"key-{k}" for k in requests for _ in range(GROUPS[k])], "a part of a request, or one twice"
    return requests


class Sitting:
    """Answers one request after the other, and says which are confirmed; opens the store anew half-way.

    SQLite tidies up its log often, as it otherwise would after a thousand pages only.
    """

    def __init__(self, path, confirm):
        self.path, self.confirm, self.written = path, confirm, []

    def run(self, rescued=False):
        half = len(GROUPS) // 2
        with closing(self._opened()) as store:
            for k in range(half):
                self.written += store.append(request(k))
                self.confirm(k)
            if rescued:
                self.confirm(None)
                self.path.unlink()
                store = write_anew(store, self.written)
                for k in range(half):
                    self.confirm(k)
                store.close()
        with closing(self._opened()) as store:
            for k in range(half, len(GROUPS)):
                self.written += store.append(request(k))
                self.confirm(k)

    def _opened(self):
        store = Store(self.path, ABOUT)
        store._db.execute("PRAGMA wal_autocheckpoint = 4")
        return store


def disk():
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.disk_watch.argtypes = [ctypes.c_char_p, ctypes.c_int]
    library.disk_fail.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    library.disk_mark.argtypes = [ctypes.c_char_p]
    return library


def record(folder, rescued):
    """Write `trace` beside the folder: every deed, with what is confirmed in between."""
    watch = disk()
    trace = os.open(f"{folder}.trace", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    watch.disk_watch(str(folder).encode(), trace)
    Sitting(folder / "s.sqlite", lambda k: watch.disk_mark(str(k).encode())).run(rescued)


def deeds(folder):
    """How many deeds a sitting takes."""
    watch = disk()
    watch.disk_watch(str(folder).encode(), -1)
    Sitting(folder / "s.sqlite", lambda k: None).run()
    return watch.disk_count()


def refuse(folder, chosen):
    """At each chosen deed the disk is full, or broken, for that deed alone or for good; then it is mended."""
    watch = disk()
    for n in chosen:
        for code, lasting in ((errno.ENOSPC, 1), (errno.ENOSPC, 0), (errno.EIO, 1), (errno.EIO, 0)):
            here = folder / f"{n}-{code}-{lasting}"
            here.mkdir()
            confirmed = []
            watch.disk_watch(str(here).encode(), -1)
            watch.disk_fail(n, code, 0, lasting)
            _keep_answering(here / "s.sqlite", confirmed)
            watch.disk_fail(-1, 0, 0, 0)
            found = read(here / "s.sqlite")
            stuck = [*confirmed, len(confirmed)] if lasting else confirmed  # it could not even be taken back
            assert found in (confirmed, stuck), (n, code, lasting, found, confirmed)


def _keep_answering(path, confirmed):
    """As people do: a request that is refused is sent again a few times."""
    with suppress(FewlabelsError), closing(Store(path, ABOUT)) as store:
        store._db.execute("PRAGMA wal_autocheckpoint = 4")
        for k in range(len(GROUPS)):
            for _ in range(3):
                with suppress(FewlabelsError):
                    store.append(request(k))
                    confirmed.append(k)
                    break


def kill(folder, chosen):
    """At each chosen deed the process is killed, with nothing or half of it done."""
    watch = disk()
    for n in chosen:
        for torn in (0, 1):
            here = folder / f"{n}-{torn}"
            here.mkdir()
            ours, theirs = os.pipe()
            child = os.fork()
            if not child:
                watch.disk_watch(str(here).encode(), -1)
                watch.disk_fail(n, 0, torn, 0)
                Sitting(here / "s.sqlite", partial(_tell, theirs)).run()
                os._exit(0)
            os.close(theirs)
            with os.fdopen(ours) as told:
                confirmed = [int(line) for line in told]
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL, (n, torn)
            found = read(here / "s.sqlite")
            assert found in (confirmed, [*confirmed, len(confirmed)]), (n, torn, found, confirmed)


def _tell(pipe, k):
    os.write(pipe, f"{k}\n".encode())


if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    if what == "record":
        record(folder, rescued="rescued" in sys.argv)
    elif what == "deeds":
        print(deeds(folder))
    else:
        {"refuse": refuse, "kill": kill}[what](folder, json.loads(sys.argv[3]))
