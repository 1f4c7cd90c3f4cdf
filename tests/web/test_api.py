"""The HTTP API does what it documents."""

import csv
import io
import json
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from support.items import words
from support.keys import fresh_key
from support.pages import served

from fewlabels.errors import SettingError
from fewlabels.session.classes import Classes
from fewlabels.session.store import Event
from fewlabels.web.serve import find_place


@pytest.fixture
def page(tmp_path):
    with served(words(), tmp_path / "store.sqlite") as (session, client):
        yield session, client


def post(client, path, status=200, **body):
    if path not in ("question",):
        body.setdefault("key", fresh_key())
    reply = client.post(f"/api/{path}", json={"who": "ann", **body})
    assert reply.status_code == status, reply.text
    return reply.json()


def get(client, path, status=200, **query):
    reply = client.get(f"/api/{path}", params=query)
    assert reply.status_code == status, reply.text
    return reply.json()


def test_the_page_says_how_the_data_were_read(tmp_path):
    told = replace(words(), notes=["Left out 1 of 3 images: <b>.png is broken"])
    with served(told, tmp_path / "store.sqlite") as (_, client):
        assert "Left out 1 of 3 images: &lt;b&gt;.png is broken." in client.get("/").text


def test_a_question_an_answer_and_the_next_question(page):
    session, client = page
    asked = post(client, "question")
    item = asked["question"]["item"]
    assert item["text"] == f"text of word {item['id']}"
    assert (item["label"], item["prediction"], asked["question"]["chances"]) == (None, None, [])
    kept = post(client, "answers", item=item["id"], label="cat")
    assert kept["standing"]["labelled"] == 1
    assert kept["question"]["item"]["id"] != item["id"]
    assert [one["name"] for one in kept["question"]["chances"]] == ["cat", "dog"]
    assert kept["question"]["item"]["prediction"] == "cat"
    assert [e.label for e in session._store.events() if e.do == "answer"] == ["cat"]


def test_an_answer_without_a_next_question_leaves_the_one_being_read(page):
    _, client = page
    reading = post(client, "question")["question"]["item"]["id"]
    other = (reading + 5) % 40
    assert post(client, "answers", item=other, label="dog", next=False)["question"] is None
    assert post(client, "question")["question"]["item"]["id"] == reading
    assert get(client, f"items/{other}")["label"] == "dog"


def test_skip_unsure_and_undo_bring_the_item_back(page):
    _, client = page
    for unsure in (False, True):
        item = post(client, "question")["question"]["item"]["id"]
        kept = post(client, "skips", item=item, unsure=unsure)
        assert kept["question"]["item"]["id"] != item
        assert [one["id"] for one in get(client, "aside")["unsure" if unsure else "skipped"]] == [item]
        again = post(client, "undo")["question"]
        assert (again["item"]["id"], again["reason"]) == (item, "again")
        assert get(client, "aside") == {"unsure": [], "skipped": []}


def test_why_tells_the_gain_and_what_each_answer_would_change(page):
    _, client = page
    assert get(client, "items/3/why")["outcomes"][0]["changes"] >= 0
    post(client, "accept", answers=[{"item": 0, "label": "cat"}, {"item": 20, "label": "dog"}])
    why = get(client, "items/10/why")
    assert [o["label"] for o in why["outcomes"]] == ["cat", "dog"]
    after = sum(o["chance"] * o["expected_error"] for o in why["outcomes"])
    assert why["gain"] == pytest.approx(why["expected_error"] - after)
    assert {n["item"]["id"] for n in why["neighbours"]} >= {9, 11}
    assert get(client, "items/0/why")["gain"] is None


def test_why_lists_the_words_that_neighbours_share(tmp_path):
    texts = ["a red apple" if k < 2 else f"plain {k}" for k in range(40)]
    with served(words(texts=texts), tmp_path / "s.sqlite") as (_, client):
        near = {n["item"]["id"]: n["words"] for n in get(client, "items/0/why")["neighbours"]}
    assert near[1] == ["a", "apple", "red"]
    assert near[39] == []


def test_the_map_and_the_predictions_have_one_entry_for_every_item(page):
    session, client = page
    assert len(get(client, "map")["positions"]) == 80
    assert set(get(client, "predictions")["predicted"]) == {-1}
    post(client, "answers", item=7, label="dog")
    found = get(client, "predictions")
    assert (found["predicted"], found["labelled"]) == ([1] * 40, [7])
    assert found["chance"][7] == 100
    assert found["version"] == session.snapshot().predictions.version


def test_review_lists_the_most_doubtful_first_and_pages(page):
    session, client = page
    post(client, "accept", answers=[{"item": 0, "label": "cat"}, {"item": 20, "label": "dog"}])
    found = get(client, "review", prediction="cat", limit=200)
    chances = [item["chance"] for item in found["items"]]
    assert chances == sorted(chances)
    assert found["total"] == len(chances) == session.snapshot().standing.counts[0] - 1
    second = get(client, "review", prediction="cat", offset=2, limit=3)
    assert second["items"] == found["items"][2:5]
    get(client, "review", 422, prediction="cow")


def test_recent_answers_can_be_changed_and_taken_back_one_by_one(page):
    _, client = page
    first = post(client, "answers", item=1, label="cat")["event"]
    post(client, "answers", item=2, label="cat")
    post(client, "answers", item=1, label="dog")
    assert [(a["item"]["id"], a["label"]) for a in get(client, "answers")["answers"]] == [
        (1, "dog"),
        (2, "cat"),
        (1, "cat"),
    ]
    post(client, "undo", event=first)
    assert [a["item"]["id"] for a in get(client, "answers")["answers"]] == [1, 2]
    assert get(client, "answers", who="bob") == {"answers": []}


def test_a_new_class_gets_a_key_and_can_be_answered_with(page):
    _, client = page
    classes = post(client, "classes", name="owl")["classes"]
    assert (classes[-1]["name"], classes[-1]["key"]) == ("owl", "3")
    post(client, "answers", item=4, label="owl")
    assert post(client, "classes", 409, name="owl")["detail"].startswith("there is already a class 'owl'")


def test_disagreements_are_listed_and_decided(page):
    _, client = page
    post(client, "answers", item=4, label="cat")
    post(client, "answers", who="bob", item=4, label="dog")
    [found] = get(client, "disagreements")["items"]
    assert [(vote["who"], vote["label"]) for vote in found["votes"]] == [("ann", "cat"), ("bob", "dog")]
    assert post(client, "decisions", item=4, label="dog")["standing"]["disagreements"] == 0
    assert get(client, "disagreements")["items"][0]["decided"] == "dog"


def test_exports_tell_every_item_with_who_and_when(tmp_path):
    texts = ['a "quoted", text', "two\nlines", "Zoë 🦉", *["plain"] * 37]
    with served(words(texts=texts, classes=('c,"at', "dog")), tmp_path / "s.sqlite") as (_, client):
        post(client, "answers", item=3, label='c,"at')
        rows = list(csv.DictReader(io.StringIO(client.get("/api/export.csv").text)))
        lines = [json.loads(line) for line in client.get("/api/export.jsonl").text.splitlines()]
    assert [row["name"] for row in rows] == [f"word {k}" for k in range(40)] == [line["name"] for line in lines]
    assert (rows[3]["label"], rows[3]["status"], rows[3]["who"]) == ('c,"at', "labelled", "ann")
    assert lines[3]["when"].startswith("20")
    assert lines[4]["status"] == "predicted"
    assert lines[4]['p_c,"at'] == pytest.approx(float(rows[4]['p_c,"at']))


def test_formulas_are_text_in_a_spreadsheet(tmp_path):
    bad = "=HYPERLINK(1)"
    with served(words(classes=(bad, "dog")), tmp_path / "s.sqlite") as (_, client):
        post(client, "answers", item=3, label=bad)
        rows = list(csv.DictReader(io.StringIO(client.get("/api/export.csv").text)))
        lines = [json.loads(line) for line in client.get("/api/export.jsonl").text.splitlines()]
    assert (rows[3]["label"], lines[3]["label"]) == (f"'{bad}", bad)


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"item": 40, "label": "cat"}, 404, "there is no item 40"),
        ({"item": 3, "label": "cow"}, 422, "there is no class 'cow'"),
        ({"item": "3", "label": "cat"}, 422, "item: Input should be a valid integer"),
        ({"item": 3, "label": "cat", "key": "short"}, 422, "key: String should have at least 8"),
        ({"item": 3, "label": "cat", "surprise": 1}, 422, "surprise: Extra inputs are not permitted"),
        ({"item": 3, "label": "cat", "who": ""}, 422, "who: String should have at least 1"),
    ],
)
def test_what_cannot_be_gets_a_sentence(page, body, status, detail):
    _, client = page
    assert detail in post(client, "answers", status, **body)["detail"]


def test_a_full_disk_is_told_and_the_same_request_works_once_there_is_room(page):
    session, client = page
    db = session._store._db
    [pages] = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}")
    answers = [{"item": k, "label": "dog"} for k in range(40)]
    for attempt in range(40):  # until the last page is full
        body = {"who": "ann" * 15, "answers": answers, "key": f"room-key-{attempt:03d}"}
        reply = client.post("/api/accept", json=body)
        if reply.status_code != 200:
            break
    assert reply.status_code == 507
    assert "is full. Make room and try again." in reply.json()["detail"]
    before = session.snapshot().standing
    db.execute("PRAGMA max_page_count = 100000")
    assert session.snapshot().standing == before
    assert client.post("/api/accept", json=body).status_code == 200


def test_a_port_that_is_taken_is_refused_and_the_usual_one_gives_way():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SettingError, match="cannot listen on"):
        find_place(port=taken.getsockname()[1])
    first, second = find_place(), find_place()
    assert first.port != second.port
    third = find_place(port=0, open_here=True)
    assert third.token is None
    for place in (first, second, third):
        place.socket.close()


def test_a_locked_file_is_told_and_the_same_request_works_once_it_is_free(page):
    session, client = page
    body = {"who": "ann", "item": 3, "label": "dog", "key": "the-same-key-twice"}
    with closing(sqlite3.connect(session.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        reply = client.post("/api/answers", json=body)
        assert reply.status_code == 503
        assert "another program has locked" in reply.json()["detail"]
    assert session.snapshot().label(3) is None
    assert client.post("/api/answers", json=body).status_code == 200
    assert session.snapshot().label(3) == "dog"


def test_the_limits_are_told_once_and_kept(page):
    _, client = page
    limits = get(client, "session")["limits"]
    assert limits == {
        "keys": 28,
        "answers": 1000,
        "together": 50_000,
        "name": 50,
        "class_name": 100,
        "note": 1000,
        "description": 300,
    }
    answers = [{"item": k % 40, "label": "cat"} for k in range(limits["answers"] + 1)]
    assert "at most 1000 items" in post(client, "accept", 422, answers=answers)["detail"]
    post(client, "classes", 422, name="c" * (limits["class_name"] + 1))
    post(client, "answers", 422, who="w" * (limits["name"] + 1), item=3, label="cat")
    html = client.get("/").text
    assert f'id="name-input" data-test="name-input" maxlength="{limits["name"]}"' in html
    assert f'maxlength="{limits["class_name"]}"' in html


def test_beyond_nine_classes_keys_are_letters_that_mean_nothing_else_and_then_there_are_none():
    def keys(names):
        table = Classes()
        table.add([Event("class", "", "k", label=name, id=k) for k, name in enumerate(names)])
        return [one.key for one in table.listed]

    keys_given = keys([f"class {k}" for k in range(40)])
    assert keys_given[:11] == [*"123456789", "a", "b"]
    assert not set("cghmnru") & set(keys_given)
    assert keys_given[-1] is None
    given = [key for key in keys_given if key]
    assert len(given) == len(set(given)) == 28
    assert keys([str(k) for k in range(10)]) == [*"0123456789"]
    assert keys(["cat", "7", "dog"]) == ["1", "7", "2"]
