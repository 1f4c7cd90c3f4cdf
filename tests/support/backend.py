"""A backend for Label Studio on twelve tasks, and requests to it."""

import warnings

from support import label_studio as studio

from fewlabels.labelstudio import Inbox, read_task_items, read_tasks
from fewlabels.labelstudio.backend import backend_rules, make_backend
from fewlabels.session import Session

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what Starlette's client says of the httpx it is made for
    from starlette.testclient import TestClient

LISTED = studio.tasks()
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
