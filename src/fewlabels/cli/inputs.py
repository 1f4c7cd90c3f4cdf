"""What to label, as given on the command line: a folder, a table, a graph, or Label Studio's tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewlabels.errors import FileError, SettingError

if TYPE_CHECKING:
    from fewlabels.export.formats import Format
    from fewlabels.items import Items
    from fewlabels.labelstudio import TaskFile
    from fewlabels.session import Session

Config = Annotated[
    Path | None, typer.Option(help="Label Studio's labeling config, an XML file: classes and what is shown.")
]
Choices = Annotated[str | None, typer.Option(help="Which Choices tag of the labeling config, if it has several.")]
TASKS = ".json"  # this ending tells tasks from tables


@dataclass(frozen=True)
class Inputs:
    """The options that say what to label."""

    data: Path | None
    text: str | None = None
    image: str | None = None
    features: Path | None = None
    edges: Path | None = None
    label: str | None = None
    name: str | None = None
    classes: tuple[str, ...] = ()
    neighbors: int = 10
    images_from: Path | None = None
    columns: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    labels_from_folders: bool = False
    embed: str | None = None
    predictions: Path | None = None

    def tasks(self, config: Path | None, choices: str | None) -> TaskFile | None:
        """Label Studio's tasks, if those were given."""
        from fewlabels.labelstudio import Control, read_config, read_tasks

        ending = None if self.data is None or self.data.is_dir() else self.data.suffix.lower()
        if self.data is None or ending != TASKS or self._is_table(config, choices):
            if config is not None or choices is not None:
                raise SettingError("--config and --choices go with Label Studio's tasks: give a .json file of them.")
            return None
        if self.edges is not None or self.name is not None:
            wrong = "--edges" if self.edges is not None else "--name-column"
            raise SettingError(f"{wrong} does not go with Label Studio's tasks: leave it out.")
        if config is None:
            control = None if choices is None else Control(choices)
        else:
            control = read_config(_text(config), choices)
        return read_tasks(self.data, control, self.label)

    def _is_table(self, config: Path | None, choices: str | None) -> bool:
        """Whether the .json file is a table, because nothing in it or said about it makes it Label Studio's tasks."""
        from fewlabels.labelstudio.tasks import look_like_tasks

        said = (config, choices, self.text, self.image, self.features)
        return self.data is not None and all(value is None for value in said) and not look_like_tasks(self.data)

    def reader(self, found: TaskFile | None) -> Callable[..., Items]:
        """Reads the items when it is called, and what a model thinks of them, if that was given."""
        read, file = self._reader(found), self.predictions
        if file is None:
            return read

        def both(*, tell: Callable[[str], None]) -> Items:
            from fewlabels.files.predictions import read_predictions
            from fewlabels.items.model import with_model

            items = read(tell=tell)
            return with_model(items, read_predictions(file, items.classes), str(file), tell)

        return both

    def _reader(self, found: TaskFile | None) -> Callable[..., Items]:
        from fewlabels.items.read import read_items
        from fewlabels.labelstudio import read_task_items

        if found is not None:
            return partial(
                read_task_items,
                found,
                text=self.text,
                image=self.image,
                features=self.features,
                classes=self.classes,
                neighbors=self.neighbors,
                embed=self.embed,
            )
        return partial(
            read_items,
            self.data,
            text=self.text,
            image=self.image,
            features=self.features,
            edges=self.edges,
            label=self.label,
            name=self.name,
            classes=self.classes,
            neighbors=self.neighbors,
            images_from=self.images_from,
            columns=self.columns,
            ignore=self.ignore,
            labels_from_folders=self.labels_from_folders,
            embed=self.embed,
        )

    def store(self, path: Path | None) -> Path:
        """Where answers are kept: beside the data by default."""
        beside = self.data if self.data is not None else self.edges
        if beside is None:
            raise SettingError("there is nothing to label: give a folder of images, a table, or --edges FILE.")
        return path or beside.resolve().with_name(beside.resolve().name + ".fewlabels.sqlite")


def formats(found: TaskFile | None) -> Mapping[str, Format]:
    """All formats of the export; what came from Label Studio goes back as its own tasks."""
    from fewlabels.export.formats import FORMATS
    from fewlabels.labelstudio.format import task_format

    return {**FORMATS, "label-studio": task_format(found.control, found.tasks) if found else task_format()}


def take_annotations(found: TaskFile | None) -> Callable[[Session], None]:
    """Once a session is open: the annotations of its tasks become answers."""

    def begun(session: Session) -> None:
        from fewlabels.labelstudio import Inbox

        if found is not None:
            Inbox(session, found.tasks).take_all()

    return begun


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{path} is not written in UTF-8: save it again with that encoding.") from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}. Check the path.") from None
