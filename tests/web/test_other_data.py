"""One server after the other at the same address, seen by one browser: what belongs to other data is neither shown nor
answered.
"""

import time
from contextlib import closing, contextmanager
from types import SimpleNamespace

import pytest
from PIL import Image
from support.browser import item, press
from support.items import words
from support.pages import running

from fewlabels.items.read import read_items
from fewlabels.session import Session
from fewlabels.web.app import make_app
from fewlabels.web.guard import Rules

expect = pytest.importorskip("playwright.sync_api").expect

TOKEN = "a-token-of-its-own"
COLOUR = """async image => {
  await image.decode();
  const paper = new OffscreenCanvas(1, 1).getContext("2d");
  paper.drawImage(image, 0, 0, 1, 1);
  const [red, , blue] = paper.getImageData(0, 0, 1, 1).data;
  return red > blue ? "red" : "blue";
}"""


@contextmanager
def page_at(port, items, store, token=None):
    """The page of these items at this port, 0 for any: the session, the address, and where the server listens."""
    with (
        closing(Session(items, store)) as session,
        running(make_app(session, rules=Rules(token), person="me"), port) as port,
    ):
        yield SimpleNamespace(session=session, base_url=f"http://localhost:{port}", port=port)


@pytest.fixture
def plain(tmp_path):
    """A folder of pictures in nothing but shades of one colour, as items."""

    def make(colour, n=12):
        folder = tmp_path / colour
        folder.mkdir()
        for k in range(n):
            shade = 255 - 5 * k
            Image.new("RGB", (60, 60), (shade, 0, 0) if colour == "red" else (0, 0, shade)).save(folder / f"{k:02}.png")
        return read_items(folder, classes=("cat", "dog"))

    return make


def colours(page):
    """Of the picture that is asked about, and of those in the review."""
    asked = page.get_by_test_id("item-image").evaluate(COLOUR)
    page.locator(".tabs [data-view=review]").click()
    page.wait_for_selector("#view-review .thumb")
    small = {one.evaluate(COLOUR) for one in page.query_selector_all("#view-review .thumb")}
    return asked, small


def test_a_browser_that_has_seen_one_folder_shows_the_pictures_of_the_next(plain, tmp_path, visit):
    with page_at(0, plain("red"), tmp_path / "red.sqlite") as first:
        page = visit(first)
        item(page)
        for k in range(12):  # all of them, as by labelling for a while
            page.evaluate("k => Promise.all(['image', 'thumbnail'].map((size) => fetch(`api/items/${k}/${size}`)))", k)
        assert colours(page) == ("red", {"red"})
    with page_at(first.port, plain("blue"), tmp_path / "blue.sqlite") as second:
        page.goto(second.base_url)
        item(page)
        assert colours(page) == ("blue", {"blue"})


@pytest.mark.parametrize("waited", [False, True])
def test_a_page_left_open_answers_nothing_about_other_data(tmp_path, visit, waited):
    """The next server knows the browser, has an item of that number, and a class of that name."""
    with page_at(0, words(), tmp_path / "a.sqlite") as first:
        page = visit(first, expected="409")
        item(page)
    banner = page.get_by_test_id("banner")
    if waited:
        page.keyboard.press("1")
        expect(banner).to_contain_text("cannot be reached")
    with page_at(first.port, words(seed=1), tmp_path / "b.sqlite") as second:
        if not waited:
            page.keyboard.press("1")
        expect(banner).to_contain_text("The server labels something else now (words): reload the page.")
        assert second.session.snapshot().labelled() == []


def test_once_signed_out_the_browser_has_no_picture_left(plain, tmp_path, visit):
    with page_at(0, plain("red"), tmp_path / "red.sqlite", TOKEN) as server:
        page = visit(server, f"/?token={TOKEN}", expected="401")
        item(page)
        picture = page.get_by_test_id("item-image").get_attribute("src")
        small = picture.replace("/image", "/thumbnail")
        read = "path => fetch(path, { cache: 'force-cache' }).then((reply) => reply.status)"
        assert [page.evaluate(read, path) for path in (picture, small)] == [200, 200]
        page.get_by_role("button", name="Help").click()
        page.locator("#sign-out").click()
        page.wait_for_selector("#token")
        assert [page.evaluate(read, path) for path in (picture, small)] == [401, 401]


def test_a_picture_that_was_fetched_ahead_is_asked_for_once(plain, tmp_path, visit):
    """Though the browser's own cache keeps none."""
    items, asked = plain("red"), []
    full = items.pictures.full
    items.pictures.full = lambda k: (asked.append(k), full(k))[1]
    with page_at(0, items, tmp_path / "red.sqlite") as server:
        page = visit(server)
        for key in "121":
            ahead, until = {*server.session.upcoming(item(page)).result()}, time.monotonic() + 20
            while not ahead <= {*asked} and time.monotonic() < until:
                page.wait_for_timeout(20)
            assert press(page, key) in ahead & {*asked}
        assert len(asked) == len({*asked})
