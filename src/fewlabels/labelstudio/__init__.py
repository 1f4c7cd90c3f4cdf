"""Label Studio: its tasks as items, its annotations as answers, our answers and predictions as its tasks."""

from fewlabels.labelstudio.control import Control, TaskError, read_config, write_config
from fewlabels.labelstudio.export import export_tasks, prediction, scores
from fewlabels.labelstudio.inbox import Inbox
from fewlabels.labelstudio.items import read_task_items
from fewlabels.labelstudio.tasks import Annotation, Task, TaskFile, annotation_of, read_tasks

__all__ = [
    "Annotation",
    "Control",
    "Inbox",
    "Task",
    "TaskError",
    "TaskFile",
    "annotation_of",
    "export_tasks",
    "prediction",
    "read_config",
    "read_task_items",
    "read_tasks",
    "scores",
    "write_config",
]
