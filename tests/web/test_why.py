"""Why this one, as people read it: what neighbours share, what answers change, and no sentence that says nothing."""

from dataclasses import replace

import pytest
from support.items import words
from support.pages import served

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make install").expect


def rows():
    """60 rows on a ring: those of one half are red and heavy."""
    shown = [{"colour": "red" if k < 30 else "blue", "weight": str(9 if k < 30 else 1)} for k in range(60)]
    return replace(words(60), kind="row", texts=None, attributes=shown)


def test_pictures_to_click_what_is_shared_and_a_sentence_that_says_something(tmp_path, visit):
    with served(rows(), tmp_path / "s.sqlite", checks=0) as (session, client):
        page = visit(client)
        session.accept("me", [(10, "cat"), (45, "dog")], "key-00001")
        session.settle()
        why = client.get("/api/items/12/why").json()
        assert max(one["changes"] for one in why["outcomes"]) > 0
        for outcome in why["outcomes"]:
            for changed in outcome["examples"]:
                assert changed["becomes"] != session.snapshot().prediction(changed["item"]["id"])[0]
        near = {one["item"]["id"]: one["values"] for one in why["neighbours"]}
        assert ["weight", "9", "9"] in near[11]

        page.reload()
        expect(page.get_by_test_id("shared-values").first).to_contain_text("weight")
        expect(page.locator("#why-words")).to_contain_text("lower the expected error from")
        example = page.get_by_test_id("why-example").first
        wanted = example.get_attribute("data-item")
        example.click()
        expect(page.locator("body")).to_have_attribute("data-item", wanted)

        session.accept("me", [(k, "cat" if k < 30 else "dog") for k in range(60) if k not in (10, 45, 15)], "key-00002")
        session.settle()
        page.reload()
        expect(page.locator("#why-words")).to_contain_text("hardly changes the expected error")
        expect(page.locator("#why-words")).not_to_contain_text("0.0%")
