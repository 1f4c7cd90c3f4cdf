"""Injections in every place of every request to the backend for Label Studio, and requests by its description."""

import json
from contextlib import closing, contextmanager

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from support import label_studio as studio
from support.injections import Attack, undescribed
from support.pages import running

from fewlabels.labelstudio import Inbox, read_task_items, read_tasks
from fewlabels.labelstudio.backend import make_backend
from fewlabels.session import Session

ANNOTATION = {
    "id": 501,
    "task": 101,
    "result": [studio.choice("sea")],
    "completed_by": {"id": 7, "email": "ann@example.org"},
    "updated_at": "2026-11-15T12:00:00.000001Z",
    "was_cancelled": False,
}
TASK = {"id": 101, "data": studio.task(1)["data"], "annotations": [ANNOTATION]}
SAMPLES = {
    "/setup": {"schema": studio.CONFIG},
    "/predict": {"tasks": [TASK], "label_config": studio.CONFIG},
    "/train": {"annotations": [TASK], "label_config": studio.CONFIG},
    "/webhook": {
        "action": "ANNOTATION_CREATED",
        "annotation": ANNOTATION,
        "task": TASK,
        "project": {"label_config": studio.CONFIG},
    },
}


@contextmanager
def backend(folder):
    found = read_tasks(studio.write(folder / "tasks.json", [studio.task(k) for k in range(12)]))
    items = read_task_items(found, text="body", neighbors=3)
    with closing(Session(items, folder / "s.sqlite")) as session:
        yield session, make_backend(session, Inbox(session, found.tasks), control=found.control)


def test_nothing_that_is_sent_crashes_runs_or_is_written_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with backend(tmp_path) as (session, app):
        assert undescribed(app) == {("GET", "/openapi.json"), ("HEAD", "/openapi.json")}
        with running(app) as port, closing(Attack(port, SAMPLES)) as attack:
            for operation in attack.operations():
                attack.on(*operation)
            assert attack.accepted > attack.sent / 20
        assert session.snapshot().history
    assert {file.name for file in tmp_path.rglob("*")} == {"here", "tasks.json", "s.sqlite"}


def test_every_reply_is_one_of_those_described(tmp_path):
    with backend(tmp_path) as (_, app), running(app) as port:
        with closing(Attack(port, {})) as attack:
            described = json.loads(attack.send("GET", "/openapi.json"))
        operations = [found.ok() for found in schemathesis.openapi.from_dict(described).get_all_operations()]
        assert len(operations) > 6
        for operation in operations:

            @settings(
                max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
            )
            @given(case=operation.as_strategy())
            def check(case):
                case.call_and_validate(base_url=f"http://127.0.0.1:{port}", excluded_checks=[positive_data_acceptance])

            check()
