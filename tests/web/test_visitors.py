"""Tokens, links that work once, and the cookies they are exchanged for."""

import asyncio
import socket
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from support.injections import Attack
from support.items import words
from support.pages import page_of, served

from fewlabels.errors import FileError, SettingError
from fewlabels.session import Session
from fewlabels.web import connection, guesses, links, serve, visitors
from fewlabels.web import revocation as revocation_module
from fewlabels.web.guard import Rules
from fewlabels.web.revocation import Revocation, request_sign_out
from fewlabels.web.serve import find_place


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_is_made_everywhere(host):
    place = find_place(host, 0)
    assert len(place.token) >= 30
    assert place.url.endswith(f"/?token={place.token}")
    assert place.several == (host == "0.0.0.0")
    place.socket.close()
    with pytest.raises(SettingError, match="the token has 3 characters"):
        find_place("0.0.0.0", 0, "abc")


def test_a_token_of_ones_own_may_have_any_characters(tmp_path):
    place = find_place("127.0.0.1", 0, "a+b&c#d щ")
    link = place.url.removeprefix(place.address)
    place.socket.close()
    with served(words(), tmp_path / "s.sqlite", token="a+b&c#d щ") as (_, client):
        assert client.get(link).status_code == 303
        assert client.get("/api/standing").status_code == 200


def test_a_link_lets_one_browser_in_once_and_a_cookie_ends_when_it_is_signed_out(tmp_path):
    session = Session(words(), tmp_path / "s.sqlite")
    rules = Rules("a-token-of-its-own", "fewlabels-99")
    with page_of(session, rules=rules) as port:
        link = f"/?link={rules.visitors.link()}"
        browsers = [httpx.Client(base_url=f"http://localhost:{port}") for _ in range(3)]
        assert browsers[0].get(link).status_code == 303
        assert browsers[1].get(link).status_code == 401
        assert browsers[2].get("/?token=a-token-of-its-own").status_code == 303
        cookies = [dict(browser.cookies) for browser in browsers]
        assert cookies[0]["fewlabels-99"] != cookies[2]["fewlabels-99"] != "a-token-of-its-own"
        assert [one.get("/api/standing").status_code for one in browsers] == [200, 401, 200]
        assert browsers[0].post("/api/sign-out", json={}).status_code == 200
        browsers[0].cookies.set("fewlabels-99", cookies[0]["fewlabels-99"])  # kept by somebody: worth nothing
        assert [one.get("/api/standing").status_code for one in browsers] == [401, 401, 200]
        assert browsers[2].post("/api/sign-out", json={"everyone": True}).status_code == 200
        browsers[2].cookies.set("fewlabels-99", cookies[2]["fewlabels-99"])
        assert browsers[2].get("/api/standing").status_code == 401
        for browser in browsers:
            browser.close()
    session.close()


def test_guesses_are_slowed_down_right_or_wrong_and_nobody_else_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(guesses, "SLIPS", 3)
    monkeypatch.setattr(guesses, "PAUSE", 1.0)
    logged = []
    monkeypatch.setattr(guesses.logging.getLogger("uvicorn.error"), "warning", lambda *said: logged.append(said))
    with served(words(), tmp_path / "s.sqlite", token="a-token-of-its-own") as (_, client):

        def seconds(status, token=None):
            begin = time.monotonic()
            reply = httpx.get(f"{client.base_url}/api/standing", params={"token": token}) if token else client.get("/")
            assert reply.status_code == status
            return time.monotonic() - begin

        assert client.get("/", params={"token": "a-token-of-its-own"}).status_code == 303
        for guess in range(3):
            seconds(401, f"guess-{guess}")
        assert logged == []
        assert seconds(401, "guess-4") >= 1  # a guess that is given up early tells nothing,
        assert seconds(200, "a-token-of-its-own") >= 1  # for a right one waits as long
        assert seconds(200) < 1
    assert len(logged) == 1


def test_neither_a_new_forwarded_address_nor_another_spelling_spares_the_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(guesses, "SLIPS", 3)
    monkeypatch.setattr(guesses, "PAUSE", 1.0)
    with served(words(), tmp_path / "s.sqlite", token="a-token-of-its-own") as (_, client):
        begin = time.monotonic()
        for guess in range(4):
            forwarded = {"x-forwarded-for": f"10.0.0.{guess}"}
            assert client.get(f"/api/standing?%74oken=guess-{guess}", headers=forwarded).status_code == 401
        assert time.monotonic() - begin >= 1


def test_guesses_from_one_address_delay_no_other_and_only_a_few_wait(monkeypatch):
    monkeypatch.setattr(guesses, "PAUSE", 0.05)
    found = guesses.Guesses()
    for _ in range(guesses.SLIPS):
        found.note("10.0.0.1")

    async def many():
        tries = [asyncio.create_task(found.may_try("10.0.0.1")) for _ in range(20)]
        await asyncio.sleep(0)
        begin = time.monotonic()
        assert await found.may_try("10.0.0.2")
        return time.monotonic() - begin, await asyncio.gather(*tries)

    other, tries = asyncio.run(many())
    assert other < 0.05
    assert sum(tries) == guesses.WAITING
    assert not found._waiting
    for k in range(guesses.ADDRESSES + 9):
        found.note(f"10.1.0.{k}")
    assert len(found._wrong) == guesses.ADDRESSES


def test_many_guesses_at_once_shut_nobody_out(tmp_path, monkeypatch):
    """Each waited for the ones before it, and all of them took up the connections that there may be."""
    monkeypatch.setattr(connection, "CONNECTIONS", 40)
    monkeypatch.setattr(guesses, "PAUSE", 0.5)
    with served(words(), tmp_path / "s.sqlite", token="a-token-of-its-own") as (_, client):
        assert client.get("/", params={"token": "a-token-of-its-own"}).status_code == 303
        lines = []
        for k in range(60):
            lines.append(socket.create_connection(("127.0.0.1", client.base_url.port)))
            lines[-1].sendall(f"GET /?token=guess-{k} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        for _ in range(5):
            with httpx.Client(base_url=client.base_url, cookies=client.cookies) as browser:
                assert browser.get("/api/standing").status_code == 200
        for line in lines:
            line.close()


def test_a_browser_is_opened_without_the_token_in_any_program_s_arguments(tmp_path, monkeypatch):
    read = []

    def look(uri):
        path = Path(uri.removeprefix("file://"))
        read.append((uri, path.read_text(), path.stat().st_mode))

    monkeypatch.setattr(serve.webbrowser, "open", look)
    monkeypatch.setattr(serve.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(serve.tempfile, "tempdir", str(tmp_path))
    serve._show("http://127.0.0.1:8765/?link=secret")
    [(uri, content, mode)] = read
    assert "secret" not in uri
    assert "url=http://127.0.0.1:8765/?link=secret" in content
    assert mode & 0o77 == 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_user_signs_nobody_out(tmp_path, monkeypatch):
    store = tmp_path / "s.sqlite"
    revocation = Revocation(lambda: store)
    request_sign_out(store)
    [mark] = tmp_path.iterdir()
    assert mark.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(revocation_module.os, "geteuid", lambda: 4711)
    monkeypatch.setattr(Path, "lstat", lambda path: SimpleNamespace(st_uid=4712, st_ino=1, st_mtime_ns=2))
    assert not revocation.asked()
    monkeypatch.undo()
    assert [revocation.asked(), revocation.asked()] == [True, False]
    mark.unlink()
    mark.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="cannot write"):
        request_sign_out(store)
    assert not (tmp_path / "elsewhere").exists()


class TestPeople:
    """Everybody has a link of their own, and answers under no other name."""

    @pytest.fixture
    def doors(self, tmp_path):
        session = Session(words(), tmp_path / "s.sqlite")
        rules = Rules("of-whoever-started", people={"token-of-ann": "ann", "token-of-bob": "bob"})
        with page_of(session, rules=rules, several=True) as port:
            yield session, httpx.Client(base_url=f"http://localhost:{port}")
        session.close()

    @staticmethod
    def answer(client, who, key, **options):
        body = {"who": who, "item": 3, "label": "cat", "key": key}
        return client.post("/api/answers", json=body, **options)

    def test_a_link_is_a_name(self, doors):
        session, client = doors
        with client:
            assert client.get("/?token=token-of-ann").status_code == 303
            assert client.get("/api/session").json()["person"] == "ann"
            assert self.answer(client, "ann", "key-00000001").status_code == 200
            forged = self.answer(client, "bob", "key-00000002")
            assert forged.status_code == 403
            assert "your link is that of 'ann'" in forged.json()["detail"]
        assert session.snapshot().history[3].votes.keys() == {"ann"}

    def test_a_cookie_gives_way_to_another_person_s_link_alone(self, doors, monkeypatch):
        """A wrong token took a person's name away, and three of them everybody's cookie."""
        monkeypatch.setattr(visitors, "MOST", 3)
        _, client = doors
        with client, httpx.Client(base_url=client.base_url) as other:
            other.get("/?token=of-whoever-started")
            client.get("/?token=token-of-ann")
            for shown in ("token=wrong", "token=", "link=wrong", "token=of-whoever-started", "token=token-of-ann"):
                for _ in range(3):
                    reply = client.get(f"/?{shown}")
                    assert (reply.status_code, reply.headers["location"], reply.cookies) == (303, "./", {})
            assert client.get("/api/session").json()["person"] == "ann"
            assert other.get("/api/standing").status_code == 200
            for _ in range(3):
                other.get("/?token=token-of-bob")
                other.get("/?token=token-of-ann")
            assert other.get("/api/session").json()["person"] == "ann"
            assert client.get("/api/session").json()["person"] == "ann"

    def test_no_request_is_taken_under_another_name(self, doors):
        session, client = doors
        before, headers = session.snapshot().last_event, {"authorization": "Bearer token-of-ann"}
        with client, closing(Attack(client.base_url.port, {"who": "bob", "next": False}, headers)) as attack:
            named = [(path, body) for method, path, said in attack.operations() if (body := attack.body(path, said))]
            named = [(path, body) for path, body in named if "who" in body]
            for path, body in named:
                attack.send("POST", path, body)
                assert attack.status == 403, path
        assert len(named) > 8
        assert session.snapshot().last_event == before

    def test_whoever_started_it_may_look_and_not_answer(self, doors):
        _, client = doors
        with client:
            headers = {"authorization": "Bearer of-whoever-started"}
            assert client.get("/api/standing", headers=headers).status_code == 200
            assert self.answer(client, "ann", "key-00000001", headers=headers).status_code == 403
            headers = {"authorization": "Bearer token-of-bob"}
            assert self.answer(client, "bob", "key-00000002", headers=headers).status_code == 200


def test_links_last_as_long_as_the_store_and_nobody_else_knows_what_they_are_made_of(tmp_path):
    stores = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    first, other = (links.tokens(store, ["ann", "bob"]) for store in stores)
    assert sorted(first.values()) == ["ann", "bob"]
    assert all(len(token) >= 30 for token in first)
    assert links.tokens(stores[0], ["bob", "eve", "ann"]).items() > first.items()
    assert not first.keys() & other.keys()
    kept = tmp_path / "a.sqlite.links"
    assert kept.stat().st_mode & 0o077 == 0
    request_sign_out(stores[0])
    assert not first.keys() & links.tokens(stores[0], ["ann", "bob"]).keys()


@pytest.mark.parametrize("spoilt", ["readable", "cut", "a link"])
def test_a_secret_that_others_may_know_makes_no_links(tmp_path, spoilt):
    store, kept = tmp_path / "s.sqlite", tmp_path / "s.sqlite.links"
    before = links.tokens(store, ["ann"])
    if spoilt == "readable":
        kept.chmod(0o644)
    elif spoilt == "cut":
        kept.write_bytes(b"")
    else:
        kept.rename(tmp_path / "elsewhere")
        kept.symlink_to(tmp_path / "elsewhere")
    assert not before.keys() & links.tokens(store, ["ann"]).keys()


def test_a_proxy_that_hides_its_name_is_trusted_by_name(tmp_path):
    session = Session(words(), tmp_path / "s.sqlite")
    body = {"who": "ann"}
    for trusted, status in ((frozenset(), 403), (frozenset(["label.example"]), 200)):
        rules = Rules("a-token-of-its-own", trusted=trusted)
        with page_of(session, rules=rules) as port, httpx.Client(base_url=f"http://localhost:{port}") as client:
            headers = {"authorization": "Bearer a-token-of-its-own", "origin": "https://label.example"}
            assert client.post("/api/question", json=body, headers=headers).status_code == status
            headers["origin"] = "https://evil.example"
            assert client.post("/api/question", json=body, headers=headers).status_code == 403
    session.close()


def test_by_tls_the_cookie_is_secure(tmp_path):
    with served(words(), tmp_path / "s.sqlite", token="a-token-of-its-own") as (_, client):
        for scheme, secure in (("http", False), ("https", True)):
            client.cookies.clear()
            reply = client.get("/?token=a-token-of-its-own", headers={"x-forwarded-proto": scheme})
            assert ("secure" in reply.headers["set-cookie"].lower()) == secure
