"""fewlabels recover: what is whole of a damaged store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fewlabels.cli.options import console


def recover(
    store: Annotated[Path, typer.Argument(help="The damaged file of answers.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write; default: beside it, ending in .recovered.sqlite.")
    ] = None,
) -> None:
    """Save everything that is provably whole of a damaged file of answers into a new one; the old one is left as it is.

    Example: **fewlabels recover photos.fewlabels.sqlite**
    """
    from fewlabels.session.recover import recover as recover_store

    out = out or store.with_suffix(".recovered.sqlite")
    found = recover_store(store, out)
    console.print(f"Saved {found.saved:,} events in {out}.")
    if found.lost:
        shown = ", ".join(map(str, found.lost[:10])) + (" and others" if len(found.lost) > 10 else "")
        console.print(f"Lost: {len(found.lost):,}, number {shown}.")
    if not found.proven:
        console.print("It was written before there were checksums: what could be read is saved, and may be wrong.")
    console.print(f"Go on with --store {out}, or move it to the place of {store}.")
