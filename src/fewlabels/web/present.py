"""A session's objects as the shapes the page reads."""

from __future__ import annotations

from fewlabels.session import Question, Session
from fewlabels.session.ledger import Said
from fewlabels.session.overview import Standing
from fewlabels.store import Event
from fewlabels.web import shapes

EXCERPT = 300  # characters of a text in lists
DIGITS, LETTERS = "123456789", "abcdefgijklmopqstvwxyz"  # h, n, r and u have a meaning of their own


def classes(names: list[str]) -> list[shapes.Class]:
    """The classes with their keys: a class named by a digit has that digit, the others 1-9 in turn, then letters.

    >>> [c.key for c in classes(["cat", "7", "dog"])]
    ['1', '7', '2']
    """
    own = {name for name in names if len(name) == 1 and name in "0123456789"}
    left = iter([key for key in DIGITS + LETTERS if key not in own])
    return [shapes.Class(name=name, key=name if name in own else next(left, None)) for name in names]


def item(session: Session, k: int, *, brief: bool = False) -> shapes.Item:
    """An item as the page shows it; in lists its text is cut short and its attributes are left out."""
    items, view = session.items, session.view
    text = items.texts[k] if items.texts is not None else None
    if brief and text is not None and len(text) > EXCERPT:
        text = text[:EXCERPT] + "…"
    attributes = None if brief or items.attributes is None else dict(items.attributes[k])
    predicted = int(view.predicted[k])
    known = predicted >= 0 and predicted < view.n_classes
    chance = float(view.chance[k, predicted]) if known else 0.0
    guess = shapes.Guess.model_construct(label=session.class_name(predicted), chance=chance) if known else None
    has_picture = items.pictures is not None
    return shapes.Item.model_construct(  # unchecked: lists of them are sent often, and all of it is ours
        id=k,
        name=items.names[k],
        image=f"/api/items/{k}/image" if has_picture else None,
        thumbnail=f"/api/items/{k}/thumbnail" if has_picture else None,
        text=text,
        attributes=attributes,
        label=session.label(k),
        guess=guess,
    )


def question(session: Session, found: Question | None) -> shapes.Question | None:
    if found is None:
        return None
    if found.reason == "second opinion":  # an opinion of their own: what was said and follows from it is not shown
        unseen = item(session, found.item).model_copy(update={"label": None, "guess": None})
        return shapes.Question(item=unseen, reason=found.reason, chances=[])
    view = session.view
    reached = view.predicted[found.item] >= 0
    chances = (
        [
            shapes.Guess(label=label, chance=chance)
            for label, chance in zip(session.classes, view.chance[found.item].tolist(), strict=False)
        ]
        if reached
        else []
    )
    return shapes.Question(item=item(session, found.item), reason=found.reason, chances=chances)


def standing(found: Standing) -> shapes.Standing:
    people = [shapes.Person(name=name, answers=answers) for name, answers in found.people.items()]
    return shapes.Standing(**{**vars(found), "curve": list(found.curve), "people": people})


def why(session: Session, k: int) -> shapes.Why:
    outcomes = session.outcomes(k)
    now = session.view.expected_error
    named = list(zip(session.classes, outcomes, strict=False))
    return shapes.Why(
        item=k,
        expected_error=now,
        gain=now - sum(o.chance * o.expected_error for o in outcomes) if outcomes else None,
        outcomes=[
            shapes.Outcome(label=label, chance=o.chance, expected_error=o.expected_error, changes=o.changes)
            for label, o in named
        ],
        neighbours=[
            shapes.Neighbour(item=item(session, other, brief=True), weight=weight)
            for other, weight in session.neighbours(k)
        ],
    )


def answer(session: Session, event: Event) -> shapes.Answer:
    return shapes.Answer(
        event=event.id,
        do=event.do,
        item=item(session, event.item or 0, brief=True),
        label=event.label,
        who=event.who,
        at=event.at,
    )


def disagreement(session: Session, k: int, said: Said) -> shapes.Disagreement:
    votes = [shapes.Vote(who=e.who, label=e.label or "", at=e.at) for e in said.by_people.values()]
    decided = said.decision.label if said.decision else None
    return shapes.Disagreement(item=item(session, k), votes=votes, decided=decided)


def predictions(session: Session) -> shapes.Predictions:
    view = session.view
    _, skipped = session.aside()
    return shapes.Predictions(
        version=view.version,
        predicted=view.predicted.tolist(),
        chance=(100 * view.confidence).round().astype(int).tolist(),
        labelled=session.labelled(),
        skipped=skipped,
    )
