"""The map as people use it: a line drawn around points, a look at them, one label for all, one undo; a class alone."""

from dataclasses import replace

import numpy as np
import pytest
from support.browser import SHOTS
from support.items import words
from support.pages import served

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make install").expect


def two_heaps():
    """120 texts: the first 60 lie in the upper left of the map, the others in the lower right."""
    rng = np.random.default_rng(0)
    place = np.concatenate([0.05 + 0.3 * rng.random((60, 2)), 0.65 + 0.3 * rng.random((60, 2))])
    return replace(words(120), position=place)


def draw(page, *corners, shift=True):
    """Draw a line through these places of the map, each from 0 to 1."""
    box = page.get_by_test_id("map").bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    if shift:
        page.keyboard.down("Shift")
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=5)
    page.mouse.up()
    if shift:
        page.keyboard.up("Shift")


def test_what_a_line_is_drawn_around_is_labelled_together_and_taken_back_at_once(tmp_path, visit):
    with served(two_heaps(), tmp_path / "s.sqlite", checks=0) as (session, client):
        page = visit(client, viewport={"width": 1440, "height": 1000})
        session.accept("me", [(5, "dog"), (100, "dog")], "key-00001")
        session.settle()
        page.reload()
        page.wait_for_selector("body[data-item]")
        page.get_by_test_id("map").scroll_into_view_if_needed()
        half = ((0.01, 0.01), (0.5, 0.01), (0.5, 0.5), (0.01, 0.5))
        draw(page, *half)
        dialog, go = page.get_by_test_id("group-dialog"), page.get_by_test_id("group-go")
        expect(dialog.get_by_role("heading")).to_have_text("60 items")
        expect(dialog.get_by_test_id("review-item")).to_have_count(48)
        expect(go).to_be_disabled()
        unticked = dialog.get_by_test_id("review-item").first
        odd = int(unticked.get_attribute("data-item"))
        unticked.get_by_role("checkbox").uncheck()
        page.keyboard.press("1")
        many = 59 if odd == 5 else 58
        expect(go).to_have_text(f"Label {many} items as cat")
        page.screenshot(path=SHOTS / "lasso.png")
        before = [event.id for event in session._store.events()]
        go.click()
        expect(page.get_by_test_id("map-said")).to_contain_text(f"{many} items labelled cat.")
        fresh = [event for event in session._store.events() if event.id not in before]
        assert {event.item for event in fresh} == set(range(60)) - {odd, 5}
        assert len({event.key for event in fresh}) == 1  # one request, kept whole or not at all
        page.get_by_test_id("group-undo").click()
        expect(page.get_by_test_id("map-said")).to_have_text("Undone.")
        assert sorted(session.snapshot().labelled()) == [5, 100]

        page.get_by_test_id(
            "map-lasso"
        ).click()  # without Shift, by the button; a labelled one is changed if one says so
        draw(page, *half, shift=False)
        dialog.get_by_role("checkbox", name="Change 1 item that has a label, too").check()
        dialog.get_by_test_id("group-class").filter(has_text="cat").click()
        expect(go).to_have_text("Label 60 items as cat")
        go.click()
        expect(page.get_by_test_id("map-said")).to_contain_text("60 items labelled cat.")
        assert session.snapshot().label(5) == "cat"
        page.keyboard.press("Control+z")
        expect(page.get_by_test_id("standing-labelled")).to_have_text("2 of 120")
        assert session.snapshot().label(5) == "dog"

        alone = page.get_by_test_id("map-class").filter(has_text="dog")
        alone.click()
        expect(alone).to_have_attribute("aria-pressed", "true")
        page.get_by_test_id("map").focus()
        page.keyboard.press("v")  # all that are in view, and of this class
        expect(dialog).to_be_visible()
        dogs = int((session.snapshot().predictions.predicted == 1).sum())
        assert 0 < int(dialog.get_by_role("heading").inner_text().split()[0]) <= dogs
        page.keyboard.press("Escape")
        alone.click()
        expect(alone).to_have_attribute("aria-pressed", "false")

        page.set_viewport_size({"width": 1280, "height": 720})  # low: the whole map comes into view as one scrolls
        page.mouse.move(300, 300)
        page.mouse.wheel(0, 2000)
        page.wait_for_timeout(300)
        box = page.locator("#map-classes").bounding_box()
        assert box["y"] + box["height"] <= 720
