"""The ML backend that Label Studio talks to: it sends annotations, and gets predictions and the order of its tasks.

Label Studio asks for tasks with the lowest score first; a task's score here is its place in the queue of our questions.
It keeps every prediction it was sent, and sorts by those whose version is the title of the model: so they all have one
version, and later ones score below all earlier ones. The version that the backend reports for itself does change, or
nothing would be asked again.
"""

from __future__ import annotations

import base64
import hmac
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Scope

from fewlabels import __version__
from fewlabels.errors import NodeError
from fewlabels.files.json_table import json_text
from fewlabels.labelstudio.control import Control, TaskError, read_config
from fewlabels.labelstudio.export import prediction, scores, version
from fewlabels.labelstudio.inbox import Inbox
from fewlabels.labelstudio.tasks import annotation_of
from fewlabels.session import Session
from fewlabels.web import routes
from fewlabels.web.app import PROBLEMS, refuse_in_sentences
from fewlabels.web.guard import Guard, Rules

USER = "fewlabels"  # of basic authentication; the token is the password
MODEL = "fewlabels"  # the version of every prediction, and what the model is to be called in Label Studio
LARGEST = 2**25  # bytes: a hundred tasks at a time, with all that was said about them
MOST = 10_000  # tasks in one request
TAUGHT = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")
TAKEN_BACK = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")


class BackendRules(Rules):
    """The token is shown as the password of basic authentication, which Label Studio offers for ML backends."""

    def lets_in(self, headers: Headers, query: bytes) -> bool:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        if self.token is None or scheme.lower() != "basic":
            return super().lets_in(headers, query)
        try:
            user, _, password = base64.b64decode(credentials, validate=True).partition(b":")
        except ValueError:  # no base64, or not even ASCII
            return False
        return hmac.compare_digest(user, USER.encode()) & hmac.compare_digest(password, self.token.encode())

    def refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        refused = super().refusal(scope, headers)
        if refused and refused[0] == 401:
            return 401, f"Basic authentication is needed: the user is {USER}, the password was printed at the start."
        return refused


def backend_rules(token: str | None) -> BackendRules:
    return BackendRules(token, "fewlabels-backend", LARGEST, b'Basic realm="fewlabels"')


class Sent(BaseModel):
    """What Label Studio sends; it adds keys from version to version."""

    model_config = ConfigDict(extra="ignore")


class SentTask(Sent):
    id: int | str | None = None
    data: dict[str, Any] = Field(default_factory=dict)
    annotations: list[Any] | None = None


class Predict(Sent):
    tasks: Annotated[list[SentTask], Field(max_length=MOST)]
    label_config: str | None = None


class Setup(Sent):
    label_config: str | None = Field(None, alias="schema")


class Train(Sent):
    annotations: Annotated[list[SentTask], Field(max_length=MOST)]  # tasks, in fact
    label_config: str | None = None


class Project(Sent):
    label_config: str | None = None


class Webhook(Sent):
    action: str
    annotation: Any = None
    annotations: list[Any] | None = None
    task: SentTask | None = None
    project: Project | None = None


def make_backend(
    session: Session,
    inbox: Inbox,
    *,
    control: Control | None = None,
    choices: str | None = None,
    rules: Rules | None = None,
) -> ASGIApp:
    """The backend of a session. The control is that of Label Studio's config, once one has been sent.

    `choices` names the <Choices> tag that counts where a config has several.
    """
    api = FastAPI(
        title="fewlabels for Label Studio",
        version=__version__,
        description="An ML backend that predicts every task and orders them by what is worth asking next.",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
    )
    refuse_in_sentences(api)
    routes.rescuing(api, session)
    _speaking(api, _Conversation(session, inbox, control or Control(), choices))
    return Guard(api, rules or backend_rules(None), lambda wrong: "")


class _Conversation:
    """What the requests have in common: the session, and the question Label Studio asks."""

    def __init__(self, session: Session, inbox: Inbox, control: Control, choices: str | None) -> None:
        self._session, self._inbox, self._control, self._choices = session, inbox, control, choices
        self._config: str | None = None

    def take_config(self, config: str | None) -> None:
        """A labeling config, where one was sent; its choices become classes."""
        if not config or config == self._config:
            return
        control = read_config(config, self._choices)
        self._inbox.know(control.classes)
        self._control, self._config = control, config

    def take(self, raw: Any, item: int | None, task: Any) -> None:
        if item is None:
            n = len(self._session.items.names)
            raise NodeError(f"task {task} is not one of the {n:,} that were read: export the tasks and start again.")
        self._inbox.take(item, annotation_of(raw, f"task {task}", self._control.from_name))

    def take_tasks(self, tasks: list[SentTask]) -> list[int | None]:
        """Learn what the tasks' own annotations say; returns the item of each, None where it is not known."""
        items = [self._inbox.item(task.id, task.data) for task in tasks]
        for item, task in zip(items, tasks, strict=True):
            for raw in task.annotations or [] if item is not None else []:
                self.take(raw, item, task.id)
        return items

    def predictions(self, tasks: list[SentTask]) -> tuple[list[dict[str, Any]], str]:
        """A prediction for each task, and their version."""
        items = self.take_tasks(tasks)
        said = self._session.snapshot()  # the least they know: what is said meanwhile belongs to the next version
        of, turn = version(said), said.last_event
        self._session.settle()
        score, shot = scores(self._session), self._session.snapshot()
        unknown = {"model_version": MODEL, "score": below_earlier(1.0, turn), "result": []}  # asked last
        found = [
            unknown if item is None else prediction(shot, self._control, item, below_earlier(score[item], turn), MODEL)
            for item in items
        ]
        return found, of

    def hear(self, event: Webhook) -> bool:
        """Learn from an event; returns whether there was anything to learn."""
        self.take_config(event.project.label_config if event.project else None)
        given = [event.annotation] if event.annotation is not None else event.annotations or []
        if event.action in TAKEN_BACK:
            for one in given:
                self._inbox.delete(json_text(_held(one, "id")))
        elif event.action in TAUGHT:
            for one in given:
                number = _held(one, "task")
                data = event.task.data if event.task and event.task.data else None
                self.take(one, self._inbox.item(number, data), number)
        else:
            return False
        return True

    @property
    def metrics(self) -> dict[str, Any]:
        standing = self._session.snapshot().standing
        return {**vars(standing.estimate), "verdict": standing.verdict} if standing.estimate.checks else {}

    @property
    def version(self) -> str:
        """Known at once, before the learner has finished: Label Studio waits one to three seconds for most replies."""
        return version(self._session.snapshot())


def below_earlier(score: float, turn: int) -> float:
    """A score from 0 to 1 moved, in order, between 1 / (turn + 2) and 1 / (turn + 1): below those of earlier turns."""
    low, high = 1 / (turn + 2), 1 / (turn + 1)
    return low + 0.9 * score * (high - low)


def _held(raw: Any, key: str) -> Any:
    """The number under this key: an id, or the task an annotation belongs to, which may be sent whole."""
    value = raw.get(key) if isinstance(raw, dict) else None
    if isinstance(value, dict):
        value = value.get("id")
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TaskError(f"annotation.{key}: a number is needed, as in Label Studio's events.")
    return value


def _speaking(api: FastAPI, talk: _Conversation) -> None:
    @api.get("/")
    @api.get("/health")
    def health() -> dict[str, str]:
        """Whether the backend is up."""
        return {"status": "UP", "model_class": "fewlabels"}

    @api.post("/setup")
    def setup(sent: Setup) -> dict[str, str]:
        """A project begins to use this backend, or asks for the version of its predictions."""
        talk.take_config(sent.label_config)
        return {"model_version": talk.version}

    @api.post("/predict")
    def predict(sent: Predict) -> dict[str, Any]:
        """A class for each task, and its place in the queue as its score."""
        talk.take_config(sent.label_config)
        found, of = talk.predictions(sent.tasks)
        return {"results": found, "model_version": of}

    @api.post("/webhook")
    def webhook(sent: Webhook) -> JSONResponse:
        """An annotation was made, changed or deleted; other events change nothing."""
        if talk.hear(sent):
            return JSONResponse({"status": "ok", "model_version": talk.version}, 201)
        return JSONResponse({"status": "nothing to learn"}, 200)

    @api.post("/train", status_code=201)
    def train(sent: Train) -> dict[str, str]:
        """All annotated tasks at once, as older versions of Label Studio send them."""
        talk.take_config(sent.label_config)
        talk.take_tasks(sent.annotations)
        return {"model_version": talk.version}

    @api.get("/versions")
    def versions() -> dict[str, list[str]]:
        """The versions that predictions are available for: the present one."""
        return {"versions": [talk.version]}

    @api.get("/metrics")
    def metrics() -> dict[str, Any]:
        """How wrong the predictions are, where the store has checks: those drawn on fewlabels' own page."""
        return talk.metrics
