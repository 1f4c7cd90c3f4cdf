"""The routes by which classes are added and changed, and looked at."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Query, Request

from fewlabels.session import Session
from fewlabels.session.limits import LONGEST_CLASS
from fewlabels.web import present, requests, shapes
from fewlabels.web.guard import Rules
from fewlabels.web.routes import speaker

SOME = 12  # items that show what a class has been given to


def managing(api: FastAPI, session: Session, rules: Rules) -> None:
    @api.post("/api/classes")
    def add_class(wish: requests.AddClass, request: Request) -> shapes.Classes:
        """Add a class."""
        session.add_class(speaker(rules, request, wish.who), wish.name, wish.key, sure=wish.sure)
        session.settle()
        return present.classes(session.snapshot())

    @api.post("/api/classes/change")
    def change_class(wish: requests.ChangeClass, request: Request) -> shapes.Classes:
        """Rename, merge, remove, move, paint or describe a class; its answers follow, and undo takes it back."""
        session.change_class(speaker(rules, request, wish.who), wish.do, wish.name, wish.value, wish.key)
        session.settle()
        return present.classes(session.snapshot())

    @api.get("/api/classes")
    async def classes() -> shapes.Classes:
        """The classes, in their order."""
        return present.classes(session.snapshot())

    @api.get("/api/classes/answers")
    async def answers_of(name: Annotated[str, Query(max_length=LONGEST_CLASS)]) -> shapes.ClassAnswers:
        """What has been given this class: what would be unanswered without it."""
        return present.answers_of(session.snapshot(), name, SOME)
