"""The routes of the export: what would be in it, and the file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query
from fastapi.responses import FileResponse, Response
from pydantic import Field
from starlette.background import BackgroundTask

from fewlabels.export.content import Choice, Which, choose
from fewlabels.export.formats import Format, named
from fewlabels.session import Session
from fewlabels.web.shapes import Shape


class FormatShown(Shape):
    name: str
    title: str
    ending: str
    missing: str | None = Field(description="Why it cannot be had here, in a sentence.")


class ExportShown(Shape):
    """What an export would contain."""

    formats: list[FormatShown]
    items: int
    labelled: int
    predicted: int
    left_out: int
    said: str = Field(description="The same in a sentence.")
    verdict: str = Field(description="What is known of the error of the predictions.")


def _asked(which: Which = "all", at_least: Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)] = 0.0) -> Choice:
    return Choice(which, at_least)


Chosen = Annotated[Choice, Depends(_asked)]
Name = Annotated[str, Query(max_length=50)]


def exporting(api: FastAPI, session: Session, formats: Mapping[str, Format]) -> None:
    @api.get("/api/export")
    def about(choice: Chosen, format: Name = "csv") -> ExportShown:  # noqa: A002  # as it is called in the address
        """What an export in this format would contain now."""
        content = choose(session, choice, by_class=named(format, formats).by_class)
        shown = [
            FormatShown(name=name, title=one.title, ending=one.ending, missing=one.missing(session.items))
            for name, one in formats.items()
        ]
        return ExportShown(
            formats=shown,
            items=len(content.items),
            labelled=content.labelled,
            predicted=content.predicted,
            left_out=content.left_out,
            said=content.said,
            verdict=content.shot.standing.verdict,
        )

    def download(name: str, choice: Choice) -> Response:
        one = named(name, formats)
        if reason := one.missing(session.items):
            raise HTTPException(422, f"{one.title}: {reason[0].lower()}{reason[1:].rstrip('.')}")
        content = choose(session, choice, by_class=one.by_class)
        if not content.items:
            raise HTTPException(422, "nothing would be in it: answer a few questions first, or take more of the items")
        handle = tempfile.NamedTemporaryFile(suffix=one.ending, delete=False)  # noqa: SIM115  # sent, then deleted
        handle.close()
        path = Path(handle.name)
        try:
            one.write(content, path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        title = "".join(c if c.isalnum() and c.isascii() else "-" for c in session.items.title)
        file = f"{title}-labels{'' if one.ending == f'.{name}' else f'-{name}'}{one.ending}"
        done = BackgroundTask(path.unlink, missing_ok=True)
        return FileResponse(path, media_type=one.media_type, filename=file, background=done)

    @api.get("/api/export/{name}", response_class=Response)
    def as_file(name: str, choice: Chosen) -> Response:
        """Labels and predictions in one of the formats."""
        return download(name, choice)

    @api.get("/api/export.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
    def as_csv() -> Response:
        """The data, labels and predictions of all items, with probabilities, who and when."""
        return download("csv", Choice())

    @api.get("/api/export.jsonl", response_class=Response, responses={200: {"content": {"application/jsonl": {}}}})
    def as_json_lines() -> Response:
        """The same, one JSON object per line."""
        return download("jsonl", Choice())
