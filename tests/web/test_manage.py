"""Classes are managed in a dialog, by keyboard alone; whoever else labels hears of it."""

import pytest
from support.browser import item, press
from support.items import words
from support.keys import fresh_key
from support.pages import served

expect = pytest.importorskip("playwright.sync_api").expect


def tab_to(page, test_id, label=None):
    """Go there by Tab, as people without a mouse do."""
    for _ in range(60):
        here = page.evaluate("[document.activeElement.dataset.test, document.activeElement.dataset.label]")
        if here[0] == test_id and label in (None, here[1]):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {test_id}")


def test_classes_are_renamed_merged_removed_and_brought_back_without_a_mouse(tmp_path, visit):
    with served(words(classes=("Rose", "tulip", "typo")), tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        for key in "12313":
            press(page, key)
        page.keyboard.press("c")
        said = page.get_by_test_id("manage-said")
        tab_to(page, "manage-edit", "tulip")
        page.keyboard.press("Enter")
        page.keyboard.press("Control+a")
        page.keyboard.type("Tulip")
        page.keyboard.press("Enter")
        expect(said).to_contain_text("“tulip” is now “Tulip”")
        tab_to(page, "manage-describe")
        page.keyboard.type("opens in spring")
        page.keyboard.press("Enter")
        expect(said).to_contain_text("description is kept")

        page.locator("[data-test=manage-edit][data-label=typo]").focus()
        page.keyboard.press("Enter")
        tab_to(page, "manage-remove")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("manage-item")).to_have_count(2)
        expect(page.locator(".manage-ask")).to_contain_text("2 items lose an answer; what has no other is asked again")
        tab_to(page, "manage-remove-yes")
        page.keyboard.press("Enter")
        expect(said).to_contain_text("“typo” is removed")
        assert session.classes == ["Rose", "Tulip"]
        assert len(session.snapshot().labelled()) == 3
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("class-button")).to_have_count(2)
        tulip = page.locator("[data-test=class-button][data-label=Tulip]")
        expect(tulip).to_have_attribute("title", "Tulip: opens in spring")
        assert tulip.get_attribute("aria-keyshortcuts") == "2"

        page.keyboard.press("Backspace")
        expect(page.get_by_test_id("class-button")).to_have_count(3)
        assert len(session.snapshot().labelled()) == 5

        page.keyboard.press("n")
        page.keyboard.type("rose")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("alike")).to_contain_text("There is a class “Rose”: did you mean it?")
        before = item(page)
        page.keyboard.press("Enter")
        item(page, other_than=before)
        assert session.snapshot().label(before) == "Rose"
        assert session.classes == ["Rose", "Tulip", "typo"]


def test_whoever_else_labels_hears_of_a_merge_and_an_answer_on_its_way_follows_it(tmp_path, visit):
    with served(words(classes=("Rose", "rose", "oak")), tmp_path / "s.sqlite", several=True) as (session, client):
        page = visit(client)
        page.get_by_test_id("name-input").fill("bob")
        page.keyboard.press("Enter")
        asked = item(page)
        session.change_class("ann", "merge", "rose", "Rose", fresh_key())
        press(page, "2")  # the button for rose is still there
        assert session.snapshot().label(asked) == "Rose"
        expect(page.get_by_test_id("notice")).to_have_text("The classes were changed: “rose” is gone.")
        expect(page.get_by_test_id("class-button")).to_have_count(2)

        session.change_class("ann", "remove", "oak", None, fresh_key())
        page.expected = "422"
        page.keyboard.press("3")
        expect(page.get_by_test_id("banner")).to_contain_text("the class 'oak' was removed: choose another")
        expect(page.get_by_test_id("class-button")).to_have_count(1)
