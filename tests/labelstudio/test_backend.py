"""The ML backend answers the requests that Label Studio documents, and orders its tasks by our questions."""

import base64
import json
import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import label_studio as studio
from support.profiles import examples

from fewlabels.labelstudio import Inbox, read_task_items, read_tasks
from fewlabels.labelstudio.backend import LARGEST, backend_rules, below_earlier, make_backend
from fewlabels.session import Session
from fewlabels.session.store import StoreFullError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what Starlette's client says of the httpx it is made for
    from starlette.testclient import TestClient

N = 12
LISTED = [studio.task(k) for k in range(N)]
TASKS = [
    {k: v for k, v in task.items() if k in ("id", "data", "meta", "annotations", "predictions", "project")}
    for task in LISTED
]


def open_in(folder, listed=LISTED, token=None, host="localhost", **options):
    """A session on tasks, and a client of its backend."""
    found = read_tasks(studio.write(folder / "tasks.json", listed))
    session = Session(read_task_items(found, text="body", neighbors=3), folder / "store.sqlite")
    inbox = Inbox(session, found.tasks)
    inbox.take_all()
    app = make_backend(session, inbox, control=found.control, rules=backend_rules(token), **options)
    return session, TestClient(app, base_url=f"http://{host}", raise_server_exceptions=False)


@pytest.fixture
def opened(tmp_path):
    """Opens a backend on a store; again, after a restart, on the same."""
    sessions = []

    def open_(*arguments, **options):
        session, client = open_in(tmp_path, *arguments, **options)
        sessions.append(session)
        return session, client

    yield open_
    for session in sessions:
        session.close()


@pytest.fixture(scope="module")
def unmoved(tmp_path_factory):
    """A backend for requests that change nothing."""
    session, client = open_in(tmp_path_factory.mktemp("unmoved"))
    yield session, client
    session.close()


@pytest.fixture
def backend(opened):
    return opened()


def post(client, path, body, status=200):
    reply = client.post(path, json=body)
    assert reply.status_code == status, reply.text
    return reply.json()


def predict(client, tasks=TASKS, **more):
    """As Label Studio asks for predictions of some tasks."""
    body = {
        "tasks": tasks,
        "model_version": None,
        "project": "7.1700000000",
        "label_config": studio.CONFIG,
        "params": {"login": None, "password": None, "context": None},
    }
    return post(client, "/predict", body | more)


def annotate(client, k, label, number=None, action="ANNOTATION_CREATED", **more):
    sent = studio.annotation(number or 500 + k, 100 + k, label, **more)
    return post(client, "/webhook", studio.event(action, annotation=sent), 201)


def test_it_is_up(unmoved):
    session, client = unmoved
    for path in ("/", "/health"):
        assert client.get(path).json()["status"] == "UP"
    assert client.get("/metrics").json() == {}
    assert client.get("/versions", params={"project": "7.17"}).json() == {
        "versions": [f"fewlabels-{session.snapshot().last_event}"]
    }


def test_metrics_are_the_estimate_where_the_store_has_checks(opened):
    session, client = opened()
    session.add_classes("ann", [label for label in ("x", "y") if label not in session.classes], "key-classes")
    session._keep_check("ann", 3)
    session.close()
    session, client = opened()
    session.answer("ann", 3, "x", "key-of-the-answer")
    session.settle()
    found = client.get("/metrics").json()
    assert (found["checks"], found["skipped"]) == (1, 0)
    assert found["low"] <= found["value"] <= found["high"]
    assert found["verdict"].startswith("Still learning: 1 check")


def test_setup_takes_the_choices_and_tells_the_version(backend):
    session, client = backend
    sent = {"project": "7.1700000000", "schema": studio.CONFIG, "hostname": "http://ls:8080", "access_token": "secret"}
    version = post(client, "/setup", sent)["model_version"]
    session.settle()
    assert session.classes == ["sea", "sky"]
    assert version == f"fewlabels-{session.snapshot().predictions.version}"
    assert post(client, "/setup", sent)["model_version"] == version
    assert post(client, "/setup", {"project": "7.1700000000"})["model_version"] == version
    assert not any("secret" in str(event) for event in session._store.events())


def test_predictions_are_in_the_order_of_the_tasks_and_the_lowest_score_is_our_question(backend):
    session, client = backend
    annotate(client, 0, "sea")
    annotate(client, 1, "sky")
    reply = predict(client, TASKS[::-1])
    assert len(reply["results"]) == N
    results = dict(zip(range(N - 1, -1, -1), reply["results"], strict=True))
    asked = session.question("bob").item
    assert min(results, key=lambda k: results[k]["score"]) == asked
    assert results[0]["score"] == results[1]["score"] == pytest.approx(below_earlier(1, session.snapshot().last_event))
    for k, one in results.items():
        name, chance = session.snapshot().prediction(k)
        (region,) = one["result"]
        assert (region["from_name"], region["to_name"], region["type"]) == ("topic", "note", "choices")
        assert region["value"] == {"choices": [name]}
        assert region["score"] == pytest.approx(chance, abs=1e-6)
        assert one["model_version"] == "fewlabels"
    assert reply["model_version"] == f"fewlabels-{session.snapshot().predictions.version}"


def test_asked_about_one_task_at_a_time_the_scores_are_the_same(backend):
    _, client = backend
    annotate(client, 0, "sea")
    together = predict(client)["results"]
    assert [predict(client, [task])["results"][0] for task in TASKS] == together


def test_following_the_lowest_score_asks_what_the_learner_would(backend):
    """Label Studio's uncertainty sampling: annotate the task with the lowest score, ask for scores again."""
    session, client = backend
    asked, expected = [], []
    for turn in range(6):
        results = predict(client)["results"]
        expected.append(session.question("bob").item)
        k = min(range(N), key=lambda k: results[k]["score"])
        asked.append(k)
        annotate(client, k, "sky" if k % 2 else "sea")
        session.settle()
        assert session.snapshot().standing.labelled == turn + 1
    assert asked == expected
    assert len(set(asked)) == 6
    assert [one["result"][0]["value"]["choices"][0] for one in predict(client)["results"]] == ["sea", "sky"] * (N // 2)


def test_every_annotation_makes_a_new_version(backend):
    _, client = backend
    versions = [predict(client)["model_version"], annotate(client, 0, "sea")["model_version"]]
    versions.append(annotate(client, 1, "sky")["model_version"])
    assert len(set(versions)) == 3
    assert predict(client)["model_version"] == versions[-1]


def test_later_scores_are_below_all_earlier_ones_so_that_old_predictions_never_come_first(backend):
    _, client = backend
    before = predict(client)["results"]
    for k in range(3):
        annotate(client, k, "sea")
        after = predict(client)["results"]
        assert max(one["score"] for one in after) < min(one["score"] for one in before)
        before = after
    places = [below_earlier(k / 5000, 100_000) for k in range(5001)]
    assert all(a < b for a, b in pairwise(places))
    assert below_earlier(1, 100_001) < places[0]


def test_before_the_first_annotation_there_is_an_order_and_no_result(backend):
    session, client = backend
    results = predict(client)["results"]
    assert [one["result"] for one in results] == [[]] * N
    expected = [below_earlier(k / N, session.snapshot().last_event) for k in range(N)]
    assert sorted(one["score"] for one in results) == pytest.approx(expected)


def test_updates_skips_and_deletions(backend):
    session, client = backend
    annotate(client, 0, "sea", number=1)
    annotate(client, 0, "sky", number=1, action="ANNOTATION_UPDATED", at="2026-11-15T13:00:00Z")
    assert session.snapshot().label(0) == "sky"
    post(client, "/webhook", studio.event("ANNOTATIONS_DELETED", annotations=[{"id": 1}]), 201)
    assert session.snapshot().label(0) is None
    annotate(client, 2, None, number=2, cancelled=True)
    assert session.snapshot().aside()[1] == [2]
    assert predict(client)["results"][2]["score"] == pytest.approx(below_earlier(1, session.snapshot().last_event))
    post(client, "/webhook", studio.event("ANNOTATION_DELETED", annotation={"id": 2}), 201)
    assert session.snapshot().aside()[1] == []


def test_two_people_may_differ(backend):
    session, client = backend
    annotate(client, 0, "sea", number=1, who=1)
    annotate(client, 0, "sky", number=2, who=2)
    assert [item for item, _ in session.snapshot().disagreements()] == [0]


@pytest.mark.parametrize(
    "action", ["TASK_CREATED", "TASKS_DELETED", "PROJECT_UPDATED", "START_TRAINING", "SOMETHING_NEW"]
)
def test_other_events_change_nothing(backend, action):
    session, client = backend
    post(client, "/setup", {"schema": studio.CONFIG})
    before = session.snapshot().last_event
    assert post(client, "/webhook", studio.event(action, tasks=[{"id": 100}])) == {"status": "nothing to learn"}
    assert session.snapshot().last_event == before


def test_annotations_that_come_with_tasks_teach_too(backend):
    session, client = backend
    annotated = [task | {"annotations": [studio.annotation(k, 100 + k, "sea")]} for k, task in enumerate(TASKS[:2])]
    assert predict(client, annotated)["results"][0]["score"] == pytest.approx(
        below_earlier(1, session.snapshot().last_event)
    )
    assert [session.snapshot().label(k) for k in range(3)] == ["sea", "sea", None]
    sent = {"annotations": [TASKS[4] | {"annotations": [studio.annotation(9, 104, "sky")]}], "project": "7.17"}
    post(client, "/train", sent | {"label_config": studio.CONFIG, "params": {}}, 201)
    assert session.snapshot().label(4) == "sky"


def test_an_unknown_task_is_asked_last_and_its_annotation_refused(backend):
    session, client = backend
    stranger = {"id": 999, "data": {"body": "new here"}, "annotations": []}
    assert predict(client, [stranger, TASKS[0]])["results"][0] == {
        "model_version": "fewlabels",
        "score": pytest.approx(below_earlier(1, session.snapshot().last_event)),
        "result": [],
    }
    sent = studio.event("ANNOTATION_CREATED", annotation=studio.annotation(1, 999, "sea"))
    assert "task 999 is not one of the 12 that were read" in post(client, "/webhook", sent, 404)["detail"]


def test_tasks_without_ids_are_known_by_their_data_once_seen(opened):
    session, client = opened([{"data": task["data"]} for task in LISTED])
    predict(client)
    annotate(client, 3, "sky")
    assert session.snapshot().label(3) == "sky"
    sent = studio.event(
        "ANNOTATION_CREATED", annotation=studio.annotation(8, 4711, "sea"), task={"id": 4711} | LISTED[5]
    )
    sent["task"]["id"] = 4711
    post(client, "/webhook", sent, 201)
    assert session.snapshot().label(5) == "sea"


def test_ids_of_another_import_do_not_mislead(opened):
    session, client = opened()
    shifted = [task | {"id": task["id"] + 1} for task in TASKS]
    predict(client, shifted)
    post(client, "/webhook", studio.event("ANNOTATION_CREATED", annotation=studio.annotation(1, 101, "sea")), 201)
    assert session.snapshot().label(0) == "sea"


def test_a_restart_goes_on_where_it_was(opened):
    session, client = opened()
    annotate(client, 0, "sea")
    annotate(client, 1, "sky")
    before = predict(client)
    session.close()
    session, client = opened()
    assert predict(client) == before


def test_a_config_with_several_choices_needs_the_name_of_one(opened):
    session, client = opened(choices="mood")
    two = studio.CONFIG.replace("</View>", '<Choices name="mood" toName="note"><Choice value="calm"/></Choices></View>')
    post(client, "/setup", {"schema": two})
    assert session.classes == ["calm"]
    sent = studio.annotation(1, 100)
    sent["result"] = [studio.choice("sea"), studio.choice("wild", from_name="mood")]
    body = studio.event("ANNOTATION_CREATED", annotation=sent)
    body["project"]["label_config"] = two
    post(client, "/webhook", body, 201)
    assert session.snapshot().label(0) == "wild"


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
