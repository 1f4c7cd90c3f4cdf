"""Annotations become answers of a session: each counts once, an update changes it, a deletion takes it back."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from fewlabels.labelstudio.control import TaskError
from fewlabels.labelstudio.tasks import NOBODY, Annotation, Task
from fewlabels.session import Session
from fewlabels.session.limits import MOST_AT_ONCE

MARK = "annotation|"  # keys of answers that came as one annotation: annotation|id|time


class Inbox:
    """Takes annotations for a session whose items are these tasks, in their order."""

    def __init__(self, session: Session, tasks: Sequence[Task]) -> None:
        self.session = session
        self._tasks = tasks
        self._lock = threading.Lock()  # one annotation after another: what was said before decides what is to be done
        self._item_of_id = {str(task.id): k for k, task in enumerate(tasks) if task.id is not None}
        self._item_of_data = {_same(task.data): k for k, task in reversed(list(enumerate(tasks)))}  # first of equals
        self._given: dict[str, tuple[str, int]] = {}  # annotation -> who gave it, and to which item
        for k, task in enumerate(tasks):
            self._given |= {said.id: (said.who, k) for said in task.annotations if said.id is not None}
        for event in reversed(session.snapshot().recent(2**31)):
            if event.key.startswith(MARK) and event.item is not None:
                self._given[event.key.split("|")[1]] = event.who, event.item

    def take_all(self) -> None:
        """Take in what the tasks' own annotations say; those taken in before change nothing."""
        answers: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        skips = []
        for k, task in enumerate(self._tasks):
            for said in task.annotations:
                if said.label is not None:
                    answers[said.who].append((k, said.label))
                elif said.cancelled:
                    skips.append((k, said))
        with self._lock:
            for who, given in answers.items():
                last = iter(dict(given).items())  # the last of several annotations by one person
                while chunk := list(islice(last, MOST_AT_ONCE)):
                    self._accept(who, chunk)
            for k, said in skips:
                self._take(k, said)

    def take(self, item: int, said: Annotation) -> None:
        """Take in one annotation, new or changed."""
        with self._lock:
            self._take(item, said)

    def delete(self, annotation: str) -> None:
        """Take back what this annotation said; one that is not known changes nothing."""
        with self._lock:
            if annotation in self._given:
                self._take_back(*self._given[annotation])
                del self._given[annotation]  # not before: what could not be taken back is tried again

    def know(self, classes: Iterable[str]) -> None:
        """Add the classes of a labeling config, all or none."""
        with self._lock:
            if fresh := [label for label in classes if not self.session.takes(label)]:
                self.session.add_classes(NOBODY, fresh, f"class|{uuid.uuid4()}")

    def item(self, number: Any, data: Mapping[str, Any] | None = None) -> int | None:
        """The item of a task by its id and data; the data decide, as ids change when tasks are imported again."""
        with self._lock:
            known = self._item_of_id.get(str(number))
            if data is None or (known is not None and _same(self._tasks[known].data) == _same(data)):
                return known
            found = self._item_of_data.get(_same(data))
            if found is not None and number is not None:
                self._item_of_id[str(number)] = found
            return found

    def _accept(self, who: str, given: list[tuple[int, str]]) -> None:
        key = "tasks|" + hashlib.sha256(json.dumps([who, given]).encode()).hexdigest()
        if self.session.heard(key):
            return
        said = self.session.snapshot().history
        new = [(k, label) for k, label in given if not _says(said.get(k), who, label)]
        for label in dict.fromkeys(label for _, label in new):
            self._know(who, label)
        if new:
            self.session.accept(who, new, key)

    def _take(self, item: int, said: Annotation) -> None:
        key = f"{MARK}{said.id}|{said.at or uuid.uuid4()}"
        if said.id is None or not self.session.heard(key):
            self._keep(item, said, key)
        if said.id is not None:  # not before: what was never kept is not taken back by its deletion
            self._given[said.id] = said.who, item

    def _keep(self, item: int, said: Annotation, key: str) -> None:
        before = self.session.snapshot().history.get(item)
        if said.label is not None:
            if not _says(before, said.who, said.label):
                self._know(said.who, said.label)
                self.session.answer(said.who, item, said.label, key)
            return
        if before is not None and said.who in before.votes:
            self._take_back(said.who, item)
            before = self.session.snapshot().history.get(item)
        if said.cancelled and (before is None or (before.label is None and before.skip is None)):
            self.session.skip(said.who, item, key)

    def _take_back(self, who: str, item: int) -> None:
        """Take back all this person said about the item; an answer taken back uncovers the one it replaced."""
        while (said := self.session.snapshot().history.get(item)) is not None:
            event = said.votes.get(who) or said.skip
            if event is None or event.who != who:
                return
            self.session.undo(who, f"undone|{event.id}", event.id)

    def _know(self, who: str, label: str) -> None:
        """A choice that was made is a class, whether it was listed or not."""
        if not self.session.takes(label):
            self.session.add_class(who, label, f"class|{uuid.uuid4()}")


def _says(said: Any, who: str, label: str) -> bool:
    return said is not None and who in said.votes and said.votes[who].label == label


def _same(data: Mapping[str, Any]) -> str:
    """What two tasks have in common when their data are the same."""
    try:
        return json.dumps(data, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise TaskError(f"a task's data cannot be compared ({error}). Correct them.") from None


def annotators(tasks: Iterable[Task]) -> dict[str, Any]:
    """{who: how Label Studio wants them named on import} for all who annotated: an e-mail address, or else a number."""
    found = {}
    for said in (said for task in tasks for said in task.annotations):
        by = said.completed_by
        if isinstance(by, dict):
            by = {"email": by["email"]} if "email" in by else by.get("id")
        if isinstance(by, (int, dict)):
            found[said.who] = by
    return found
