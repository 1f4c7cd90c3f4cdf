"""Label Studio's tasks as one of the formats of the export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fewlabels.export.content import Content
from fewlabels.export.formats import JSON, Format
from fewlabels.labelstudio.control import Control
from fewlabels.labelstudio.export import export_tasks
from fewlabels.labelstudio.tasks import Task


def task_format(control: Control | None = None, tasks: Sequence[Task] | None = None) -> Format:
    """The format; of items that came from Label Studio, with their own tasks."""

    def write(content: Content, path: Path) -> None:
        every = export_tasks(content.session, control, tasks)
        exported = [every[item] for item in content.items]
        path.write_text(json.dumps(exported, ensure_ascii=False, indent=1), encoding="utf-8")

    return Format("Label Studio tasks", ".json", write, JSON)
