"""Whatever is sent, the reply is one of those described, with a sentence where it is a refusal, and never a crash."""

import csv
import http.client
import io
import json
from dataclasses import replace

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from support.items import notes
from support.pages import page_of

from fewlabels.files.spreadsheet import as_text
from fewlabels.session import Session
from fewlabels.web.guard import Rules

TOKEN = "open-sesame"
SCRIPT = "<script>alert(1)</script>"
ODD = ["comma, “quote\" 'n' newline\nend", "ünï-çødé 漢字 🙂", SCRIPT, '=1+1;"";,\r\n\u2028']
ANSWER = {"who": "ann", "item": 1, "label": "cat", "key": "key-0001"}
STATE = ["/api/standing", "/api/predictions", "/api/answers?limit=200", "/api/aside", "/api/export.jsonl"]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    items = notes(20)
    items = replace(items, title=SCRIPT, names=[*ODD, *items.names[4:]], texts=[*ODD, *items.texts[4:]])
    opened = Session(items, tmp_path_factory.mktemp("fuzz") / "store.sqlite")
    opened.add_class("ann", SCRIPT, "key-script")
    opened.answer("ann", 0, SCRIPT, "key-answer")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def port(session):
    with page_of(session) as port:
        yield port


@pytest.fixture(scope="module")
def guarded(session):
    with page_of(session, rules=Rules(TOKEN), several=True) as port:
        yield port


def send(port, method, path, body=None, **headers):
    """Status, headers and body of the reply. Header names are written with _ for -."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    shown = {"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    line.request(method, path, body, shown)
    reply = line.getresponse()
    found = reply.status, dict(reply.getheaders()), reply.read()
    line.close()
    return found


def state(port):
    return [send(port, "GET", path)[2] for path in STATE]


def check_refused(reply, status):
    """A 4xx with one sentence as its detail; no trace of the program's inside."""
    assert reply[0] == status, reply
    detail = json.loads(reply[2])["detail"]
    assert detail.endswith(".")
    assert "Traceback" not in detail
    assert "\n" not in detail


def test_every_reply_is_one_of_those_described(port):
    """Schemathesis makes requests, good and bad, from the description itself, and holds the replies against it.

    One of its checks is left out: a name that cannot be printed is well-formed by the description, and refused.
    """
    described = json.loads(send(port, "GET", "/openapi.json")[2])
    schema = schemathesis.openapi.from_dict(described)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 15
    for operation in operations:

        @settings(
            max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
        )
        @given(case=operation.as_strategy())
        def check(case):
            case.call_and_validate(base_url=f"http://127.0.0.1:{port}", excluded_checks=[positive_data_acceptance])

        check()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (422, {"item": -1}),
        (422, {"item": 2**31}),
        (422, {"item": 1e300}),
        (422, {"item": True}),
        (422, {"item": "1"}),
        (404, {"item": 20}),
        (422, {"who": ""}),
        (422, {"who": " "}),
        (422, {"who": "a\0b"}),
        (422, {"who": "\ud800"}),
        (422, {"who": "a" * 51}),
        (422, {"who": "a\u202eb"}),
        (422, {"label": "\ud800"}),
        (422, {"label": "cow"}),
        (422, {"label": "c" * 101}),
        (422, {"key": "short"}),
        (422, {"key": "key with spaces"}),
        (422, {"key": "key-0001\n"}),
        (422, {"more": 1}),
        (422, {"\ud800": 1}),
    ],
)
def test_an_answer_with_something_odd_is_refused(port, status, body):
    before = state(port)
    check_refused(send(port, "POST", "/api/answers", json.dumps(ANSWER | body)), status)
    assert state(port) == before


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (422, b"["),
        (400, b"[" * 100_000),
        (400, b'{"item": ' + b"9" * 5000 + b"}"),
        (400, b'{"who": "\xff"}'),
        (422, b""),
        (422, b"null"),
        (422, b'{"who": "ann", "item": NaN, "label": "cat", "key": "key-0001"}'),
        (413, b" " * 2**21),
        (413, "chunks"),
    ],
    ids=["cut", "deep", "long number", "no utf-8", "empty", "null", "NaN", "2 MB", "2 MB in chunks"],
)
def test_a_body_that_makes_no_sense_is_refused(port, status, body):
    before = state(port)
    body = iter([b" " * 2**16] * 32) if body == "chunks" else body  # chunks: without a Content-Length
    check_refused(send(port, "POST", "/api/answers", body), status)
    assert state(port) == before


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "odd"])
def test_a_form_of_another_page_cannot_answer(port, kind):
    before = state(port)
    check_refused(send(port, "POST", "/api/answers", json.dumps(ANSWER), content_type=kind), 422)
    assert state(port) == before


@pytest.mark.parametrize(
    ("status", "path"),
    [
        (404, "/static/../app.py"),
        (404, "/static/%2e%2e/app.py"),
        (404, "/static/..%2fapp.py"),
        (404, "/static/..%5capp.py"),
        (404, "/static//etc/passwd"),
        (404, "/static/%00"),
        (404, "/static/" + "a" * 300),
        (404, "/api/items/20"),
        (404, "/api/items/-1"),
        (404, "/api/items/99999999999999999999"),
        (404, "/api/items/0/image"),  # these items have none
        (404, "/api/items/..%2f..%2fetc%2fpasswd"),
        (422, "/api/items/%00"),
        (422, "/api/items/" + "9" * 5000),
        (422, "/api/items/1e3"),
        (422, "/api/review?status=lost"),
        (422, "/api/review?at_least=nan"),
        (422, "/api/acceptable?label=cow"),
        (422, "/api/review?prediction=%ED%A0%80"),
        (422, "/api/review?prediction=cat&offset=-1"),
        (422, "/api/review?prediction=cat&limit=99999999999999999999999"),
        (422, "/api/answers?limit=0"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(port, status, path):
    check_refused(send(port, "GET", path), status)


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
def test_other_methods_are_refused(port, method):
    reply = send(port, method, "/api/standing")
    assert reply[0] == 405
    if method != "HEAD":
        check_refused(reply, 405)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "["},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "http://["},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_a_foreign_page_is_refused(port, headers):
    before = state(port)
    check_refused(send(port, "POST", "/api/answers", json.dumps(ANSWER), **headers), 403)
    assert state(port) == before


@pytest.mark.parametrize("scheme", ["https", "ftp"])
def test_the_same_host_by_another_scheme_is_a_foreign_page(port, scheme):
    def ask(scheme, **headers):
        return send(port, "POST", "/api/question", '{"who": "ann"}', origin=f"{scheme}://127.0.0.1:{port}", **headers)

    assert ask("http")[0] == 200
    check_refused(ask(scheme), 403)
    assert ask("https", x_forwarded_proto="https")[0] == 200  # behind a proxy with TLS


@pytest.mark.parametrize("path", ["/", "/openapi.json", "/api/standing", "/api/export.csv", "/api/items/0/image"])
def test_browsers_keep_no_reply(port, path):
    assert send(port, "GET", path)[1].get("cache-control") == "no-store"


@pytest.mark.parametrize(
    ("status", "query", "headers"),
    [
        (401, "", {}),
        (401, "?token=", {}),
        (401, "?token=wrong", {}),
        (401, "", {"authorization": "Bearer wrong"}),
        (401, "", {"authorization": f"Basic {TOKEN}"}),
        (401, "", {"cookie": "fewlabels=wrong"}),
        (401, "", {"cookie": '=;;="{['}),
        (200, f"?token={TOKEN}", {}),
        (200, "", {"authorization": f"Bearer {TOKEN}"}),
        (401, "", {"cookie": f"fewlabels={TOKEN}"}),  # a cookie is no token: it ends with the server
        (401, "?token=%D1%89", {}),
        (401, "?link=", {}),
        (401, f"?link={TOKEN}", {}),
    ],
)
def test_the_token_is_asked_for(guarded, status, query, headers):
    reply = send(guarded, "GET", f"/api/standing{query}", **headers)
    assert reply[0] == status
    if status != 200:
        check_refused(reply, status)


def test_a_cookie_of_another_program_on_this_host_hid_the_token(guarded):
    """Cookies are shared by all ports of a host, and one in JSON made Python's own parser give up."""
    status, headers, _ = send(guarded, "GET", f"/?token={TOKEN}")
    assert status == 303
    mine = headers["set-cookie"].split(";")[0]
    cookies = 'theirs={"a": [1, 2]}; ' + mine
    assert send(guarded, "GET", "/api/standing", cookie=cookies)[0] == 200


def test_a_key_used_for_another_request_crashed_the_undo(port):
    before = state(port)
    check_refused(send(port, "POST", "/api/undo", json.dumps({"who": "ann", "key": "key-script"})), 409)
    other = ANSWER | {"key": "key-answer"}  # another item than that key answered: must not be confirmed and dropped
    check_refused(send(port, "POST", "/api/answers", json.dumps(other)), 409)
    assert state(port) == before


def test_a_crash_is_answered_in_a_sentence(session, monkeypatch):
    def crash():
        raise RuntimeError("secret")

    with page_of(session) as port:
        monkeypatch.setattr(session, "snapshot", crash)
        status, _, body = send(port, "GET", "/api/export.jsonl")
    assert status == 500
    assert b"secret" not in body
    assert json.loads(body)["detail"].endswith(".")


@pytest.mark.parametrize("path", ["/", "/?x=" + SCRIPT, f"/{SCRIPT}", "/static/" + SCRIPT])
def test_a_script_in_a_name_never_comes_out_as_html(port, guarded, path):
    for server in (port, guarded):
        _, headers, body = send(server, "GET", path)
        assert headers["x-content-type-options"] == "nosniff"
        assert not headers["content-type"].startswith("text/html") or SCRIPT.encode() not in body


def test_exports_survive_commas_quotes_newlines_and_unicode(port, session):
    text = send(port, "GET", "/api/export.csv")[2].decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    lines = [json.loads(line) for line in send(port, "GET", "/api/export.jsonl")[2].decode().split("\n")[:-1]]
    assert [row["name"] for row in lines] == session.items.names
    assert [row["name"] for row in rows] == [as_text(name) for name in session.items.names]
    assert rows[0]["label"] == lines[0]["label"] == SCRIPT
    assert [float(row[f"p_{SCRIPT}"]) for row in rows] == [row[f"p_{SCRIPT}"] for row in lines]
