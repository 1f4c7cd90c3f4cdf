"""Notes, people, guidelines, the tour and the keys in force, as someone new to the page meets them."""

import httpx
import pytest
from support.browser import item
from support.items import words
from support.keys import fresh_key
from support.pages import page_of

from fewlabels.session import Session

expect = pytest.importorskip("playwright.sync_api").expect

GUIDELINES = """# Roses

A **rose** has *thorns*. See [the book](https://example.org/) or [not](javascript:window.hurt=1).

- red <img src=x onerror="window.hurt=1">
- white

<script>window.hurt = 1</script>
"""


def test_tour_keys_note_guidelines_and_people(tmp_path, visit):
    session = Session(words(classes=("rose", "oak")), tmp_path / "s.sqlite", overlap=2)
    session.change_class("ann", "describe", "rose", "has thorns", fresh_key())
    for k in range(3):
        session.answer("ann", k, "rose", fresh_key())
    with (
        page_of(session, several=True, guidelines=GUIDELINES) as port,
        httpx.Client(base_url=f"http://localhost:{port}") as client,
    ):
        page = visit(client, tour=True)
        page.get_by_test_id("name-input").fill("bob")
        page.keyboard.press("Enter")
        tour = page.get_by_test_id("tour")
        for _ in range(4):
            expect(page.locator(".toured")).to_have_count(1)
            page.get_by_test_id("tour-next").click()
        expect(tour).to_be_hidden()
        page.reload()
        asked = item(page)
        expect(tour).to_be_hidden()  # remembered

        page.keyboard.press("?")
        expect(page.get_by_test_id("class-keys").locator("li")).to_have_text(["1rosehas thorns", "2oak"])
        expect(page.locator("#key-filter")).to_be_hidden()
        page.keyboard.press("Escape")

        page.keyboard.press("m")
        page.keyboard.type("no leaves")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("note")).to_have_text("bob: no leaves")
        assert session.snapshot().notes[asked]["bob"].value == "no leaves"
        page.keyboard.press("1")
        item(page, other_than=asked)
        expect(page.get_by_test_id("note")).to_have_count(0)

        page.keyboard.press("g")
        text = page.locator("#guidelines-text")
        expect(text.locator("h3")).to_have_text("Roses")
        expect(text.locator("li")).to_have_text(['red <img src=x onerror="window.hurt=1">', "white"])
        assert text.locator("a").evaluate_all("links => links.map(link => link.href)") == ["https://example.org/"]
        assert text.locator("img, script").count() == 0
        assert page.evaluate("window.hurt") is None
        page.keyboard.press("Escape")

        page.get_by_test_id("tab-people").click()
        rows = page.get_by_test_id("person-row")
        expect(rows).to_have_count(2)
        expect(rows.nth(1)).to_contain_text("100% of 1")
        page.keyboard.press("r")
        expect(page.locator(f"[data-item='{asked}'] .noted")).to_have_text("bob: no leaves")
    session.close()
