"""The routes of the page: each reads the request, calls the session, and shows one snapshot of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment
from pydantic import BaseModel

from fewlabels import __version__
from fewlabels.errors import NodeError
from fewlabels.items import Pictures
from fewlabels.session import ConflictError, Question, Session, Snapshot
from fewlabels.session.limits import LONGEST_NAME
from fewlabels.web import present, requests, shapes
from fewlabels.web.guard import Rules
from fewlabels.web.rescue import rescue

DRAWING = 4  # pictures read or drawn at once
LONGEST_LIST = 200  # items in one reply


def serve_page(api: FastAPI, session: Session, pages: Environment, rules: Rules) -> None:
    @api.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page(request: Request) -> Response:
        """The page; a token or a link in the address is exchanged for a cookie, and out of sight."""
        asked = request.query_params
        if rules.token and ("token" in asked or "link" in asked):
            cookie = rules.admit(request.headers, request.url.query.encode())
            moved = RedirectResponse("./", status_code=303)
            if cookie is not None:
                secure = request.url.scheme == "https"
                moved.set_cookie(rules.cookie, cookie, httponly=True, samesite="strict", secure=secure)
            return moved
        html = pages.get_template("page.html").render(
            title=session.items.title,
            notes=session.items.notes,
            version=__version__,
            static="static",
            limits=present.LIMITS,
        )
        return HTMLResponse(html)


def leaving(api: FastAPI, rules: Rules) -> None:
    @api.post("/api/sign-out")
    def sign_out(wish: requests.SignOut, request: Request, reply: Response) -> shapes.SignedOut:
        """Forget the cookie of this browser, or (everyone) of all of them; the token still lets people in."""
        rules.visitors.sign_out(None if wish.everyone else rules.cookie_in(request.headers))
        reply.delete_cookie(rules.cookie)
        return shapes.SignedOut(everyone=wish.everyone)


def rescuing(api: FastAPI, session: Session) -> None:
    @api.post("/api/store")
    def write_store(wish: requests.WriteStore) -> shapes.Written:
        """Write all answers into a new file, if that of the store was moved, removed or replaced; else do nothing."""
        events = rescue(session)
        return shapes.Written(store=str(session.path), events=events)


def asking(api: FastAPI, session: Session, rules: Rules) -> None:
    @api.post("/api/question")
    def ask(wish: requests.AskFor, request: Request) -> shapes.Asked:
        """A question for this person, lent to them for a minute; about a given item, if there is one."""
        found = session.question(speaker(rules, request, wish.who), wish.item)
        shot = session.snapshot()
        return shapes.Asked(question=present.question(shot, found), standing=present.standing(shot.standing))

    @api.get("/api/items/{item}/why")
    def why(item: int) -> shapes.Why:
        """What asking about this item promises, what each answer would change, and its neighbours; nothing of a check
        that waits for its answer."""
        explanation, shot = session.explain(item), session.snapshot()
        votes = shot.history[item].votes if item in shot.history else ()
        blind = item in shot.checks and len(votes) < session.overlap
        return present.why(shot, item, explanation, [] if blind else session.neighbours(item))

    @api.get("/api/items/{item}/upcoming")
    async def upcoming(item: int) -> shapes.Upcoming:
        """What may be asked about after this item, sent when it is known: the page fetches the pictures ahead."""
        found = await asyncio.wrap_future(session.upcoming(item))
        shot = session.snapshot()
        return shapes.Upcoming(items=[present.item(shot, k, brief=True) for k in found])


def speaker(rules: Rules, request: Request, who: str) -> str:
    """The name, if whoever asks may speak under it."""
    if rules.people:
        person = rules.person(request.headers, request.url.query.encode())
        if person is None:
            raise HTTPException(403, "people have links of their own here: open yours to answer")
        if person != who:
            raise HTTPException(403, f"your link is that of {person!r}, and the answer is in the name of {who!r}")
    return who


def answering(api: FastAPI, session: Session, rules: Rules) -> None:
    def kept(event: int, question: Question | None) -> shapes.Kept:
        shot = session.snapshot()
        return shapes.Kept(
            event=event, question=present.question(shot, question), standing=present.standing(shot.standing)
        )

    def then(who: str, more: bool) -> Question | None:
        """The next question, if it is wanted; either way the standing includes what was said."""
        if more:
            return session.question(who)
        session.settle()
        return None

    @api.post("/api/answers")
    def answer(given: requests.GiveAnswer, request: Request) -> shapes.Kept:
        """Keep an answer; it replaces one given before by the same person."""
        event = session.answer(speaker(rules, request, given.who), given.item, given.label, given.key)
        return kept(event, then(given.who, given.next))

    @api.post("/api/skips")
    def skip(given: requests.SetAside, request: Request) -> shapes.Kept:
        """Do not ask about this item again: not anyone, or (unsure) not this person."""
        set_aside = session.unsure if given.unsure else session.skip
        return kept(set_aside(speaker(rules, request, given.who), given.item, given.key), then(given.who, given.next))

    @api.post("/api/undo")
    def undo(wish: requests.Undo, request: Request) -> shapes.Kept:
        """Take back an answer of one's own (default: the last request); a single item is asked about again."""
        event, items = session.undo(speaker(rules, request, wish.who), wish.key, wish.event, whole=wish.whole)
        if len(items) != 1 or not wish.next:
            return kept(event, then(wish.who, wish.next))
        try:
            return kept(event, session.question(wish.who, items[0], reason="again"))
        except ConflictError:  # someone else is asked about it by now
            return kept(event, then(wish.who, True))

    @api.post("/api/accept")
    def accept(given: requests.Accept, request: Request) -> shapes.Kept:
        """Keep several answers at once, all or none."""
        event = session.accept(
            speaker(rules, request, given.who), [(one.item, one.label) for one in given.answers], given.key
        )
        return kept(event, then(given.who, False))

    @api.post("/api/decisions")
    def decide(given: requests.Decide, request: Request) -> shapes.Kept:
        """Settle a disagreement."""
        return kept(
            session.decide(speaker(rules, request, given.who), given.item, given.label, given.key),
            then(given.who, False),
        )


def looking(
    api: FastAPI, session: Session, rules: Rules, several: bool, person: str, guidelines: str | None = None
) -> None:
    standing_reply = _made_once(lambda shot: present.standing(shot.standing))
    predictions_reply = _made_once(present.predictions)
    drawing = CapacityLimiter(DRAWING)  # threads of their own: all others may be waiting for the learner
    slowly = CapacityLimiter(1)  # the same for pictures that take long: the others do not wait for them

    @api.get("/api/session")
    async def about(request: Request) -> shapes.About:
        """What is labelled, by whom, and into which classes."""
        known = rules.person(request.headers, request.url.query.encode()) if rules.people else None
        now = present.classes(session.snapshot())
        return shapes.About(
            title=session.items.title,
            kind=session.items.kind,
            n_items=len(session.items.names),
            fingerprint=session.items.fingerprint,
            classes=now.classes,
            classes_version=now.version,
            strategy=session.strategy,
            target=session.goal.target,
            confidence=session.goal.confidence,
            checks=session.goal.every,
            by=session.items.by,
            field=session.field,
            overlap=session.overlap,
            several=several,
            signed_in=rules.token is not None,
            named=bool(rules.people),
            person=(known or "") if rules.people else person,
            opinions=session.items.model_labels is not None,
            guidelines=guidelines is not None,
            store=str(session.path),
            version=__version__,
            limits=present.LIMITS,
        )

    @api.get("/api/standing", response_model=shapes.Standing)
    async def standing() -> Response:
        """How far we are."""
        return standing_reply(session.snapshot())

    @api.get("/api/map")
    async def positions() -> shapes.Map:
        """Where each item lies on the map."""
        return shapes.Map(positions=session.items.position.round(4).ravel().tolist())

    @api.get("/api/predictions", response_model=shapes.Predictions)
    async def predictions() -> Response:
        """What is predicted for every item now."""
        return predictions_reply(session.snapshot())

    @api.get("/api/items/{item}")
    async def one(item: int) -> shapes.Item:
        """One item, in full."""
        session.check_item(item)
        return present.item(session.snapshot(), item)

    @api.get("/api/items/{item}/image", response_class=Response)
    async def image(item: int) -> Response:
        """The picture of an item."""
        slow = _pictures(session, item).slow(item)
        return await to_thread.run_sync(_picture, session, item, "full", limiter=slowly if slow else drawing)

    @api.get("/api/items/{item}/thumbnail", response_class=Response)
    async def thumbnail(item: int) -> Response:
        """A small picture of an item."""
        return await to_thread.run_sync(_picture, session, item, "thumbnail", limiter=drawing)


def _made_once(shape: Callable[[Snapshot], BaseModel]) -> Callable[[Snapshot], Response]:
    """Replies that are made once for each snapshot, and sent to all who ask while it lasts."""
    last: list[Any] = [None, b""]

    def reply(shot: Snapshot) -> Response:
        if last[0] is not shot:
            last[:] = shot, shape(shot).model_dump_json().encode()
        return Response(last[1], media_type="application/json")

    return reply


def _pictures(session: Session, item: int) -> Pictures:
    session.check_item(item)
    if session.items.pictures is None:
        raise NodeError(f"item {item} has no picture: the items are of kind {session.items.kind!r}.")
    return session.items.pictures


def _picture(session: Session, item: int, size: str) -> Response:
    content, media_type = getattr(_pictures(session, item), size)(item)
    return Response(content, media_type=media_type)


def reviewing(api: FastAPI, session: Session) -> None:
    @api.get("/api/answers")
    async def recent(
        limit: Annotated[int, Query(ge=1, le=LONGEST_LIST)] = 20,
        who: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    ) -> shapes.Recent:
        """The last answers that were not taken back, the newest first."""
        shot = session.snapshot()
        return shapes.Recent(answers=[present.answer(shot, event) for event in shot.recent(limit, who)])

    @api.get("/api/aside")
    async def aside() -> shapes.Aside:
        """What was set aside."""
        shot = session.snapshot()
        unsure, skipped = ([present.item(shot, k, brief=True) for k in found] for found in shot.aside())
        return shapes.Aside(unsure=unsure, skipped=skipped)

    @api.get("/api/disagreements")
    async def disagreements() -> shapes.Disagreements:
        """The items people answer differently, those without a decision first."""
        shot = session.snapshot()
        found = [present.disagreement(shot, k, history) for k, history in shot.disagreements()]
        return shapes.Disagreements(items=found)
