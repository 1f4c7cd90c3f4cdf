"""fewlabels export: labels and predictions, with the data, in the format of your choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewlabels.cli.inputs import Choices, Config, Inputs, formats, take_annotations
from fewlabels.cli.options import (
    CONFIDENCE,
    EVERY,
    TARGET,
    Checks,
    Confidence,
    Seed,
    StrategyName,
    Target,
    comma_separated,
    console,
)
from fewlabels.errors import FileError, SettingError

if TYPE_CHECKING:
    from fewlabels.export.content import Content
    from fewlabels.export.formats import Format

Same = "As it was given to fewlabels label."


def export(
    data: Annotated[
        Path | None, typer.Argument(help="What was labelled, as given to fewlabels label: table, folder or tasks.")
    ] = None,
    to: Annotated[Path, typer.Option(help="The file or folder to write; its ending tells the format.")] = Path(
        "labels.csv"
    ),
    format: Annotated[  # noqa: A002  # the name of the option
        str | None,
        typer.Option(help="csv, excel, parquet, jsonl, folders, coco, hugging-face or label-studio."),
    ] = None,
    labelled: Annotated[bool, typer.Option("--labelled", help="Only the items that have a label.")] = False,
    at_least: Annotated[
        float, typer.Option(help="Of the predicted items, those with this chance or more.", min=0, max=1)
    ] = 0.0,
    links: Annotated[bool, typer.Option("--links", help="In a folder: links to the images, not copies.")] = False,
    text: Annotated[str | None, typer.Option(help=Same)] = None,
    image: Annotated[str | None, typer.Option(help=Same)] = None,
    features: Annotated[Path | None, typer.Option(help=Same)] = None,
    edges: Annotated[Path | None, typer.Option(help=Same)] = None,
    classes: Annotated[str | None, typer.Option(help=Same)] = None,
    label_column: Annotated[str | None, typer.Option(help=Same)] = None,
    name_column: Annotated[str | None, typer.Option(help=Same)] = None,
    neighbors: Annotated[int, typer.Option(help=Same, min=1)] = 10,
    images_from: Annotated[Path | None, typer.Option(help=Same)] = None,
    embed: Annotated[str | None, typer.Option(help=Same)] = None,
    columns: Annotated[str | None, typer.Option(help=Same)] = None,
    ignore: Annotated[str | None, typer.Option(help=Same)] = None,
    labels_from_folders: Annotated[bool, typer.Option("--labels-from-folders", help=Same)] = False,
    predictions: Annotated[Path | None, typer.Option(help=Same)] = None,
    target: Target = TARGET,
    confidence: Confidence = CONFIDENCE,
    checks: Checks = EVERY,
    config: Config = None,
    choices: Choices = None,
    strategy: StrategyName = "tsa",
    seed: Seed = 0,
    store: Annotated[Path | None, typer.Option(help="Where the answers are; default: beside the data.")] = None,
) -> None:
    """Save the data with its labels and predictions: a table, images in folders by class, or another tool's format.

    Example, a table: **fewlabels export reviews.csv --text review --to labels.xlsx**

    Example, sorted images: **fewlabels export photos/ --to sorted/ --at-least 0.95**

    Example, a dataset: **fewlabels export photos/ --to dataset/ --format hugging-face**

    Give the data and its options as to fewlabels label, and stop the page first: only one program at a time can have
    the answers open.
    """
    from fewlabels.export.content import Choice, choose
    from fewlabels.export.formats import named, told_by
    from fewlabels.files.atomic import refuse_overwriting
    from fewlabels.session import Session

    inputs = Inputs(
        data, text, image, features, edges, label_column, name_column, comma_separated(classes) or (), neighbors,
        images_from, comma_separated(columns), comma_separated(ignore) or (), labels_from_folders, embed, predictions,
    )  # fmt: skip
    path = inputs.store(store)
    if not path.is_file():
        raise FileError(f"there are no answers in {path}: label first, or name the file with --store.")
    refuse_overwriting(to, (data, path, features, edges, predictions, config))
    found = inputs.tasks(config, choices)
    menu = formats(found)
    with console.status("Reading") as status:
        items = inputs.reader(found)(tell=status.update)
        one = named(format or told_by(to, items, menu), menu)
        if reason := one.missing(items):
            raise SettingError(f"{one.title}: {reason}")
        session = Session(
            items, path, target=target, confidence=confidence, checks=checks, strategy=strategy, seed=seed,
            tell=status.update,
        )  # fmt: skip
        try:
            take_annotations(found)(session)
            content = choose(session, Choice("labelled" if labelled else "all", at_least), by_class=one.by_class)
            console.print(content.said)
            console.print(content.shot.standing.verdict)
            if not content.items:
                raise SettingError("nothing would be in the export: label first, or take more of the items.")
            status.update(f"Writing {to}")
            _write(one, content, to, links, status.update)
        finally:
            session.close()
    console.print(f"Saved: {to}")


def _write(one: Format, content: Content, to: Path, links: bool, tell: Callable[[str], None]) -> None:
    from fewlabels.export.trees import write_folder
    from fewlabels.files.atomic import atomic_file

    if one.tree is not None and to.suffix.lower() != one.ending:
        write_folder(one.tree, content, to, links=links, tell=tell)
    elif links:
        raise SettingError(f"--links is for folders, and {to} is a file: leave it out.")
    else:
        with atomic_file(to) as draft:
            one.write(content, draft)
