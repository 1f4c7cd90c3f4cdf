"""Injections in every place of every request of the page: nothing crashes, runs, or is written elsewhere."""

import csv
import http.client
import io
from contextlib import closing
from urllib.parse import quote

import pytest
from support.injections import SCRIPT, TEXTS, Attack, undescribed
from support.items import notes
from support.pages import page_of

from fewlabels.session import Session
from fewlabels.web.app import make_app
from fewlabels.web.guard import Rules

ELSEWHERE = {("GET", "/"), ("GET", "/openapi.json"), ("HEAD", "/openapi.json"), (None, "/static")}  # tested elsewhere
SAMPLES = {"who": "ann", "item": 3, "label": "cat", "name": "a new class", "next": False, "prediction": "cat"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the store in one folder, and this process in another: whatever is written is in sight."""
    for name in ("store", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_nothing_that_is_sent_crashes_runs_or_is_written_elsewhere(place):
    with (
        closing(Session(notes(20), place / "store" / "s.sqlite")) as session,
        page_of(session) as port,
        closing(Attack(port, SAMPLES)) as attack,
    ):
        for operation in attack.operations():
            attack.on(*operation)
        assert attack.accepted > attack.sent / 20  # the places were reached: what is harmless was taken
        for cell in (cell for row in rows(attack.send("GET", "/api/export.csv")) for cell in row):
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell
        classes = session.classes
        assert set(TEXTS) & set(classes)
        assert not any(set(name) & set("\0\r\n\u202e\u2028\ud800") for name in classes)
    with closing(Session(notes(20), place / "store" / "s.sqlite")) as again:
        assert again.classes == classes
    assert {file.name for file in place.rglob("*")} == {"store", "here", "s.sqlite"}


def rows(content):
    return csv.reader(io.StringIO(content.decode(), newline=""))


def test_every_route_is_described_and_so_attacked(tmp_path):
    with closing(Session(notes(20), tmp_path / "s.sqlite")) as session:
        assert undescribed(make_app(session)) == ELSEWHERE


def test_the_page_itself_shows_nothing_that_was_sent(tmp_path):
    with closing(Session(notes(20), tmp_path / "s.sqlite")) as session:
        session.add_class("ann", SCRIPT, "key-script")
        with page_of(session, rules=Rules("open-sesame")) as port:
            for address in ("/", "/?token=", "/?link="):
                line = http.client.HTTPConnection("127.0.0.1", port)
                line.request("GET", address + quote(SCRIPT), headers={"cookie": SCRIPT, "referer": SCRIPT})
                assert SCRIPT.encode() not in line.getresponse().read()
                line.close()
