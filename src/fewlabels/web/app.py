"""The HTTP API and the page. Every answer is on disk before it is confirmed."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, select_autoescape
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from fewlabels import __version__
from fewlabels.errors import FewlabelsError, FileError, NodeError
from fewlabels.session import ConflictError, Question, Session
from fewlabels.session.overview import Standing
from fewlabels.store import StoreError, StoreFullError
from fewlabels.web import present, shapes
from fewlabels.web.guard import Guard, Rules

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
    403: "Asked under a foreign name, or by a foreign page",
    404: "There is no such item",
    409: "Contradicts what is the case",
    413: "Too large",
    422: "Not understood",
    503: "The store is locked: nothing was kept, send it again",
    507: "The disk is full: nothing was kept, send it again",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": shapes.Problem, "description": meaning} for status, meaning in MEANING.items()
}
DRAWING = 4  # pictures read or drawn at once
DAY = "private, max-age=86400"


def make_app(session: Session, *, rules: Rules | None = None, several: bool = False, person: str = "") -> ASGIApp:
    """The page of a session. `several`: each person gives a name; else `person` is the one who answers."""
    rules = rules or Rules()
    pages = Environment(loader=PackageLoader("fewlabels.web"), autoescape=select_autoescape())
    api = FastAPI(
        title="fewlabels",
        version=__version__,
        description="Questions about items, answers to them, and what they say about all the others.",
        docs_url=None,  # its page would load from elsewhere; the description itself is at /openapi.json
        redoc_url=None,
        responses=PROBLEMS,
    )
    api.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    refuse_in_sentences(api)
    _page(api, session, pages, rules)
    _asking(api, session)
    _answering(api, session)
    _looking(api, session, several, person)
    _reviewing(api, session)
    _taking_away(api, session)

    def sign_in(wrong: bool) -> str:
        return pages.get_template("token.html").render(static="/static", wrong=wrong)

    return Guard(api, rules, sign_in)


def refuse_in_sentences(api: FastAPI) -> None:
    """Answer whatever goes wrong with {"detail": one sentence}."""

    @api.exception_handler(FewlabelsError)
    async def refused(request: Request, error: FewlabelsError) -> JSONResponse:
        status = next(status for kind, status in STATUS if isinstance(error, kind))
        return JSONResponse({"detail": str(error)}, status)

    @api.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return JSONResponse({"detail": f"the body is no JSON: {first['ctx']['error']}."}, 422)
        where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return JSONResponse({"detail": f"{where}: {first['msg']}."}, 422)

    @api.exception_handler(Exception)  # it is also written to the terminal, with all there is to know
    async def broken(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": "Something is wrong in fewlabels itself: its terminal says what."}, 500)

    @api.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"detail": f"{request.url.path}: {error.detail}."}, error.status_code, error.headers)


def _page(api: FastAPI, session: Session, pages: Environment, rules: Rules) -> None:
    @api.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page(request: Request) -> Response:
        """The page; a token shown in the address is put into a cookie and taken out of sight."""
        if rules.token and "token" in request.query_params:
            moved = RedirectResponse("/", status_code=303)
            moved.set_cookie(rules.cookie, rules.token, httponly=True, samesite="strict", max_age=30 * 86400)
            return moved
        html = pages.get_template("page.html").render(title=session.items.title, version=__version__, static="/static")
        return HTMLResponse(html, headers={"cache-control": "no-store"})


def _asking(api: FastAPI, session: Session) -> None:
    @api.post("/api/question")
    def ask(wish: shapes.AskFor) -> shapes.Asked:
        """A question for this person, lent to them for a minute; about a given item, if there is one."""
        found = present.question(session, session.question(wish.who, wish.item))
        return shapes.Asked(question=found, standing=present.standing(session.standing()))

    @api.get("/api/items/{item}/why")
    def why(item: int) -> shapes.Why:
        """What asking about this item promises, what each answer would change, and its neighbours."""
        return present.why(session, item)

    @api.get("/api/items/{item}/upcoming")
    async def upcoming(item: int) -> shapes.Upcoming:
        """What may be asked after this item, sent when it is known: the page fetches the pictures ahead."""
        found = await asyncio.wrap_future(session.upcoming(item))
        return shapes.Upcoming(items=[present.item(session, k, brief=True) for k in found])


def _answering(api: FastAPI, session: Session) -> None:
    def kept(event: int, question: Question | None) -> shapes.Kept:
        return shapes.Kept(
            event=event,
            question=present.question(session, question),
            standing=present.standing(session.standing()),
        )

    def then(who: str, more: bool) -> Question | None:
        """The next question, where it is wanted; in any case the standing counts what was said."""
        if more:
            return session.question(who)
        session.settle()
        return None

    @api.post("/api/answers")
    def answer(given: shapes.GiveAnswer) -> shapes.Kept:
        """Keep an answer; one given before by the same person is changed."""
        event = session.answer(given.who, given.item, given.label, given.key)
        return kept(event, then(given.who, given.next))

    @api.post("/api/skips")
    def skip(given: shapes.SetAside) -> shapes.Kept:
        """Do not ask this again: nobody, or (unsure) this person."""
        set_aside = session.unsure if given.unsure else session.skip
        return kept(set_aside(given.who, given.item, given.key), then(given.who, given.next))

    @api.post("/api/undo")
    def undo(wish: shapes.Undo) -> shapes.Kept:
        """Take back an answer of one's own, without `event` the last request; a single item is asked again."""
        event, items = session.undo(wish.who, wish.key, wish.event, whole=wish.whole)
        if len(items) > 1 or not wish.next:
            return kept(event, then(wish.who, wish.next))
        try:
            return kept(event, session.question(wish.who, items[0], reason="again"))
        except ConflictError:  # someone else is asked about it by now
            return kept(event, then(wish.who, True))

    @api.post("/api/classes")
    def add_class(wish: shapes.AddClass) -> shapes.Classes:
        """One more class."""
        session.add_class(wish.who, wish.name, wish.key)
        session.settle()
        return shapes.Classes(classes=present.classes(session.classes))

    @api.post("/api/accept")
    def accept(given: shapes.Accept) -> shapes.Kept:
        """Keep several answers at once, all or none."""
        event = session.accept(given.who, [(one.item, one.label) for one in given.answers], given.key)
        return kept(event, then(given.who, False))

    @api.post("/api/decisions")
    def decide(given: shapes.Decide) -> shapes.Kept:
        """Settle a disagreement."""
        return kept(session.decide(given.who, given.item, given.label, given.key), then(given.who, False))


def _looking(api: FastAPI, session: Session, several: bool, person: str) -> None:
    standing_reply = _made_once(present.standing)
    predictions_reply = _made_once(lambda _: present.predictions(session))
    drawing = CapacityLimiter(DRAWING)  # threads of their own: all others may be waiting for the learner

    @api.get("/api/session")
    async def about() -> shapes.About:
        """What is labelled, by whom, and into which classes."""
        return shapes.About(
            title=session.items.title,
            kind=session.items.kind,
            n_items=len(session.items.names),
            classes=present.classes(session.classes),
            strategy=session.strategy,
            target=session.target,
            overlap=session.overlap,
            several=several,
            person=person,
            store=str(session.path),
            version=__version__,
        )

    @api.get("/api/standing", response_model=shapes.Standing)
    async def standing() -> Response:
        """How far we are."""
        return standing_reply(session.standing())

    @api.get("/api/map")
    async def positions() -> shapes.Map:
        """Where each item lies on the map."""
        return shapes.Map(positions=session.items.position.round(4).ravel().tolist())

    @api.get("/api/predictions", response_model=shapes.Predictions)
    async def predictions() -> Response:
        """What is predicted for every item now."""
        return predictions_reply(session.standing())

    @api.get("/api/items/{item}")
    async def one(item: int) -> shapes.Item:
        """One item, whole."""
        session.check_item(item)
        return present.item(session, item)

    @api.get("/api/items/{item}/image", response_class=Response)
    async def image(item: int) -> Response:
        """The picture of an item."""
        return await to_thread.run_sync(_picture, session, item, "full", limiter=drawing)

    @api.get("/api/items/{item}/thumbnail", response_class=Response)
    async def thumbnail(item: int) -> Response:
        """A small picture of an item."""
        return await to_thread.run_sync(_picture, session, item, "thumbnail", limiter=drawing)


def _made_once(shape: Callable[[Standing], BaseModel]) -> Callable[[Standing], Response]:
    """Replies that are made once for each standing, and sent to all who ask while it lasts."""
    last: list[Any] = [None, b""]

    def reply(standing: Standing) -> Response:
        if last[0] is not standing:
            last[:] = standing, shape(standing).model_dump_json().encode()
        return Response(last[1], media_type="application/json")

    return reply


def _picture(session: Session, item: int, size: str) -> Response:
    session.check_item(item)
    if session.items.pictures is None:
        raise NodeError(f"item {item} has no picture: the items are of kind {session.items.kind!r}.")
    content, media_type = getattr(session.items.pictures, size)(item)
    return Response(content, media_type=media_type, headers={"cache-control": DAY})


def _reviewing(api: FastAPI, session: Session) -> None:
    @api.get("/api/answers")
    async def recent(
        limit: Annotated[int, Query(ge=1, le=200)] = 20, who: Annotated[str | None, Query(max_length=50)] = None
    ) -> shapes.Recent:
        """The last answers that stand, the newest first."""
        return shapes.Recent(answers=[present.answer(session, event) for event in session.recent(limit, who)])

    @api.get("/api/review")
    async def review(
        label: Annotated[str, Query(max_length=100)],
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 60,
    ) -> shapes.Review:
        """The items predicted as this class and not labelled, the most doubtful first."""
        found = session.doubtful(label)
        shown = [present.item(session, k, brief=True) for k in found[offset : offset + limit]]
        return shapes.Review(label=label, total=len(found), items=shown)

    @api.get("/api/aside")
    async def aside() -> shapes.Aside:
        """What was set aside."""
        unsure, skipped = ([present.item(session, k, brief=True) for k in found] for found in session.aside())
        return shapes.Aside(unsure=unsure, skipped=skipped)

    @api.get("/api/disagreements")
    async def disagreements() -> shapes.Disagreements:
        """The items people answer differently, those without a decision first."""
        found = [present.disagreement(session, k, said) for k, said in session.disagreements()]
        return shapes.Disagreements(items=found)


def _taking_away(api: FastAPI, session: Session) -> None:
    def download(text: str, media_type: str, ending: str) -> Response:
        name = "".join(c if c.isalnum() and c.isascii() else "-" for c in session.items.title)
        headers = {"content-disposition": f'attachment; filename="{name}-labels.{ending}"'}
        return Response(text, media_type=media_type, headers=headers)

    @api.get("/api/export.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
    def as_csv() -> Response:
        """Labels and predictions of all items, with probabilities, who and when."""
        rows = session.rows()
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
        return download(text.getvalue(), "text/csv; charset=utf-8", "csv")

    @api.get("/api/export.jsonl", response_class=Response, responses={200: {"content": {"application/jsonl": {}}}})
    def as_json_lines() -> Response:
        """The same, one JSON object a line."""
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in session.rows())
        return download(text, "application/jsonl; charset=utf-8", "jsonl")
