"""How long after the key the next item is on the page: 2,500 pictures, 10 classes, in a real Chromium.

    python benchmarks/page_latency.py [--answers 50] [--server]

Measured in the browser, from the keydown to the frame after the next picture has been decoded. Once with half a second
to read each item, as a quick person has, and once without any, when nothing can be prepared. `--server` measures
instead the CPU time that the server needs for an answer, which other programs on the machine hardly change.
"""

import argparse
import shutil
import sys
import tempfile
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

from fewlabels.graph import Graph
from fewlabels.items.digits import digits_items
from fewlabels.session import Session

sys.path.append("tests")
from support.pages import served

STOPWATCH = """
window.waits = [];
addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => requestAnimationFrame(() => {
  if (window.pressed) window.waits.push(performance.now() - window.pressed);
  window.pressed = null;
})).observe(document.body, { attributeFilter: ["data-item"] }));
"""


class Again:
    """The pictures of the digits, some of them twice."""

    def __init__(self, pictures, which):
        self.pictures, self.which = pictures, which

    def full(self, item):
        return self.pictures.full(int(self.which[item]))

    def thumbnail(self, item):
        return self.pictures.thumbnail(int(self.which[item]))

    def slow(self, item):
        return False


def pile(n=2500):
    """n digits, those beyond 1,797 copies with a little noise; what each one is."""
    rng = np.random.default_rng(0)
    data, items = load_digits(), digits_items()
    which = np.concatenate([np.arange(len(data.data)), rng.integers(len(data.data), size=n - len(data.data))])
    graph = Graph.from_features(data.data[which] + rng.normal(size=(n, 64)), n_neighbors=7)
    position = items.position[which] + rng.normal(scale=0.01, size=(n, 2))
    names = [f"digit {k}" for k in range(n)]
    changed = {"graph": graph, "names": names, "position": position.clip(0, 1), "fingerprint": graph.fingerprint()}
    return replace(items, **changed, pictures=Again(items.pictures, which)), data.target[which]


def waits(browser, items, truth, answers, reading):
    with tempfile.TemporaryDirectory() as folder, served(items, Path(folder) / "s.sqlite") as (_, client):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script("localStorage.setItem('fewlabels.tour', 'seen')")
        page.add_init_script(STOPWATCH)
        page.goto(str(client.base_url))
        page.wait_for_selector("body[data-item]")
        for _ in range(answers):
            page.wait_for_timeout(1000 * reading)
            item = page.get_attribute("body", "data-item")
            page.keyboard.press(str(truth[int(item)]))
            page.wait_for_selector(f"body:not([data-item='{item}'])")
        page.wait_for_timeout(200)
        found = page.evaluate("() => window.waits")
        page.close()
        return found


def server_times(items, truth, answers):
    """{what: CPU seconds in the middle} of the parts of an answer, one after the other in this thread."""
    parts = {"answer": [], "question": [], "standing": []}
    with tempfile.TemporaryDirectory() as folder:
        session = Session(items, Path(folder) / "s.sqlite", checks=0)  # a check costs next to nothing
        session._learner.stop()
        session._learner._put = lambda rank, job: _done(job())
        item = session.question("ann").item
        for number in range(answers):
            moments = [time.process_time()]
            session.answer("ann", item, str(truth[item]), f"key-{number:06}")
            moments.append(time.process_time())
            item = session.question("ann").item
            moments.append(time.process_time())
            _ = session.snapshot().standing
            moments.append(time.process_time())
            for found, seconds in zip(parts.values(), np.diff(moments), strict=True):
                found.append(seconds)
        session._learner.stop = lambda: None
        session.close()
    return {what: float(np.median(found)) for what, found in parts.items()}


def _done(result):
    found = Future()
    found.set_result(result)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=50)
    parser.add_argument("--server", action="store_true")
    options = parser.parse_args()
    answers, (items, truth) = options.answers, pile()
    if options.server:
        for what, seconds in server_times(items, truth, answers).items():
            print(f"server, {what}: {1000 * seconds:.0f} ms of CPU")
        return
    with sync_playwright() as drive:
        browser = drive.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for reading in (0.5, 0.0):
            found = waits(browser, items, truth, answers, reading)
            shown = ", ".join(f"{name} {value:.0f} ms" for name, value in (
                ("median", np.median(found)), ("p90", np.quantile(found, 0.9)), ("longest", max(found)),
            ))  # fmt: skip
            print(f"{len(found)} answers, {reading} s to read each: {shown}")
        browser.close()


if __name__ == "__main__":
    main()
