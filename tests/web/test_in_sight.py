"""Whatever is labelled and however large the window: suggestion and answers are on the screen, the item scrolls."""

import io
from dataclasses import replace

import pytest
from support.items import words
from support.keys import fresh_key
from support.pages import served

expect = pytest.importorskip("playwright.sync_api").expect

WINDOWS = [(1280, 720), (1440, 900), (390, 844)]


def wide_rows():
    """40 rows of 30 columns; one value in row 7 is far from all others."""
    attributes = [
        {f"column {c}": "999" if (k, c) == (7, 20) else str(10 + k % 3) if c % 2 else "red" for c in range(30)}
        for k in range(40)
    ]
    return replace(words(), kind="row", texts=None, attributes=attributes)


def long_texts():
    return words(texts=["A sentence that says nothing, at length. " * 80] * 40)


class Pictures:
    def slow(self, item):
        return False

    def full(self, item):
        from PIL import Image

        file = io.BytesIO()
        Image.new("RGB", (1200, 900), (item, 90, 60)).save(file, "PNG")
        return file.getvalue(), "image/png"

    thumbnail = full


def images():
    return replace(words(classes=[f"class {k}" for k in range(12)]), kind="image", texts=None, pictures=Pictures())


def nodes():
    return replace(words(), kind="node", texts=None)


@pytest.mark.parametrize("items", [wide_rows, long_texts, images, nodes])
def test_the_answers_are_on_the_screen(items, tmp_path, visit):
    with served(items(), tmp_path / "s.sqlite") as (session, client):
        for k, label in enumerate(session.classes[:2]):
            session.answer("me", k, label, fresh_key())
        session.question("me", 7)
        page = visit(client)
        page.wait_for_selector("body[data-item='7']")
        for width, height in WINDOWS:
            page.set_viewport_size({"width": width, "height": height})
            buttons = [*page.get_by_test_id("class-button").all(), page.locator("#accept"), page.get_by_test_id("undo")]
            for button in buttons:
                expect(button).to_be_in_viewport(ratio=1)
            assert page.evaluate("document.documentElement.scrollWidth") == width
        if items in (wide_rows, long_texts):
            page.get_by_test_id("unfold").click()
            body = page.locator("#item-body")
            assert body.evaluate("body => body.scrollHeight - body.clientHeight") <= 1
            page.get_by_test_id("unfold").click()
            assert body.evaluate("body => body.scrollHeight > body.clientHeight + 100")
        if items is wide_rows:
            cells = page.locator("#item-body th").all_inner_texts()
            assert cells[:4] == ["Most unusual here", "column 20", "The other 29 columns", "column 0"]
