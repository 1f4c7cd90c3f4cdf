"""What the backend for Label Studio does not understand, does not let in, or could not keep."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import label_studio as studio
from support.backend import TASKS, open_in, post, predict
from support.profiles import examples

from fewlabels.labelstudio.backend import LARGEST
from fewlabels.session.store import StoreFullError


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("/predict", {}, "tasks: Field required"),
        ("/predict", {"tasks": "all"}, "tasks: Input should be a valid list"),
        ("/predict", {"tasks": [3]}, "tasks.0"),
        ("/predict", {"tasks": [{"id": 100, "data": [1]}]}, "tasks.0.data"),
        ("/predict", {"tasks": [], "label_config": "<View"}, "the labeling config cannot be read as XML"),
        ("/predict", {"tasks": [], "label_config": "<View/>"}, "the labeling config has no <Choices>"),
        ("/predict", {"tasks": [TASKS[0] | {"annotations": [5]}]}, "task 100: an annotation is 5"),
        ("/setup", {"schema": "<!DOCTYPE v []><View/>"}, "the labeling config has a document type"),
        ("/setup", {"schema": studio.CONFIG.replace('"sea"', f'"{"x" * 101}"')}, "a class has 101 characters"),
        ("/webhook", {}, "action: Field required"),
        ("/webhook", {"action": "ANNOTATION_CREATED", "annotation": {}}, "annotation.task: a number is needed"),
        ("/webhook", {"action": "ANNOTATION_CREATED", "annotation": "x"}, "annotation.task: a number is needed"),
        ("/webhook", {"action": "ANNOTATION_DELETED", "annotation": {}}, "annotation.id: a number is needed"),
        (
            "/webhook",
            {
                "action": "ANNOTATION_CREATED",
                "annotation": {"task": 100, "result": [{"value": {"choices": ["a", "b"]}}]},
            },
            "task 100 has 2 choices",
        ),
        ("/train", {"annotations": None}, "annotations"),
    ],
)
def test_what_is_not_understood_is_refused_in_a_sentence(unmoved, path, body, sentence):
    session, client = unmoved
    assert sentence in post(client, path, body, 422)["detail"]
    assert session.snapshot().history == {}


def test_no_json_at_all_is_refused(unmoved):
    _, client = unmoved
    reply = client.post("/predict", content=b"{", headers={"content-type": "application/json"})
    assert reply.status_code == 422
    assert "the body is not JSON" in reply.json()["detail"]


leaf = st.one_of(
    st.none(), st.booleans(), st.integers(98, 103), st.text(max_size=3), st.sampled_from(["choices", "sea"])
)
keys = st.sampled_from(
    ["id", "task", "data", "result", "type", "value", "choices", "completed_by", "email", "updated_at"]
)
anything = st.recursive(
    leaf, lambda deeper: st.one_of(st.lists(deeper, max_size=3), st.dictionaries(keys, deeper)), max_leaves=10
)


@examples(25)
@given(
    st.sampled_from(["/predict", "/webhook", "/train", "/setup"]),
    st.dictionaries(st.sampled_from(["tasks", "annotations", "annotation", "task", "project"]), anything),
    st.sampled_from(["ANNOTATION_CREATED", "ANNOTATIONS_DELETED", "ANNOTATION_UPDATED"]),
)
def test_whatever_is_sent_the_answer_is_no_traceback(backend, path, body, action):
    _, client = backend
    reply = client.post(path, json=body | {"action": action})
    assert reply.status_code in (200, 201, 404, 422), reply.text
    assert reply.status_code < 400 or isinstance(reply.json()["detail"], str)


class TestAuthentication:
    TOKEN = "a long enough token"

    def ask(self, client, credentials=None, scheme="Basic"):
        shown = {} if credentials is None else {"authorization": f"{scheme} {base64.b64encode(credentials).decode()}"}
        return client.get("/health", headers=shown)

    def test_beyond_this_machine_the_password_is_needed(self, opened):
        _, client = opened(token=self.TOKEN, host="192.0.2.1:9090")
        refused = self.ask(client)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'Basic realm="fewlabels"'
        assert "Basic authentication is needed: the user is fewlabels" in refused.json()["detail"]
        assert self.TOKEN not in refused.text
        assert self.ask(client, b"fewlabels:" + self.TOKEN.encode()).status_code == 200
        for wrong in (b"fewlabels:wrong", b"admin:" + self.TOKEN.encode(), b"fewlabels", b"", b"\xff\xfe"):
            assert self.ask(client, wrong).status_code == 401
        assert client.get("/health", headers={"authorization": "Basic ?"}).status_code == 401
        assert client.get("/health", headers={"authorization": f"Bearer {self.TOKEN}"}).status_code == 200

    def test_without_a_password_it_answers_to_this_machine_only(self, opened):
        _, client = opened(host="evil.example:9090")
        assert self.ask(client).status_code == 403

    def test_a_page_of_another_site_cannot_speak_to_it(self, unmoved):
        _, client = unmoved
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            assert client.post("/setup", json={}, headers=headers).status_code == 403

    def test_a_batch_may_be_larger_than_what_a_page_sends_and_not_without_end(self, unmoved):
        _, client = unmoved
        assert client.post("/setup", json={"x": "x" * 2**21}).status_code == 200
        assert client.post("/setup", content=b"", headers={"content-length": str(LARGEST + 1)}).status_code == 413


@pytest.mark.parametrize("body", [b'{"x":[' + b"[]," * 1_000_000 + b"[]]}", b'{"x":' + b"[" * 2_000_000])
def test_lists_without_end_are_refused_before_they_are_parsed(unmoved, body):
    """Three bytes of an empty list become 64 in memory: 63 MB of them took 2 GB."""
    _, client = unmoved
    reply = client.post("/setup", content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 413, reply.text
    assert "more than the limit of 1,000,000 values" in reply.json()["detail"]


def test_a_config_with_too_many_choices_is_refused_whole(opened):
    session, client = opened()
    choices = "".join(f'<Choice value="c{k}"/>' for k in range(301))
    config = f'<View><Text name="note" value="$body"/><Choices name="topic" toName="note">{choices}</Choices></View>'
    before = session.classes
    assert client.post("/setup", json={"schema": config}).status_code == 422
    assert session.classes == before


@pytest.mark.parametrize("credentials", ["é", "====", "ZmV3bGFiZWxz", "é" * 40])
def test_credentials_that_are_no_base64_are_refused_in_a_sentence(tmp_path, credentials):
    session, client = open_in(tmp_path, token="open-sesame")
    reply = client.get("/health", headers={"authorization": f"Basic {credentials}".encode("latin-1")})
    session.close()
    assert reply.status_code == 401
    assert reply.json()["detail"].endswith(".")


HALF = "\ud800"  # of a character: JSON can hold it, UTF-8 cannot


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/predict", {"tasks": [{"id": HALF, "data": {"body": HALF, HALF: 1}}]}),
        ("/setup", {"schema": f"<View>{HALF}</View>"}),
        ("/webhook", {"action": HALF}),
        ("/webhook", studio.event("ANNOTATION_CREATED", annotation=studio.annotation(5, 100, HALF))),
        ("/webhook", studio.event("ANNOTATION_CREATED", annotation=studio.annotation(HALF, 100, "sea"))),
        ("/webhook", studio.event("ANNOTATION_CREATED", annotation=studio.annotation(6, 100, "sea", who=HALF))),
        ("/webhook", studio.event("ANNOTATION_CREATED", annotation=studio.annotation(7, 100, "sea", at=HALF))),
        ("/webhook", studio.event("ANNOTATION_DELETED", annotation={"id": HALF, "task": 100})),
    ],
)
def test_half_a_character_is_no_crash(opened, path, sent):
    session, client = opened()
    reply = client.post(path, content=json.dumps(sent).encode(), headers={"content-type": "application/json"})
    assert reply.status_code < 500, reply.text
    session.settle()
    assert predict(client)["results"]


def failing_once(session, verb, monkeypatch):
    """The next call of this verb finds the disk full."""
    real = getattr(session, verb)

    def full(*arguments, **options):
        monkeypatch.setattr(session, verb, real)
        raise StoreFullError("The answer is not kept: the disk is full.")

    monkeypatch.setattr(session, verb, full)


def test_a_deletion_that_failed_can_be_sent_again(opened, monkeypatch):
    session, client = opened()
    client.post("/webhook", json=studio.event("ANNOTATION_CREATED", annotation=studio.annotation(6, 104, "sea")))
    assert session.snapshot().label(4) == "sea"
    failing_once(session, "undo", monkeypatch)
    deleted = studio.event("ANNOTATION_DELETED", annotation={"id": 6, "task": 104})
    assert [client.post("/webhook", json=deleted).status_code for _ in range(2)] == [507, 201]
    assert session.snapshot().label(4) is None


def test_deleting_an_annotation_that_was_never_kept_takes_nothing_back(opened, monkeypatch):
    session, client = opened()
    client.post("/webhook", json=studio.event("ANNOTATION_CREATED", annotation=studio.annotation(6, 104, "sea")))
    failing_once(session, "answer", monkeypatch)
    created = studio.event("ANNOTATION_CREATED", annotation=studio.annotation(7, 104, "sky"))
    assert client.post("/webhook", json=created).status_code == 507
    client.post("/webhook", json=studio.event("ANNOTATION_DELETED", annotation={"id": 7, "task": 104}))
    assert session.snapshot().label(4) == "sea"
