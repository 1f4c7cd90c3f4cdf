"""fewlabels label: the labelling page for your own data."""

from __future__ import annotations

import csv
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewlabels.cli.inputs import Choices, Config, Inputs, formats, take_annotations
from fewlabels.cli.options import (
    CONFIDENCE,
    EVERY,
    TARGET,
    Checks,
    Columns,
    Confidence,
    Embed,
    Host,
    Ignore,
    NoBrowser,
    Port,
    Predictions,
    Seed,
    StrategyName,
    Target,
    Token,
    comma_separated,
    console,
    passive_threads,
)
from fewlabels.errors import FileError

if TYPE_CHECKING:
    from fewlabels.items import Items
    from fewlabels.labelstudio import TaskFile
    from fewlabels.session import Session

LONGEST_GUIDELINES = 100_000  # characters
Overlap = Annotated[int, typer.Option(help="How many people label each item.", min=1)]


def label(
    data: Annotated[
        Path | None,
        typer.Argument(help="A folder of images, a table (CSV, Excel, ODS, Parquet, JSON), or Label Studio's tasks."),
    ] = None,
    text: Annotated[str | None, typer.Option(help="The column whose text is shown and compared.")] = None,
    image: Annotated[str | None, typer.Option(help="The column that names an image file.")] = None,
    features: Annotated[
        Path | None,
        typer.Option(help="Your own features, a .npy file with a row for every item; with --edges, joined with them."),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(help="Your own graph: a table with source, target, optionally weight; or .graphml, .npz."),
    ] = None,
    embed: Embed = None,
    classes: Annotated[str | None, typer.Option(help="The classes, as a,b,c; more can be added on the page.")] = None,
    label_column: Annotated[
        str | None, typer.Option(help="The column of labels already known; default: “label” if there is one.")
    ] = None,
    columns: Columns = None,
    ignore: Ignore = None,
    labels_from_folders: Annotated[
        bool, typer.Option("--labels-from-folders", help="The folders that images lie in are their known labels.")
    ] = False,
    left_out: Annotated[
        Path | None, typer.Option(help="CSV to write: the images that cannot be shown, and why.")
    ] = None,
    name_column: Annotated[
        str | None, typer.Option(help="The column that names the items; default: id, name, node or file.")
    ] = None,
    neighbors: Annotated[int, typer.Option(help="How many nearest neighbours each item is tied to.", min=1)] = 10,
    target: Target = TARGET,
    confidence: Confidence = CONFIDENCE,
    checks: Checks = EVERY,
    predictions: Predictions = None,
    strategy: StrategyName = "tsa",
    seed: Seed = 0,
    store: Annotated[Path | None, typer.Option(help="Where to keep the answers; default: beside the data.")] = None,
    port: Port = None,
    no_browser: NoBrowser = False,
    host: Host = "127.0.0.1",
    token: Token = None,
    overlap: Overlap = 1,
    people: Annotated[
        Path | None,
        typer.Option(
            help="A file with a name on each line: everybody gets a link of their own, the same at every start, and "
            "nobody can answer under another name."
        ),
    ] = None,
    trusted_host: Annotated[
        str | None, typer.Option(help="Names under which a proxy offers the page, as a,b, if it does not pass them on.")
    ] = None,
    guidelines: Annotated[
        Path | None, typer.Option(help="How to label, a Markdown file that is one key (G) away on the page.")
    ] = None,
    images_from: Annotated[
        Path | None, typer.Option(help="A folder outside the data that images, or links to them, may lie in.")
    ] = None,
    config: Config = None,
    choices: Choices = None,
) -> None:
    """Label your own data on a page in the browser. The same command continues where you stopped.

    Example, a folder of images: **fewlabels label photos/ --classes cat,dog**

    Example, one folder for each class, as far as they are sorted: **fewlabels label photos/ --labels-from-folders**

    Example, photos compared by a pretrained network: **fewlabels label photos/ --embed auto**

    Example, texts in a table: **fewlabels label reviews.csv --text review --classes good,bad**

    Example, rows of numbers, some with a label: **fewlabels label iris.csv --label-column species**

    Example, the same from a spreadsheet, compared by two columns: **fewlabels label iris.xlsx --columns width,length**

    Example, a graph: **fewlabels label people.csv --edges friends.csv --classes red,blue**

    Example, the same, its nodes with words, or with features, of their own: **fewlabels label papers.csv --edges
    cites.csv --text abstract**

    Example, with what a model already thinks: **fewlabels label photos/ --predictions model.csv**

    Example, tasks exported from Label Studio, annotations and all: **fewlabels label tasks.json**

    Example, several people, two for each item: **fewlabels label photos/ --host 0.0.0.0 --overlap 2**
    """
    named = comma_separated(classes) or ()
    inputs = Inputs(
        data, text, image, features, edges, label_column, name_column, named, neighbors, images_from,
        comma_separated(columns), comma_separated(ignore) or (), labels_from_folders, embed, predictions,
    )  # fmt: skip
    found = inputs.tasks(config, choices)
    return open_page(
        listing(left_out, inputs.reader(found)),
        inputs.store(store),
        target=target,
        confidence=confidence,
        checks=checks,
        strategy=strategy,
        seed=seed,
        port=port,
        browser=not no_browser,
        host=host,
        token=token,
        overlap=overlap,
        people=people,
        guidelines=guidelines,
        trusted=comma_separated(trusted_host) or (),
        begun=take_annotations(found),
        found=found,
    )


def listing(path: Path | None, read: Callable[..., Items]) -> Callable[..., Items]:
    """The same reader, which also writes what was left out into a file, if one is named."""
    from fewlabels.files.atomic import atomic_file, require_writable
    from fewlabels.files.spreadsheet import as_text

    if path is None:
        return read
    require_writable(path)

    def reading(**options: Any) -> Items:
        items = read(**options)
        with atomic_file(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("image", "reason"), *(map(as_text, row) for row in items.left_out)])
        return items

    return reading


def open_page(
    read: Callable[..., Items],
    store: Path,
    *,
    target: float,
    confidence: float,
    checks: int,
    strategy: str,
    seed: int,
    port: int | None,
    browser: bool,
    host: str = "127.0.0.1",
    token: str | None = None,
    overlap: int = 1,
    people: Path | None = None,
    guidelines: Path | None = None,
    trusted: Sequence[str] = (),
    begun: Callable[[Session], None] = lambda session: None,
    found: TaskFile | None = None,
) -> None:
    """Say what was understood, open the page, and say at the end where the answers are."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stopped by a service manager: the same as Ctrl-C
    passive_threads()
    from fewlabels.field.spec import DENSE_UP_TO
    from fewlabels.items.describe import describe, describe_labels
    from fewlabels.session import Session, check_settings
    from fewlabels.session.warm_up import warm_up
    from fewlabels.web.serve import find_place, serve

    check_settings(strategy, target, overlap, confidence, checks)
    advice = None if guidelines is None else read_guidelines(guidelines)
    named = read_people(people) if people else ()
    place = find_place(host, port, token, several=bool(named))
    with place.socket:
        with console.status("Reading") as status:
            items = read(tell=status.update)
        for line in describe(items):
            console.print(line)
        with console.status(f"Getting ready for {len(items.names):,} items") as status:
            warm_up(status.update, large=len(items.names) > DENSE_UP_TO)
            session = Session(
                items, store, target=target, confidence=confidence, checks=checks, strategy=strategy, overlap=overlap,
                seed=seed, tell=status.update,
            )  # fmt: skip
            begun(session)
        console.print(describe_labels(items, session.classes))
        if forecast := session.snapshot().standing.forecast:
            console.print(forecast)
        answers = sum(session.snapshot().standing.people.values())
        console.print(f"Answers: {f'{answers:,} so far, ' if answers else ''}kept in {store}")
        if place.several and not named:
            console.print("Names are taken on trust; --people gives everybody a link of their own.")
            console.print(
                "Others can label too: whoever has this address, token included, may answer and see the items."
            )
        serve(
            session,
            place,
            browser=browser,
            people=named,
            tell=console.print,
            trusted=trusted,
            started=lambda: console.print(f"Page: {place.url}    (Ctrl-C stops it)"),
            formats=formats(found),
            guidelines=advice,
        )
    standing = session.snapshot().standing
    console.print(standing.verdict)
    further = "the same command continues there" if session.path == store else f"continue with --store {session.path}"
    console.print(f"Stopped. {standing.labelled:,} labels are in {session.path}; {further}.")


def read_guidelines(path: Path) -> str:
    """The text of the file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read {path}: {error}. Give a text file in UTF-8, written in Markdown.") from None
    if len(text) > LONGEST_GUIDELINES:
        raise FileError(f"{path} has {len(text):,} characters: {LONGEST_GUIDELINES:,} is the most. Make it shorter.")
    return text


def read_people(path: Path) -> list[str]:
    """The names in a file, one on each line."""
    from fewlabels.session import check_name

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read {path}: {error}. Give a text file with a name on each line.") from None
    names = [check_name(line) for line in lines if line.strip()]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None or not names:
        fact = f"names {twice!r} twice" if twice is not None else "names nobody"
        raise FileError(f"{path} {fact}: write the name of each person on a line of its own.")
    return names
