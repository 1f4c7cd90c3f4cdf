"""fewlabels label-studio: an ML backend for its projects, and answers as its tasks."""

from __future__ import annotations

import base64
import json
import signal
from pathlib import Path
from typing import Annotated

import typer

from fewlabels.cli.commands import Command, Group
from fewlabels.cli.inputs import Choices, Config, Inputs, take_annotations
from fewlabels.cli.options import TARGET, Seed, StrategyName, comma_separated, console, passive_threads
from fewlabels.errors import FileError

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode="markdown")

Text = Annotated[str | None, typer.Option(help="The key or column whose text is shown and compared.")]
Image = Annotated[str | None, typer.Option(help="The key or column that names an image file.")]
Features = Annotated[Path | None, typer.Option(help="Your own features, a .npy file with a row for every item.")]
Classes = Annotated[str | None, typer.Option(help="The classes, as a,b,c, if no labeling config lists them.")]
Neighbors = Annotated[int, typer.Option(help="Nearest neighbours each item is tied to.", min=1)]
Kept = Annotated[Path | None, typer.Option(help="Where to keep the answers; default: beside the data.")]


@app.callback()
def _label_studio() -> None:
    """Work together with Label Studio: order its tasks by our questions, or hand it our answers.

    To label its tasks on our own page: **fewlabels label tasks.json**.
    """


@app.command(cls=Command)
def backend(
    tasks: Annotated[Path, typer.Argument(help="The project's tasks, exported from Label Studio as JSON.")],
    text: Text = None,
    image: Image = None,
    features: Features = None,
    classes: Classes = None,
    config: Config = None,
    choices: Choices = None,
    neighbors: Neighbors = 10,
    strategy: StrategyName = "tsa",
    seed: Seed = 0,
    store: Kept = None,
    port: Annotated[int, typer.Option(help="Port of the backend.", min=0, max=65535)] = 9090,
    host: Annotated[str, typer.Option(help="Beyond 127.0.0.1 a password is generated and printed.")] = "127.0.0.1",
    token: Annotated[str | None, typer.Option(help="The password, instead of a generated one.")] = None,
) -> None:
    """Serve an ML backend: it predicts every task, and its scores put the next question first.

    Example: **fewlabels label-studio backend tasks.json --port 9090**

    In Label Studio: Settings, Model, Connect Model, with the address that is printed here. Then let the project show
    tasks by uncertainty sampling, or sort its Data Manager by prediction score, lowest first. Every annotation
    teaches; retrieve predictions again to get the new order.

    Example, images given by URL: **fewlabels label-studio backend tasks.json --features images.npy**
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stopped by a service manager: the same as Ctrl-C
    passive_threads()
    from fewlabels.items.describe import describe, describe_labels
    from fewlabels.labelstudio import Inbox
    from fewlabels.labelstudio.backend import USER, backend_rules, make_backend
    from fewlabels.session import Session, check_settings
    from fewlabels.web.serve import close, find_place, run

    check_settings(strategy, TARGET, 1)
    inputs = Inputs(tasks, text, image, features, classes=comma_separated(classes) or (), neighbors=neighbors)
    found = inputs.tasks(config, choices)
    if found is None:
        raise FileError(f"{tasks} does not end in .json: export the project's tasks from Label Studio as JSON.")
    place = find_place(host, port, token, open_here=True)
    with place.socket:
        with console.status("Reading") as status:
            items = inputs.reader(found)(tell=status.update)
        for line in describe(items):
            console.print(line)
        with console.status(f"Getting ready for {len(items.names):,} tasks") as status:
            session = Session(items, inputs.store(store), strategy=strategy, seed=seed, tell=status.update)
            inbox = Inbox(session, found.tasks)
            inbox.take_all()
        console.print(describe_labels(items, session.classes))
        console.print(f"Answers: {session.snapshot().standing.labelled:,} so far, kept in {session.path}")
        if place.token:
            console.print(f"Basic authentication: user {USER}, password {place.token}")
            shown = base64.b64encode(f"{USER}:{place.token}".encode()).decode()
            console.print(f"Header for its webhook: Authorization: Basic {shown}", soft_wrap=True)
        served = make_backend(session, inbox, control=found.control, choices=choices, rules=backend_rules(place.token))
        run(served, place, lambda: console.print(f"Backend: {place.address}    (Ctrl-C stops it)"))
        close(session)
    console.print("Stopped. The same command continues from there.")


@app.command(cls=Command)
def export(
    data: Annotated[
        Path | None,
        typer.Argument(help="What was labelled, as given to fewlabels label: tasks, table or folder."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The JSON file to write.")] = Path("label-studio.json"),
    text: Text = None,
    image: Image = None,
    features: Features = None,
    edges: Annotated[Path | None, typer.Option(help="The graph, as it was given to fewlabels label.")] = None,
    classes: Classes = None,
    label_column: Annotated[str | None, typer.Option(help="As it was given to fewlabels label.")] = None,
    name_column: Annotated[str | None, typer.Option(help="As it was given to fewlabels label.")] = None,
    config: Config = None,
    choices: Choices = None,
    neighbors: Neighbors = 10,
    strategy: StrategyName = "tsa",
    seed: Seed = 0,
    store: Kept = None,
) -> None:
    """Write what people answered, and what is predicted for the rest, as tasks to import into Label Studio.

    Example: **fewlabels label-studio export tasks.json --out answered.json**

    Example, a table labelled on the page: **fewlabels label-studio export reviews.csv --text review --out r.json**

    Answers are annotations, skips are cancelled ones, and the rest have predictions. Stop the page or the backend
    first: only one program at a time can have the answers open.
    """
    from fewlabels.files.atomic import atomic_file
    from fewlabels.labelstudio import export_tasks, write_config
    from fewlabels.labelstudio.export import control_for
    from fewlabels.session import Session

    named = comma_separated(classes) or ()
    inputs = Inputs(data, text, image, features, edges, label_column, name_column, named, neighbors)
    path = inputs.store(store)
    if not path.is_file():
        raise FileError(f"there are no answers in {path}: label first, or name the file with --store.")
    found = inputs.tasks(config, choices)
    with console.status("Reading") as status:
        items = inputs.reader(found)(tell=status.update)
        session = Session(items, path, strategy=strategy, seed=seed, tell=status.update)
        take_annotations(found)(session)
    control = (found.control if found else None) or control_for(items, session.classes)
    exported = export_tasks(session, control, found.tasks if found else None)
    session.close()
    with atomic_file(out) as draft:
        draft.write_text(json.dumps(exported, ensure_ascii=False, indent=1), encoding="utf-8")
    answered = sum(bool(task["annotations"]) for task in exported)
    console.print(f"{len(exported):,} tasks, {answered:,} of them annotated: {out}")
    if found is not None and found.control is None:
        console.print("Answers are in the tag “label” about “text”: give --config to name them as your project does.")
    if found is None:
        console.print("A labeling config that fits them:")
        for line in write_config(control).split("\n"):
            console.print(line)
