"""The page at size: 60,000 rows and 50,000 answers of several people, opened and answered, in seconds of one core.

    python benchmarks/page_size.py [--rows 60000] [--answers 50000] [--columns 2] [--read 2] [--engine none]

The store holds what people would have written: answers, checks, skips, undos, merged classes. It is opened as
`fewlabels label` does, and answers are given to the page's own API, each after so many seconds of reading. Every time
is CPU time of this process, all its threads together, so that other programs matter little; the wall clock stands
beside it. `--engine none` puts a field in the place of the real one of which nothing is worked out: what is left is
the set-up and the page's own share.
"""

import argparse
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient

from fewlabels.field import Conditioned, Costs
from fewlabels.field.conditioned import Core, LeftOut
from fewlabels.graph import Graph
from fewlabels.items import Items
from fewlabels.learner import ActiveLearner, taught
from fewlabels.session import Session
from fewlabels.session.learnt import Learnt
from fewlabels.session.store import Event, Store
from fewlabels.web.app import make_app

PEOPLE = ("ann", "bob", "cid", "dan")
CLASSES = 5
CHECKS = 0.01  # share of the answers
MERGED = 5  # classes that are merged into another soon
ANSWERS = 8  # given on the page


def table(rows, columns, seed=0):
    """Rows in clusters, five classes of them; what each one is."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4 * CLASSES, columns)) * 3
    which = rng.integers(len(centres), size=rows)
    X = centres[which] + rng.normal(size=(rows, columns))
    attributes = [{f"column {j}": f"{value:.2f}" for j, value in enumerate(row)} for row in X]
    items = Items(
        "rows", "row", Graph.from_features(X, n_neighbors=10), [f"row {k}" for k in range(rows)],
        rng.random((rows, 2)), "page-size", attributes=attributes, classes=[f"class {c}" for c in range(CLASSES)],
    )  # fmt: skip
    return items, which % CLASSES


def life(truth, answers, seed=0):
    """The events of a long session: so many answers, and what else people do meanwhile."""
    rng = np.random.default_rng(seed)
    left = rng.permutation(len(truth)).tolist()
    events = [Event("class", "", "begin-0", label=f"class {c}") for c in range(CLASSES)]
    given = {who: [] for who in PEOPLE}
    n_given = n_merged = request = 0

    def add(do, who, **what):
        events.append(Event(do, who, f"key-{request:07}", **what))

    while n_given < answers and left:
        request += 1
        who, chance = PEOPLE[rng.integers(len(PEOPLE))], rng.random()
        if chance < 0.01 and given[who]:
            item, number = given[who].pop()
            add("undo", who, item=item, undone=number)
            left.insert(0, item)
        elif chance < 0.02:
            add(("skip", "unsure")[rng.integers(2)], who, item=left.pop())
        elif chance < 0.03 and given[who]:
            item, _ = given[who][rng.integers(len(given[who]))]
            add("answer", who, item=item, label=f"class {rng.integers(CLASSES)}")
        elif n_given * MERGED > answers * n_merged:
            n_merged += 1
            add("class", who, label=f"short-lived {request}")
            request += 1
            add("merge", who, label=f"short-lived {request - 1}", value="class 0")
        else:
            item = left.pop()
            if rng.random() < CHECKS:
                add("check", who, item=item)
                request += 1
            wrong = rng.random() < 0.05
            add("answer", who, item=item, label=f"class {rng.integers(CLASSES) if wrong else truth[item]}")
            given[who].append((item, len(events)))
            n_given += 1
    return events


def write(path, items, events):
    """A store of these events, and what was learnt from them: here always the same."""
    store = Store(path, {"fingerprint": items.fingerprint, "title": items.title, "n_items": str(len(items.names))})
    last = {event.key: event for event in store.append(events)}
    store.append([], [Learnt(e.id, 1 if e.do == "answer" else None, 0.1) for e in last.values()])
    store.close()


class Nothing(Conditioned):
    """A field of which nothing is worked out."""

    all_h = property(lambda self: np.zeros((self.n_nodes, self.n_classes)))

    @property
    def core(self):
        return Core(self.covariance.levels, np.zeros((0, 0)), np.full(self.n_nodes, 0.5), 0.0, None, self)

    def columns(self, nodes, rough=False):
        return np.zeros((len(self.unlabelled), len(nodes)))

    def sums(self):
        return np.ones(len(self.unlabelled))

    def left_out(self, sample):
        nodes = self.answers.nodes
        there = np.zeros((len(nodes), len(sample)))
        return LeftOut(nodes, np.zeros((len(nodes), self.n_classes)), np.full(len(nodes), 0.5), self.answers.values,
                       there.sum(axis=1), there)  # fmt: skip

    def two_step_costs(self, asked=None):
        return Costs(np.arange(len(self.unlabelled), dtype=float))

    def vopt_costs(self, asked=None, rough=False):
        return self.two_step_costs()


@contextmanager
def measured(what):
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    print(f"{what}: {time.process_time() - cpu:.2f} s of CPU, {time.perf_counter() - wall:.2f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--answers", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=2)
    parser.add_argument("--read", type=float, default=2.0)
    parser.add_argument("--engine", choices=["auto", "none"], default="auto")
    options = parser.parse_args()
    if options.engine == "none":
        taught.Conditioned = Nothing
    items, truth = table(options.rows, options.columns)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        write(path, items, life(truth, options.answers))
        with measured("a learner without answers, set up"):
            ActiveLearner(items.graph, range(CLASSES))
        with measured("the store, opened: set-up, answers, first question"):
            session = Session(items, path, tell=print)
        answer(session, truth, options.read)
        session.close()


def answer(session, truth, seconds=2.0):
    client = TestClient(make_app(session, person="ann"), base_url="http://localhost")
    asked = client.post("/api/question", json={"who": "ann"}).json()["question"]["item"]["id"]
    for number in range(ANSWERS):
        time.sleep(seconds)
        key, label = f"bench-{number:06}", f"class {truth[asked]}"
        with measured(f"answer {number + 1}, and the next question"):
            body = {"who": "ann", "item": asked, "label": label, "key": key, "next": True}
            asked = client.post("/api/answers", json=body).json()["question"]["item"]["id"]


if __name__ == "__main__":
    main()
