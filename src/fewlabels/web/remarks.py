"""The routes for what surrounds the answers: notes on items, what each person has done, how to label."""

from __future__ import annotations

from fastapi import FastAPI, HTTPException, Request

from fewlabels.session import Session
from fewlabels.web import present, requests, shapes
from fewlabels.web.guard import Rules
from fewlabels.web.routes import speaker


def remarking(api: FastAPI, session: Session, rules: Rules, guidelines: str | None) -> None:
    @api.post("/api/notes")
    def note(given: requests.WriteNote, request: Request) -> shapes.Noted:
        """Keep a note on an item; it replaces one the same person wrote before."""
        event = session.note(speaker(rules, request, given.who), given.item, given.text, given.key)
        return shapes.Noted(event=event, item=present.item(session.snapshot(), given.item))

    @api.get("/api/people")
    def people() -> shapes.People:
        """What each person has done: how much, how fast, and how far they agree with the others and with the model."""
        return present.people(session.snapshot())

    @api.get("/api/guidelines")
    async def read() -> shapes.Guidelines:
        """How to label, as whoever started this wrote it down."""
        if guidelines is None:
            raise HTTPException(404, "there are none: start with --guidelines FILE.md")
        return shapes.Guidelines(text=guidelines)
