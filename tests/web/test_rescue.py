"""The store's file is gone while people answer: the page offers to write a new one, and nothing is lost."""

import logging
from contextlib import closing

import pytest
from support.items import words
from support.keys import fresh_key
from support.pages import served

from fewlabels.session import Session
from fewlabels.web import serve as serve_module


def shown(page, other_than=""):
    """The number of the item on the page, once there is another one."""
    page.wait_for_selector(f"body[data-item]:not([data-item='{other_than}'])")
    return page.get_attribute("body", "data-item")


@pytest.mark.parametrize("how", ["click", "key"])
def test_one_click_or_key_writes_a_new_file_and_sends_the_answer_again(tmp_path, visit, how):
    path = tmp_path / "s.sqlite"
    with served(words(), path) as (session, client):
        page = visit(client, expected="503")
        first = shown(page)
        page.keyboard.press("1")
        asked = shown(page, other_than=first)
        path.unlink()
        page.keyboard.press("1")
        page.get_by_test_id("rescue").wait_for()
        page.screenshot(path=".screenshots/store-gone.png")
        if how == "click":
            page.get_by_test_id("rescue").click()
        else:
            page.keyboard.press("Control+s")
        shown(page, other_than=asked)
        page.get_by_test_id("banner").wait_for(state="hidden")
        said = session.snapshot().recent(9)
        assert len(said) == 2
        assert said[0].item == int(asked)
    with closing(Session(words(), path)) as again:
        assert again.snapshot().recent(9) == said


def test_the_terminal_is_told_and_the_offer_is_in_the_refusal(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "error", lambda text, *more: told.append(text % more))
    path = tmp_path / "s.sqlite"
    with served(words(), path) as (_, client):
        answer = {"who": "me", "item": 1, "label": "cat", "key": fresh_key(), "next": False}
        assert client.post("/api/store", json={}).json() == {"store": str(path), "events": 2}
        assert told == []  # the file is in its place: nothing was done
        path.write_bytes(b"")  # emptied, not replaced: SQLite's log still has it all
        path.rename(tmp_path / "aside")
        path.mkdir()
        refusal = client.post("/api/answers", json=answer)
        assert refusal.status_code == 503
        assert refusal.json()["offer"] == "new-store"
        assert client.post("/api/store", json={}).json() == {"store": str(tmp_path / "s-2.sqlite"), "events": 2}
        assert client.post("/api/answers", json=answer).status_code == 200
    assert "was moved, removed or replaced" in told[0]
    assert told[1:] == [f"All answers, 2 events, are written into {tmp_path / 's-2.sqlite'}."]


def test_stopping_the_server_writes_a_new_file_too(tmp_path):
    path = tmp_path / "s.sqlite"
    session = Session(words(), path)
    session.answer("me", 1, "cat", fresh_key())
    path.unlink()
    serve_module.close(session)
    with closing(Session(words(), path)) as again:
        assert [event.label for event in again.snapshot().recent(9)] == ["cat"]


def test_without_the_token_nobody_has_a_file_written(tmp_path):
    path = tmp_path / "s.sqlite"
    with served(words(), path, token="open-sesame") as (_, client):
        path.unlink()
        assert client.post("/api/store", json={}).status_code == 401
        assert not path.exists()
