"""Lists of 50,000 items: what the server needs for one, and the longest task of the browser while it is shown.

    python benchmarks/page_lists.py [--rows 50000] [--answers 5000]

By CPU time, the browser's from Chromium's own trace, so that other programs matter little. The engine is left out.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from page_size import Nothing, life, table, write
from playwright.sync_api import sync_playwright

from fewlabels.learner import taught
from fewlabels.session import Session
from fewlabels.session.listing import Listing, Wanted
from fewlabels.web.present import item

sys.path.append("tests")
from support.pages import page_of

TRACED = ["toplevel", "devtools.timeline"]


def told(what, call, repeats=5):
    best = 1e9
    for _ in range(repeats):
        begun = time.process_time()
        call()
        best = min(best, time.process_time() - begun)
    print(f"server, {what}: {1000 * best:.1f} ms")


def on_the_server(session):
    listing = session.listing()
    told("all items sorted out once for every new answer", lambda: Listing(session.snapshot()))
    told("all by doubt", lambda: listing.find(Wanted()))
    told("one class, the newest first", lambda: listing.find(Wanted(label="class 1", order="newest")))
    told("one person's", lambda: listing.find(Wanted(who="ann")))
    told("by words", lambda: listing.find(Wanted(search="row 77")))
    shown = listing.find(Wanted())[:60].tolist()
    told("60 of them as JSON", lambda: [item(listing.shot, k, brief=True).model_dump_json() for k in shown])


def longest_task(browser, page, act, path):
    """(CPU ms, ms) of the longest task on the page's main thread while something is done."""
    browser.start_tracing(page=page, path=path, categories=TRACED)
    act()
    browser.stop_tracing()
    events = json.loads(path.read_text())["traceEvents"]
    named = (e for e in events if e.get("name") == "thread_name" and e["args"].get("name") == "CrRendererMain")
    main = {(e["pid"], e["tid"]) for e in named}
    tasks = [e for e in events if (e["pid"], e["tid"]) in main and "RunTask" in e.get("name", "") and "tdur" in e]
    longest = max(tasks, key=lambda e: e["tdur"])
    return longest["tdur"] / 1000, longest["dur"] / 1000


def in_the_browser(session, folder):
    with page_of(session, person="me") as port, sync_playwright() as drive:
        browser = drive.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script("localStorage.setItem('fewlabels.tour', 'seen')")
        page.goto(f"http://localhost:{port}")
        page.wait_for_selector("body[data-item]")
        page.wait_for_timeout(3000)

        def shown():
            page.keyboard.press("r")
            page.wait_for_timeout(2500)

        def scrolled():
            page.mouse.move(500, 500)
            for _ in range(12):
                page.mouse.wheel(0, 1500)
                page.wait_for_timeout(200)

        for act in (shown, scrolled):
            cpu, wall = longest_task(browser, page, act, folder / "trace.json")
            print(f"browser, the list {act.__name__}: longest task {cpu:.0f} ms of CPU, {wall:.0f} ms")
        browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--answers", type=int, default=5_000)
    options = parser.parse_args()
    taught.Conditioned = Nothing
    items, truth = table(options.rows, 2)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "store.sqlite", items, life(truth, options.answers))
        session = Session(items, Path(folder) / "store.sqlite")
        on_the_server(session)
        in_the_browser(session, Path(folder))
        session.close()


if __name__ == "__main__":
    main()
