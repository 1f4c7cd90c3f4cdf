"""fewlabels sign-out: end what browsers were let in for, while the page goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fewlabels.cli.options import console
from fewlabels.errors import FileError


def sign_out(store: Annotated[Path, typer.Argument(help="The file of answers of the page that is running.")]) -> None:
    """Sign out every browser from a running page, at once; the page goes on, and its token still lets people in.

    Links of people's own (--people) are made anew, and printed where the page runs.

    Example: **fewlabels sign-out photos.fewlabels.sqlite**

    If the token itself is in the wrong hands, stop the page and start it again: that makes a new one.
    """
    from fewlabels.session.held import is_held
    from fewlabels.web.revocation import request_sign_out

    if not store.is_file():
        raise FileError(f"there is no file {store}. Name the file of answers, as the page printed it.")
    if request_sign_out(store):
        console.print("Links of people's own are new: they are printed where the page runs, or when it starts.")
    if is_held(store):
        console.print("Every browser is signed out. The token still lets people in; a restart makes a new one.")
    else:  # or the file system has no locks, by which one could tell
        console.print(f"No page seems to be running on {store}; if one is, every browser is signed out.")
