"""A Chromium for tests of the page, and a page of it whose complaints fail the test."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

SHOTS = Path(".screenshots")


@contextmanager
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make install")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    SHOTS.mkdir(exist_ok=True)
    with playwright.sync_playwright() as drive:
        drive.selectors.set_test_id_attribute("data-test")
        try:
            arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = drive.chromium.launch(executable_path=path, args=arguments)
        except playwright.Error as error:
            pytest.skip(f"no Chromium found ({str(error).splitlines()[0]}): apt-get install chromium")
        yield browser
        browser.close()


@contextmanager
def visit(browser, client, path="/", expected=(), **options):
    """The page in a window of its own; whatever it complains about, but what is expected, fails the test."""
    complaints = []
    context = browser.new_context(
        base_url=str(client.base_url), **{"viewport": {"width": 1280, "height": 720}, **options}
    )
    context.add_init_script("localStorage.setItem('fewlabels.tour', 'seen')")
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.goto(path)
    yield page
    context.close()
    assert [text for text in complaints if not any(part in text for part in expected)] == []


def item(page, other_than=None):
    """The number of the item on the page, once there is one, and another one."""
    page.wait_for_selector("body[data-item]" + ("" if other_than is None else f":not([data-item='{other_than}'])"))
    return int(page.get_attribute("body", "data-item"))


def press(page, key):
    """Press a key that moves on; the item that comes next."""
    before = item(page)
    page.keyboard.press(key)
    return item(page, other_than=before)
