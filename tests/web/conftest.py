"""A real Chromium to look at the page with. Pictures of the last run are in .screenshots/."""

import shutil

import pytest
from support.browser import SHOTS


@pytest.fixture(scope="module")  # while it is open, no other test of the process can run an event loop
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


@pytest.fixture
def visit(chromium):
    """Open the page in a browser of its own; whatever it complains about, but what is expected, fails the test."""
    contexts, complaints = [], []

    def open_page(client, path="/", expected="", tour=False, **options):
        options.setdefault("viewport", {"width": 1280, "height": 800})
        context = chromium.new_context(base_url=str(client.base_url), **options)
        if not tour:
            context.add_init_script("localStorage.setItem('fewlabels.tour', 'seen')")
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
        page.goto(path)
        page.expected = expected
        return page

    yield open_page
    expected = [page.expected for context in contexts for page in context.pages if page.expected]
    expected.append("ERR_CONNECTION_REFUSED")  # at the end of a test the server goes first
    for context in contexts:
        context.close()
    assert [text for text in complaints if not any(part in text for part in expected)] == []
