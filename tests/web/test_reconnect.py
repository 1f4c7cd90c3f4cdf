"""A key is shown as taken or refused at once, however slow the server; what waits is sent when the server is back."""

import asyncio

import httpx
import pytest
from support.browser import item, press
from support.items import words
from support.pages import Servers, page_of, served

from fewlabels.session import Session
from fewlabels.web.guard import Rules

expect = pytest.importorskip("playwright.sync_api").expect

AT_ONCE = """key => {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  return [document.querySelector(".answers .pressed")?.dataset.label, document.getElementById("notice").hidden];
}"""  # what is to be seen when the key has been heard: it is painted with the next frame


def slow(app):
    """Every answer takes a second, as while something compiles."""

    async def wrapped(scope, receive, send):
        if scope.get("path") == "/api/answers" and scope["method"] == "POST":
            await asyncio.sleep(1.0)
        await app(scope, receive, send)

    return wrapped


def test_a_key_is_shown_as_taken_and_the_next_as_refused_before_the_server_has_answered(tmp_path, visit):
    session = Session(words(), tmp_path / "s.sqlite")
    with page_of(session, slow, person="me") as port, httpx.Client(base_url=f"http://localhost:{port}") as client:
        page = visit(client)
        before = item(page)
        assert page.evaluate(AT_ONCE, "1") == ["cat", True]
        assert page.evaluate(AT_ONCE, "2") == ["cat", False]
        expect(page.get_by_test_id("notice")).to_contain_text("still on its way: this was not taken")
        item(page, other_than=before)
        assert session.snapshot().label(before) == "cat"
        page.keyboard.press("7")
        expect(page.get_by_test_id("notice")).to_have_text("No class has the key 7.")
    session.close()


def test_after_a_restart_the_page_goes_on_by_itself_and_the_answer_counts_once(tmp_path, visit):
    servers = Servers(tmp_path / "s.sqlite")
    servers.start()
    servers.connect().close()
    try:
        with httpx.Client(base_url=f"http://localhost:{servers.port}", timeout=30) as client:
            page = visit(client, expected="ERR_")
            press(page, "1")
            before = item(page)
            servers.kill()
            page.keyboard.press("2")
            banner = page.get_by_test_id("banner")
            expect(banner).to_contain_text("your answer is still here, and is sent when it is back")
            expect(page.locator(".class.pressed")).to_have_count(1)
            servers.start()
            item(page, other_than=before)
            expect(banner).to_be_hidden()
            said = client.get("/api/answers").json()["answers"]
            assert (said[0]["item"]["id"], said[0]["label"], len(said)) == (before, "dog", 2)
    finally:
        servers.kill()
        servers.close()


def test_where_the_token_is_asked_for_again_the_answer_waits_and_is_sent_once_it_is_entered(tmp_path, visit):
    rules = Rules("secret-token")
    session = Session(words(), tmp_path / "s.sqlite")
    with (
        page_of(session, rules=rules, person="me") as port,
        httpx.Client(base_url=f"http://localhost:{port}") as client,
    ):
        page = visit(client, path="/?token=secret-token", expected="401")
        before = item(page)
        rules.visitors.sign_out()  # as a restart does
        for key in ("2", "1"):  # the later one counts
            page.keyboard.press(key)
            expect(page.get_by_test_id("banner")).to_contain_text("sent once you have entered its token")
            expect(page.locator("body[data-busy]")).to_have_count(0)
        page.keyboard.press("m")
        page.locator("#note-input").fill("blurred")  # what is done meanwhile waits as well
        page.keyboard.press("Enter")
        expect(page.locator("body[data-busy]")).to_have_count(0)
        page.get_by_test_id("retry").click()
        page.locator("input").first.fill("secret-token")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("notice")).to_have_text("The answer that had been waiting is saved.")
        item(page, other_than=before)
        assert session.snapshot().label(before) == "cat"
        assert [note.value for note in session.snapshot().notes[before].values()] == ["blurred"]
        assert [event.do for event in session._ledger.events()] == ["class", "class", "answer", "note"]
        assert page.evaluate("sessionStorage.getItem('fewlabels.queued')") == "[]"
    session.close()


def test_what_waits_is_sent_first_when_something_else_is_done_meanwhile(tmp_path, visit):
    with served(words(), tmp_path / "s.sqlite") as (session, client):
        page = visit(client, expected="ERR_")
        before = item(page)
        page.route("**/api/answers?*", lambda route: route.abort())
        page.keyboard.press("1")
        expect(page.get_by_test_id("banner")).to_contain_text("cannot be reached")
        page.keyboard.press("m")
        page.locator("#note-input").fill("blurred")  # on the same item, whose answer it does not replace
        page.keyboard.press("Enter")
        expect(page.locator("body[data-busy]")).to_have_count(0)
        page.get_by_test_id("new-class-input").fill("owl")
        page.keyboard.press("Shift+Enter")
        assert session.classes == ["cat", "dog"]
        page.unroute("**/api/answers?*")
        expect(page.locator("[data-label=owl]").first).to_be_visible()
        expect(page.get_by_test_id("banner")).to_be_hidden()
        assert session.snapshot().label(before) == "cat"
        assert [note.value for note in session.snapshot().notes[before].values()] == ["blurred"]
        assert session.classes == ["cat", "dog", "owl"]


def test_a_new_class_answers_the_item_it_was_typed_for_and_a_later_key_counts(tmp_path, visit):
    """However late it gets through: not the item that has come meanwhile, which nobody has looked at."""
    with served(words(), tmp_path / "s.sqlite") as (session, client):
        page = visit(client, expected="ERR_")
        banner, field = page.get_by_test_id("banner"), page.get_by_test_id("new-class-input")
        first = item(page)
        page.route("**/api/answers?*", lambda route: route.abort())
        page.keyboard.press("1")
        expect(banner).to_contain_text("cannot be reached")
        field.fill("owl")
        expect(page.locator("body[data-busy]")).to_have_count(0)
        page.keyboard.press("Enter")
        page.unroute("**/api/answers?*")
        expect(page.locator("#announcer")).to_contain_text("Saved as owl.")
        second = item(page, other_than=first)
        page.route("**/api/classes?*", lambda route: route.abort())
        field.fill("eel")
        page.keyboard.press("Enter")
        expect(banner).to_contain_text("cannot be reached")
        field.blur()
        expect(page.locator("body[data-busy]")).to_have_count(0)
        page.keyboard.press("1")
        page.unroute("**/api/classes?*")
        expect(page.locator("#announcer")).to_contain_text("Saved as cat.")
        found = session.snapshot()
        assert {k: found.label(k) for k in found.labelled()} == {first: "owl", second: "cat"}
        assert session.classes == ["cat", "dog", "owl", "eel"]
