"""Tasks and annotations as Label Studio writes them: its JSON export, JSON-MIN, and lists of tasks made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fewlabels.errors import FileError
from fewlabels.files.json_table import json_text
from fewlabels.labelstudio.control import Control, TaskError
from fewlabels.machine.memory import require
from fewlabels.session.limits import LONGEST_NAME

COPIES = 8  # times the file's size: dictionaries beside the text they were made from; 5.8 was measured
NOBODY = "Label Studio"  # who annotated, where that is not said
FLAT = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")  # JSON-MIN adds them to the data
OURS = "fewlabels"  # how the versions of our own predictions begin
EARLIER = "completions"  # what annotations were called before version 1.0
SHOWN = {"data", "annotations", EARLIER, "annotation_id", "text", "image"}  # a key of these, and it is a task


@dataclass(frozen=True)
class Annotation:
    """What one person said about a task: a label, nothing, or that they skip it."""

    who: str
    label: str | None
    cancelled: bool
    id: str | None = None
    at: str = ""
    completed_by: Any = None  # as it was given, for the export
    tags: tuple[str, str] | None = None  # the <Choices> the label was chosen in, and what it is about


@dataclass(frozen=True)
class Task:
    """A task's data as it was given, and what people said about it."""

    data: Mapping[str, Any]
    id: int | str | None = None
    annotations: Sequence[Annotation] = ()
    prediction: tuple[str, float | None] | None = None  # what another model says of it, and how sure it is
    meta: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class TaskFile:
    """The tasks of a file, and the question they were asked, where that is known."""

    path: Path
    tasks: Sequence[Task]
    control: Control | None


def read_tasks(path: Path, control: Control | None = None, label: str | None = None) -> TaskFile:
    """The tasks of a JSON file: a list of them, or one.

    Without a control, that of the annotations is taken. Without a `data` key the whole object is a task's data, as in
    Label Studio; then `label` (or the control's name) is the key that holds a choice, as in JSON-MIN, where a task is
    listed once for every annotation.
    """
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    require(COPIES * path.stat().st_size, f"the tasks in {path}", "Export fewer of them.")
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError(f"{path} is not written in UTF-8: save it again with that encoding.") from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is not JSON ({error}). Export the tasks again as JSON.") from None
    listed = content if isinstance(content, list) else [content]
    key = label or (control.from_name if control else None)
    try:
        tasks = [_task(raw, f"{path}, task {k}", control, key) for k, raw in enumerate(listed, start=1)]
    except TaskError as error:
        raise FileError(str(error)) from None
    if not tasks:
        raise FileError(f"{path} holds no tasks: export at least two.")
    found = _together(path, tasks)
    return TaskFile(path, found, control or _control_of(path, found))


def look_like_tasks(path: Path) -> bool:
    """Whether a JSON file holds tasks, or anything else than a plain table: objects of values under several names, none
    of them data, annotations, text or image.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return not path.is_file()  # a table says best what is wrong with it
    if isinstance(content, dict):
        return not all(isinstance(column, (list, dict)) for column in content.values()) or SHOWN & set(content) != set()
    if not content or not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        return True
    return any(SHOWN & set(row) for row in content) or max(map(len, content)) < 2


def _control_of(path: Path, tasks: Sequence[Task]) -> Control | None:
    """The question the annotations answer; there must not be two."""
    tags = {said.tags for task in tasks for said in task.annotations if said.tags is not None}
    if len({name for name, _ in tags}) > 1:
        listed = ", ".join(sorted({name for name, _ in tags}))
        raise FileError(f"{path} holds choices made in several tags, {listed}: say which with --choices.")
    return Control(*next(iter(tags))) if tags else None


def _task(raw: Any, where: str, control: Control | None, key: str | None) -> Task:
    if not isinstance(raw, dict):
        raise TaskError(f'{where} is {json.dumps(raw)[:40]}: give an object such as {{"data": {{"text": "..."}}}}.')
    number = raw.get("id")
    if number is not None and (isinstance(number, bool) or not isinstance(number, (int, str))):
        raise TaskError(f"{where}: the id {json.dumps(number)[:40]} is neither a number nor text. Correct it.")
    if not isinstance(raw.get("data"), dict):
        return _flat_task(raw, number, key, where)
    given = raw.get("annotations", raw.get(EARLIER)) or []
    if not isinstance(given, list):
        raise TaskError(f"{where}: annotations is not a list. Export the tasks again as JSON.")
    name = control.from_name if control else None
    said = [annotation_of(one, where, name) for one in given]
    return Task(raw["data"], number, said, _prediction(raw.get("predictions"), name, where), raw.get("meta"))


def _flat_task(raw: Mapping[str, Any], number: int | str | None, key: str | None, where: str) -> Task:
    """JSON-MIN: the data, the choices by the name of their tag, and who made them, side by side."""
    flat = "annotation_id" in raw
    left_out = {"id", *FLAT, *([key] if key else [])} if flat else {key} if key else set()
    data = {name: value for name, value in raw.items() if name not in left_out}
    chosen = raw.get(key) if key else None
    if chosen is None or chosen == "":
        return Task(data, number if flat else None)
    if isinstance(chosen, dict):
        chosen = chosen.get("choices")
    label = _single(chosen if isinstance(chosen, list) else [chosen], where)
    by = raw.get("annotator")
    said = Annotation(_who(by, where), label, False, _text(raw.get("annotation_id")), _time(raw), by)
    return Task(data, number if flat else None, [said])


def _prediction(given: Any, from_name: str | None, where: str) -> tuple[str, float | None] | None:
    """The surest of a task's predictions that names a class; those fewlabels made itself are no news."""
    found: list[tuple[str, float | None]] = []
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, dict) or str(one.get("model_version", "")).startswith(OURS):
            continue
        with suppress(TaskError):  # one that is not about a single class says nothing here
            label, score = annotation_of(one, where, from_name).label, one.get("score")
            sure = float(score) if isinstance(score, (int, float)) and 0 <= score <= 1 else None
            found += [(label, sure)] if label is not None else []
    return max(found, key=lambda pair: -1.0 if pair[1] is None else pair[1], default=None)


def annotation_of(raw: Any, where: str, from_name: str | None) -> Annotation:
    """One annotation; of its results only the choice made in the tag `from_name`, or in any if that is not known."""
    if not isinstance(raw, dict):
        raise TaskError(f"{where}: an annotation is {json.dumps(raw)[:40]}, not an object. Export the tasks again.")
    results = raw.get("result") or []
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise TaskError(f"{where}: the result of an annotation is not a list of objects. Export the tasks again.")
    label, tags = None, None
    for one in results:
        if one.get("type", "choices") != "choices" or (from_name and one.get("from_name", from_name) != from_name):
            continue
        value = one.get("value")
        if not isinstance(value, dict) or not isinstance(value.get("choices"), list):
            raise TaskError(f"{where}: a result of type choices holds no list of choices. Export the tasks again.")
        label = _single(value["choices"], where)
        tags = str(one.get("from_name", "label")), str(one.get("to_name", "text"))
    by = raw.get("completed_by")
    cancelled = raw.get("was_cancelled", False) is True
    label = None if cancelled else label
    return Annotation(_who(by, where), label, cancelled, _text(raw.get("id")), _time(raw), by, tags)


def _together(path: Path, tasks: list[Task]) -> list[Task]:
    """JSON-MIN lists a task once for every annotation; here it is once, with all of them."""
    by_id: dict[int | str, int] = {}
    found: list[Task] = []
    for k, task in enumerate(tasks, start=1):
        if task.id is None or task.id not in by_id:
            if task.id is not None:
                by_id[task.id] = len(found)
            found.append(task)
            continue
        first = found[by_id[task.id]]
        if dict(first.data) != dict(task.data) or not task.annotations:
            raise FileError(f"{path}, task {k}: the id {task.id} already stands for another task. Give each its own.")
        said = [*first.annotations, *task.annotations]
        found[by_id[task.id]] = Task(first.data, first.id, said, first.prediction, first.meta)
    return found


def _single(choices: list[Any], where: str) -> str | None:
    if not all(isinstance(choice, (str, int, float)) for choice in choices):
        raise TaskError(f"{where}: the choices {json.dumps(choices)[:60]} are not text. Export the tasks again.")
    if len(choices) > 1:
        raise TaskError(f"{where} has {len(choices)} choices, {json.dumps(choices)[:60]}: a task has one class here.")
    return str(choices[0]).strip() or None if choices else None


def _who(completed_by: Any, where: str) -> str:
    """The person's e-mail address, or their number."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    if completed_by is None:
        return NOBODY
    if isinstance(completed_by, bool) or not isinstance(completed_by, (int, str)):
        raise TaskError(f"{where}: completed_by is {json.dumps(completed_by)[:40]}, not a person. Export them again.")
    return (f"user {completed_by}" if isinstance(completed_by, int) else completed_by.strip() or NOBODY)[:LONGEST_NAME]


def _text(value: Any) -> str | None:
    return None if value is None else json_text(value)


def _time(raw: Mapping[str, Any]) -> str:
    return json_text(raw.get("updated_at") or raw.get("created_at") or "")
