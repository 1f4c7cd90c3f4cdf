"""A session as tasks that Label Studio imports: people's answers as annotations, ours as predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fewlabels.items import Items
from fewlabels.labelstudio.control import Control
from fewlabels.labelstudio.inbox import annotators
from fewlabels.labelstudio.tasks import Task
from fewlabels.session import Session, Snapshot
from fewlabels.session.ledger import ItemHistory

Json = dict[str, Any]


def export_tasks(session: Session, control: Control | None = None, tasks: Sequence[Task] | None = None) -> list[Json]:
    """Every item as a task: the data it came with, what people said, and a prediction where nobody has.

    A skip is a cancelled annotation, a decision between people a ground truth. People who came with the tasks are named
    as they were there; Label Studio refuses others, so their annotations belong to whoever imports them.
    """
    session.settle()
    control = control or control_for(session.items, session.classes)
    known, score, shot = annotators(tasks or []), scores(session), session.snapshot()
    exported = []
    for k in range(len(session.items.names)):
        task = tasks[k] if tasks is not None else _task(session.items, k, control)
        one: Json = {"data": dict(task.data)} if task.id is None else {"id": task.id, "data": dict(task.data)}
        if task.meta:
            one["meta"] = task.meta
        one["annotations"] = _annotations(shot.history[k], control, known) if k in shot.history else []
        one["predictions"] = [] if shot.label(k) is not None else [prediction(shot, control, k, score[k])]
        exported.append(one)
    return exported


def prediction(shot: Snapshot, control: Control, item: int, score: float, of: str | None = None) -> Json:
    """What is predicted for an item, without a result where no label reaches it.

    `score` is the item's place in the queue, 0 for the next question: Label Studio shows the lowest first. The chance
    of the class is in the result. `of` is the version it counts as.
    """
    predicted = shot.prediction(item)
    result = []
    if predicted is not None:
        name, chance = predicted
        result = [{"id": f"fewlabels-{item}", **control.result(name), "score": round(chance, 6)}]
    return {"model_version": of or version(shot), "score": round(float(score), 15), "result": result}


def version(shot: Snapshot) -> str:
    """A new one after every answer: predictions of an earlier one are out of date."""
    return f"fewlabels-{shot.last_event}"


def scores(session: Session) -> list[float]:
    """(n,) 0 for the next question, then rising in the order of the questions; 1 for what is not asked."""
    found = [1.0] * len(session.items.names)
    order = session.order()
    for place, item in enumerate(order):
        found[item] = place / len(order)
    return found


def control_for(items: Items, classes: Sequence[str]) -> Control:
    """The question about items that did not come from Label Studio."""
    kind = "image" if items.kind == "image" else "text"
    return Control("label", kind, kind, kind, tuple(classes))


def _task(items: Items, k: int, control: Control) -> Task:
    """An item that came from elsewhere as a task: its text or the name of its image, and what is shown beneath."""
    shown = items.texts[k] if items.texts is not None else items.names[k]
    attributes: Mapping[str, str] = items.attributes[k] if items.attributes is not None else {}
    return Task({**attributes, "name": items.names[k], control.key or "text": shown})


def _annotations(history: ItemHistory, control: Control, known: Mapping[str, Any]) -> list[Json]:
    """A vote each, then the decision between them; a skip where there is neither."""
    found = []
    for who, vote in history.votes.items():
        found.append(_annotation(who, [control.result(str(vote.label))], known))
    if history.decision is not None:
        decided = _annotation(history.decision.who, [control.result(str(history.decision.label))], known)
        found.append(decided | {"ground_truth": True})
    if not found and history.skip is not None:
        found.append(_annotation(history.skip.who, [], known) | {"was_cancelled": True})
    return found


def _annotation(who: str, result: list[dict[str, object]], known: Mapping[str, Any]) -> Json:
    one: Json = {"result": result, "was_cancelled": False, "ground_truth": False}
    return one | {"completed_by": known[who]} if who in known else one
