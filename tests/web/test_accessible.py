"""axe-core finds nothing serious, in either theme, on any view and in any dialog."""

from pathlib import Path

import httpx
import pytest
from support.browser import item
from support.items import words
from support.keys import fresh_key
from support.pages import page_of

from fewlabels.session import Session
from fewlabels.web.guard import Rules

axe = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: make install")

SERIOUS = """async () => (await axe.run()).violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ target }) => target.join(" ")).join("; ")}`)"""


def check(page, where, found):
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        page.wait_for_timeout(250)  # colours that fade have faded
        found += [f"{where}, {theme}: {what}" for what in page.evaluate(SERIOUS)]


def test_nothing_serious_on_any_view_in_either_theme(tmp_path, visit):
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    session = Session(words(classes=("rose", "oak", "elm")), tmp_path / "s.sqlite", overlap=2)
    for k in range(8):
        session.answer("ann", k, "rose" if k % 2 else "oak", fresh_key())
        session.answer("bob", k, "rose", fresh_key())
    session.note("ann", 9, "no leaves", fresh_key())
    found = []
    with (
        page_of(session, rules=Rules("the-right-token"), several=True, guidelines="# Roses\n\n- red\n\n`code`") as port,
        httpx.Client(base_url=f"http://localhost:{port}") as client,
    ):
        page = visit(client, tour=True, expected="401")
        page.evaluate(source)
        check(page, "token", found)
        page.goto("/?token=the-right-token")
        page.evaluate(source)
        check(page, "name", found)
        page.get_by_test_id("name-input").fill("dora")
        page.keyboard.press("Enter")
        item(page)
        check(page, "label and tour", found)
        page.get_by_test_id("tour-skip").click()
        page.keyboard.press("c")
        page.get_by_test_id("manage-edit").first.click()
        page.get_by_test_id("manage-remove").click()
        page.get_by_test_id("manage-remove-yes").wait_for()
        check(page, "classes", found)
        page.keyboard.press("Escape")
        page.keyboard.press("m")
        check(page, "note", found)
        page.keyboard.press("Escape")
        for key, where in (("g", "guidelines"), ("?", "help"), ("Shift+E", "export")):
            page.keyboard.press(key)
            page.locator("dialog[open]").wait_for()
            check(page, where, found)
            page.keyboard.press("Escape")
        for view in ("review", "people", "disagreements"):
            page.get_by_test_id(f"tab-{view}").click()
            page.locator(f"#view-{view} :is(li[data-item], tbody tr)").first.wait_for()
            check(page, view, found)
    session.close()
    assert found == []
