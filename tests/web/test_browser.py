"""The page, driven in a real Chromium the way people use it. Pictures of the last run are in .screenshots/."""

import csv
import json
import re
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
import pytest
from support.browser import item, press
from support.items import some_digits, words
from support.keys import fresh_key
from support.pages import page_of, served

from fewlabels.session import Session
from fewlabels.session.store import StoreFullError
from fewlabels.web.guard import Rules

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make install")
expect = playwright.expect

SHOTS = Path(".screenshots")
DIGITS, TRUTH = some_digits()


@pytest.fixture
def digits():
    return DIGITS


def label_digits(page, how_many):
    """Answer by keyboard what the digits are; {item: digit}."""
    answers = {}
    for _ in range(how_many):
        asked = item(page)
        answers[asked] = TRUTH[asked]
        press(page, answers[asked])
    return answers


def answer_directly(session, how_many, tell):
    """Answer the questions of the page's person without the page, which is told with its next request."""
    for _ in range(how_many):
        asked = session.question("me").item
        session.answer("me", asked, tell(asked), fresh_key())
    session.settle()


def labels(session):
    return {k: session.snapshot().label(k) for k in session.snapshot().labelled()}


def test_ten_digits_by_keyboard_are_there_after_a_reload(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        answers = label_digits(page, 10)
        assert labels(session) == answers
        question = item(page)
        expect(page.get_by_test_id("standing-labelled")).to_contain_text("10")
        expect(page.get_by_test_id("recent")).to_have_count(10)
        expect(page.get_by_test_id("why-outcome")).to_have_count(10)
        page.reload()
        assert item(page) == question
        expect(page.get_by_test_id("standing-labelled")).to_contain_text("10")
        expect(page.get_by_test_id("recent")).to_have_count(10)
        page.wait_for_timeout(600)  # the map's colours have faded in
        page.screenshot(path=SHOTS / "ten-digits.png")


def test_undo_skip_unsure_enter_and_a_new_class_each_with_one_key(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        first, second = label_digits(page, 2)
        third = item(page)
        page.keyboard.press("Backspace")
        assert item(page, other_than=third) == second
        page.keyboard.press("Control+z")
        assert item(page, other_than=second) == first
        assert labels(session) == {}
        label_digits(page, 1)
        skipped = item(page)
        press(page, "Space")
        unsure = item(page)
        press(page, "u")
        assert session.snapshot().aside() == ([unsure], [skipped])
        suggested = page.get_by_test_id("suggestion").inner_text()
        accepted = item(page)
        press(page, "Enter")
        assert session.snapshot().label(accepted) in suggested
        named = item(page)
        page.keyboard.press("n")
        page.keyboard.type("smudge")
        page.keyboard.press("Enter")
        item(page, other_than=named)
        assert session.snapshot().label(named) == "smudge"
        expect(page.locator("[data-test=class-button][data-label=smudge]")).to_be_visible()


def test_an_answer_is_changed_and_taken_back_among_the_last(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        *_, last = label_digits(page, 3)
        reading = item(page)
        wrong = "4" if session.snapshot().label(last) != "4" else "7"
        page.get_by_test_id("recent").first.get_by_role("button").click()
        page.locator(f"[data-test=picker-class][data-label='{wrong}']").click()
        expect(page.get_by_test_id("recent").first).to_contain_text(wrong)
        assert session.snapshot().label(last) == wrong
        assert item(page) == reading
        page.get_by_test_id("recent").nth(2).get_by_role("button").click()
        page.get_by_test_id("picker-extra").click()
        expect(page.get_by_test_id("standing-labelled")).to_contain_text("2")


def test_two_people_at_once_are_never_asked_the_same(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite", token="a-long-enough-token", several=True) as (session, client):
        pages = {}
        for who in ("Ann", "Bob"):
            page = pages[who] = visit(client, "/?token=a-long-enough-token")
            assert "token" not in page.url
            page.get_by_test_id("name-input").fill(who)
            page.keyboard.press("Enter")
        for _ in range(6):
            assert item(pages["Ann"]) != item(pages["Bob"])
            for page in pages.values():
                press(page, TRUTH[item(page)])
        assert session.snapshot().standing.people == {"Ann": 6, "Bob": 6}
        conflict = item(pages["Bob"])
        for who, answer in (("Ann", "1"), ("Bob", "7")):
            session.answer(who, conflict, answer, f"conflict-{who}")
        page = pages["Ann"]
        page.get_by_test_id("tab-disagreements").click(timeout=10_000)  # shown when the page next asks how things stand
        page.screenshot(path=SHOTS / "disagreement.png")
        page.locator("[data-test=decide][data-label='7']").click()
        expect(page.get_by_test_id("disagreement")).to_have_class("card quarrel settled")
        assert session.snapshot().label(conflict) == "7"


def test_without_the_token_there_is_a_form_for_it(tmp_path, visit):
    with served(words(), tmp_path / "s.sqlite", token="a-long-enough-token") as (_, client):
        page = visit(client, expected="401")
        page.get_by_role("textbox").fill("a-long-enough-token")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("name-input")).to_be_visible()


def test_on_a_phone_nothing_is_wider_than_the_screen_and_a_thumb_can_answer(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite") as (session, client):
        page = visit(client, viewport={"width": 375, "height": 812}, has_touch=True, is_mobile=True)
        for _ in range(5):
            asked = item(page)
            button = page.locator(f"[data-test=class-button][data-label='{TRUTH[asked]}']")
            assert button.bounding_box()["height"] >= 40
            button.tap()
            item(page, other_than=asked)
        assert len(labels(session)) == 5
        for view in ("tab-review", "tab-label"):
            page.get_by_test_id(view).tap()
            page.wait_for_timeout(300)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 375
        page.screenshot(path=SHOTS / "phone.png", full_page=True)


def test_everything_can_be_taken_away_at_any_moment(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite") as (_, client):
        page = visit(client)
        answers = label_digits(page, 3)
        files = {}
        for ending in ("csv", "jsonl"):
            page.keyboard.press("Shift+E")
            page.locator(f"[data-test=export-format][value={ending}]").check()
            expect(page.get_by_test_id("export-said")).to_have_text("500 items: 3 labelled, 497 predicted.")
            address = re.compile(f"^api/export/{ending}[?]at_least=0&")
            expect(page.get_by_test_id("export-go")).to_have_attribute("href", address)
            with page.expect_download() as started:
                page.get_by_test_id("export-go").click()
            page.screenshot(path=SHOTS / "export.png")
            page.keyboard.press("Escape")
            assert started.value.suggested_filename == f"digits-labels.{ending}"
            files[ending] = Path(started.value.path()).read_text()
        rows = list(csv.DictReader(files["csv"].splitlines()))
        assert {int(row["item"]): row["label"] for row in rows if row["status"] == "labelled"} == answers
        assert len(rows) == len(files["jsonl"].splitlines()) == len(TRUTH)
        assert json.loads(files["jsonl"].splitlines()[0]).keys() == rows[0].keys()


def test_a_click_on_the_map_asks_about_that_item(tmp_path, visit):
    with served(words(), tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        asked = item(page)
        box = page.get_by_test_id("map").bounding_box()
        for _ in range(40):  # by keyboard too: from point to point, until it is another one
            page.get_by_test_id("map").focus()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
            page.wait_for_timeout(150)
            if item(page) != asked:
                break
        assert item(page) != asked
        assert box["width"] > 200
        assert session._assignments._leases.item_of("me") == item(page)


def test_in_review_a_wrong_one_is_relabelled_and_the_rest_accepted_at_once(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        label_digits(page, 15)
        page.get_by_test_id("tab-review").click()
        expect(page.get_by_test_id("review-item").first).to_be_visible()
        doubtful = int(page.get_by_test_id("review-item").first.get_attribute("data-item"))
        page.get_by_test_id("review-relabel").first.click()
        page.locator("[data-test=picker-class][data-label='9']").click()
        expect(page.locator(f"[data-test=review-item][data-item='{doubtful}']")).to_have_count(0)
        assert session.snapshot().label(doubtful) == "9"
        before = len(labels(session))
        page.get_by_test_id("review-select-all").click()
        page.screenshot(path=SHOTS / "review.png")
        shown = page.get_by_test_id("review-item").count()
        page.get_by_test_id("review-accept").click()
        expect(page.get_by_test_id("standing-labelled")).to_contain_text(str(before + shown))
        assert len(labels(session)) == before + shown


def test_when_the_disk_is_full_the_answer_stays_on_screen_until_there_is_room(tmp_path, visit):
    with served(words(), tmp_path / "s.sqlite") as (session, client):
        page = visit(client, expected="507")
        asked = item(page)
        database = session._store._db
        database.execute("PRAGMA max_page_count = 1")  # the file may not grow
        with suppress(StoreFullError):
            for number in range(1000):  # until its last page is full
                session.answer("me", (asked + 1) % 40, "dog", f"filling-{number:08d}")
        kept = len(list(session._store.events()))
        page.keyboard.press("1")
        expect(page.get_by_test_id("banner")).to_contain_text("is full. Make room and try again.")
        assert item(page) == asked
        page.screenshot(path=SHOTS / "disk-full.png")
        assert len(list(session._store.events())) == kept
        database.execute("PRAGMA max_page_count = 100000")
        page.get_by_test_id("retry").click()
        item(page, other_than=asked)
        expect(page.get_by_test_id("banner")).to_be_hidden()
        assert session.snapshot().recent(1)[0].item == asked


def test_begun_without_classes_the_first_is_named_on_the_item(tmp_path, visit):
    with served(words(classes=()), tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        for name in ("animal", "plant"):
            asked = item(page)
            page.keyboard.press("n")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            item(page, other_than=asked)
            assert session.snapshot().label(asked) == name
        asked = item(page)
        press(page, "2")
        assert session.snapshot().label(asked) == "plant"


def test_hostile_texts_are_shown_as_they_are(tmp_path, visit):
    nasty = "<img src=x onerror=\"document.body.id='broken'\"><script>document.body.id='broken'</script>"
    with served(words(classes=(nasty[:99], "b"), texts=[nasty] * 40), tmp_path / "s.sqlite") as (session, client):
        page = visit(client)
        expect(page.get_by_test_id("item-text")).to_have_text(nasty)
        press(page, "1")
        page.keyboard.press("h")
        expect(page.get_by_test_id("help-dialog")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_test_id("tab-review").click()
        expect(page.get_by_test_id("review-item").first).to_be_visible()
        assert page.get_attribute("body", "id") is None
        assert list(labels(session).values()) == [nasty[:99]]


def test_checks_are_blind_and_in_the_end_it_says_that_one_can_stop(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite", target=0.2) as (session, client):
        page = visit(client, color_scheme="dark")
        stop, checks = page.get_by_test_id("stop"), page.get_by_test_id("checks")
        expect(stop).to_contain_text("Still learning: nothing is checked yet.")
        expect(page.get_by_test_id("more")).to_contain_text("at least 12 checks, all of them right, after 20 answers")
        expect(page.get_by_test_id("standing-error")).to_have_text("too early")
        label_digits(page, 2)
        answer_directly(session, 18, lambda k: TRUTH[k])
        page.reload()
        page.wait_for_selector("body[data-reason=check]")
        expect(page.get_by_test_id("suggestion")).to_contain_text(
            "A check: no suggestion, so that your answer is your own."
        )
        expect(page.locator(".class .chance").first).to_be_empty()
        expect(page.get_by_test_id("why")).to_contain_text("Drawn at random, like every check")
        expect(page.get_by_test_id("neighbour").first).to_be_hidden()
        expect(page.locator("#map-here")).to_be_hidden()
        before = item(page)
        page.keyboard.press("Enter")  # there is no suggestion to accept
        page.wait_for_timeout(300)
        assert item(page) == before
        page.screenshot(path=SHOTS / "check.png")
        label_digits(page, 3)
        while session.snapshot().standing.state != "probable":
            answer_directly(session, 1, lambda k: TRUTH[k])
        page.reload()
        expect(stop).to_contain_text("Probably below 20%")
        counted = session.snapshot().standing.estimate
        expect(checks).to_contain_text(f"{counted.checks} checks, {counted.wrong or 'none'} wrong · suggestions right")
        expect(page.get_by_test_id("interval").get_by_role("img")).to_be_visible()
        page.screenshot(path=SHOTS / "probably.png")
        while not session.snapshot().standing.reached:
            answer_directly(session, 1, lambda k: TRUTH[k])
        label_digits(page, 1)
        expect(stop).to_contain_text("You can stop.")
        expect(page.get_by_test_id("stop-export")).to_be_visible()
        page.wait_for_timeout(600)
        page.screenshot(path=SHOTS / "dark.png")
        page.get_by_test_id("stop-review").click()
        expect(page.locator("#view-review")).to_be_visible()


def test_wrong_predictions_are_found_out_and_said(tmp_path, visit):
    """Answers that follow nothing one can see: the checks find the predictions wrong."""
    with served(words(400), tmp_path / "s.sqlite") as (session, client):
        coins = np.random.default_rng(0).integers(2, size=400)
        answer_directly(session, 70, lambda k: ("cat", "dog")[coins[k]])
        page = visit(client)
        expect(page.get_by_test_id("stop")).to_contain_text("Going on.")
        assert page.get_by_test_id("stop").get_attribute("data-state") == "above"
        expect(page.get_by_test_id("stop-export")).to_be_hidden()
        page.screenshot(path=SHOTS / "above.png")


def test_without_checks_it_says_what_it_expects_and_no_more(tmp_path, visit):
    with served(words(100), tmp_path / "s.sqlite", target=0.9, checks=0) as (session, client):
        answer_directly(session, 24, lambda k: "cat" if k < 50 else "dog")
        page = visit(client)
        expect(page.get_by_test_id("stop")).to_contain_text("Nobody can be sure: about")
        expect(page.get_by_test_id("interval")).to_be_hidden()


def test_behind_a_proxy_the_page_works_under_a_prefix(digits, tmp_path, visit):
    """As nginx does it: what comes after /labels is passed on."""

    def stripped(app):
        async def proxy(scope, receive, send):
            assert scope["path"].startswith("/labels/"), scope["path"]
            await app({**scope, "path": scope["path"].removeprefix("/labels")}, receive, send)

        return proxy

    session = Session(digits, tmp_path / "s.sqlite")
    with page_of(session, wrap=stripped, rules=Rules("a-token-of-its-own"), person="me") as port:
        page = visit(httpx.Client(base_url=f"http://localhost:{port}"), "/labels/?token=a-token-of-its-own")
        label_digits(page, 3)
        expect(page.get_by_test_id("standing-labelled")).to_contain_text("3")
        expect(page.locator("#item-body img")).to_be_visible()
        assert page.url == f"http://localhost:{port}/labels/"
    session.close()


def test_everything_that_can_be_operated_has_a_name(digits, tmp_path, visit):
    with served(digits, tmp_path / "s.sqlite") as (_, client):
        page = visit(client)
        label_digits(page, 2)
        for role in ("button", "link", "textbox", "checkbox", "img"):
            nameless = page.get_by_role(role).evaluate_all(  # all at one moment: the page goes on drawing
                "found => found.filter(e => !(e.ariaLabel || e.textContent.trim() || e.labels?.[0]?.textContent)"
                " && e.alt === undefined).map(e => e.outerHTML)"
            )
            assert nameless == []
