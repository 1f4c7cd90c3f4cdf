"""Review as people use it: search, filter, sort, accept, undo, by mouse and by keyboard, on rows of a table."""

import re
from dataclasses import replace

import pytest
from support.browser import SHOTS
from support.items import words
from support.pages import served

from fewlabels.session.listing import Wanted

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make install").expect


def rows():
    """200 rows of a table, in which the first half is told from the second by its colour."""
    attributes = [
        {"colour": "red" if k < 100 else "blue", "weight": str(k % 17), "note": "x" * 100} for k in range(200)
    ]
    return replace(
        words(200), kind="row", texts=None, names=[f"row {k + 1}" for k in range(200)], attributes=attributes
    )


def test_a_table_is_reviewed_by_its_values(tmp_path, visit):
    with served(rows(), tmp_path / "s.sqlite", checks=0) as (session, client):
        page = visit(client)
        session.accept("me", [(k, "cat" if k < 100 else "dog") for k in range(0, 200, 5)], "key-00001")
        session.settle()
        page.reload()
        page.wait_for_selector("body[data-item]")
        page.keyboard.press("r")
        item, total = page.get_by_test_id("review-item"), page.get_by_test_id("review-total")
        expect(item).to_have_count(60)
        expect(total).to_have_text("200 items")
        expect(item.first).to_contain_text("colour")
        expect(item.first).not_to_contain_text("row ")
        chance = session.snapshot().predictions.chance_of_prediction
        unlabelled = [k for k in range(200) if k % 5]
        first = int(item.first.get_attribute("data-item"))
        assert chance[first] == min(chance[unlabelled])

        page.keyboard.press("]")  # the next page, and back
        expect(page.locator(".pager .count").first).to_have_text("61 to 120")
        page.keyboard.press("[")
        expect(item.first).to_have_attribute("data-item", str(first))

        page.keyboard.press("/")
        page.keyboard.type("BLUE")
        expect(total).to_have_text("100 items")
        page.keyboard.press("Escape")
        page.keyboard.press("Shift+F")
        page.get_by_test_id("review-status").select_option("predicted")
        expect(total).to_have_text("80 items")
        page.get_by_test_id("review-class").filter(has_text="dog").click()
        dogs = len(session.listing().find(Wanted(label="dog", status="predicted", search="blue")))
        expect(total).to_have_text(f"{dogs} items")
        page.screenshot(path=SHOTS / "review-rows.png")

        page.keyboard.press("Shift+A")  # how many, and how many of them wrong, is said first
        expect(page.get_by_test_id("accept-all-words")).to_contain_text(re.compile(r"predictions would become labels"))
        expect(page.get_by_test_id("accept-all-words")).to_contain_text("The model expects")
        expect(page.get_by_test_id("accept-all-warning")).to_contain_text("they count as right in every estimate")
        page.get_by_label("80% and above").check()
        many = page.get_by_test_id("accept-all-go")
        expect(many).to_be_enabled()
        before = len(session.snapshot().labelled())
        expect(many).to_have_text(re.compile(r"Accept \d+"))
        page.wait_for_timeout(300)
        number = int(many.inner_text().split()[1])
        many.click()
        expect(page.get_by_test_id("review-said")).to_contain_text(f"{number} items accepted as predicted.")
        assert len(session.snapshot().labelled()) == before + number
        page.keyboard.press("Control+z")
        expect(page.get_by_test_id("review-said")).to_have_text("Undone.")
        assert len(session.snapshot().labelled()) == before

        page.get_by_test_id("review-clear").click()
        expect(total).to_have_text("200 items")
        item.first.get_by_role("checkbox").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Shift+ArrowDown")
        wanted = [int(item.nth(k).get_attribute("data-item")) for k in (0, 1)]
        page.keyboard.press("2")
        expect(page.get_by_test_id("review-said")).to_contain_text("2 items labelled dog.")
        assert [session.snapshot().label(k) for k in wanted] == ["dog", "dog"]

        page.get_by_test_id("review-status").select_option("labelled")  # the answers given: newest first, who and when
        expect(item.first).to_contain_text(re.compile(r"dog.*me, \d"))
        assert {int(item.nth(k).get_attribute("data-item")) for k in (0, 1)} == set(wanted)
        item.first.get_by_test_id("review-relabel").click()
        page.locator("[data-test=picker-class][data-label=cat]").click()
        expect(item.first).to_contain_text("cat")
