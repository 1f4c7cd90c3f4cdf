"""The ML backend answers the requests that Label Studio documents, and orders its tasks by our questions."""

from itertools import pairwise

import pytest
from support import label_studio as studio
from support.backend import LISTED, TASKS, annotate, post, predict
from support.label_studio import N

from fewlabels.labelstudio.backend import below_earlier


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
