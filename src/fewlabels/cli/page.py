"""fewlabels demo and label: the labelling page."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewlabels.cli.common import Seed, StrategyName, console, listed
from fewlabels.cli.given import Choices, Config, Given, take_annotations

if TYPE_CHECKING:
    from fewlabels.items import Items
    from fewlabels.session import Session

Port = Annotated[
    int | None,
    typer.Option(
        help="Port of the page; without it, the first free one from 8765.", min=0, max=65535, envvar="FEWLABELS_PORT"
    ),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser; print the address only.")]
Target = Annotated[float, typer.Option(help="Say “you can stop” at this expected error.")]
Host = Annotated[
    str,
    typer.Option(help="Beyond 127.0.0.1 others can label too: a token is made and printed.", envvar="FEWLABELS_HOST"),
]
Token = Annotated[
    str | None,
    typer.Option(
        help="The token others have to show, in place of a made one; as a variable no process list shows it.",
        envvar="FEWLABELS_TOKEN",
    ),
]
Overlap = Annotated[int, typer.Option(help="Of how many people each item is asked.", min=1)]


def demo(
    auto: Annotated[
        int | None,
        typer.Option(help="No page: ask this many questions, which the known digits answer.", min=1, max=1797),
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="With --auto: where to save the picture.")] = Path("fewlabels-demo.png"),
    store: Annotated[Path | None, typer.Option(help="Where answers are kept; without it, in the cache folder.")] = None,
    target_error: Target = 0.05,
    strategy: StrategyName = "tsa",
    port: Port = None,
    no_browser: NoBrowser = False,
    host: Host = "127.0.0.1",
    token: Token = None,
) -> None:
    """Label scikit-learn's 1,797 handwritten digits: on a page in the browser, or by themselves in the terminal.

    Example, a page: **fewlabels demo**

    Example, no page: **fewlabels demo --auto 30**
    """
    if auto is not None:
        from fewlabels.cli.auto import label_by_themselves

        return label_by_themselves(auto, seed, out)
    import pooch

    from fewlabels.items.digits import digits_items

    if store is None:
        store = Path(pooch.os_cache("fewlabels")) / "demo.sqlite"
        store.parent.mkdir(parents=True, exist_ok=True)
    return _open(
        digits_items,
        store,
        target=target_error,
        strategy=strategy,
        seed=seed,
        port=port,
        browser=not no_browser,
        host=host,
        token=token,
    )


def label(
    data: Annotated[
        Path | None,
        typer.Argument(help="A folder of images, a table (CSV, TSV, Parquet, JSON lines), or Label Studio's .json."),
    ] = None,
    text: Annotated[str | None, typer.Option(help="The column whose text is shown and compared.")] = None,
    image: Annotated[str | None, typer.Option(help="The column that names an image file.")] = None,
    features: Annotated[
        Path | None, typer.Option(help="Your own features, a .npy file with a row for every item.")
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(help="Your own graph: a table with source, target, perhaps weight; or .graphml, .npz."),
    ] = None,
    classes: Annotated[str | None, typer.Option(help="The classes, as a,b,c; more can be added on the page.")] = None,
    label_column: Annotated[
        str | None, typer.Option(help="The column of labels already known; without it, “label” if there is one.")
    ] = None,
    name_column: Annotated[
        str | None, typer.Option(help="The column that names the items; without it, id, name, node or file.")
    ] = None,
    neighbors: Annotated[int, typer.Option(help="Nearest neighbours each item is tied to.", min=1)] = 10,
    target_error: Target = 0.05,
    strategy: StrategyName = "tsa",
    seed: Seed = 0,
    store: Annotated[Path | None, typer.Option(help="Where answers are kept; without it, beside the data.")] = None,
    port: Port = None,
    no_browser: NoBrowser = False,
    host: Host = "127.0.0.1",
    token: Token = None,
    overlap: Overlap = 1,
    config: Config = None,
    choices: Choices = None,
) -> None:
    """Label your own things on a page in the browser. The same command goes on where you stopped.

    Example, a folder of images: **fewlabels label photos/ --classes cat,dog**

    Example, texts in a table: **fewlabels label reviews.csv --text review --classes good,bad**

    Example, rows of numbers, some with a label: **fewlabels label iris.csv --label-column species**

    Example, a graph: **fewlabels label people.csv --edges friends.csv --classes red,blue**

    Example, tasks exported from Label Studio, annotations and all: **fewlabels label tasks.json**

    Example, several people, each item asked of two: **fewlabels label photos/ --host 0.0.0.0 --overlap 2**
    """
    given = Given(data, text, image, features, edges, label_column, name_column, listed(classes) or (), neighbors)
    found = given.tasks(config, choices)
    return _open(
        given.reader(found),
        given.store(store),
        target=target_error,
        strategy=strategy,
        seed=seed,
        port=port,
        browser=not no_browser,
        host=host,
        token=token,
        overlap=overlap,
        begun=take_annotations(found),
    )


def _open(
    read: Callable[..., Items],
    store: Path,
    *,
    target: float,
    strategy: str,
    seed: int,
    port: int | None,
    browser: bool,
    host: str = "127.0.0.1",
    token: str | None = None,
    overlap: int = 1,
    begun: Callable[[Session], None] = lambda session: None,
) -> None:
    """Say what was understood, open the page, and say in the end where the answers are."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end by a service manager: as by Ctrl-C
    os.environ.setdefault(
        "OMP_WAIT_POLICY", "passive"
    )  # before Numba loads: its idle threads leave the cores to readers
    from fewlabels.items.describe import describe
    from fewlabels.session import Session, check_settings
    from fewlabels.web.serve import find_place, serve

    check_settings(strategy, target, overlap)
    place = find_place(host, port, token)
    with console.status("Reading") as status:
        items = read(tell=status.update)
    for line in describe(items):
        console.print(line)
    with console.status(f"Getting ready for {len(items.names):,} items") as status:
        session = Session(
            items, store, target=target, strategy=strategy, overlap=overlap, seed=seed, tell=status.update
        )
        begun(session)
    answers = sum(session.standing().people.values())
    console.print(f"Answers: {f'{answers:,} so far, ' if answers else ''}kept in {store}")
    if place.token:
        console.print("Others can label too: whoever has this address, token included, may answer and see the items.")
    serve(session, place, browser=browser, started=lambda: console.print(f"Page: {place.url}    (Ctrl-C stops it)"))
    console.print(
        f"Stopped. {session.standing().labelled:,} labels are in {store}; the same command goes on from there."
    )
