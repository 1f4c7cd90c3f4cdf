"""The HTTP API and the page. Every answer is on disk before it is confirmed."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from fewlabels import __version__
from fewlabels.errors import FewlabelsError, FileError, NodeError
from fewlabels.export.formats import FORMATS, Format
from fewlabels.session import ConflictError, Session
from fewlabels.session.store import StoreError, StoreFullError, StoreGoneError
from fewlabels.web import exports, lists, routes, shapes
from fewlabels.web.guard import Guard, Rules
from fewlabels.web.managing import managing
from fewlabels.web.remarks import remarking

HERE = Path(__file__).parent
STATUS: list[tuple[type[Exception], int]] = [  # the first that fits
    (StoreFullError, 507),
    (StoreError, 503),
    (NodeError, 404),
    (FileError, 404),  # a picture that is no longer where it was
    (ConflictError, 409),
    (FewlabelsError, 422),
]
MEANING = {
    400: "The body cannot be read",
    401: "No token, or a wrong one",
    403: "Asked under another host name, or by another site's page",
    404: "There is no such item, picture or path",
    409: "Conflicts with the current state",
    413: "Too large",
    422: "Not understood",
    429: "Too many wrong tokens from this address",
    503: "The store cannot be written now: nothing was kept, send it again",
    507: "The disk is full: nothing was kept, send it again",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": shapes.Problem, "description": meaning} for status, meaning in MEANING.items()
}
Meant = Annotated[str | None, Query(description="The `fingerprint` of /api/session; refused if it is another by now.")]


def make_app(
    session: Session,
    *,
    rules: Rules | None = None,
    several: bool = False,
    person: str = "",
    formats: Mapping[str, Format] = FORMATS,
    guidelines: str | None = None,
) -> ASGIApp:
    """The page of a session. `several`: each person gives a name; else `person` is the one who answers. `guidelines`
    are Markdown, shown on request.
    """
    rules = rules or Rules()
    pages = Environment(loader=PackageLoader("fewlabels.web"), autoescape=select_autoescape())
    api = FastAPI(
        title="fewlabels",
        version=__version__,
        description="Questions about items, answers to them, and what they say about all the others.",
        docs_url=None,  # its page would load scripts from elsewhere; the description itself is at /openapi.json
        redoc_url=None,
        responses=PROBLEMS,
        dependencies=[Depends(same_data(session))],
    )
    api.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    refuse_in_sentences(api)
    routes.serve_page(api, session, pages, rules)
    routes.asking(api, session, rules)
    routes.answering(api, session, rules)
    managing(api, session, rules)
    routes.leaving(api, rules)
    routes.rescuing(api, session)
    routes.looking(api, session, rules, several, person, guidelines)
    remarking(api, session, rules, guidelines)
    routes.reviewing(api, session)
    lists.listing(api, session)
    lists.labelling_many(api, session, rules)
    exports.exporting(api, session, formats)

    def sign_in(wrong: bool) -> str:
        return pages.get_template("token.html").render(static="static", wrong=wrong, own=bool(rules.people))

    return Guard(api, rules, sign_in)


def same_data(session: Session) -> Callable[..., Awaitable[None]]:
    """Refuse what is meant for other data: a page that was left open stays there when the server labels something else,
    and both number their items from 0.
    """

    async def check(data: Meant = None) -> None:
        if data not in (None, session.items.fingerprint):
            raise ConflictError(f"The server labels something else now ({session.items.title}): reload the page.")

    return check


def refuse_in_sentences(api: FastAPI) -> None:
    """Answer whatever goes wrong with {"detail": one sentence}."""

    @api.exception_handler(FewlabelsError)
    async def refused(request: Request, error: FewlabelsError) -> JSONResponse:
        status = next(status for kind, status in STATUS if isinstance(error, kind))
        if not isinstance(error, StoreGoneError):
            return JSONResponse({"detail": str(error)}, status)
        logging.getLogger("uvicorn.error").error("%s The page offers it; so does POST /api/store.", error)
        return JSONResponse({"detail": str(error), "offer": "new-store"}, status)

    @api.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return JSONResponse({"detail": f"the body is not JSON: {first['ctx']['error']}."}, 422)
        where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return JSONResponse({"detail": f"{where}: {first['msg']}."}, 422)

    @api.exception_handler(Exception)  # it is also written to the terminal, in full
    async def broken(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": "Something went wrong in fewlabels itself: its terminal says what."}, 500)

    @api.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"detail": f"{request.url.path}: {error.detail}."}, error.status_code, error.headers)
