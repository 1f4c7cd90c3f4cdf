"""A snapshot of the session as the shapes the page reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import numpy as np

from fewlabels.graph import Graph
from fewlabels.session import Question, Snapshot, Standing
from fewlabels.session.classes import KEYS
from fewlabels.session.ledger import ItemHistory
from fewlabels.session.limits import (
    LONGEST_CLASS,
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    LONGEST_NOTE,
    MOST_AT_ONCE,
    MOST_TOGETHER,
)
from fewlabels.session.overview import said_of
from fewlabels.session.people import reports
from fewlabels.session.predictions import Explanation
from fewlabels.session.store import Event
from fewlabels.web import shapes

FEW, TELLING = 8, 6  # columns of a row that are shown as they come; of more, so many unusual ones come first
EXCERPT = 300  # characters of a text in lists
EXAMPLES = 8  # items shown for each answer that would change them
COLUMNS, CELL = 12, 60  # of a row in lists: columns, and characters of each
LIMITS = shapes.Limits(
    keys=len(KEYS),
    answers=MOST_AT_ONCE,
    together=MOST_TOGETHER,
    name=LONGEST_NAME,
    class_name=LONGEST_CLASS,
    description=LONGEST_DESCRIPTION,
    note=LONGEST_NOTE,
)


def classes(shot: Snapshot) -> shapes.Classes:
    """The classes as they are now."""
    table = [shapes.Class(**vars(one)) for one in shot.predictions.table]
    return shapes.Classes(classes=table, version=shot.predictions.table_version)


def answers_of(shot: Snapshot, label: str, most: int) -> shapes.ClassAnswers:
    """What a class would take with it: how many items are called so, by whom, and some of them."""
    found = shot.labelled_as(label)
    who = Counter(e.who or "table" for k in found for e in said_of(shot.history[k]) if e.label == label)
    people = [shapes.Person(name=name, answers=many) for name, many in who.items()]
    return shapes.ClassAnswers(
        name=label, total=len(found), people=people, items=[item(shot, k, brief=True) for k in found[:most]]
    )


def item(shot: Snapshot, k: int, *, brief: bool = False) -> shapes.Item:
    """An item as the page shows it; in lists its text and its values are cut short."""
    items, prediction = shot.items, None if shot.waiting(k) else shot.prediction(k)
    picture = None if items.pictures is None else (f"api/items/{k}/", f"?data={items.fingerprint}")
    text = items.texts[k] if items.texts is not None else None
    if brief and text is not None:
        text = _cut(text, EXCERPT)
    attributes = None if items.attributes is None else dict(items.attributes[k])
    if brief and attributes is not None:
        attributes = {name: _cut(value, CELL) for name, value in islice(attributes.items(), COLUMNS)}
    history = shot.history.get(k, ItemHistory())
    source = history.source
    return shapes.Item.model_construct(  # unchecked: lists of them are sent often, and all of it is ours
        id=k,
        name=items.names[k],
        image=picture and "image".join(picture),
        thumbnail=picture and "thumbnail".join(picture),
        text=text,
        attributes=attributes,
        notes=[shapes.Note(who=who, text=e.value or "", at=e.at) for who, e in shot.notes.get(k, {}).items()],
        unusual=items.unusual(k, TELLING) if not brief and len(attributes or ()) > FEW else [],
        label=history.label,
        prediction=prediction[0] if prediction else None,
        chance=prediction[1] if prediction else None,
        who=source.who if source else None,
        at=source.at if source else None,
        check=source is not None and k in shot.checks,
        aside=None if source else "skipped" if history.skip else "unsure" if history.unsure else None,
        model_label=items.model_labels[k] if items.model_labels is not None else None,
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + "…"


def question(shot: Snapshot, found: Question | None) -> shapes.Question | None:
    if found is None:
        return None
    shown = item(shot, found.item)
    if found.blind:  # an answer of its own: what was said, and what follows from it, is not shown
        hidden = dict.fromkeys(("label", "prediction", "chance", "who", "at", "aside", "model_label"))
        unseen = shown.model_copy(update={**hidden, "check": False, "notes": []})
        return shapes.Question(item=unseen, reason=found.reason, blind=True, chances=[])
    chances = zip(shot.classes, shot.predictions.chance[found.item].tolist(), strict=True)
    return shapes.Question(
        item=shown,
        reason=found.reason,
        blind=False,
        chances=[shapes.Chance(name=name, chance=chance) for name, chance in chances] if shown.prediction else [],
    )


def standing(found: Standing) -> shapes.Standing:
    people = [shapes.Person(name=name, answers=answers) for name, answers in found.people.items()]
    estimate = shapes.Estimate(**vars(found.estimate))
    return shapes.Standing(**{**vars(found), "curve": list(found.curve), "people": people, "estimate": estimate})


def why(shot: Snapshot, k: int, explanation: Explanation, neighbours: Sequence[tuple[int, float]]) -> shapes.Why:
    now, outcomes, shared = explanation.expected_error, explanation.outcomes, shot.items.shared_values
    return shapes.Why(
        item=k,
        expected_error=now,
        gain=now - sum(o.chance * o.expected_error for o in outcomes) if outcomes else None,
        outcomes=[
            shapes.Outcome(
                label=label,
                chance=o.chance,
                expected_error=o.expected_error,
                changes=o.changes,
                examples=_changed(shot, explanation.classes, o.examples),
            )
            for label, o in zip(explanation.classes, outcomes, strict=True)
        ],
        missing=explanation.missing,
        neighbours=[
            shapes.Neighbour(
                item=item(shot, other, brief=True),
                weight=weight,
                words=shot.items.shared_words(k, other),
                values=[(name, _cut(here, CELL), _cut(there, CELL)) for name, here, there in shared(k, other)],
                common=common_neighbours(shot.items.graph, k, other) if shot.items.kind == "node" else None,
            )
            for other, weight in neighbours
        ],
    )


def _changed(shot: Snapshot, classes: Sequence[str], examples: Sequence[tuple[int, int]]) -> list[shapes.Changed]:
    """The first few items that would change, but no check that waits for its answer."""
    found = [(k, c) for k, c in examples if not shot.waiting(k) and 0 <= c < len(classes)][:EXAMPLES]
    return [shapes.Changed(item=item(shot, k, brief=True), becomes=classes[c]) for k, c in found]


def common_neighbours(graph: Graph, i: int, j: int) -> int:
    """How many nodes are tied to both."""
    weights = graph.weights
    return len(np.intersect1d(weights[[i]].indices, weights[[j]].indices))


def answer(shot: Snapshot, event: Event) -> shapes.Answer:
    return shapes.Answer(
        event=event.id,
        do=event.do,
        item=item(shot, event.item or 0, brief=True),
        label=event.label,
        who=event.who,
        at=event.at,
    )


def disagreement(shot: Snapshot, k: int, history: ItemHistory) -> shapes.Disagreement:
    votes = [shapes.Vote(who=e.who, label=e.label or "", at=e.at) for e in history.by_people.values()]
    decided = history.decision.label if history.decision else None
    return shapes.Disagreement(item=item(shot, k), votes=votes, decided=decided)


def people(shot: Snapshot) -> shapes.People:
    return shapes.People(people=[shapes.PersonReport(**vars(one)) for one in reports(shot)])


def predictions(shot: Snapshot) -> shapes.Predictions:
    found = shot.predictions
    _, skipped = shot.aside()
    unseen = np.zeros(len(found.predicted), dtype=bool)
    unseen[[k for k in shot.checks if shot.waiting(k)]] = True
    return shapes.Predictions(
        version=found.version,
        predicted=np.where(unseen, -1, found.predicted).tolist(),
        chance=np.where(unseen, 0, (100 * found.chance_of_prediction).round()).astype(int).tolist(),
        labelled=shot.labelled(),
        skipped=skipped,
    )
