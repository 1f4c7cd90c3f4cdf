"""Tasks as items: what a task shows is shown, and what else it holds appears beneath it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from fewlabels.errors import FileError, SettingError
from fewlabels.files.json_table import json_text
from fewlabels.files.predictions import UNSAID, of_labels
from fewlabels.items import Items
from fewlabels.items.assemble import Tell
from fewlabels.items.model import with_model
from fewlabels.items.read import items_of_rows, refuse_needless_network
from fewlabels.items.rows import Rows
from fewlabels.labelstudio.tasks import Task, TaskFile

if TYPE_CHECKING:
    import pandas as pd

NAME = "Label Studio's task"  # the column that names the items; not a key of their data
LOCAL_FILES = "/data/local-files/"  # where Label Studio serves files of its own machine, as ?d=path


def read_task_items(
    found: TaskFile,
    *,
    text: str | None = None,
    image: str | None = None,
    features: Path | None = None,
    classes: Sequence[str] = (),
    neighbors: int = 10,
    embed: str | None = None,
    tell: Tell = lambda sentence: None,
) -> Items:
    """The tasks as items. `text` or `image` is a key of their data; without them it is what the control is about.

    Neighbours come from what is shown, or from features. Labels are not among the items: an `Inbox` takes them in, as
    answers of those who gave them. Classes are those given, then the control's, then others that were chosen, sorted.
    """
    if text is not None and image is not None:
        raise SettingError("--text and --image given together: a task shows one of them here. Leave one out.")
    refuse_needless_network(embed, features, True)
    keys = list(dict.fromkeys(key for task in found.tasks for key in task.data))
    if text is None and image is None:
        text, image = _shown(found, keys, needed=features is None)
    for key in (text, image):
        if key is not None and key not in keys:
            raise FileError(f"{found.path}: no task's data has the key {key!r}: they have {', '.join(map(str, keys))}.")
    table = _table(found.tasks, keys)
    if image is not None:
        table[image] = [_file(found.path, cell) for cell in table[image]]
    said = {said.label for task in found.tasks for said in task.annotations if said.label is not None}
    asked = [*classes, *(found.control.classes if found.control else ())]
    every = [*asked, *sorted(said - set(asked))]
    items = items_of_rows(
        Rows(found.path, table, NAME, None), text, image, features, every, neighbors, tell, embed=embed
    )
    rows = [k for k, task in enumerate(found.tasks) if task.prediction is not None]
    if not rows:
        return items
    labels, scores = zip(*(found.tasks[k].prediction or ("", None) for k in rows), strict=True)
    sure = [UNSAID if score is None else score for score in scores]
    predictions = of_labels([items.names[k] for k in rows], labels, sure, items.classes)
    return with_model(items, predictions, str(found.path), tell)


def _shown(found: TaskFile, keys: Sequence[str], *, needed: bool) -> tuple[str | None, str | None]:
    """The key of the text or of the image: the control's, else text or image, else the only one there is."""
    control = found.control
    if control and control.key in keys and control.kind is not None:
        return (control.key, None) if control.kind == "text" else (None, control.key if needed else None)
    if "text" in keys:
        return "text", None
    if "image" in keys:
        return None, "image" if needed else None
    if len(keys) == 1:
        return keys[0], None
    if not needed:
        return None, None
    raise FileError(
        f"{found.path}: tasks hold {', '.join(map(str, keys)) or 'nothing'}: say what to show with --text KEY or "
        "--image KEY, or give the labeling config with --config."
    )


def _table(tasks: Sequence[Task], keys: Sequence[str]) -> pd.DataFrame:
    """One row per task, every cell as text."""
    import pandas as pd

    names = [f"row {k}" if task.id is None else f"task {task.id}" for k, task in enumerate(tasks, start=1)]
    columns = {key: [json_text(task.data.get(key)) for task in tasks] for key in keys}
    return pd.DataFrame({NAME: names} | columns, dtype=str)


def _file(path: Path, cell: str) -> str:
    """The file an image's address stands for, relative to the folder of the tasks."""
    if cell.startswith(LOCAL_FILES):
        return parse_qs(urlsplit(cell).query).get("d", [""])[0].lstrip("/")
    if re.match(r"[a-z][a-z0-9+.-]+:", cell, re.IGNORECASE) or cell.startswith("/data/"):
        raise FileError(
            f"{path}: the image {cell[:80]!r} is not a file beside the tasks. Download the images and name them by "
            "path, or give --features."
        )
    return cell
